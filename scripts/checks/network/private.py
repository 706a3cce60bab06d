"""Group `private`: an address that anybody can name never leads to what only this machine's network can reach.

Needs a network namespace: there, this machine has a public address, too, and is the name service.
"""

import json
from contextlib import contextmanager

from ..tools import expect, run
from .distance import can_unshare, network
from .nginx import web

# Not an address for documentation: a program may well know those, and hold them to be private.
PUBLIC, OTHER_PUBLIC = "1.2.3.4", "5.6.7.8"
# What a redirect from a public place must not lead to.
PRIVATE = ("127.0.0.1", "127.1.2.3", "10.9.8.7", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "localhost",
           "private.test", "[::1]", "[fd00::1]", "[fe80::1]", "[::ffff:127.0.0.1]", "[::ffff:10.9.8.7]", "[64:ff9b::7f00:1]",
           "0x7f.1", "2130706433")
NAMES = f"""127.0.0.1 localhost private.test
{PUBLIC} public.test
{OTHER_PUBLIC} other.test
10.9.8.7 inside.test
"""
ALLOWED = [("public.test", "public.test"), ("public.test", "other.test"), (PUBLIC, OTHER_PUBLIC), ("private.test", "inside.test"),
           ("private.test", "public.test"), ("127.0.0.1", "10.9.8.7")]


@contextmanager
def place(world):
    """A network in which this machine has all those addresses, and nginx; gives nginx, and the words before a command."""
    folder = world.folder / "private"
    folder.mkdir(exist_ok=True)
    hosts = folder / "hosts"
    hosts.write_text(NAMES)
    with network() as made:
        for address in (PUBLIC, OTHER_PUBLIC, "10.9.8.7", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"):
            run([*made.prefix, "ip", "address", "add", f"{address}/32", "dev", "lo"])
        for address in ("fd00::1", "64:ff9b::7f00:1"):
            run([*made.prefix, "ip", "address", "add", f"{address}/128", "dev", "lo"], check=False)
        with web(str(folder / "web"), str(world.media), str(world.folder / "certificates"), host="public.test", address="[::]",
                 prefix=made.prefix) as server:
            # The names are the command's alone: its /etc/hosts is another file.
            named = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(hosts)]
            yield server, [*made.prefix, *named]


def private(report, world, full=False):
    """Redirects from each kind of place to each other."""
    if not can_unshare():
        print("not run: nobody may make a network namespace here, which redirects to private addresses need")
        return
    with place(world) as (server, prefix):
        report.each("private", [("the servers answer", lambda: reachable(world, server, prefix))])
        rows = [(followed, *row) for row in ALLOWED]
        rows += [(not_followed, start, end) for end in PRIVATE for start in ("public.test", PUBLIC)[:2 if full else 1]]
        report.each("private", [(f"from {start} to {end}", lambda function=function, start=start, end=end:
                                 function(world, server, prefix, start, end)) for function, start, end in rows])


def address(server, start, end):
    return f"http://{start}:{server.ports['http']}/to/{end}/media/av.mp4"


def reachable(world, server, prefix):
    """curl follows each of them, or there would be nothing to refuse."""
    missing = [end for end in PRIVATE if world.run(
        [*prefix, "curl", "-sgL", "--fail", "-o", "a", address(server, "public.test", end)], keep=False).code != 0]
    # Which of the last ones a machine reaches is the kernel's and the resolver's affair.
    expect(set(missing) <= {"[fe80::1]", "[fd00::1]", "[::1]", "[64:ff9b::7f00:1]", "0.0.0.0"}, f"curl does not reach {missing}")
    return f"{len(PRIVATE) - len(missing)} of {len(PRIVATE)} private places"


def followed(world, server, prefix, start, end):
    server.log.mark()
    result = world.run([*prefix, str(world.bin / "mediatool"), "probe", "--json", "--quiet", address(server, start, end)])
    expect(result.code == 0, f"exit {result.code}: {result.errors[-300:]}")
    expect(json.loads(result.output)["tracks"], "no tracks")
    return f"{len(server.log.requests())} requests"


def not_followed(world, server, prefix, start, end):
    server.log.mark()
    result = world.run([*prefix, str(world.bin / "mediatool"), "probe", "--json", "--quiet", "--network-retries", "0",
                        address(server, start, end)])
    requests = server.log.requests()
    expect(result.code == 2 and len(result.lines) == 1, f"exit {result.code}: {result.errors[-300:]}")
    reached = [request["host"] for request in requests if not request["uri"].startswith("/to/")]
    expect(not reached, f"{reached} was asked")
    expect(len(requests) == 1, f"{len(requests)} requests")
    return result.lines[0]
