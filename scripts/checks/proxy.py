"""Group `proxy`: proxies of every file with video, compared with their sources by ffprobe's and ffmpeg's word."""

import json
import os
import struct
import tempfile
from fractions import Fraction

import numpy

from . import boxes, reference
from .programs import is_list, mediacheck, mediatool, readable
from .schema import problems_of, validator
from .tools import expect, ffprobe, run

PRESETS = ("h264-540p", "prores-proxy")
# What a muxer or a decoder says of itself, and not of the file.
COLORS = ("color_primaries", "color_transfer", "color_space")
RGB = ("rgb", "bgr", "gbr", "argb", "abgr", "pal8")


def proxy(report, files):
    """Frame times, sound to the sample, shape, colours, timecode, names and dates."""
    schema = validator("proxy")
    jobs = [(f"{name} {preset}", lambda path=path, preset=preset: compare(path, preset, schema))
            for name, path in readable(files, "video") for preset in PRESETS]
    report.each("proxy", jobs)


def proxies(report, files):
    """Every file of which ffmpeg decodes a picture gives a proxy, whatever else is in it."""
    schema = validator("proxy")
    jobs = [(name, lambda path=path: makes_proxy(path, schema)) for name, path in files if decodes(path)]
    report.each("proxies", jobs)


def decodes(path):
    """Whether ffmpeg decodes a picture of the first track of video that is no cover."""
    if is_list(path):
        return False
    try:
        videos = [s for s in reference.streams(path, "video") if not s.get("disposition", {}).get("attached_pic")]
    except RuntimeError:
        return False
    if not videos:
        return False
    pictures = run(["ffmpeg", "-v", "quiet", "-nostdin", "-i", path, "-map", f"0:{videos[0]['index']}", "-frames:v", "1",
                    "-f", "rawvideo", "-"], check=False).stdout
    return len(pictures) > 0


def makes_proxy(path, schema):
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("mov", "mp4"):
            made = os.path.join(folder, "proxy." + ending)
            result = mediatool("proxy", path, "-o", made, "--quiet", "--json", seconds=120)
            content = json.loads(result.stdout)
            problem = problems_of(schema, content)
            expect(not problem, problem)
            expect(result.returncode == 0, f".{ending}: {content.get('error')}")
        told = [entry["name"] for entry in content["differences"]]
        return ", ".join(["made"] + sorted(set(told)))


def compare(path, preset, schema):
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "proxy.mov")
        result = mediatool("proxy", path, "-o", made, "--preset", preset, "--quiet", "--json", seconds=120)
        expect(result.returncode == 0, result.stderr.decode(errors="replace").strip()[:400])
        content = json.loads(result.stdout)
        problem = problems_of(schema, content)
        expect(not problem, problem)
        source, copy = streams(path), streams(made)
        index = content["video"]["trackIndex"]
        number = [s["index"] for s in source["video"]].index(index)
        frames = compare_frames(path, number, made)
        compare_pictures(source["video"][number], copy["video"][0], path, made, index)
        left_out = {track["trackIndex"] for track in content["leftOut"]}
        codecs = {s["index"]: s.get("codec_name") for s in ffprobe(path, "-show_streams")["streams"]}
        for track in content["leftOut"]:
            told, known = track.get("codec"), codecs[track["trackIndex"]]
            expect(told == (None if known == "unknown" else known), f"track {track['trackIndex']} is {told}, not {known}")
        tracks = compare_sound(path, source["audio"], made, copy["audio"], left_out, is_lossless=preset == "prores-proxy")
        heard = [stream for stream in source["audio"] if stream["index"] not in left_out]
        compare_tags(path, source["video"][number:][:1] + heard, made, copy["video"] + copy["audio"])
        expect(boxes_of(made)[:2] == [b"ftyp", b"moov"], "the index does not come first")
        errors = run(["ffmpeg", "-v", "error", "-nostdin", "-i", made, "-fps_mode", "passthrough",
                      "-enc_time_base", "-1", "-f", "null", "-"], check=False).stderr
        expect(not errors.strip(), f"ffmpeg complains: {errors.decode(errors='replace')[:200]}")
        return f"{frames} frames, {tracks} sound tracks"


def streams(path):
    return {kind: reference.streams(path, kind) for kind in ("video", "audio")}


def times(path, number):
    """The presentation times that ffprobe decodes, from the presentation's zero."""
    stream = reference.streams(path, "video")[number]
    base, start = Fraction(stream["time_base"]), reference.container_start(path)
    listed = ffprobe(path, "-select_streams", str(stream["index"]), "-show_frames", "-show_entries",
                     "frame=best_effort_timestamp")["frames"]
    return [entry["best_effort_timestamp"] * base - start for entry in listed]


def compare_frames(path, number, made):
    wanted, found = times(path, number), times(made, 0)
    # A picture that is on screen at zero begins there; ffmpeg keeps some that are over by then.
    wanted = [max(time, Fraction(0)) for place, time in enumerate(wanted)
              if place + 1 == len(wanted) or wanted[place + 1] > 0]
    expect(len(found) == len(wanted), f"{len(found)} frames instead of {len(wanted)}")
    for place, (one, other) in enumerate(zip(wanted, found)):
        expect(one == other, f"frame {place} at {float(other)} instead of {float(one)}")
    return len(found)


def shape(path, index):
    """The exact display aspect by our own probe, with the clean aperture."""
    result = mediatool("probe", "--json", "--quiet", path)
    tracks = json.loads(result.stdout)["tracks"]
    video = next(t for t in tracks if t["type"] == "video" and t["index"] == index)["video"]
    ratio = video.get("displayAspectRatio")
    size = video.get("cleanAperture", video["encodedSize"])
    if ratio:
        return Fraction(ratio["num"], ratio["den"])
    number = lambda value: Fraction(value["num"], value["den"]) if isinstance(value, dict) else Fraction(value)
    return number(size["width"]) / number(size["height"])


def compare_pictures(source, copy, path, made, index):
    wanted, found = shape(path, index), shape(made, copy["index"])
    expect(wanted == found, f"shape {found} instead of {wanted}")
    turn = [next((d["rotation"] for d in s.get("side_data_list", []) if "rotation" in d), 0) for s in (source, copy)]
    expect(turn[0] == turn[1], f"rotation {turn[1]} instead of {turn[0]}")
    if not source.get("pix_fmt", "").startswith(RGB):
        for key in COLORS:
            known = source.get(key, "unknown")
            expect(known in ("unknown", copy.get(key)), f"{key} {copy.get(key)} instead of {known}")
    expect(copy["width"] <= max(2, source["width"]) and copy["height"] <= max(2, source["height"]), "it became larger")


def compare_sound(path, source, made, copy, left_out, is_lossless):
    """What ffmpeg decodes of each track; a track of which it decodes nothing is told as left out."""
    heard = [place for place in range(len(source)) if len(reference.sound(path, place).decoded("s16"))]
    expect(len(copy) == len(heard), f"{len(copy)} sound tracks instead of {len(heard)}")
    silent = {source[place]["index"] for place in range(len(source)) if place not in heard}
    audio = {stream["index"] for stream in source}
    expect(left_out & audio == silent, f"left out are {sorted(left_out & audio)} instead of {sorted(silent)}")
    for place, (number, track) in enumerate(zip(heard, copy)):
        expect(track["channels"] == source[number]["channels"], "another number of channels")
        layout = source[number].get("channel_layout", "unknown")
        # AAC does not tell surround at the sides from surround behind.
        alike = {layout, layout.replace("(side)", "") if track["codec_name"] == "aac" else layout}
        # libavformat leaves out that one channel is mono where other tracks have more.
        found = track.get("channel_layout", "mono" if track["channels"] == 1 else "unknown")
        expect(layout == "unknown" or found in alike, f"{found} instead of {layout}")
        old, new = reference.sound(path, number), reference.sound(made, place)
        expect(old.rate == new.rate, f"{new.rate} Hz instead of {old.rate}")
        # A programme on a clock of its own begins hours late.
        common = max(0, min(old.lead, new.lead))
        wanted, found = (sound.presented("s16", skipping=common).mean(axis=1) for sound in (old, new))
        expect(abs(len(wanted) - len(found)) <= 1, f"{len(found)} samples instead of {len(wanted)}")
        if is_lossless:
            count = min(len(wanted), len(found))
            worst = abs(wanted[:count] - found[:count]).max() if count else 0
            expect(worst <= 3, f"samples differ by {worst}")
        elif wanted.std() > 30:
            lag = lag_of(wanted, found)
            expect(abs(lag) <= 1, f"sound is {lag} samples late")
    return len(heard)


def lag_of(wanted, found):
    """By how many samples `found` comes later, where the two are most alike."""
    count = min(len(wanted), len(found))
    size = 1 << (2 * count).bit_length()
    product = numpy.fft.rfft(found[:count] - found.mean(), size) * numpy.conj(
        numpy.fft.rfft(wanted[:count] - wanted.mean(), size))
    alike = numpy.fft.irfft(product, size)
    place = int(alike.argmax())
    return place if place < size // 2 else place - size


def compare_tags(path, source, made, copy):
    """Language, name, date and timecode; by stream, and of the file."""
    tag = lambda stream, key, default: stream.get("tags", {}).get(key, default)
    order = sorted(source, key=lambda s: s["index"])
    for one, other in zip(order, sorted(copy, key=lambda s: s["index"])):
        expect((reference.language(path, one) or "und").lower() == tag(other, "language", "und"), "another language")
        date = tag(one, "creation_time", None)
        expect(date in (None, tag(other, "creation_time", None)), f"another date than {date}")
    probed = [ffprobe(name, "-show_format", "-show_streams") for name in (path, made)]
    dates = [tag(p["format"], "creation_time", None) for p in probed]
    expect(dates[0] == dates[1], f"date {dates[1]} instead of {dates[0]}")
    # Tags of Matroska are in capitals.
    code = lambda stream: tag(stream, "timecode", tag(stream, "TIMECODE", None))
    codes = [next((code(s) for s in p["streams"] + [p["format"]] if code(s)), None) for p in probed]
    expect(codes[0] == codes[1], f"timecode {codes[1]} instead of {codes[0]}")


def boxes_of(path):
    """The types of the file's first boxes."""
    found, place = [], 0
    with open(path, "rb") as file:
        while len(found) < 4:
            file.seek(place)
            head = file.read(8)
            if len(head) < 8:
                break
            size, kind = struct.unpack(">I4s", head)
            found.append(kind)
            if size < 8:
                break
            place += size
    return found


def copies(report, files):
    """Stored samples taken as they are: the same bytes at the same times, where QuickTime holds the codecs."""
    jobs = [(name, lambda path=path: compare_copy(path)) for name, path in files
            if name.lower().endswith((".mp4", ".mov", ".mkv", ".m4a")) and is_whole(path)]
    report.each("copies", jobs)


# What QuickTime files hold of the codecs that the files have; linear PCM has no packets of its own there.
HELD = {"h264", "hevc", "prores", "dvvideo", "mpeg2video", "mpeg4", "mjpeg", "aac", "alac", "mp3", "ac3"}


def is_whole(path):
    """Whether all of a file's pictures and sound can be taken into a QuickTime file."""
    if os.path.basename(path).startswith(("damaged", "truncated", "empty")) or is_list(path):
        return False
    try:
        found = streams(path)["video"] + streams(path)["audio"]
    except RuntimeError:
        return False
    return bool(found) and all(stream["codec_name"] in HELD for stream in found)


def compare_copy(path):
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "copy.mov")
        mediacheck("copy", path, made)
        source, copy = streams(path), streams(made)
        count = 0
        for kind in ("video", "audio"):
            expect(len(source[kind]) == len(copy[kind]), f"{len(copy[kind])} {kind} tracks, not {len(source[kind])}")
            for one, other in zip(source[kind], copy[kind]):
                wanted, found = packets(path, one), packets(made, other)
                expect([p[1:] for p in wanted] == [p[1:] for p in found], f"other {kind} packets: {len(found)} of "
                       f"{len(wanted)}")
                worst = max((abs(a[0] - b[0]) for a, b in zip(wanted, found)), default=0)
                # QuickTime counts sound in samples.
                tick = Fraction(1, int(other["sample_rate"])) if kind == "audio" and not boxes.is_iso(path) else 0
                expect(worst <= tick, f"{kind} times differ by up to {float(worst)} s")
                count += len(wanted)
        return f"{count} packets"


def packets(path, stream):
    """(time, whether a sync sample, MD5 of the bytes) of each packet."""
    listed = ffprobe(path, "-select_streams", str(stream["index"]), "-show_data_hash", "md5", "-show_entries",
                     "packet=pts,flags,data_hash")["packets"]
    base = Fraction(stream["time_base"])
    return [(p.get("pts", 0) * base, p["flags"].startswith("K"), p["data_hash"]) for p in listed]
