"""Requested times against timescales: exact times and the right pictures.

Random decimals and fractions of a second, as people and scripts write them, against files whose times are counted in
ticks of many sizes. Each result's times are compared exactly with ffprobe's of the source, and its pictures and samples
by the numbers that are drawn and stored in them.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import wave
from bisect import bisect_right
from fractions import Fraction

import numpy

from .programs import MEDIATOOL
from .tools import Report, expect, run

SCALES = [600, 8797, 12800, 24000, 30000, 90000, 14112000, 1000000000]
RATES = [8000, 44100, 48000]
SECONDS = 4
SIZE = (64, 48)  # eight bars, one a bit of the frame's number
LONG = 60  # seconds that any command may take


def main():
    parser = argparse.ArgumentParser(prog="scripts/check times", description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="how many in each timescale")
    parser.add_argument("--scales", default=",".join(map(str, SCALES)), help="ticks a second")
    parser.add_argument("--only", default=",".join(CHECKS), help="names: " + " ".join(CHECKS))
    parser.add_argument("--seed", type=int, default=29)
    options = parser.parse_args()
    only = options.only.split(",")
    report = Report(verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        source = make_pictures(folder)
        for scale in map(int, options.scales.split(",")):
            chance = random.Random(f"{options.seed} {scale}")
            ranges = [asked_range(chance) for _ in range(options.times)]
            film = Film(folder, source, scale)
            for name in ("copy", "export", "proxy"):
                report.each(name, [
                    (f"{scale}: {start} to {end}",
                     lambda place=place, start=start, end=end: CHECKS[name](film, place, start, end))
                    for place, (start, end) in enumerate(ranges) if name in only])
            if "thumbs" in only:
                report.each("thumbs", thumbs(film, [start for start, _ in ranges]))
            os.remove(film.path)
        for rate in RATES if {"waveform", "sound"} & set(only) else []:
            chance = random.Random(f"{options.seed} {rate} Hz")
            ranges = [asked_range(chance) for _ in range(options.times)]
            path = make_sound(folder, rate)
            for name in ("waveform", "sound"):
                report.each(name, [
                    (f"{rate} Hz: {start} to {end}",
                     lambda place=place, start=start, end=end: CHECKS[name](path, rate, place, start, end))
                    for place, (start, end) in enumerate(ranges) if name in only])
    return report.finish()


def asked_range(chance):
    """A start and an end as a person or a script would write them, half a second to a second and a half apart."""
    start = asked(chance, 0, SECONDS - 2)
    return start, asked(chance, float(Fraction(start)) + 0.5, 1)


def asked(chance, least, span):
    kind = chance.random()
    if kind < 0.1:
        bottom = chance.randrange(1, 2**31)
        return f"{int((least + chance.random() * span) * bottom) + 1}/{bottom}"
    if kind < 0.3:
        return repr(least + chance.random() * span)
    digits = chance.randrange(1, 18)
    number = int((Fraction(least) + Fraction(chance.random()) * span) * 10**digits)
    return f"{number // 10**digits}.{number % 10**digits:0{digits}d}"


def half_away(number):
    return int(number + Fraction(1, 2)) if number >= 0 else -int(-number + Fraction(1, 2))


def cut(text, scale):
    """A time that was asked for, as a cut has it: rounded once, to the least multiple of the timescale from 48,000 on."""
    fine = scale * max(1, -(-48000 // scale))
    return Fraction(half_away(Fraction(text) * fine), fine)


def make_pictures(folder):
    """Numbered frames at 29.97 a second, with pictures that refer to later ones, and sound beside them."""
    path = os.path.join(folder, "source.mp4")
    bars = f"geq=lum='32+192*mod(floor(N/pow(2,floor(X/{SIZE[0] // 8}))),2)':cb=128:cr=128"
    run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"color=s={SIZE[0]}x{SIZE[1]}:r=30000/1001:d={SECONDS},{bars}",
         "-f", "lavfi", "-i", f"sine=r=44100:d={SECONDS}", "-c:v", "libx264", "-crf", "12", "-bf", "3", "-g", "24",
         "-pix_fmt", "yuv420p", "-c:a", "aac", path])
    return path


class Film:
    """The numbered frames in a file of one timescale, and when each is shown, by ffprobe's word."""

    def __init__(self, folder, source, scale):
        self.folder, self.scale = folder, scale
        self.path = os.path.join(folder, f"scale-{scale}.mp4")
        # Every other timescale has no sound, whose clock would go into the movie's.
        alone = ["-an"] if scale in SCALES[::2] else []
        run(["ffmpeg", "-v", "error", "-i", source, "-c", "copy", *alone, "-video_track_timescale", str(scale),
             self.path])
        pictures = shown(self.path)
        self.times = [time for time, _ in pictures]
        expect([number for _, number in pictures] == list(range(len(pictures))), "the source is not what it should be")

    def wanted(self, start, end):
        """The frames of a part, as times in it and numbers."""
        start, end = cut(start, self.scale), cut(end, self.scale)
        first = bisect_right(self.times, start) - 1
        return [(max(time - start, Fraction(0)), place) for place, time in enumerate(self.times)
                if place >= first and time < end]

    def output(self, name, place):
        return os.path.join(self.folder, f"{name}-{place}.mp4")


def shown(path):
    """When each frame of a file is shown, and which number is drawn on it."""
    entries = json.loads(run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                              "stream=time_base:frame=pts", "-of", "json", path]))
    base = Fraction(entries["streams"][0]["time_base"])
    times = [frame["pts"] * base for frame in entries["frames"]]
    plane = run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-vf",
                 f"scale={SIZE[0]}:{SIZE[1]}", "-f", "rawvideo", "-pix_fmt", "gray", "-"])
    numbers = drawn(plane)
    expect(len(times) == len(numbers), f"{len(times)} times of {len(numbers)} pictures")
    return list(zip(times, numbers))


def drawn(plane):
    """The numbers on grey pictures."""
    pictures = numpy.frombuffer(plane, "u1").reshape(-1, SIZE[1], SIZE[0])
    width = SIZE[0] // 8
    bits = pictures[:, SIZE[1] // 4, width // 2::width] >= 128
    return [int(sum(1 << place for place, bit in enumerate(row) if bit)) for row in bits]


def part(command, film, place, start, end, *options):
    """A part of a film: its frames' times are the source's less the rounded start, its pictures the source's."""
    made = film.output(command, place)
    result = run([MEDIATOOL, command, film.path, "-o", made, "--start", start, "--end", end, "--json", "--quiet",
                  *options], check=False, timeout=LONG)
    expect(result.returncode == 0, result.stderr.decode(errors="replace").strip()[:200])
    try:
        found, wanted = shown(made), film.wanted(start, end)
        expect(len(found) == len(wanted), f"{len(found)} frames instead of {len(wanted)}")
        for number, (one, other) in enumerate(zip(wanted, found)):
            expect(one[0] == other[0], f"frame {number} at {other[0]} instead of {one[0]}")
            expect(one[1] == other[1], f"frame {number} is picture {other[1]} instead of {one[1]}")
    finally:
        os.remove(made)
    content = json.loads(result.stdout)
    requested = content["requested"]
    for name, text in (("start", start), ("end", end)):
        expect(is_asked(requested[name], text), f"requested {name} {requested[name]}")
    return content


def copy(film, place, start, end):
    begins = exact(part("export", film, place, start, end, "--copy")["video"]["delivered"]["start"])
    expect(begins == cut(start, film.scale), f"delivered from {begins}")


def encode(film, place, start, end):
    content = part("export", film, place, start, end, "--speed", "fastest", "--crf", "18")
    begins = exact(content["video"]["delivered"]["start"])
    expect(begins == cut(start, film.scale), f"delivered from {begins}")


def proxy(film, place, start, end):
    part("proxy", film, place, start, end, "--speed", "fastest")


def exact(time):
    return Fraction(time["value"], time["timescale"])


def is_asked(time, text):
    """Whether a time is the one that was written: as near as a denominator of 31 bits allows."""
    return exact(time) == Fraction(text).limit_denominator(2**31 - 1)


def thumbs(film, moments):
    """One check for each image of a single run."""
    folder = os.path.join(film.folder, "images")
    result = json.loads(run([MEDIATOOL, "thumbs", film.path, "--at", ",".join(moments), "--tolerance", "exact", "-o",
                             folder, "--json", "--quiet", "--force"], timeout=LONG * 5))
    jobs = []
    for moment, image in zip(moments, result["images"], strict=True):
        def check(moment=moment, image=image):
            expect("error" not in image, f"{image.get('error')}")
            wanted = bisect_right(film.times, Fraction(moment)) - 1
            expect(exact(image["actual"]) == film.times[wanted], f"{image['actual']}, not {film.times[wanted]}")
            expect(is_asked(image["requested"], moment), f"requested {image['requested']}")
            plane = run(["ffmpeg", "-v", "error", "-i", image["file"], "-f", "rawvideo", "-pix_fmt", "gray", "-"])
            expect(drawn(plane) == [wanted], f"picture {drawn(plane)} instead of {wanted}")
        jobs.append((f"{film.scale}: {moment}", check))
    return jobs


def make_sound(folder, rate):
    """Samples that tell their own numbers: two channels of 16 bits each."""
    path = os.path.join(folder, f"{rate}.wav")
    numbers = numpy.arange(SECONDS * rate, dtype="<u4")
    with wave.open(path, "wb") as file:
        file.setparams((2, 2, rate, 0, "NONE", ""))
        file.writeframes(numbers.tobytes())
    return path


def up(number):
    return -(-number.numerator // number.denominator)


def waveform(path, rate, place, start, end):
    """The first sample not before the start to the last one before the end, of the times as they were asked for."""
    made = f"{path}.{place}.json"
    content = json.loads(run([MEDIATOOL, "waveform", path, "-o", made, "--start", start, "--end", end, "--json",
                              "--quiet"], timeout=LONG))
    os.remove(made)
    first, behind = up(Fraction(start) * rate), up(Fraction(end) * rate)
    expect(exact(content["start"]) == Fraction(first, rate), f"starts at {content['start']}, not {first}/{rate}")
    expect(content["samples"] == behind - first, f"{content['samples']} samples instead of {behind - first}")


def sound(path, rate, place, start, end):
    """The same of exported sound, whose range is rounded as that of pictures is."""
    made = f"{path}.{place}.wav"
    for options in ([], ["--copy"]):
        run([MEDIATOOL, "export", path, "-o", made, "--start", start, "--end", end, "--quiet", *options], timeout=LONG)
        with wave.open(made) as file:
            numbers = numpy.frombuffer(file.readframes(file.getnframes()), "<u4")
        os.remove(made)
        first, behind = up(cut(start, rate) * rate), up(cut(end, rate) * rate)
        expect(numbers.tolist() == list(range(first, behind)),
               f"{len(numbers)} samples from {numbers[:1]} instead of {behind - first} from {first} {options}")


CHECKS = {"copy": copy, "export": encode, "proxy": proxy, "thumbs": None, "waveform": waveform, "sound": sound}

if __name__ == "__main__":
    sys.exit(main())
