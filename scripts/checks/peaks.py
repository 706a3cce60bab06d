"""Group `peaks`: `mediatool waveform` against peaks computed here from ffmpeg's PCM by the specification's rules."""

import json
import os
import struct
import tempfile
from fractions import Fraction

import numpy

from . import reference
from .programs import is_refused_as_damaged, mediatool, readable
from .schema import problems_of, validator
from .tools import expect

SETTINGS = [(64, 8, False), (256, 16, True), (64, 16, False), (256, 8, True)]
PIXELS_PER_SECOND = "33.3"


def peaks(report, files):
    """All forms, both depths, mixed and split channels, two zoom levels, points a second; peaks files as input."""
    schema = validator("waveform")
    report.each("peaks", [(name, lambda path=path: compare(path, schema)) for name, path in readable(files, "audio")])


def compare(path, schema):
    sound = reference.sound(path)
    if sound.is_ruined:
        return refused(path)
    int16 = reference.to_int16(sound.presented(sound.kind), sound.kind)
    for samples_per_pixel, bits, split in SETTINGS:
        first = (samples_per_pixel, bits, split) in SETTINGS[:2]
        wanted = reference.peaks(int16, samples_per_pixel, bits, split)
        label = f"{samples_per_pixel} samples, {bits} bits{', split' if split else ''}"
        with tempfile.TemporaryDirectory() as folder:
            dat, text = os.path.join(folder, "peaks.dat"), os.path.join(folder, "peaks.json")
            result = mediatool("waveform", path, "-o", dat, "-o", text, "--samples-per-pixel", samples_per_pixel,
                               "--bits", bits, *(["--split-channels"] if split else []))
            expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
            with open(dat, "rb") as file:
                check_bytes(file.read(), dat_file(wanted, sound.rate, samples_per_pixel, bits), f"dat, {label}")
            with open(text, "rb") as file:
                check_bytes(file.read(), json_file(wanted, sound.rate, samples_per_pixel, bits), f"json, {label}")
            if first:
                check_conversion(folder, wanted, sound.rate, samples_per_pixel, bits, schema)
    check_threads(path)
    for split in (False, True):
        compare_rates(path, int16, sound.rate, split, schema)
    return f"{len(int16)} frames, {int16.shape[1]} channels, from {sound.kind}"


def refused(path):
    """A track of which nothing can be decoded is an error, and no file is written."""
    with tempfile.TemporaryDirectory() as folder:
        detail = is_refused_as_damaged("waveform", path, "-o", os.path.join(folder, "peaks.dat"))
        expect(not os.listdir(folder), "there is a file all the same")
        return detail


def check_threads(path):
    """The same bytes at any number of threads."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for threads in (1, 2, 3, 8):
            dat = os.path.join(folder, f"{threads}.dat")
            result = mediatool("waveform", path, "-o", dat, "--samples-per-pixel", 64, "--threads", threads)
            expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
            with open(dat, "rb") as file:
                made[threads] = file.read()
    for threads, got in made.items():
        check_bytes(got, made[1], f"dat with {threads} threads")


def check_conversion(folder, wanted, rate, samples_per_pixel, bits, schema):
    """From each form into the other, and three points joined into one."""
    again, coarse = os.path.join(folder, "again.json"), os.path.join(folder, "coarse.dat")
    convert("peaks.dat", folder, again, [], schema)
    with open(again, "rb") as file:
        check_bytes(file.read(), json_file(wanted, rate, samples_per_pixel, bits), "json of dat")
    convert("peaks.json", folder, coarse, ["--samples-per-pixel", samples_per_pixel * 3], schema)
    starts = numpy.arange(0, len(wanted), 3)
    joined = wanted if not len(wanted) else numpy.stack(
        [numpy.minimum.reduceat(wanted[:, :, 0], starts), numpy.maximum.reduceat(wanted[:, :, 1], starts)], axis=2)
    with open(coarse, "rb") as file:
        check_bytes(file.read(), dat_file(joined, rate, samples_per_pixel * 3, bits), "three points in one")


def convert(name, folder, output, arguments, schema):
    result = mediatool("waveform", os.path.join(folder, name), "-o", output, "--json", *arguments)
    expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
    expect(not (problems := problems_of(schema, json.loads(result.stdout))), problems)


def compare_rates(path, int16, rate, split, schema):
    """csv and wavesurfer at a fraction of points a second, dat at the whole number of samples below it."""
    asked = Fraction(PIXELS_PER_SECOND)
    spacing = Fraction(rate) / asked
    points = -(-len(int16) * spacing.denominator // spacing.numerator)
    starts = [k * spacing.numerator // spacing.denominator for k in range(points)]
    wanted = reference.peaks_from(int16, starts, 16, split)
    label = f"{PIXELS_PER_SECOND} points a second{', split' if split else ''}"
    with tempfile.TemporaryDirectory() as folder:
        lines, surfer, dat = (os.path.join(folder, name) for name in ("a.csv", "a.json", "a.dat"))
        common = ["--pixels-per-second", PIXELS_PER_SECOND, "--json", *(["--split-channels"] if split else [])]
        result = mediatool("waveform", path, "-o", lines, "-o", dat, *common)
        expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
        summary = json.loads(result.stdout)
        expect(not (problems := problems_of(schema, summary)), problems)
        densities = [Fraction(output["pixelsPerSecond"]["num"], output["pixelsPerSecond"]["den"])
                     for output in summary["outputs"]]
        expect(densities == [asked, Fraction(rate, int(spacing))], f"{label}: the summary says {densities}")
        with open(lines, "rb") as file:
            check_bytes(file.read(), csv_file(wanted), f"csv, {label}")
        with open(dat, "rb") as file:
            whole = reference.peaks(int16, int(spacing), 16, split)
            check_bytes(file.read(), dat_file(whole, rate, int(spacing), 16), f"dat, {label}")
        result = mediatool("waveform", path, "-o", surfer, "--format", "wavesurfer", *common)
        expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
        with open(surfer) as file:
            got = json.load(file)
        values = [(wanted[:, channel, :].flatten() / 32768).tolist() for channel in range(wanted.shape[1])]
        expect(got == {"peaks": values, "duration": len(int16) / rate}, f"wavesurfer, {label}: other values")


def csv_file(wanted):
    """A line a point: minimum and maximum of each channel in turn."""
    return "".join(",".join(map(str, point)) + "\n" for point in wanted.reshape(len(wanted), -1).tolist()).encode()


def dat_file(wanted, rate, samples_per_pixel, bits):
    """audiowaveform's binary form: version 1 for one channel, else 2."""
    points, channels, _ = wanted.shape
    version = 1 if channels == 1 else 2
    header = struct.pack("<iIiiI", version, 1 if bits == 8 else 0, rate, samples_per_pixel, points)
    if version == 2:
        header += struct.pack("<i", channels)
    return header + wanted.astype("<i1" if bits == 8 else "<i2").tobytes()


def json_file(wanted, rate, samples_per_pixel, bits):
    """audiowaveform's JSON: one line, these keys in this order."""
    points, channels, _ = wanted.shape
    content = {"version": 2, "channels": channels, "sample_rate": rate, "samples_per_pixel": samples_per_pixel,
               "bits": bits, "length": points, "data": wanted.flatten().tolist()}
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def check_bytes(got, wanted, label):
    if got == wanted:
        return
    common = min(len(got), len(wanted))
    different = numpy.nonzero(numpy.frombuffer(got[:common], "u1") != numpy.frombuffer(wanted[:common], "u1"))[0]
    place = int(different[0]) if len(different) else common
    expect(False, f"{label}: {len(got)} bytes, wanted {len(wanted)}; they part at {place}: "
                  f"{got[place:place + 24]!r}, wanted {wanted[place:place + 24]!r}")
