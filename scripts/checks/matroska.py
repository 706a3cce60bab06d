"""Languages and delays of Matroska and WebM tracks, read by a plain walk over the elements (RFC 8794, RFC 9559)."""

from fractions import Fraction

EBML, SEGMENT, TRACKS, ENTRY = 0x1A45DFA3, 0x18538067, 0x1654AE6B, 0xAE
CLUSTER, LANGUAGE, CODEC_DELAY = 0x1F43B675, 0x22B59C, 0x56AA


def languages(path):
    """The `Language` of each entry of the track list, in its order; None for a file that is no Matroska file.

    ffprobe tells a tag LANGUAGE of the track in its place, where there is one.
    """
    return entries(path, language)


def delays(path):
    """The `CodecDelay` of each entry of the track list in seconds; None for a file that is no Matroska file."""
    return entries(path, delay)


def entries(path, read):
    """What a function makes of each entry of the track list, in its order; None for a file that is no Matroska file."""
    with open(path, "rb") as file:
        data = file.read(1 << 22)
    if int.from_bytes(data[:4], "big") != EBML:
        return None
    for kind, start, end in elements(data, 0, len(data)):
        if kind == SEGMENT:
            for inner, first, last in elements(data, start, end):
                if inner == TRACKS:
                    return [read(data, *entry) for name, *entry in elements(data, first, last) if name == ENTRY]
                if inner == CLUSTER:
                    break
    return None


def language(data, start, end):
    """What an entry says; `eng` is what the format takes for granted."""
    for kind, first, last in elements(data, start, end):
        if kind == LANGUAGE:
            return data[first:last].split(b"\0")[0].decode()
    return "eng"


def delay(data, start, end):
    """How many seconds of an entry's sound come before what is heard."""
    for kind, first, last in elements(data, start, end):
        if kind == CODEC_DELAY:
            return Fraction(int.from_bytes(data[first:last], "big"), 10**9)
    return Fraction(0)


def elements(data, place, end):
    """(ID, start, end) of the elements between two places."""
    while place < end:
        kind, place = number(data, place, keeps_mark=True)
        size, place = number(data, place, keeps_mark=False)
        last = end if size is None else min(end, place + size)
        yield kind, place, last
        place = last


def number(data, place, keeps_mark):
    """A number of variable length, and the place after it; a size of nothing but ones is unknown, which is None."""
    length = 9 - data[place].bit_length()
    value = int.from_bytes(data[place:place + length], "big")
    if not keeps_mark:
        value &= (1 << 7 * length) - 1
        if value == (1 << 7 * length) - 1:
            value = None
    return value, place + length
