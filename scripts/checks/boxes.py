"""What is shown of a track's media: edit lists and shapes of pixels of ISO and QuickTime files, read by a plain walk over
the boxes (ISO/IEC 14496-12, 8.6.6), and packet tables of CAF. ffmpeg is told to leave edit lists and tables alone, as what it
makes of them depends on its version."""

import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction

CONTAINERS = {b"moov", b"trak", b"edts", b"mdia", b"minf", b"stbl", b"mvex", b"moof", b"traf"}
FIRST = {b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"}


@dataclass
class Track:
    """What a `trak` box says: its number, and its edits as (duration in the movie's timescale, media time or -1)."""
    number: int = 0
    timescale: int = 0
    edits: list = field(default_factory=list)
    # How long the media is, and the durations and offsets of its samples, in ticks.
    length: int = 0
    durations: list = field(default_factory=list)
    offsets: list = field(default_factory=list)
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


def children(data, place, end):
    """The type, the start and the end of the payload of each whole box."""
    while place + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, place)
        body = place + 8
        if size == 1:
            size, body = struct.unpack_from(">Q", data, body)[0], place + 16
        elif size == 0:
            size = end - place
        if size < body - place or place + size > end:
            return
        yield kind, body, place + size
        place += size


def walk(data, place, end, tracks, movie):
    for kind, body, last in children(data, place, end):
        read_box(kind, data, body, last, tracks, movie)


def read_box(kind, data, body, end, tracks, movie):
    version = data[body] if body < end else 0
    if kind == b"trak":
        tracks.append(Track())
        tracks[-1].pixel_aspect = find_pixel_aspect(data, body, end)
    if kind == b"mvex":
        movie["fragments"] = Fragments({track.number: sum(track.durations) for track in tracks})
    if kind in CONTAINERS:
        walk(data, body, end, tracks, movie)
    elif kind in (b"trex", b"tfhd", b"tfdt", b"trun") and "fragments" in movie:
        movie["fragments"].read(kind, data, body)
    elif kind in (b"stts", b"ctts"):
        count = struct.unpack_from(">I", data, body + 4)[0]
        runs = [struct.unpack_from(">Ii", data, body + 8 + 8 * i) for i in range(count)]
        values = [value for samples, value in runs for _ in range(samples)]
        if kind == b"stts":
            tracks[-1].durations = values
        else:
            tracks[-1].offsets = values
    elif kind == b"mvhd":
        movie["timescale"], movie["duration"] = struct.unpack_from(">IQ" if version else ">II", data, body + (20 if version else 12))
    elif kind == b"mdhd":
        tracks[-1].timescale, tracks[-1].length = struct.unpack_from(">IQ" if version else ">II", data, body + (20 if version else 12))
    elif kind == b"tkhd":
        tracks[-1].number = struct.unpack_from(">I", data, body + (20 if version else 12))[0]
    elif kind == b"elst":
        entry = ">Qq" if version else ">Ii"
        step = struct.calcsize(entry) + 4
        count = struct.unpack_from(">I", data, body + 4)[0]
        tracks[-1].edits = [struct.unpack_from(entry, data, body + 8 + step * i) for i in range(count)]


class Fragments:
    """Where the last sample of each fragment begins and ends (8.8), by track, in ticks."""

    def __init__(self, ends):
        self.ends, self.defaults, self.lasts, self.track, self.default = ends, {}, {}, 0, 0

    def read(self, kind, data, body):
        flags = struct.unpack_from(">I", data, body)[0] & 0xFFFFFF
        if kind == b"trex":
            number, _, duration = struct.unpack_from(">III", data, body + 4)
            self.defaults[number] = duration
        elif kind == b"tfhd":
            self.track = struct.unpack_from(">I", data, body + 4)[0]
            place = body + 8 + (8 if flags & 1 else 0) + (4 if flags & 2 else 0)
            self.default = struct.unpack_from(">I", data, place)[0] if flags & 8 else self.defaults.get(self.track, 0)
        elif kind == b"tfdt":
            self.ends[self.track] = struct.unpack_from(">Q" if data[body] else ">I", data, body + 4)[0]
        else:
            count = struct.unpack_from(">I", data, body + 4)[0]
            start = body + 8 + (4 if flags & 1 else 0) + (4 if flags & 4 else 0)
            step = 4 * bin(flags & 0xF00).count("1")
            for i in range(count):
                duration = struct.unpack_from(">I", data, start + step * i)[0] if flags & 0x100 else self.default
                begin = self.ends.get(self.track, 0)
                self.ends[self.track] = begin + duration
            if count:
                self.lasts.setdefault(self.track, {})[begin] = begin + duration


def last_samples(path, number, is_video):
    """{start: end} in ticks of the samples of a track whose durations versions of ffprobe take from different places: the last
    one, and the last of each fragment of sound.

    All samples last as long as their durations together; or as long as the media, or as the edit list shows them, where those
    only say when they are decoded.
    """
    if not is_iso(path):
        return {}
    with open(path, "rb") as file:
        data = file.read()
    tracks, movie = [], {"timescale": 0}
    walk(data, 0, len(data), tracks, movie)
    track = next((track for track in tracks if track.number == number), Track())
    if "fragments" in movie and number in movie["fragments"].lasts:
        return {} if is_video else movie["fragments"].lasts[number]
    starts, time = [], 0
    for place, duration in enumerate(track.durations):
        starts.append(time + (track.offsets[place] if place < len(track.offsets) else 0))
        time += duration
    if not starts:
        return {}
    end = min(starts) + max(time, track.length if track.offsets else 0)
    if end <= max(starts) and track.edits:
        length, begin = track.edits[-1]
        end = begin + math.ceil(Fraction(length * track.timescale, movie["timescale"]))
    return {max(starts): end}


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
