"""Group `same`: every command makes of an address, byte for byte, what it makes of the file on disk; `path` alone differs."""

import json
import os
import re
from pathlib import Path

from ..tools import ROOT, expect, once
from .world import FIXTURES

COMMANDS = {
    "probe": "mediatool probe --json FILE",
    "scan": "mediatool probe --scan --json FILE",
    "text": "mediatool probe FILE",
    "waveform": "mediatool waveform --json FILE",
    "picture": "mediatool waveform -o '{stem}.png' FILE",
    "thumbs": "mediatool thumbs --count 3 --json -o '{stem}-{index}.png' FILE",
    "keyframes": "mediatool thumbs --every 1 --tolerance keyframe --json -o '{stem}-{index}.jpg' FILE",
    "sheet": "mediatool thumbs --contact-sheet --grid 2x2 -o sheet.png FILE",
    "sprite": "mediatool thumbs --sprite --every 1 -o '{stem}-{index}.jpg' --vtt . FILE",
    "proxy": "mediatool proxy --preset prores-proxy --json -o proxy.mov FILE",
    "export": "mediatool export --preset lowQuality --end 2 --json -o part.mov FILE",
    "copy": "mediatool export --copy --json -o copy.mkv FILE",
    "part": "mediatool export --copy --start 1 --end 2 --json -o part.mov FILE",
    "sound": "mediatool export -o sound.wav FILE",
    "segments": "mediatool export --segments 1 -o stream/ FILE",
    "qc": "mediatool qc --json --html q.html --junit q.xml --csv q.csv FILE",
    "loudness": "mediatool qc --policy ebu-r128 --json FILE",
}
SHORT = ("probe", "scan", "waveform", "thumbs", "sheet", "proxy", "export", "copy", "qc")
SHORT_FILES = ("av.mp4", "h264-aac.mkv", "flac-s16-stereo.flac", "mpegts-10s.ts")
# More than one file in a line.
PAIRS = {
    "a reference": "mediatool qc --json --reference FILE $MEDIA/av.mp4",
    "a proxy's source": "mediatool proxy --quiet -o proxy.mov $MEDIA/av.mp4; mediatool qc --json --proxy-of FILE proxy.mov",
    "both by address": "mediatool qc --json --frames f.csv --reference FILE FILE",
    "a batch": "mediatool waveform --jsonl --jobs 2 -o '{stem}.dat' FILE $MEDIA/noise.wav",
}
CONTAINERS = 2
LARGEST = 4 << 20
# Damaged pictures, of which libavcodec's threads conceal more or fewer from run to run, also on disk.
VARYING = {"C0023S01.mxf"}
FILES = 20


def corpus_files(folder=None):
    """Twenty files of the corpus, at most two of a kind."""
    folder = Path(folder or Path(ROOT, "..", "shared", "corpus"))
    taken, kinds = [], {}
    for path in sorted(folder.rglob("*.*")):
        kind = path.suffix.lower()
        if not path.is_file() or path.name in VARYING or kind in (".tsv", ".md", ".txt") or not 0 < path.stat().st_size <= LARGEST:
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] <= CONTAINERS and re.fullmatch(r"[\w.-]+", path.name) and path.name not in [one.name for one in taken]:
            taken.append(path)
    return taken[:FILES]


def transports(world):
    """Name, how an address begins, and the variables that it needs."""
    yield "https", "$WEB/media/", ""
    if world.endpoint:
        yield "s3", "s3://media/", ("AWS_ACCESS_KEY_ID=$KEY_ID AWS_SECRET_ACCESS_KEY=$KEY AWS_REGION=$REGION "
                                    "AWS_ENDPOINT_URL=$ENDPOINT")


def same(report, world, full=False):
    """Every command on every file from each kind of place; timelines."""
    files = sorted({*FIXTURES, *world.others}) if full else SHORT_FILES
    names = COMMANDS if full else SHORT
    jobs = [(f"{transport} {name} {file}", COMMANDS[name], start + file, file, variables)
            for transport, start, variables in transports(world) for file in files for name in names]
    jobs += [(f"{transport} {name}", line, start + "av.mp4", "av.mp4", variables)
             for transport, start, variables in transports(world) for name, line in PAIRS.items()]
    report.threads = os.cpu_count()
    report.each("same", [(name, lambda job=job: compare(world, *job)) for name, *job in jobs])
    report.threads = 1  # from here on, requests are counted
    report.each("timelines", [(name, lambda line=line: timeline(world, line)) for name, line in TIMELINES.items()])
    report.each("timelines", [(name, lambda row=row: refused_timeline(world, *row)) for name, row in REFUSED.items()])


def plain(text, *places):
    """Text without the places of files, and without what differs from run to run."""
    for place in places:
        text = text.replace(place, "FILE").replace(json.dumps(place)[1:-1].replace("/", "\\/"), "FILE")
    return text


@once
def on_disk(world, line, name):
    return world.shell(line.replace("FILE", f"$MEDIA/{name}"))


def compare(world, line, address, name, variables):
    """Raises what differs; a file on which a command fails has to fail alike."""
    export = f"export {variables}; " if variables else ""
    near = on_disk(world, line, name)
    far = world.shell(export + line.replace("FILE", address))
    place = world.shell(f"printf %s {address}").output
    path = f"{world.media}/{name}"

    def said(end):
        return end.code, plain(end.output, path, place), plain(end.errors, path, place)

    here, there = said(near), said(far)
    for part, one, other in zip(("exit code", "standard output", "standard error"), here, there):
        expect(one == other, f"{part}: {difference(one, other)}; {far.errors[-200:]}")
    expect(near.files.keys() == far.files.keys(), f"files {sorted(near.files)} and {sorted(far.files)}")
    for file, data in near.files.items():
        if file.endswith((".html", ".xml", ".csv", ".json")):
            one, other = plain(data.decode(), path, place), plain(far.files[file].decode(), path, place)
            expect(one == other, f"{file}: {difference(one, other)}")
        else:
            expect(data == far.files[file], f"{file} is another one")
    return f"exit {near.code}, {len(near.files)} files"


def difference(one, other):
    """Where two texts part."""
    if not isinstance(one, str):
        return f"{one} and {other}"
    start = next((place for place, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))
    start = max(0, start - 30)
    return f"{one[start:start + 100]!r} and {other[start:start + 100]!r}"


def cut(*names):
    """A timeline of two seconds of each, as OpenTimelineIO writes it."""
    def time(value):
        return {"OTIO_SCHEMA": "RationalTime.1", "rate": 25.0, "value": value}
    clips = [{"OTIO_SCHEMA": "Clip.1", "name": f"clip {place}",
              "source_range": {"OTIO_SCHEMA": "TimeRange.1", "start_time": time(10.0), "duration": time(50.0)},
              "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": name}} for place, name in enumerate(names)]
    tracks = [{"OTIO_SCHEMA": "Track.1", "kind": kind, "children": clips} for kind in ("Video", "Audio")]
    return json.dumps({"OTIO_SCHEMA": "Timeline.1", "name": "cut", "tracks": {"OTIO_SCHEMA": "Stack.1", "children": tracks}})


TIMELINES = {
    "export": "mediatool export OPTIONS cut.otio --preset 640x480 -o cut.mov",
    "sound": "mediatool export OPTIONS cut.otio -o cut.wav",
    "thumbs": "mediatool thumbs OPTIONS cut.otio --count 4 -o '{index}.png'",
}
# A timeline, options, words on standard error: nothing is asked of any server.
REFUSED = {
    "no network is allowed": ("$WEB/media/film.mp4", "", "allow-network|network"),
    "another host is allowed": ("$WEB/media/film.mp4", "--allow-network example.org", "localhost|allow-network"),
    "a longer name is allowed": ("$WEB/media/film.mp4", "--allow-network notlocalhost,localhost.example.org", "localhost|allow-network"),
    "S3 is not allowed": ("s3://media/film.mp4", "--allow-network localhost", "allow-network|network"),
}


def timeline(world, line):
    """The same timeline with files and with addresses."""
    near = timeline_run(world, line, "$MEDIA/film.mp4", "$MEDIA/sample.mov", options="")
    world.mark()
    far = timeline_run(world, line, "$WEB/media/film.mp4", "$HTTP/media/sample.mov", options="--allow-network localhost")
    expect(near.code == 0, f"of files: exit {near.code}: {near.errors[-300:]}")
    expect(far.code == 0, f"exit {far.code}: {far.errors[-300:]}")
    requests = world.requests()
    expect(requests, "nothing was asked of a server")
    near.files.pop("cut.otio"), far.files.pop("cut.otio")
    expect(near.files and near.files == far.files, f"{sorted(near.files)} and {sorted(far.files)} differ")
    return f"{len(near.files)} files, {len(requests)} requests"


def timeline_run(world, line, *places, options):
    named = [world.shell(f"printf %s {place}").output for place in places]
    text = cut(*named).replace("'", "'\\''")
    # Files of a timeline are named beside it.
    files = " ".join(place for place in places if place.startswith("$MEDIA"))
    copy = f"mkdir media; cp {files} media" if files else ":"
    if files:
        text = cut(*(f"media/{Path(place).name}" for place in named))
    line = line.replace("OPTIONS", options)
    return world.shell(f"{copy}; printf %s '{text}' > cut.otio; {line}; code=$?; rm -rf media; exit $code")


def refused_timeline(world, place, options, words):
    world.mark()
    end = timeline_run(world, TIMELINES["sound"], place, options=options)
    expect(end.code == 2 and len(end.lines) == 1, f"exit {end.code}: {end.errors[-300:]}")
    expect(re.search(words, end.lines[0]), f"{end.lines[0]}; wanted {words!r}")
    expect(not world.requests(), "a server was asked")
    return end.lines[0]
