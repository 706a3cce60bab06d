"""Group `peaks`: `mediatool waveform` against peaks computed here from ffmpeg's PCM by the specification's rules."""

import json
import os
import struct
import tempfile

import numpy

from . import reference
from .programs import mediatool, readable
from .tools import expect

SETTINGS = [(64, 8, False), (256, 16, True), (64, 16, False), (256, 8, True)]


def peaks(report, files):
    """Both file forms, both depths, mixed and split channels, two zoom levels."""
    report.each("peaks", [(name, lambda path=path: compare(path)) for name, path in readable(files, "audio")])


def compare(path):
    sound = reference.sound(path)
    int16 = reference.to_int16(sound.presented(sound.kind), sound.kind)
    for samples_per_pixel, bits, split in SETTINGS:
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
    return f"{len(int16)} frames, {int16.shape[1]} channels, from {sound.kind}"


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
