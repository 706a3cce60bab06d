"""Group `proxy`: proxies of every file with video, compared with their sources by ffprobe's and ffmpeg's word."""

import hashlib
import json
import os
import struct
import tempfile
from fractions import Fraction

import numpy

from . import boxes, reference
from .programs import LONG, is_list, mediacheck, mediatool, readable
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
            result = mediatool("proxy", path, "-o", made, "--quiet", "--json", seconds=LONG)
            content = json.loads(result.stdout)
            problem = problems_of(schema, content)
            expect(not problem, problem)
            expect(result.returncode == 0, f".{ending}: {content.get('error')}")
        told = [entry["name"] for entry in content["differences"]]
        return ", ".join(["made"] + sorted(set(told)))


def compare(path, preset, schema):
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "proxy.mov")
        result = mediatool("proxy", path, "-o", made, "--preset", preset, "--quiet", "--json", seconds=LONG)
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
                      "-enc_time_base", "1/90000", "-f", "null", "-"], check=False).stderr
        expect(not errors.strip(), f"ffmpeg complains: {errors.decode(errors='replace')[:200]}")
        return f"{frames} frames, {tracks} sound tracks"


def streams(path):
    return {kind: reference.streams(path, kind) for kind in ("video", "audio")}


def times(path, number):
    """The presentation times that ffprobe decodes, from the presentation's zero."""
    if boxes.is_iso(path):
        return [frame.time for frame in reference.frames(path, number)]
    stream = reference.streams(path, "video")[number]
    base, start = Fraction(stream["time_base"]), reference.stream_start(path, stream["index"])
    listed = ffprobe(path, "-select_streams", str(stream["index"]), "-show_frames", "-show_entries",
                     reference.FRAME_FIELDS)["frames"]
    return [time for time, _ in reference.intervals(listed, base, start)]


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
    # A date that was never set, which ffprobe tells as the first second of 1970 from version 8 on.
    if probed[0]["format"]["format_name"] == "asf" and (dates[0] or "").startswith("1970-01-01T00:00:00"):
        dates[0] = None
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
        if any(hides_between(path, stream) for stream in streams(path)["video"]):
            return refused(path, made)
        mediacheck("copy", path, made)
        source, copy = streams(path), streams(made)
        empty = {stream["index"] for kind in source for stream in source[kind]
                 if not reference.packet_count(path, stream["index"])}
        if empty:
            # As `ffmpeg -c copy` does, a track without samples is left out; it is told.
            tell_left_out(path, os.path.join(folder, "told.mov"), empty)
            source = {kind: [s for s in source[kind] if s["index"] not in empty] for kind in source}
        count = 0
        for kind in ("video", "audio"):
            expect(len(source[kind]) == len(copy[kind]), f"{len(copy[kind])} {kind} tracks, not {len(source[kind])}")
            for one, other in zip(source[kind], copy[kind]):
                # Start codes become lengths, which may be longer: then the units between them are compared.
                is_reframed = one.get("is_avc") == "false" and other.get("is_avc") == "true"
                listed = unit_packets if is_reframed else packets
                wanted, found = listed(path, one), listed(made, other)
                expect([p[1:] for p in wanted] == [p[1:] for p in found], f"other {kind} packets: {len(found)} of "
                       f"{len(wanted)}")
                worst = max((abs(a[0] - b[0]) for a, b in zip(wanted, found)), default=0)
                # QuickTime counts sound in samples; a source that does so too has the same times.
                tick = Fraction(1, int(other["sample_rate"])) if kind == "audio" else 0
                if boxes.is_iso(path) and Fraction(one["time_base"]) == tick:
                    tick = 0
                expect(worst <= tick, f"{kind} times differ by up to {float(worst)} s")
                count += len(wanted)
        return f"{count} packets"


def tell_left_out(path, made, indices):
    result = mediatool("export", "--copy", path, "-o", made, "--quiet", "--json")
    expect(result.returncode == 0, result.stderr.decode(errors="replace").strip()[:300])
    told = {entry["trackIndex"] for entry in json.loads(result.stdout)["leftOut"]}
    expect(indices <= told, f"tracks {sorted(indices)} are empty, and left out are {sorted(told)}")


def listed_packets(path, stream):
    """ffprobe's packets, whatever an edit list says of them."""
    return ffprobe(path, *reference.unedited(path), "-select_streams", str(stream["index"]), "-show_data_hash", "md5",
                   "-show_entries", "packet=pts,dts,flags,size,pos,data_hash")["packets"]


def packets(path, stream):
    """(time, whether a sync sample, MD5 of the bytes) of each packet; those that are decoded after an edit list's end are left
    out, and the picture on screen where it begins is shown from there on."""
    base, shift = Fraction(stream["time_base"]), reference.shift(path, stream)
    listed = listed_packets(path, stream)
    parts = reference.parts(path, stream)
    if parts and parts[-1][1] is not None:
        listed = [p for p in listed if p.get("dts", p.get("pts", 0)) * base + shift < parts[-1][1]]
    found = [(p.get("pts", 0) * base + shift, p["flags"].startswith("K"), p["data_hash"]) for p in listed]
    if parts and stream["codec_type"] == "video":
        on_screen = max((time for time, _, _ in found if time <= parts[0][0]), default=None)
        found = [(parts[0][0] if time == on_screen else time, key, md5) for time, key, md5 in found]
    return found


def unit_packets(path, stream):
    """The same with the MD5 of the packet's units (ITU-T H.264, annex B) in place of its bytes."""
    data = run(["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-map", f"0:{stream['index']}", "-c", "copy",
                "-copyinkf", "-f", "data", "-"])
    listed, place = listed_packets(path, stream), 0
    expect(sum(int(p["size"]) for p in listed) == len(data), "ffmpeg gives other bytes than ffprobe")
    found = []
    for (time, key, _), packet in zip(packets(path, stream), listed):
        sample = data[place:place + int(packet["size"])]
        place += len(sample)
        found.append((time, key, hashlib.md5(b"|".join(units(sample, int(stream["nal_length_size"])))).hexdigest()))
    return found


def units(sample, length_size):
    """The units of a sample, before which stand start codes (0) or lengths of so many bytes."""
    if length_size == 0:
        # Zeros at a unit's end belong to the next start code.
        return [unit.rstrip(b"\0") for unit in sample.split(b"\0\0\1") if unit.strip(b"\0")]
    found, place = [], 0
    while place + length_size <= len(sample):
        length = int.from_bytes(sample[place:place + length_size], "big")
        place += length_size + length
        found.append(sample[place - length:place])
    return found


def hides_between(path, stream):
    """Whether ffprobe tells pictures that are not shown between others that are, as overlapping fragments have them."""
    if not boxes.is_iso(path):
        return False
    # libavformat reads the packets around the borders of an edit list's parts again; each counts once.
    places = {}
    for packet in ffprobe(path, "-select_streams", str(stream["index"]), "-show_entries", "packet=pts,flags,size,pos")["packets"]:
        before = places.setdefault((packet["pos"], packet["size"]), packet)
        if "D" not in packet["flags"]:
            before["flags"] = packet["flags"]
    listed = [p for p in places.values() if p.get("pts", -1) >= 0]
    hidden = [p["pts"] for p in listed if "D" in p["flags"]]
    return bool(hidden) and any(p["pts"] > min(hidden) for p in listed if "D" not in p["flags"])


def refused(path, made):
    """A copy would show what the source does not."""
    try:
        mediacheck("copy", path, made)
    except RuntimeError as error:
        expect("does not show the picture" in f"{error}", f"{error}")
        return "refused, as it shows not all of its pictures"
    expect(False, "copied, although not all of its pictures are shown")
