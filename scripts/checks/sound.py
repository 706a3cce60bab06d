"""Groups `pcm`, `segments` and `range`: the library's PCM against ffmpeg's, cut and filled by the edit list."""

from fractions import Fraction

import numpy

from . import reference
from .programs import mediacheck, readable
from .tools import Failure, expect

# These decoders keep a random state (noise substitution, dither), so that values after a seek differ a little.
RANDOM = {"aac", "ac3", "eac3", "aac_latm"}
NAMES = {"s16": "s16", "flt": "f32"}


def pcm(report, files):
    """Whole tracks, byte for byte."""
    report.each("pcm", [(f"{name} {kind}", lambda path=path, kind=kind: compare_whole(path, kind))
                        for name, path in readable(files, "audio") for kind in NAMES])


def compare_whole(path, kind):
    sound = reference.sound(path)
    got = samples(mediacheck("pcm", path, NAMES[kind], 0), sound, kind)
    compare(got, sound.presented(kind))
    end = "" if sound.end is None else f", edit ends at {sound.end}"
    return f"{len(got)} frames, {sound.lead} silent first, {len(sound.holes)} holes{end}"


def segments(report, files):
    """Sound in small segments, by one thread and by several, is that of one go; with noise of the decoder's own it is
    the same at any number of threads, and as long."""
    report.each("segments", [(name, lambda path=path: compare_segments(path))
                             for name, path in readable(files, "audio")])


def compare_segments(path):
    sound = reference.sound(path)
    serial = mediacheck("pcm", path, "f32", 0)
    parts = {threads: mediacheck("segments", path, "f32", 0, 50_000, threads) for threads in (1, 2, 3, 8)}
    expect(len(set(parts.values())) == 1, "the samples depend on the number of threads")
    if sound.codec not in RANDOM:
        expect(parts[1] == serial, "the samples are not those of decoding in one go")
    expect(len(parts[1]) == len(serial), f"{len(parts[1])} bytes, wanted {len(serial)}")
    return f"{len(serial)} bytes"


def samples(data, sound, kind):
    return numpy.frombuffer(data, reference.RAW[kind][1]).reshape(-1, sound.channels)


def compare(got, wanted):
    """Raises what differs first; not-a-numbers are compared as bits."""
    bits = numpy.dtype(f"u{wanted.itemsize}")
    common = min(len(got), len(wanted))
    different = numpy.nonzero((got[:common].view(bits) != wanted[:common].view(bits)).any(axis=1))[0]
    text = f"{len(got)} frames, wanted {len(wanted)}"
    if len(different):
        at = int(different[0])
        text += (f"; {len(different)} differ, the first at {at}: {got[at].tolist()}, wanted {wanted[at].tolist()}"
                 f"; shifted by {best_shift(got, wanted)}")
    expect(len(got) == len(wanted) and not len(different), text)


def best_shift(got, wanted, reach=4096):
    """By how many frames `got` lies later than `wanted`, by cross-correlation of their first channels; None if silent."""
    length = min(len(got), len(wanted), 1 << 18)
    a = numpy.nan_to_num(got[:length, 0].astype(numpy.float64), posinf=0, neginf=0)
    b = numpy.nan_to_num(wanted[:length, 0].astype(numpy.float64), posinf=0, neginf=0)
    if not length or not a.any() or not b.any():
        return None
    size = 1 << (2 * length - 1).bit_length()
    product = numpy.fft.irfft(numpy.fft.rfft(a, size) * numpy.conj(numpy.fft.rfft(b, size)), size)
    reach = min(reach, length - 1)
    around = numpy.concatenate([product[-reach:] if reach else [], product[:reach + 1]])
    return int(numpy.argmax(around)) - reach


def ranges(report, files):
    """A range from the middle equals that part of the whole."""
    report.each("range", [(name, lambda path=path: compare_range(path)) for name, path in readable(files, "audio")])


def compare_range(path):
    sound = reference.sound(path)
    whole = samples(mediacheck("pcm", path, "s16", 0), sound, "s16")
    if sound.is_ruined:
        expect(len(whole) == 0, f"{len(whole)} frames though nothing can be decoded")
        return "nothing can be decoded"
    expect(len(whole) > 30, f"only {len(whole)} frames")
    details = []
    for first, last in [(len(whole) // 3, len(whole) * 2 // 3), (len(whole) // 2 + 1, len(whole))]:
        start, end = Fraction(first, sound.rate), Fraction(last, sound.rate)
        got = samples(mediacheck("pcm", path, "s16", 0, rational(start), rational(end)), sound, "s16")
        wanted = whole[first:last]
        if sound.codec in RANDOM:
            expect(len(got) == len(wanted), f"{len(got)} frames from {first}, wanted {len(wanted)}")
            shift = best_shift(got, wanted)
            expect(shift in (0, None), f"from {first}: shifted by {shift}")
            details.append(f"{len(got)} by place and count")
        else:
            try:
                compare(got, wanted)
            except Failure as failure:
                raise Failure(f"from {first}: {failure}") from None
            details.append(f"{len(got)} equal")
    return ", ".join(details)


def rational(time):
    return f"{time.numerator}/{time.denominator}"
