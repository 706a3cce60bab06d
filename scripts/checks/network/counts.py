"""Group `counts`: requests, bytes and time at 30 ms, beside ffprobe, ffmpeg and MediaInfo with the same address.

The server writes down what it was asked. Client and server are in network namespaces of their own, with 15 ms each way between
them; where nobody may make those, a relay on this machine carries the connections as late.
"""

import os
import shutil
import statistics
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from ..tools import expect
from .distance import SERVER, can_tunnel, far_apart, relayed
from .films import SECONDS, films, index_range, index_size
from .nginx import web
from .process import total

ROUNDS = 3
RATE = 4_000_000
IMAGES = 20
# What may be read beside the index.
BESIDE = 128 << 10
HEADINGS = ("", "requests", "bytes", "connections", "seconds")


@dataclass
class Far:
    """Where the films are, at a distance."""

    log: object
    base: str
    prefix: list


@dataclass
class Count:
    """The middle of some runs."""

    requests: int
    bytes: int
    connections: int
    seconds: float

    def row(self, name):
        return f"{name:42} {self.requests:9} {self.bytes:12,} {self.connections:12} {self.seconds:9.2f}"


@contextmanager
def far(world, folder, rate=None):
    """nginx over the films, far away."""
    place = world.folder / f"far-{rate or 0}"
    place.mkdir()
    certificates = str(world.folder / "certificates")
    with ExitStack() as stack:
        if can_tunnel():
            server, client = stack.enter_context(far_apart(place, rate=rate))
            made = stack.enter_context(web(str(place / "web"), str(folder), certificates, host=SERVER, address=SERVER,
                                           prefix=server.prefix))
            yield Far(made.log, f"https://{SERVER}:{made.ports['https']}/media", client.prefix)
        else:
            made = stack.enter_context(web(str(place / "web"), str(folder), certificates))
            port = stack.enter_context(relayed(place, made.ports["https"], rate=rate))
            yield Far(made.log, f"https://localhost:{port}/media", [])


def measured(world, there, command, rounds=ROUNDS):
    """Runs a line of bash some times; the middle of each figure."""
    found = []
    for _ in range(rounds):
        there.log.mark()
        end = world.run([*there.prefix, "bash", "-c", command], seconds=900, keep=False, FILMS=there.base)
        expect(end.code == 0, f"{command}: exit {end.code}, {end.errors[-300:]}")
        # What is on its way to a client that has gone is written down late.
        found.append((*total(there.log.requests(quiet=0.5)), end.seconds))
    return Count(*(statistics.median(values) for values in zip(*found)))


def counts(report, world, full=False):
    """Each goal, and the table."""
    folder = films()
    print(f"\n{HEADINGS[0]:42} {HEADINGS[1]:>9} {HEADINGS[2]:>12} {HEADINGS[3]:>12} {HEADINGS[4]:>9}")
    with far(world, folder) as there:
        print(f"{'(30 ms by ' + ('namespaces' if there.prefix else 'a relay') + ')':42}")
        report.each("counts", [("the distance is what it says", lambda: distance(world, there))])
        for name, most_requests, most_bytes in (
                ("index-first.mp4", 2, index_size(folder / "index-first.mp4") + BESIDE),
                ("index-last.mp4", 3, index_size(folder / "index-last.mp4") + BESIDE), ("cues.mkv", 4, None)):
            theirs = show(f"ffprobe {name}", measured(world, there, f"ffprobe -v error -show_format -show_streams $FILMS/{name}"))
            if shutil.which("mediainfo"):
                show(f"mediainfo {name}", measured(world, there, f"mediainfo --Ssl_IgnoreSecurity $FILMS/{name}"))
            if most_bytes:
                # What no program gets below: the first bytes, then the index, over one connection.
                start, end = index_range(folder / name)
                show(f"curl, the same bytes of {name}", measured(
                    world, there, f"curl -sS -o /dev/null -r 0-65535 $FILMS/{name} "
                    f"--next -sS -o /dev/null -r {max(start, 65536)}-{end - 1} $FILMS/{name}"))
            report.each("counts", [(f"probe {name}", lambda name=name, theirs=theirs, limits=(most_requests, most_bytes):
                                    probed(world, there, name, theirs, *limits))])
        report.each("counts", [(f"{IMAGES} keyframes of {name}", lambda name=name: images(world, there, name))
                               for name in ("index-first.mp4", "cues.mkv")])
    with far(world, folder, RATE) as there:
        report.each("counts", [("an hour of FLAC at 4 MB/s", lambda: sound(world, there, folder))])


def show(name, count):
    print(count.row(name), flush=True)
    return count


def distance(world, there):
    """A request of nothing on a new connection takes three round trips with TLS 1.3: TCP, TLS, HTTP."""
    count = measured(world, there, "curl -sS -r 0-0 -o /dev/null $FILMS/hour.flac")
    expect(0.085 < count.seconds < 0.25, f"{count.seconds:.3f} s for one byte")
    return f"one byte takes {count.seconds:.3f} s"


def probed(world, there, name, theirs, most_requests, most_bytes):
    ours = show(f"mediatool probe {name}", measured(world, there, f"mediatool probe --json $FILMS/{name}"))
    expect(ours.requests <= most_requests, f"{ours.requests} requests, not {most_requests}")
    expect(most_bytes is None or ours.bytes <= most_bytes, f"{ours.bytes} bytes, not {most_bytes}")
    expect(most_bytes is None or ours.seconds <= 0.5 * theirs.seconds, f"{ours.seconds:.2f} s, and ffprobe takes {theirs.seconds:.2f}")
    return f"{ours.seconds / theirs.seconds:.2f} of ffprobe's time"


def images(world, there, name):
    times = " ".join(f"{SECONDS / IMAGES * (place + 0.5):.2f}" for place in range(IMAGES))
    loop = f"for t in {times}; do ffmpeg -v error -nostdin -y -noaccurate_seek -ss $t -i $FILMS/{name} -frames:v 1 $t.jpg || exit; done"
    theirs = show(f"ffmpeg -ss, {IMAGES} times, {name}", measured(world, there, loop, rounds=1))
    ours = show(f"mediatool thumbs, {IMAGES} keyframes, {name}", measured(
        world, there, f"mediatool thumbs --quiet --count {IMAGES} --tolerance keyframe -o '{{index}}.jpg' $FILMS/{name}"))
    expect(ours.requests <= 45, f"{ours.requests} requests, not 45")
    expect(ours.seconds <= 0.3 * theirs.seconds, f"{ours.seconds:.2f} s, and ffmpeg takes {theirs.seconds:.2f}")
    return f"{ours.seconds / theirs.seconds:.2f} of ffmpeg's time"


def sound(world, there, folder):
    download = show("curl hour.flac", measured(world, there, "curl -sS -o /dev/null $FILMS/hour.flac", rounds=1))
    size = os.path.getsize(folder / "hour.flac")
    expect(size / RATE * 0.95 < download.seconds < size / RATE * 1.3, f"curl takes {download.seconds:.1f} s for {size} bytes")
    decoding = world.run(["mediatool", "waveform", "--quiet", "-o", "a.dat", str(folder / "hour.flac")], seconds=900, keep=False)
    ours = show("mediatool waveform hour.flac", measured(
        world, there, "mediatool waveform --quiet -o a.dat $FILMS/hour.flac", rounds=1))
    longer = max(download.seconds, decoding.seconds)
    expect(ours.seconds <= 1.2 * longer, f"{ours.seconds:.1f} s, not 1.2 of {longer:.1f}")
    return f"{ours.seconds / longer:.2f} of the longer: downloading {download.seconds:.1f} s, decoding {decoding.seconds:.1f} s"
