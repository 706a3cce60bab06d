"""Group `loudness`: what `qc` measures of sound against ffmpeg's ebur128 and, where it can be loaded, libebur128.

ffmpeg and libebur128 know neither edit lists' ends nor late starts, so both get the PCM cut and filled as it is presented.
Neither lets its filter for true peaks run out, so that it misses the peak between a loud last sample and the silence after
it: for true peaks both get some silence more.
"""

import ctypes
import ctypes.util
import json
import math
import os
import re
import tempfile

import numpy

from . import reference
from .programs import mediatool, readable
from .tools import expect, run

LOUDNESS, PEAK = 0.1, 0.2  # LU and dB
TAIL = 0.05  # seconds of silence in which the filter for true peaks runs out
PRINTED = 0.051  # ffmpeg prints one digit
POLICY = """
rules:
  - {id: i, check: loudness.integrated, min: -200}
  - {id: t, check: truePeak, min: -200}
"""


def loudness(report, files):
    """Integrated loudness, range and true peak of each first audio track."""
    with tempfile.NamedTemporaryFile("w", suffix=".yml", delete=False) as policy:
        policy.write(POLICY)
    try:
        report.each("loudness", [(name, lambda path=path: compare(path, policy.name))
                                 for name, path in readable(files, "audio")])
    finally:
        os.unlink(policy.name)


def compare(path, policy):
    sound = reference.sound(path)
    index = reference.streams(path, "audio")[0]["index"]
    result = mediatool("qc", "--json", "--quiet", "--policy", policy, path)
    expect(result.returncode in (0, 1), f"exit {result.returncode}: {result.stderr.decode(errors='replace')[:200]}")
    report = json.loads(result.stdout)
    tracks = {track["trackIndex"]: track for track in report["measurements"]["tracks"]}
    if sound.is_ruined:
        expect(index in report["measurements"].get("emptyTracks", []), "a track that gives nothing is not told")
        expect(any("not one sample" in text or "can be decoded" in text for text in report["warnings"]), "no warning")
        return "nothing can be decoded"
    expect(index in tracks, f"track {index} was not measured")
    ours = tracks[index]["sound"]
    samples = sound.presented("flt")
    peers = {"ffmpeg": ffmpeg(path, samples, sound.rate), "libebur128": libebur128(samples, sound.rate, path)}
    peers = {name: found for name, found in peers.items() if found is not None}
    details = []
    for key, limit in [("integratedLoudness", LOUDNESS), ("loudnessRange", LOUDNESS), ("truePeak", PEAK)]:
        wanted = {name: found[key] for name, found in peers.items() if key in found}
        value = ours.get(key)
        if value is None or None in wanted.values():
            expect(value is None and not any(wanted.values()), f"{key} is {value}, {wanted}")
            continue
        if not wanted:
            continue
        least, greatest = min(wanted.values()), max(wanted.values())
        # Filters of another length find other peaks between samples that jump; there ours lies between the two.
        slack = limit + PRINTED
        if greatest - least <= slack:
            least, greatest = greatest - slack, least + slack
        else:
            least, greatest = least - PRINTED, greatest + PRINTED
        text = ", ".join(f"{name} {number:.2f}" for name, number in wanted.items())
        expect(least <= value <= greatest, f"{key} is {value:.3f}; {text}")
        details.append(f"{key} {value:.2f} ({text})")
    return "; ".join(details)


def layout(path):
    return reference.streams(path, "audio")[0].get("channel_layout")


def tail(samples, rate):
    """Silence to come after the samples."""
    return numpy.zeros((int(TAIL * rate), samples.shape[1]), "<f4")


def ffmpeg(path, samples, rate):
    """ffmpeg prints one digit; what is quieter than -70 LUFS is no loudness."""
    channels = samples.shape[1]
    names = ["-channel_layout", layout(path)] if layout(path) and "channels" not in layout(path) else []

    def summary(peak, *parts):
        process = run(["ffmpeg", "-hide_banner", "-nostats", "-f", "f32le", "-ar", str(rate), "-ac", str(channels),
                       *names, "-i", "-", "-af", f"ebur128=peak={peak}", "-f", "null", "-"],
                      check=False, input=b"".join(numpy.ascontiguousarray(part, "<f4").tobytes() for part in parts))
        return process.stderr.decode(errors="replace").rsplit("Summary:", 1)[-1]

    def number(text, label):
        found = re.search(label + r":\s+(-?[\d.]+|-?inf|nan)", text)
        value = float(found.group(1)) if found else None
        return value if value is not None and math.isfinite(value) else None
    text = summary("none", samples)
    integrated = number(text, r"\bI")
    result = {"truePeak": number(summary("true", samples, tail(samples, rate)), "Peak")}
    if integrated is None or integrated <= -69.95:
        # Where there is not one whole block ffmpeg says -70 too.
        return result
    result["integratedLoudness"] = integrated
    # A range of fewer windows than a few is a matter of where they begin.
    if len(samples) > 10 * rate:
        result["loudnessRange"] = number(text, "LRA")
    return result


def libebur128(samples, rate, path):
    """The library by its C interface; None where it is not there."""
    library = load()
    if library is None:
        return None
    channels = samples.shape[1]
    state = library.ebur128_init(channels, rate, 0b110101)  # EBUR128_MODE_I and EBUR128_MODE_TRUE_PEAK
    if not state:
        return None
    pointer = ctypes.c_void_p(state)
    try:
        def add(part):
            data = numpy.ascontiguousarray(part, "<f4")
            library.ebur128_add_frames_float(pointer, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(data)))
        add(samples)
        value = ctypes.c_double()
        library.ebur128_loudness_global(pointer, ctypes.byref(value))
        result = {"integratedLoudness": value.value if math.isfinite(value.value) else None}
        add(tail(samples, rate))
        peaks = []
        for channel in range(channels):
            library.ebur128_true_peak(pointer, ctypes.c_uint(channel), ctypes.byref(value))
            peaks.append(value.value)
        if max(peaks) > 0:
            result["truePeak"] = 20 * math.log10(max(peaks))
        return result
    finally:
        library.ebur128_destroy(ctypes.byref(pointer))


def load():
    name = ctypes.util.find_library("ebur128")
    if not name:
        return None
    library = ctypes.CDLL(name)
    library.ebur128_init.restype = ctypes.c_void_p
    library.ebur128_init.argtypes = [ctypes.c_uint, ctypes.c_ulong, ctypes.c_int]
    return library
