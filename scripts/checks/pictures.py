"""Group `pictures`: SVG files, drawn by librsvg, show what the PNG files of the same run show: all but labels to the pixel."""

import os
import shutil
import tempfile
import zlib

import numpy

from . import reference
from .peaks import refused
from .programs import mediatool, readable
from .tools import expect, ffprobe, run

STYLES = {
    "standard": [],
    "split in dB": ["--split-channels", "--height", "400", "--amplitude", "db", "--background", "transparent",
                    "--color", "#d04000a0,teal", "--rms-color", "#ffffff60"],
    "bars": ["--bar-width", "3", "--bar-gap", "2", "--text-scale", "2", "--amplitude-scale", "auto", "--width", "777"],
    "rounded bars": ["--bar-width", "6", "--bar-style", "rounded", "--no-axis", "--no-rms"],
}
# librsvg shades the ends of rounded bars by its own rule; everything else is the same to the pixel.
SHADES = {"rounded bars": 40}


def pictures(report, files):
    """Every file with sound, each in one of the looks."""
    if not shutil.which("rsvg-convert"):
        print("pictures: rsvg-convert (librsvg2-bin) is not here: nothing compared")
        return
    styles = list(STYLES)
    jobs = []
    for name, path in readable(files, "audio"):
        style = styles[zlib.crc32(name.encode()) % len(styles)]
        jobs.append((f"{name}, {style}", lambda path=path, style=style: compare(path, style)))
    report.each("pictures", jobs)


def compare(path, style):
    if reference.sound(path).is_ruined:
        return refused(path)
    with tempfile.TemporaryDirectory() as folder:
        png, svg, drawn = (os.path.join(folder, name) for name in ("a.png", "a.svg", "drawn.png"))
        result = mediatool("waveform", path, "-o", png, "-o", svg, *STYLES[style])
        expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
        run(["rsvg-convert", "--unlimited", svg, "-o", drawn])
        ours, theirs = pixels(png), pixels(drawn)
        expect(ours.shape == theirs.shape, f"{theirs.shape} pixels, wanted {ours.shape}")
        # What is transparent has no colour, and little alpha leaves few bits of it.
        ours[..., :3] = ours[..., :3] * ours[..., 3:] // 255
        theirs[..., :3] = theirs[..., :3] * theirs[..., 3:] // 255
        scale = int(options[options.index("--text-scale") + 1]) if "--text-scale" in (options := STYLES[style]) else 1
        # Below the ticks of the axis, which is 15 rows high.
        rows = ours.shape[0] if "--no-axis" in options else ours.shape[0] - 10 * scale
        compare_labels(labels(ours[rows:], scale), labels(theirs[rows:], scale), scale)
        ours, theirs = ours[:rows], theirs[:rows]
        difference = abs(ours - theirs).max(axis=2)
        worst = int(difference.max())
        expect(worst <= SHADES.get(style, 2), f"{numpy.count_nonzero(difference > 2)} pixels differ, by up to {worst}")
        expect(len(numpy.unique(ours.reshape(-1, 4), axis=0)) > 1, "the picture is empty")
        return f"{ours.shape[1]}x{ours.shape[0]}, {worst} at most"


def labels(rows, scale):
    """(centre, ink) of each label of an axis, from left to right."""
    if not len(rows):
        return []
    ink = abs(rows - rows[-1, -1]).sum(axis=(0, 2)).astype(float)
    columns = numpy.flatnonzero(ink)
    runs = numpy.split(columns, numpy.flatnonzero(numpy.diff(columns) > 5 * scale) + 1)
    return [((run * ink[run]).sum() / ink[run].sum(), ink[run].sum()) for run in runs if len(run)]


def compare_labels(ours, theirs, scale):
    """Both draw the same text in the same places, each with its own way to shade letters."""
    expect(len(ours) == len(theirs), f"{len(theirs)} labels, wanted {len(ours)}")
    for (place, ink), (other, others) in zip(ours, theirs):
        expect(abs(place - other) <= 1.5 * scale, f"a label is at {other:.1f}, wanted {place:.1f}")
        expect(0.7 < others / ink < 1.4, f"a label has {others / ink:.2f} of the ink")


def pixels(path):
    stream = ffprobe(path, "-show_streams")["streams"][0]
    raw = run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-"])
    return numpy.frombuffer(raw, "u1").reshape(stream["height"], stream["width"], 4).astype(int)
