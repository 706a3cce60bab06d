"""Group `pictures`: SVG files, drawn by librsvg, show what the PNG files of the same run show."""

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
        difference = abs(ours - theirs).max(axis=2)
        worst = int(difference.max())
        expect(worst <= SHADES.get(style, 2), f"{numpy.count_nonzero(difference > 2)} pixels differ, by up to {worst}")
        expect(len(numpy.unique(ours.reshape(-1, 4), axis=0)) > 1, "the picture is empty")
        return f"{ours.shape[1]}x{ours.shape[0]}, {worst} at most"


def pixels(path):
    stream = ffprobe(path, "-show_streams")["streams"][0]
    raw = run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-"])
    return numpy.frombuffer(raw, "u1").reshape(stream["height"], stream["width"], 4).astype(int)
