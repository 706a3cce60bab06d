"""What is shown of a track's media: edit lists and shapes of pixels of ISO and QuickTime files, read by a plain walk over
the boxes (ISO/IEC 14496-12, 8.6.6), and packet tables of CAF. ffmpeg is told to leave edit lists and tables alone, as what it
makes of them depends on its version."""

import struct
from dataclasses import dataclass, field
from fractions import Fraction

CONTAINERS = {b"moov", b"trak", b"edts", b"mdia"}
FIRST = {b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"}


@dataclass
class Track:
    """What a `trak` box says: its number, and its edits as (duration in the movie's timescale, media time or -1)."""
    number: int = 0
    timescale: int = 0
    edits: list = field(default_factory=list)
    pixel_aspect: Fraction | None = None


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
        tracks[-1].pixel_aspect = find_pixel_aspect(data, body, end)
    if kind in CONTAINERS:
        walk(data, body, end, tracks, movie)
    elif kind == b"mvhd":
        movie["timescale"], movie["duration"] = struct.unpack_from(">IQ" if version else ">II", data, body + (20 if version else 12))
    elif kind == b"mvex":
        movie["fragments"] = True
    elif kind == b"mdhd":
        tracks[-1].timescale = struct.unpack_from(">I", data, body + (20 if version else 12))[0]
    elif kind == b"tkhd":
        tracks[-1].number = struct.unpack_from(">I", data, body + (20 if version else 12))[0]
    elif kind == b"elst":
        entry = ">Qq" if version else ">Ii"
        step = struct.calcsize(entry) + 4
        count = struct.unpack_from(">I", data, body + 4)[0]
        tracks[-1].edits = [struct.unpack_from(entry, data, body + 8 + step * i) for i in range(count)]


def is_fragmented(path):
    """Whether the movie header announces fragments (`mvex`)."""
    if not is_iso(path):
        return False
    with open(path, "rb") as file:
        data = file.read()
    movie = {"timescale": 0}
    walk(data, 0, len(data), [], movie)
    return "fragments" in movie


def stated_duration(path):
    """What the movie header says in seconds; 0 where it says nothing, as for fragments."""
    with open(path, "rb") as file:
        data = file.read()
    movie = {"timescale": 0, "duration": 0}
    walk(data, 0, len(data), [], movie)
    return Fraction(movie["duration"], movie["timescale"]) if movie["timescale"] else Fraction(0)


def find_pixel_aspect(data, body, end):
    """The numbers of the first `pasp` box in a track, which has 16 bytes; None where they make no shape."""
    place = data.find(b"\0\0\0\x10pasp", body, end)
    across, down = struct.unpack_from(">II", data, place + 8) if place >= 0 else (0, 0)
    return Fraction(across, down) if across and down else None


def pixel_aspect(path, number):
    """The shape of a track's pixels by its `pasp` box; None where it has none, or the file is of another kind."""
    if not is_iso(path):
        return None
    track = read(path)[1].get(number)
    return track and track.pixel_aspect


def parts(path, number):
    """(start, end, media start) in seconds of each part of the media that the track's edit list shows, or None without one.

    Empty edits are left out, and parts that continue each other are one. An end is None where the part goes on to the end of
    the media.
    """
    timescale, tracks = read(path)
    track = tracks.get(number)
    if not timescale or not track or not track.timescale or not track.edits:
        return None
    found, start = [], Fraction(0)
    for place, (duration, media_time) in enumerate(track.edits):
        end = start + Fraction(duration, timescale)
        media = Fraction(media_time, track.timescale)
        if media_time != -1:
            is_open = duration == 0 and place + 1 == len(track.edits)
            if found and found[-1][1] == start and found[-1][2] + start - found[-1][0] == media:
                found[-1] = (found[-1][0], None if is_open else end, found[-1][2])
            else:
                found.append((start, None if is_open else end, media))
        start = end
    return found


def packet_table(path):
    """(priming, valid frames) of a CAF file's `pakt` chunk, or None without one."""
    with open(path, "rb") as file:
        data = file.read()
    place = 8
    while data[:4] == b"caff" and place + 12 <= len(data):
        kind, size = struct.unpack_from(">4sq", data, place)
        if kind == b"pakt":
            _, valid, priming, _ = struct.unpack_from(">qqii", data, place + 12)
            return priming, valid
        if size < 0:
            break
        place += 12 + size
    return None
