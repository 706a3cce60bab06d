"""Starting and ending the processes that a test needs, and the logs of what they were asked."""

import json
import os
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

STARTS_WITHIN = 20
# A log on this machine that has not grown for so many seconds has everything.
QUIET = 0.06


def free_ports(count):
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


@contextmanager
def running(command, log, is_ready, **options):
    """A process that is ended with the block; `is_ready` is asked until it says yes."""
    with open(log, "wb") as file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, **options)
        try:
            end = time.monotonic() + STARTS_WITHIN
            while not is_ready():
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{os.path.basename(command[0])} did not start: {Path(log).read_text()[-500:]}")
                time.sleep(0.02)
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def listens(port, address="127.0.0.1"):
    """Whether somebody answers there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((address, port)) == 0


class Log:
    """Requests as one JSON object a line, written by a server when it has answered each of them."""

    def __init__(self, path):
        self.path = Path(path)
        self.path.touch()
        self.start = 0

    def mark(self):
        """What was asked until now is not counted."""
        self.settle()
        self.start = self.path.stat().st_size

    def settle(self, quiet=QUIET):
        """Waits until the log no longer grows: a server writes a line after the client has all."""
        size, since = self.path.stat().st_size, time.monotonic()
        while time.monotonic() < since + quiet:
            time.sleep(0.02)
            if (now := self.path.stat().st_size) != size:
                size, since = now, time.monotonic()

    def requests(self, quiet=QUIET):
        """What was asked since the mark, oldest first."""
        self.settle(quiet)
        with open(self.path, "rb") as file:
            file.seek(self.start)
            return [json.loads(line) for line in file.read().splitlines()]


def total(requests):
    """Requests, bytes of bodies and connections, in short."""
    return (len(requests), sum(int(request["body"]) for request in requests),
            len({(request["port"], request["connection"]) for request in requests}))
