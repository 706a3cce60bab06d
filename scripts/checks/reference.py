"""What other programs say about a file: ffmpeg's PCM and frames, put on the presentation's time line.

The time line's zero: for ISO/QuickTime and Matroska files as the container says; for all others (TS, PS, FLV, …) the
container's start, which is the earliest start of a stream.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy

from . import boxes, matroska
from .tools import ffprobe, once, run

# How raw PCM is asked of ffmpeg, and what numpy calls it.
RAW = {"u8": ("u8", "u1"), "s16": ("s16le", "<i2"), "s32": ("s32le", "<i4"), "flt": ("f32le", "<f4"),
       "dbl": ("f64le", "<f8")}
# Decoders that give the same numbers on every processor; the others sum floats in an order that depends on it.
EXACT_AUDIO = ("pcm_", "flac", "alac", "adpcm_", "wavpack", "tta")
# A jump of an audio track's clock by more than this and two of its ticks is a hole; less is the coarseness of a
# container's clock or the jitter of a recorder's.
HOLE = Fraction(1, 100)
# Muxers state the end of an Ogg page too late where a short Vorbis block follows a long one.
VORBIS_HOLE = Fraction(1, 50)
EXACT_VIDEO = {"h264", "hevc", "vp8", "vp9", "av1", "prores", "ffv1", "png", "gif", "rawvideo"}


@cache
def streams(path, kind):
    """ffprobe's streams of one kind ("audio", "video") in order; cover pictures are left out."""
    return [s for s in ffprobe(path, "-show_streams").get("streams", [])
            if s.get("codec_type") == kind and not s.get("disposition", {}).get("attached_pic")
            and s.get("codec_name") not in (None, "unknown")]


@cache
def languages(path):
    """What the track list of a Matroska file says, which ffprobe passes over where there is a tag too."""
    return matroska.languages(path) or []


def language(path, stream):
    """The language of a stream, None where it has none."""
    known = languages(path)[stream["index"]:][:1] or [stream.get("tags", {}).get("language")]
    return None if known[0] == "und" and languages(path) else known[0]


@cache
def container_start(path):
    """The container's start in seconds, exact: the stream start that ffprobe's rounded number stands for."""
    if boxes.is_iso(path):
        return Fraction(0)
    probed = ffprobe(path, "-show_format", "-show_streams")
    if "matroska" in probed["format"]["format_name"]:
        return Fraction(0)
    rounded = Fraction(probed["format"].get("start_time", "0"))
    exact = [Fraction(s["start_pts"]) * Fraction(s["time_base"]) for s in probed["streams"] if "start_pts" in s]
    near = [time for time in exact if abs(time - rounded) < Fraction(1, 1_000_000)]
    return near[0] if near else rounded


def first_packet(path):
    """When the first packet is shown in seconds; by ffprobe's own start from 8.1 on what is heard of it."""
    packets = ffprobe(path, "-read_intervals", "%+2", "-show_entries", "packet=pts_time")["packets"]
    return min((float(packet["pts_time"]) for packet in packets if "pts_time" in packet), default=None)


@cache
def stream_start(path, index):
    """The time of a stream that is its zero: the container's start, or where there are several programs, the earliest start of
    a picture or sound of its own programs, near its own."""
    probed = ffprobe(path, "-show_programs", "-show_streams")
    programs = [{stream["index"] for stream in program["streams"]} for program in probed.get("programs", [])]
    starts = {s["index"]: Fraction(s["start_pts"]) * Fraction(s["time_base"]) for s in probed["streams"]
              if "start_pts" in s and s.get("codec_type") in ("video", "audio")}
    if len(programs) < 2 or index not in starts:
        return container_start(path)
    return min(start for other, start in starts.items() if abs(start - starts[index]) <= 30
               and (other == index or any({index, other} <= program for program in programs)))


def unedited(path):
    """The options by which ffmpeg and ffprobe leave edit lists and padding alone, which are followed here."""
    return ["-ignore_editlist", "1"] if boxes.is_iso(path) else []


def sizes(path):
    """The option that cuts the PCM of WAV into packets of one size, which versions of ffprobe have their own of."""
    with open(path, "rb") as file:
        return ["-max_size", "4096"] if file.read(4) in (b"RIFF", b"RF64", b"BW64") and file.read(8)[4:] == b"WAVE" else []


@cache
def uncropped():
    """The option that has ffmpeg decode whole pictures, as it does before version 7.1, which follows Matroska's crop."""
    known = run(["ffmpeg", "-hide_banner", "-h", "long"]).decode()
    return ["-apply_cropping", "codec"] if "\n-apply_cropping" in known else []


def parts(path, stream):
    """The parts of an edit list (`boxes.parts`), whose starts lie on the stream's clock as all times do; None without one."""
    found = boxes.parts(path, int(stream["id"], 16)) if boxes.is_iso(path) else None
    base = Fraction(stream["time_base"])
    return found and [(round_half_away(start / base) * base, end, media) for start, end, media in found]


def shift(path, stream):
    """What is added to the times of a stream's media in seconds, as the first part of its edit list has it."""
    if stream.get("codec_type") == "audio" and int(stream.get("sample_rate", 0)) > 0:
        return heard(path, stream, int(stream["sample_rate"]))[0]
    found = parts(path, stream)
    return found[0][0] - found[0][2] if found else Fraction(0)


# --- Sound ----------------------------------------------------------------------------------------------------------


@dataclass
class Sound:
    """Where one audio track's samples lie: `lead` silent samples, then ffmpeg's, up to sample `end` (None: all).

    A negative `lead` is how many of ffmpeg's samples lie before time 0, and are cut.
    `holes` are (sample number among ffmpeg's, silent samples to put before it).
    `has_frames` is whether anything of it can be decoded; `is_stated` whether the file says that it has some sound.
    """
    path: str
    track: int
    codec: str
    rate: int
    channels: int
    kind: str
    lead: int
    end: int
    holes: list
    has_frames: bool
    is_stated: bool

    @property
    def is_ruined(self):
        """Whether nothing can be decoded of the sound that there should be, which is an error."""
        return self.is_stated and not self.has_frames

    @property
    def is_exact(self):
        """Whether the decoded values are the same on every processor."""
        return self.codec.startswith(EXACT_AUDIO)

    def decoded(self, kind, flags=()):
        """ffmpeg's own samples as an array of (frames, channels), neither cut nor filled.

        A track of which ffprobe decodes no frame has none; ffmpeg cannot even begin where it has no sample rate.
        """
        form, dtype = RAW[kind]
        if not self.has_frames:
            return numpy.zeros((0, self.channels), dtype)
        data = run(["ffmpeg", "-v", "error", "-nostdin", *flags, *whole_sound(self.path), "-i", self.path, "-map", f"0:a:{self.track}",
                    "-f", form, "-"])
        return numpy.frombuffer(data, dtype).reshape(-1, self.channels)

    def presented(self, kind, flags=(), skipping=0):
        """The same, cut and filled by the edit list: sample 0 is time 0, save for as many silent ones as are skipped."""
        samples = self.decoded(kind, flags)
        parts, done = [], max(0, -self.lead)
        for place, missing in [(done, max(0, self.lead) - skipping), *self.holes, (len(samples), 0)]:
            parts += [samples[done:place],
                      numpy.full((missing, self.channels), 128 if kind == "u8" else 0, samples.dtype)]
            done = place
        return numpy.concatenate(parts)[:None if self.end is None else max(0, self.end - skipping)]


def whole_sound(path):
    """The options by which ffmpeg and ffprobe give all samples, also those that a container says are not heard."""
    return [*unedited(path), "-flags2", "+skip_manual"] if boxes.is_iso(path) or path.endswith(".caf") else []


def heard(path, stream, rate):
    """What is added to the media's times in seconds, and where the sound ends in samples (None: all)."""
    if boxes.is_iso(path):
        shown = parts(path, stream)
        if shown:
            start, end, media = shown[0]
            return start - media, None if shown[-1][1] is None else math.ceil(shown[-1][1] * rate)
        if shown is None:
            tags = {**ffprobe(path, "-show_format")["format"].get("tags", {}), **stream.get("tags", {})}
            if "iTunSMPB" in tags:
                _, priming, _, count = (int(field, 16) for field in tags["iTunSMPB"].split()[:4])
                return Fraction(-priming, rate), count
        return Fraction(0), None
    table = boxes.packet_table(path) if path.endswith(".caf") else None
    return (Fraction(-table[0], rate), table[1]) if table else (Fraction(0), None)


@once
def sound(path, track=0):
    """Finds out how audio track `track` lies on the presentation's time line."""
    stream = streams(path, "audio")[track]
    rate = int(stream["sample_rate"])
    listed = ffprobe(path, *whole_sound(path), "-select_streams", f"{stream['index']}", "-show_frames", "-show_entries",
                     "frame=best_effort_timestamp,sample_fmt,channels,nb_samples")["frames"]
    lead, holes = 0, []
    shift, end = heard(path, stream, rate)
    if listed and "best_effort_timestamp" in listed[0]:
        base, start = Fraction(stream["time_base"]), stream_start(path, stream["index"]) - shift
        late = listed[0]["best_effort_timestamp"] * base - start
        # Where the container's clock is coarser than samples, a first sample within one tick of zero is at zero.
        if base <= Fraction(1, rate) or abs(late) > base:
            lead = round_half_away(late * rate)
        # Matroska says in nanoseconds what its times have in milliseconds.
        delays = matroska.delays(path) or []
        if stream["index"] < len(delays) and delays[stream["index"]] and abs(late + delays[stream["index"]]) <= base:
            lead = -round_half_away(delays[stream["index"]] * rate)
        holes = find_holes(listed, base, start, rate, lead, VORBIS_HOLE if stream["codec_name"] == "vorbis" else HOLE)
    kind = listed[0]["sample_fmt"].removesuffix("p") if listed else "s16"
    channels = int(listed[0]["channels"]) if listed else max(1, int(stream["channels"]))
    return Sound(path, track, stream["codec_name"], rate, channels, kind, lead, end, holes, bool(listed),
                 float(stream.get("duration", 0)) > 0 and stream.get("nb_frames") != "0")


def find_holes(listed, base, start, rate, lead, least):
    """The places where a frame's time lies later than the end of the frame before it, by more than `least`."""
    holes, decoded, position = [], 0, lead
    for frame in listed:
        if "best_effort_timestamp" in frame:
            wanted = round_half_away((frame["best_effort_timestamp"] * base - start) * rate)
            if wanted - position > (least + 2 * base) * rate:
                holes.append((decoded, wanted - position))
                position = wanted
        decoded += frame["nb_samples"]
        position += frame["nb_samples"]
    return holes


def round_half_away(value):
    return math.floor(value + Fraction(1, 2)) if value >= 0 else -math.floor(-value + Fraction(1, 2))


def to_int16(samples, kind):
    """The spec's rules for the 16-bit value of a sample: half to even, clamped, not-a-number is 0."""
    if kind == "u8":
        return ((samples.astype(numpy.int32) - 128) * 256).astype(numpy.int16)
    if kind == "s16":
        return samples
    scaled = samples.astype(numpy.float64)
    scaled = scaled / 65536 if kind == "s32" else numpy.nan_to_num(scaled, nan=0, posinf=2, neginf=-2) * 32768
    return numpy.clip(numpy.rint(scaled), -32768, 32767).astype(numpy.int16)


def peaks(int16, samples_per_pixel, bits, split):
    """The minimum and maximum of each group and channel: an array of (points, channels, 2)."""
    return peaks_from(int16, range(0, len(int16), samples_per_pixel), bits, split)


def peaks_from(int16, starts, bits, split):
    """The same of groups that begin at the given frames."""
    values = int16.astype(numpy.int64)
    if not split:
        total = values.sum(axis=1, keepdims=True)
        values = numpy.sign(total) * (abs(total) // values.shape[1])
    starts = numpy.array(starts, numpy.int64)
    if len(starts) == 0:
        return numpy.zeros((0, values.shape[1], 2), numpy.int64)
    result = numpy.stack([numpy.minimum.reduceat(values, starts), numpy.maximum.reduceat(values, starts)], axis=2)
    return numpy.sign(result) * (abs(result) // 256) if bits == 8 else result


# --- Pictures -------------------------------------------------------------------------------------------------------


@dataclass
class Frame:
    """One frame in presentation order: exact seconds, ffprobe's own duration, sync flag, MD5 of the native pixels, and its
    number among those that ffmpeg decodes apart from edit lists."""
    time: Fraction
    duration: Fraction
    is_key: bool
    md5: str
    number: int


FRAME_FIELDS = "frame=best_effort_timestamp,pkt_duration,duration,key_frame"


def intervals(listed, base, start):
    """(time, own duration) of each frame that ffprobe lists; one without a time stamp follows the frame before it."""
    result = []
    for entry in listed:
        length = entry.get("duration", entry.get("pkt_duration", 0)) * base
        if "best_effort_timestamp" in entry:
            time = entry["best_effort_timestamp"] * base - start
        else:
            time = sum(result[-1]) if result else Fraction(0)
        result.append((time, length))
    return result


@cache
def packet_count(path, index):
    """How many packets ffprobe reads of a stream."""
    entry = ffprobe(path, "-select_streams", str(index), "-count_packets", "-show_entries", "stream=nb_read_packets")
    return int(entry["streams"][0].get("nb_read_packets", 0))


def is_empty(path, track):
    """Whether video track `track` is announced and has not one sample."""
    return packet_count(path, streams(path, "video")[track]["index"]) == 0


@cache
def break_of(path, track=0):
    """When a video track breaks off: the end of the last frame that ffmpeg decodes, by that frame's own duration; None where
    it is whole.

    It breaks off if the header counts more frames than there are packets, or is that of MXF, which states a duration alone,
    and is longer than the frames by more than any of them lasts. Other durations are estimates.
    """
    stream = streams(path, "video")[track]
    if "duration_ts" not in stream or is_empty(path, track):
        return None
    counted, is_mxf = int(stream.get("nb_frames", 0)), path.endswith(".mxf")
    if not (counted > packet_count(path, stream["index"]) if counted else is_mxf):
        return None
    shown = frames(path, track)
    if not shown:
        return None
    end = shown[-1].time + shown[-1].duration
    longest = max([later.time - earlier.time for earlier, later in zip(shown, shown[1:])] + [shown[-1].duration])
    stated = stream["duration_ts"] * Fraction(stream["time_base"])
    return end if stated - (end - shown[0].time) > 2 * longest else None


@once
def frames(path, track=0, flags=("-threads", "1")):
    """All frames that ffmpeg presents of video track `track` with one thread, with exact times from ffprobe."""
    stream = streams(path, "video")[track]
    base, start = Fraction(stream["time_base"]), stream_start(path, stream["index"])
    listed = ffprobe(path, *unedited(path), "-select_streams", str(stream["index"]), "-show_frames", "-show_entries",
                     FRAME_FIELDS)["frames"]
    # ffmpeg's own choice for VP8 and VP9 leaves alpha out, which lies beside the pictures.
    alpha = {"vp9": "libvpx-vp9", "vp8": "libvpx"}.get(stream["codec_name"])
    if alpha and stream.get("tags", {}).get("alpha_mode") == "1":
        flags = (*flags, f"-c:{stream['index']}", alpha)
    text = run(["ffmpeg", "-v", "error", "-nostdin", *flags, *unedited(path), *uncropped(), "-copyts",
                "-noautorotate", "-i", path,
                "-map", f"0:{stream['index']}", "-noautoscale", "-fps_mode", "passthrough", "-enc_time_base", "1/90000",
                "-f", "framemd5", "-"]).decode()
    hashes = [line.split(",")[5].strip() for line in text.splitlines() if not line.startswith("#")]
    if len(hashes) != len(listed):
        raise RuntimeError(f"ffprobe lists {len(listed)} frames, ffmpeg decodes {len(hashes)}")
    result = [Frame(time, length, bool(entry["key_frame"]), md5, number) for number, ((time, length), entry, md5)
              in enumerate(zip(intervals(listed, base, start), listed, hashes))]
    shown = parts(path, stream)
    if shown is not None:
        return edited(result, shown)
    is_program_stream = ffprobe(path, "-show_format")["format"]["format_name"] == "mpeg"
    return settled(result, listed) if is_program_stream else result


def edited(frames, shown):
    """The frames of the media as the parts of an edit list show them: the one that is on screen where a part begins is shown
    from there on."""
    result = []
    for start, end, media in shown:
        before = [frame for frame in frames if frame.time <= media]
        for frame in [*before[-1:], *(frame for frame in frames if frame.time > media)]:
            time = max(start, start + frame.time - media)
            if end is None or time < end:
                result.append(Frame(time, frame.duration, frame.is_key, frame.md5, frame.number))
    return result


def settled(frames, listed):
    """The frames of an MPEG program stream: one whose time is not later than that of the frame before it, or later than that
    of the frame after it, follows the one before it by a frame, or halfway to the next one where that comes sooner and has a
    time stamp."""
    for place in range(1, len(frames)):
        frame, last = frames[place], frames[place - 1].time
        is_known = place + 1 < len(frames) and "best_effort_timestamp" in listed[place + 1]
        following = frames[place + 1].time if is_known else None
        if frame.time > last and (following is None or not last < following < frame.time):
            continue
        frame.time = last + frame.duration
        if following is not None and last < following <= frame.time:
            frame.time = (last + following) / 2
    return frames
