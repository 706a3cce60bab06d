"""Edit lists of ISO and QuickTime files, read by a plain walk over the boxes (ISO/IEC 14496-12, 8.6.6)."""

import struct
from dataclasses import dataclass, field
from fractions import Fraction

CONTAINERS = {b"moov", b"trak", b"edts", b"mdia"}
FIRST = {b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"}


@dataclass
class Track:
    """What a `trak` box says: its number, and its edits as (duration, media time or -1) in the movie's timescale."""
    number: int = 0
    timescale: int = 0
    edits: list = field(default_factory=list)


def is_iso(path):
    """Whether the file begins like an ISO or QuickTime file."""
    with open(path, "rb") as file:
        return file.read(8)[4:] in FIRST


def read(path):
    """The movie's timescale and its tracks by number; (0, {}) where there is no `moov`."""
    with open(path, "rb") as file:
        data = file.read()
    tracks, movie = [], {"timescale": 0}
    walk(data, 0, len(data), tracks, movie)
    return movie["timescale"], {track.number: track for track in tracks}


def walk(data, place, end, tracks, movie):
    while place + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, place)
        body = place + 8
        if size == 1:
            size, body = struct.unpack_from(">Q", data, body)[0], place + 16
        elif size == 0:
            size = end - place
        if size < body - place or place + size > end:
            return
        read_box(kind, data, body, place + size, tracks, movie)
        place += size


def read_box(kind, data, body, end, tracks, movie):
    version = data[body] if body < end else 0
    if kind == b"trak":
        tracks.append(Track())
    if kind in CONTAINERS:
        walk(data, body, end, tracks, movie)
    elif kind == b"mvhd":
        movie["timescale"] = struct.unpack_from(">I", data, body + (20 if version else 12))[0]
    elif kind == b"mdhd":
        tracks[-1].timescale = struct.unpack_from(">I", data, body + (20 if version else 12))[0]
    elif kind == b"tkhd":
        tracks[-1].number = struct.unpack_from(">I", data, body + (20 if version else 12))[0]
    elif kind == b"elst":
        entry = ">Qq" if version else ">Ii"
        step = struct.calcsize(entry) + 4
        count = struct.unpack_from(">I", data, body + 4)[0]
        tracks[-1].edits = [struct.unpack_from(entry, data, body + 8 + step * i) for i in range(count)]


def edited_interval(path, number):
    """(start, end) in seconds of what the track's edit list shows, or None without one.

    The start is the sum of the leading empty edits; the end is the sum of all edits.
    """
    timescale, tracks = read(path)
    track = tracks.get(number)
    if not timescale or not track or not track.edits:
        return None
    start = 0
    for duration, media_time in track.edits:
        if media_time != -1:
            break
        start += duration
    return Fraction(start, timescale), Fraction(sum(duration for duration, _ in track.edits), timescale)
