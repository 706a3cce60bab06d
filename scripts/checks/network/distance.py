"""Two networks of a test's own, at a distance from each other: namespaces, or a delaying relay where nobody may make them."""

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..tools import ROOT, run
from .process import free_ports, listens, running

SERVER, CLIENT = "10.77.0.2", "10.77.0.1"
SCRIPTS = str(Path(ROOT, "scripts"))


@dataclass
class Network:
    """A namespace: the words that a command in it begins with, and the process that keeps it."""

    prefix: list
    process: int


def unshared():
    """The words that start a program in a network of its own; a user who is not root gets a world of users too."""
    return ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]


@cache
def can_unshare():
    """Whether a network of one's own can be had here."""
    return run([*unshared(), "ip", "link", "set", "lo", "up"], check=False).returncode == 0


@cache
def can_tunnel():
    """Whether devices can be made in it, too."""
    command = [*unshared(), "ip", "tuntap", "add", "mode", "tun", "name", "far"]
    return can_unshare() and run(command, check=False).returncode == 0


@contextmanager
def network(beside=None):
    """A network of its own in which this machine alone is up; `beside` is one whose users it has."""
    command = [*(beside.prefix if beside else []), *(["unshare", "--net"] if beside else unshared()), "sleep", "4h"]
    keeper = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        mine, own = os.readlink("/proc/self/ns/net"), None
        other = beside and os.readlink(f"/proc/{beside.process}/ns/net")
        while own in (None, mine, other):
            if keeper.poll() is not None:
                raise RuntimeError("no network namespace")
            own = os.readlink(f"/proc/{keeper.pid}/ns/net")
        users = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        made = Network(["nsenter", "--target", str(keeper.pid), "--net", *users, "--"], keeper.pid)
        run([*made.prefix, "ip", "link", "set", "lo", "up"])
        yield made
    finally:
        keeper.terminate()
        keeper.wait()


@contextmanager
def far_apart(folder, delay=0.015, rate=None):
    """Two networks, the server's and the client's, whose packets come so many seconds late, and at most so many bytes a second.

    Gives (server, client); the server's address is SERVER.
    """
    with ExitStack() as stack:
        server = stack.enter_context(network())
        client = stack.enter_context(network(beside=server))
        ready = Path(folder, "tunnel.ready")
        ready.unlink(missing_ok=True)
        command = [*server.prefix, sys.executable, "-B", "-m", "checks.network.tunnel", str(server.process), str(client.process),
                   "--delay", str(delay), "--ready", str(ready), *(["--rate", str(rate)] if rate else [])]
        stack.enter_context(running(command, Path(folder, "tunnel.log"), ready.exists, cwd=SCRIPTS))
        for place, own, other in ((server, SERVER, CLIENT), (client, CLIENT, SERVER)):
            run([*place.prefix, "ip", "address", "add", own, "peer", other, "dev", "far"])
            run([*place.prefix, "ip", "link", "set", "far", "up", "mtu", "1500", "txqueuelen", "1000"])
        yield server, client


@contextmanager
def relayed(folder, port, delay=0.015, rate=None):
    """A port of this machine behind which another one lies at that distance."""
    own, = free_ports(1)
    command = [sys.executable, "-B", "-m", "checks.network.relay", "--port", str(own), "--to", f"127.0.0.1:{port}",
               "--delay", str(delay), *(["--rate", str(rate)] if rate else [])]
    with running(command, Path(folder, f"relay-{own}.log"), lambda: listens(own), cwd=SCRIPTS):
        yield own
