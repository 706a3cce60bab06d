"""Clicks of one sample at known places, through every codec and every output: waveforms do not drift.

60 minutes with a click each 60 seconds take some minutes and half a gigabyte of space.
"""

import argparse
import json
import os
import struct
import sys
import tempfile
from fractions import Fraction

import numpy

from .programs import MEDIATOOL
from .tools import Report, expect, ffprobe, run

ENCODERS = {
    "wav": ["-c:a", "pcm_s16le"], "flac": ["-c:a", "flac"], "mp3": ["-c:a", "libmp3lame", "-b:a", "128k"],
    "m4a": ["-c:a", "aac", "-b:a", "128k"], "ogg": ["-c:a", "libvorbis", "-q:a", "5"],
    "opus": ["-c:a", "libopus", "-b:a", "128k"],
}
EXACT = {"wav", "flac"}
LEVELS = [64, 256, 1000, 4096, 44100]
PIXELS_PER_SECOND = "33.3"
LOUD = 30000
SPREAD = 2048  # frames over which a lossy codec smears a click


def main():
    parser = argparse.ArgumentParser(prog="scripts/check clicks", description=__doc__)
    parser.add_argument("--minutes", type=int, default=60, help="length of each track (default: 60)")
    parser.add_argument("--every", type=int, default=60, help="seconds between clicks")
    parser.add_argument("--only", default=",".join(ENCODERS), help="codecs: " + " ".join(ENCODERS))
    options = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only.split(","):
            # Opus knows 48 kHz alone.
            rate = 48000 if name == "opus" else 44100
            places = [second * rate for second in range(0, options.minutes * 60, options.every)]
            path = make(folder, name, rate, options.minutes * 60 * rate, places)
            report.each("clicks", [(f"{name}, {kind}", lambda check=check: check(path, name, rate, places))
                                   for kind, check in CHECKS.items()])
            os.remove(path)
    return report.finish()


def make(folder, name, rate, frames, places):
    samples = numpy.zeros(frames, "<i2")
    samples[places] = LOUD
    path = os.path.join(folder, f"clicks.{name}")
    run(["ffmpeg", "-v", "error", "-f", "s16le", "-ar", str(rate), "-ac", "1", "-i", "-", *ENCODERS[name], path],
        input=samples.tobytes())
    return path


def waveform(path, *arguments):
    return run([MEDIATOOL, "waveform", path, *map(str, arguments)])


def check_levels(path, name, rate, places):
    """All zoom levels from one decode."""
    with tempfile.TemporaryDirectory() as folder:
        waveform(path, "-o", os.path.join(folder, "{spp}.dat"), "--samples-per-pixel", ",".join(map(str, LEVELS)))
        for level in LEVELS:
            with open(os.path.join(folder, f"{level}.dat"), "rb") as file:
                header, data = struct.unpack("<iIiiI", file.read(20)), file.read()
            expect(header[:4] == (1, 0, rate, level), f"the header says {header}")
            compare(numpy.frombuffer(data, "<i2").reshape(-1, 2), Fraction(level), name, places, f"{level} samples")
    return f"{len(places)} clicks at {len(LEVELS)} levels"


def check_lines(path, name, rate, places):
    text = waveform(path, "-o", "-", "--format", "csv", "--pixels-per-second", PIXELS_PER_SECOND).decode()
    pairs = numpy.array([line.split(",") for line in text.splitlines()], int)
    compare(pairs, rate / Fraction(PIXELS_PER_SECOND), name, places, "csv")
    return f"{len(places)} clicks in {len(pairs)} points"


def check_wavesurfer(path, name, rate, places):
    content = json.loads(waveform(path, "-o", "-", "--format", "wavesurfer", "--pixels-per-second", PIXELS_PER_SECOND))
    pairs = numpy.array(content["peaks"][0]).reshape(-1, 2) * 32768
    compare(pairs, rate / Fraction(PIXELS_PER_SECOND), name, places, "wavesurfer")
    return f"{len(places)} clicks in {len(pairs)} points"


def check_picture(path, name, rate, places):
    """The picture's columns, by how many of their pixels are ink above the middle."""
    with tempfile.TemporaryDirectory() as folder:
        png = os.path.join(folder, "a.png")
        waveform(path, "-o", png, "--pixels-per-second", PIXELS_PER_SECOND, "--no-axis", "--no-rms", "--height", 64,
                 "--color", "black", "--background", "white")
        width = ffprobe(png, "-show_streams")["streams"][0]["width"]
        grey = numpy.frombuffer(run(["ffmpeg", "-v", "error", "-i", png, "-f", "rawvideo", "-pix_fmt", "gray", "-"]),
                                "u1").reshape(64, width)
        # The middle row is ink wherever there is silence.
        ink = (grey[:32] < 128).sum(axis=0)
    pairs = numpy.stack([-ink, ink], axis=1)
    compare(pairs, rate / Fraction(PIXELS_PER_SECOND), name, places, "png", fine=False)
    return f"{len(places)} clicks in {width} columns"


def compare(pairs, spacing, name, places, label, fine=True):
    """Each click is the loudest of what is around it, in its own point; without loss there is nothing else."""
    wanted = [int(place / spacing) for place in places]
    # Clicks are positive, and a codec's ringing goes both ways.
    height = pairs[:, 1]
    if name in EXACT:
        found = numpy.nonzero(height)[0].tolist()
        expect(found == wanted, f"{label}: points {found[:5]}…, wanted {wanted[:5]}…")
        expect(not fine or set(pairs[wanted, 1]) == {LOUD}, f"{label}: other heights")
        return
    reach = max(2, int(SPREAD / spacing))
    for place, point in zip(places, wanted):
        first = max(0, point - reach)
        around = height[first:point + reach + 1]
        loudest = numpy.nonzero(around == around.max())[0] + first
        expect(around.max() > (LOUD / 10 if fine else 3), f"{label}: no click at {place}")
        # Where a point begins with the click, the codec's smearing may lift the point before it as high.
        allowed = {point} if int((place - 1) / spacing) == point else {point, point - 1}
        expect(allowed & set(loudest.tolist()), f"{label}: the click at {place} is in {loudest}, wanted {point}")


CHECKS = {"levels": check_levels, "csv": check_lines, "wavesurfer": check_wavesurfer, "png": check_picture}

sys.exit(main())
