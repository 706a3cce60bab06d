"""Group `sheets`: sprite sheets and their WebVTT index, read by a strict parser and by webvtt-py."""

import json
import os
import re
import tempfile
from fractions import Fraction
from urllib.parse import unquote

import webvtt

from . import reference
from .commands import check_break
from .programs import mediatool, readable
from .tools import ROOT, expect, ffprobe

CUE = re.compile(r"(\d{2,}):([0-5]\d):([0-5]\d)\.(\d{3}) --> (\d{2,}):([0-5]\d):([0-5]\d)\.(\d{3})")
PLACE = re.compile(r"([A-Za-z0-9._~%/-]+)#xywh=(\d+),(\d+),(\d+),(\d+)")


def sheets(report, files):
    """Sprites of every file with pictures: a valid index that follows the actual times, places that tile the sheets."""
    report.each("sheets", [(name, lambda path=path: one_file(path)) for name, path in readable(files, "video")])


def one_file(path):
    import jsonschema
    end = reference.break_of(path)
    if end is not None:
        with tempfile.TemporaryDirectory() as folder:
            result = made(path, folder)
            expect(result.returncode == 2, f"it breaks off at {end}: exit {result.returncode}")
            check_break(path, json.loads(result.stdout)["images"], is_exact=True)
    with tempfile.TemporaryDirectory() as folder:
        result = made(path, folder, *([] if end is None else ["--end", f"{end.numerator}/{end.denominator}"]))
        manifest = json.loads(result.stdout)
        failed = [image for image in manifest.get("images", ()) if "error" in image]
        expect(result.returncode == (2 if failed else 0) and len(failed) < 11,
               f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
        with open(os.path.join(ROOT, "docs", "schema", "thumbs.json"), encoding="utf-8") as file:
            jsonschema.validate(manifest, json.load(file))
        cues = parse(manifest["vtt"])
        expect([(c.start, c.end, c.text) for c in webvtt.read(manifest["vtt"]).captions]
               == [(clock(start), clock(end), text) for start, end, text in cues], "webvtt-py reads other cues")
        places = tiles(manifest, folder)
        follow(manifest, cues, places)
    return f"{len(cues)} cues"


def made(path, folder, *options):
    return mediatool("thumbs", path, "--sprite", "--count", "11", "--grid", "3x2", "--tolerance", "exact", *options,
                     "-o", os.path.join(folder, "the sprites", "s {index}.jpg"),
                     "--vtt", os.path.join(folder, "index", "i.vtt"), "--json")


def parse(path):
    """(start, end, text) of every cue, in thousandths; nothing is allowed that is not needed."""
    with open(path, encoding="utf-8", newline="") as file:
        blocks = file.read().split("\n\n")
    expect(blocks[0] == "WEBVTT", f"begins with {blocks[0][:20]!r}")
    expect(blocks[-1].endswith("\n") and not blocks[-1].endswith("\n\n"), "does not end with one line break")
    cues = []
    for block in blocks[1:]:
        times, text = block.rstrip("\n").split("\n")
        match = CUE.fullmatch(times)
        expect(match, f"not the times of a cue: {times}")
        hours, minutes, seconds, rest, *end = map(int, match.groups())
        start = ((hours * 60 + minutes) * 60 + seconds) * 1000 + rest
        end = ((end[0] * 60 + end[1]) * 60 + end[2]) * 1000 + end[3]
        expect(start < end, f"empty: {times}")
        expect(not cues or cues[-1][1] == start, f"does not follow the one before: {times}")
        cues.append((start, end, text))
    return cues


def clock(ms):
    return f"{ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02}.{ms % 1000:03}"


def delivered(manifest):
    return [image for image in manifest["images"] if "error" not in image]


def tiles(manifest, folder):
    """The places on each sheet, which lie inside it and do not overlap; by file."""
    places = {}
    for image in delivered(manifest):
        sheet = image["sheet"]
        places.setdefault(sheet["file"], set()).add((sheet["x"], sheet["y"], sheet["width"], sheet["height"]))
    expect(sorted(places) == sorted(os.path.join(folder, "the sprites", name)
                                    for name in os.listdir(os.path.join(folder, "the sprites"))), "other sheets")
    for file, rectangles in places.items():
        stream = ffprobe(file, "-show_streams")["streams"][0]
        width, height = stream["width"], stream["height"]
        expect(stream["codec_name"] == "mjpeg", stream["codec_name"])
        tile = next(iter(rectangles))[2:]
        columns = min(3, len(rectangles))
        wanted = {(n % columns * tile[0], n // columns * tile[1], *tile) for n in range(len(rectangles))}
        expect(rectangles == wanted, f"places {sorted(rectangles)}")
        rows = -(-len(rectangles) // columns)
        expect((width, height) == (columns * tile[0], rows * tile[1]), f"a sheet of {width}x{height}")
    return places


def follow(manifest, cues, places):
    """Each cue begins with its frame's actual time, the first one with the range."""
    shown = {}
    for image in delivered(manifest):
        sheet = image["sheet"]
        shown.setdefault(Fraction(image["actual"]["value"], image["actual"]["timescale"]), sheet)
    first = manifest["images"][0]["requested"]
    second = manifest["images"][1]["requested"]
    half = (Fraction(second["value"], second["timescale"]) - Fraction(first["value"], first["timescale"])) / 2
    start = Fraction(first["value"], first["timescale"]) - half
    times = sorted(shown)
    wanted = [thousandths(start)] + [thousandths(time) for time in times[1:]]
    got = {}
    for begin, _, text in cues:
        match = PLACE.fullmatch(text)
        expect(match, f"no reference: {text}")
        file = os.path.normpath(os.path.join(os.path.dirname(manifest["vtt"]), unquote(match[1])))
        place = tuple(map(int, match.groups()[1:]))
        expect(place in places.get(file, ()), f"refers to no place: {text}")
        got[begin] = place
    for time, begin in zip(times, wanted):
        sheet = shown[time]
        # Of pictures within one thousandth, the last has the cue.
        if wanted.count(begin) == 1:
            expect(got.get(begin) == (sheet["x"], sheet["y"], sheet["width"], sheet["height"]),
                   f"no cue of the frame at {float(time)}")


def thousandths(time):
    return int(time * 1000 + Fraction(1, 2))
