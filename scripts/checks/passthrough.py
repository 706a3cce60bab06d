"""Copies of every kind of track into every kind of file: kept, or told with a reason.

`mediatool export --copy` writes each source as each type. A track is kept if its packets in the copy have, by ffprobe, the
same bytes and times; or its absence is told: in `leftOut`, or because the whole copy is refused, which leaves nothing.
Text, timecode and data of MP4 and QuickTime also keep their boxes (sample description, media header, durations). Of the
corpus, whose video and audio `scripts/check corpus` compares, such tracks are only counted.
"""

import argparse
import hashlib
import json
import os
import struct
import sys
import tempfile
from fractions import Fraction

from .boxes import children, is_iso
from .programs import mediatool
from .tools import CALLER, ROOT, Report, expect, ffprobe, run

TARGETS = ("mov", "mp4", "m4a", "mkv", "webm", "mka")
ISO = ("mov", "mp4", "m4a")
# Other containers round times to milliseconds.
TICK = Fraction(1, 1000)
PICTURES = "testsrc2=size=128x96:rate=25:duration=2"
SOUND = "sine=sample_rate=48000:duration=2"
TEXT = "1\n00:00:00,300 --> 00:00:00,800\nOne\n\n2\n00:00:01,000 --> 00:00:01,400\nTwo\n"


def main():
    parser = argparse.ArgumentParser(prog="scripts/check passthrough", description=__doc__)
    parser.add_argument("--full", action="store_true", help="every file of the corpus, not only those with text or data")
    parser.add_argument("--folder", default=os.path.join(ROOT, "..", "shared", "corpus"),
                        help="the corpus; its files with text or data are always copied")
    parser.add_argument("--only", default="", help="sources whose name has this text")
    options = parser.parse_args()
    report = Report(verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        sources = list(make(folder))
        corpus = os.path.join(CALLER, options.folder)
        if os.path.isdir(corpus):
            sources += list(found(corpus, options.full))
        report.each("copies", [
            (f"{name} to {target}", lambda name=name, path=path, target=target: copy(name, path, target, folder))
            for name, path in sources if options.only in name for target in TARGETS])
    return report.finish()


# Sources


def make(folder):
    """Makes a file for each codec; gives names and paths."""
    def made(name, *arguments):
        path = os.path.join(folder, name)
        run(["ffmpeg", "-v", "error", "-y", *arguments, path])
        return name, path
    pictures, sound = ["-f", "lavfi", "-i", PICTURES], ["-f", "lavfi", "-i", SOUND]
    yield made("h264.mp4", *pictures, *sound, "-c:v", "libx264", "-preset", "veryfast", "-c:a", "aac")
    yield made("hevc.mp4", *pictures, "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error",
               "-tag:v", "hvc1")
    yield made("prores.mov", *pictures, *sound, "-c:v", "prores_ks", "-profile:v", "0", "-c:a", "pcm_s16le")
    yield made("mpeg4.mp4", *pictures, "-c:v", "mpeg4", "-bf", "2")
    yield made("vp9.webm", *pictures, *sound, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8",
               "-c:a", "libopus")
    yield made("av1.mp4", *pictures, "-c:v", "libaom-av1", "-cpu-used", "8", "-usage", "realtime")
    yield made("aac.m4a", *sound, "-c:a", "aac")
    yield made("opus.ogg", *sound, "-c:a", "libopus")
    yield made("pcm.wav", *sound, "-c:a", "pcm_s16le")
    yield made("pcm24.mov", *sound, "-c:a", "pcm_s24le")
    yield made("tmcd.mov", *pictures, "-c:v", "libx264", "-preset", "veryfast", "-timecode", "10:00:00:00")
    yield made("tmcd-sound.mov", *pictures, *sound, "-c:v", "mpeg4", "-c:a", "aac", "-timecode", "01:02:03:04")
    text = os.path.join(folder, "text.srt")
    with open(text, "w", encoding="utf-8") as file:
        file.write(TEXT)
    with_text = [*pictures, "-i", text, "-map", "0", "-map", "1", "-c:v", "libx264", "-preset", "veryfast"]
    yield made("tx3g.mp4", *with_text, "-c:s", "mov_text")
    yield made("tx3g.mov", *with_text, "-c:s", "mov_text", "-metadata:s:s:0", "language=fra")
    yield made("subrip.mkv", *with_text, "-c:s", "subrip")
    yield made("ass.mkv", *with_text, "-c:s", "ass")
    yield made("webvtt.webm", *pictures, "-i", text, "-map", "0", "-map", "1", "-c:v", "libvpx-vp9", "-deadline",
               "realtime", "-cpu-used", "8", "-c:s", "webvtt")
    yield "mebx.mov", add_track(os.path.join(folder, "tmcd.mov"), os.path.join(folder, "mebx.mov"), mebx())
    yield "gpmd.mp4", add_track(os.path.join(folder, "hevc.mp4"), os.path.join(folder, "gpmd.mp4"),
                                entry(b"gpmd", bytes(4)), handler=b"GoPro MET")
    yield "empty.mov", add_track(os.path.join(folder, "tmcd.mov"), os.path.join(folder, "empty.mov"), mebx(), empty=True)


def found(folder, is_full):
    """The corpus's files with tracks of text or data, or all that have video or audio."""
    for directory, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(directory, name)
            if name.endswith((".tsv", ".json", ".txt", ".png", ".jpg", ".otio")):
                continue
            try:
                kinds = {stream["codec_type"] for stream in ffprobe(path, "-show_streams").get("streams", [])}
            except (RuntimeError, KeyError):
                continue
            if {"data", "subtitle"} & kinds or is_full and {"video", "audio"} & kinds:
                yield os.path.relpath(path, folder), path


def box(kind, *parts):
    content = b"".join(parts)
    return struct.pack(">I4s", 8 + len(content), kind) + content


def entry(kind, fields):
    """A sample entry (ISO/IEC 14496-12, 8.5.2.2): six zeros and the number of the data reference first."""
    return box(kind, bytes(6), b"\0\1", fields)


def mebx():
    """The sample entry of timed metadata with one key (QuickTime File Format, "Timed Metadata Sample Descriptions")."""
    key = box(b"keyd", b"mdta", b"com.example.number")
    kind = box(b"dtyp", struct.pack(">II", 0, 67))
    return entry(b"mebx", box(b"keys", box(struct.pack(">I", 1), key, kind)))


def add_track(source, path, description, handler=b"Metadata", empty=False):
    """Writes a copy of an ISO file with a further track of four samples of data; the movie box comes last."""
    with open(source, "rb") as file:
        content = file.read()
    place = 0
    while content[place + 4:place + 8] != b"moov":
        place += struct.unpack_from(">I", content, place)[0]
    movie = content[place:place + struct.unpack_from(">I", content, place)[0]]
    samples = [struct.pack(">II", 8 + 4 * n, 1) + struct.pack(">I", n) * n for n in range(1, 5)]
    samples[2] = b"" if empty else samples[2]
    head = content[:place]
    media = box(b"mdat", *samples)
    scale = struct.unpack_from(">I", movie, movie.index(b"mvhd") + 16)[0]
    matrix = struct.pack(">9I", 65536, 0, 0, 0, 65536, 0, 0, 0, 1 << 30)
    # 600 ticks a second; the samples last 0.5, 0.25, 0.75 and 0.5 s, and the track begins after a quarter of a second.
    durations = [300, 150, 450, 300]
    table = box(b"stbl", box(b"stsd", bytes(4), struct.pack(">I", 1), description),
                box(b"stts", bytes(4), struct.pack(">I", 4), *(struct.pack(">II", 1, one) for one in durations)),
                box(b"stsc", bytes(4), struct.pack(">IIII", 1, 1, 4, 1)),
                box(b"stsz", bytes(4), struct.pack(">II", 0, 4), *(struct.pack(">I", len(one)) for one in samples)),
                box(b"stco", bytes(4), struct.pack(">II", 1, len(head) + 8)))
    header = box(b"gmhd", box(b"gmin", bytes(4), bytes.fromhex("004080008000800000000000")))
    links = box(b"dinf", box(b"dref", bytes(4), struct.pack(">I", 1), box(b"url ", b"\0\0\0\1")))
    whole = 2 * scale
    track = box(
        b"trak",
        box(b"tkhd", b"\0\0\0\3", struct.pack(">IIIII", 0, 0, 99, 0, whole + scale // 4), bytes(16), matrix, bytes(8)),
        box(b"tref", box(b"cdsc", struct.pack(">I", 1))),
        box(b"edts", box(b"elst", bytes(4), struct.pack(">I", 2), struct.pack(">IiI", scale // 4, -1, 65536),
                         struct.pack(">IiI", whole, 0, 65536))),
        box(b"mdia", box(b"mdhd", bytes(4), struct.pack(">IIIIHH", 0, 0, 600, 1200, 0x55C4, 0)),
            box(b"hdlr", bytes(4), b"mhlrmeta", bytes(12), bytes([len(handler)]), handler),
            box(b"minf", header, links, table)))
    with open(path, "wb") as file:
        file.write(head + media + box(b"moov", movie[8:], track))
    return path


# Copies


def copy(name, source, target, folder):
    """Copies a source as a type of file, and expects that every track is kept or told."""
    streams = ffprobe(source, "-show_streams")["streams"]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        made = os.path.join(place, f"copy.{target}")
        result = mediatool("export", source, "--copy", "-o", made, "--json", "--quiet", seconds=60)
        expect(result.returncode in (0, 2), f"exit {result.returncode}: {result.stderr.decode(errors='replace')[-200:]}")
        report = json.loads(result.stdout)
        if result.returncode == 2:
            expect(report["error"]["message"], "a refusal without a reason")
            expect(not os.listdir(place), f"left behind: {os.listdir(place)}")
            return f"refused: {report['error']['message']}"
        expect(os.listdir(place) == [f"copy.{target}"], f"there are {os.listdir(place)}")
        told = {one["trackIndex"]: one["reason"] for one in report["leftOut"]}
        return compare(source, made, target, streams, report, told, source.startswith(folder))


def compare(source, made, target, streams, report, told, is_own):
    before, after = packets(source), packets(made)
    made_streams = ffprobe(made, "-show_streams")["streams"]
    details, taken, kept = [], set(), set()
    for stream in streams:
        index, kind = stream["index"], stream.get("codec_type", "unknown")
        tag = stream.get("codec_tag_string")
        if index in told:
            expect(told[index], f"track {index} is left out without a reason")
            details.append(f"{index} {kind} told: {told[index]}")
            continue
        if stream["disposition"]["attached_pic"]:
            continue
        old = before.get(index, [])
        match = next((other for other in after if other not in taken and is_same(old, after[other])), None)
        if match is None and any("sound may be incomplete" in one for one in report["warnings"]):
            # What such a file cannot hide of an encoder's priming is not written, and that is told.
            old = [one for one in old if one[0] is None or one[0] >= 0]
            match = next((other for other in after if other not in taken and is_same(old, after[other])), None)
        if match is None and not is_own and kind in ("video", "audio"):
            match = next((one["index"] for one in made_streams if one["index"] not in taken
                          and one.get("codec_name") == stream.get("codec_name")), None)
            expect(match is not None, f"track {index} ({kind}) is neither in the copy nor told")
            taken.add(match)
            continue
        if match is None and tag == "tmcd":
            expect(report.get("startTimecode") == stream["tags"]["timecode"], f"the timecode is {report.get('startTimecode')}")
            details.append(f"{index} timecode stated")
            continue
        expect(match is not None, f"track {index} ({kind} {tag}) is neither in the copy nor told")
        taken.add(match)
        kept.add(index)
        if is_own or kind not in ("video", "audio"):
            check_times(index, old, after[match], target, stream)
        details.append(f"{index} {kind} kept")
    if is_iso(source) and target in ISO:
        check_boxes(described(source), described(made), kept)
    return ", ".join(details)


def packets(path):
    """The packets of each stream: time, duration, digest and bytes' number; linear PCM is one packet."""
    answer = ffprobe(path, "-show_packets", "-show_streams", "-show_data_hash", "sha256")
    found = {}
    streams = {one["index"]: one for one in answer["streams"]}
    for one in answer["packets"]:
        index = one["stream_index"]
        unit = Fraction(streams[index]["time_base"])
        time = one.get("pts", one.get("dts"))
        found.setdefault(index, []).append(
            (None if time is None else time * unit, one.get("duration", 0) * unit, one["data_hash"], int(one["size"])))
    for index, stream in streams.items():
        if stream.get("codec_name", "").startswith("pcm_") and index in found:
            content = run(["ffmpeg", "-v", "error", "-i", path, "-map", f"0:{index}", "-c", "copy", "-f", "data", "-"])
            found[index] = [(found[index][0][0], sum(one[1] for one in found[index]),
                             hashlib.sha256(content).hexdigest(), len(content))]
    return found


def is_same(before, after):
    return bool(before) and [one[2:] for one in before] == [one[2:] for one in after]


def check_times(index, before, after, target, stream):
    """Expects the same presentation times; files without an edit list begin with their first sample."""
    # The times of both files are rounded where one of them is Matroska.
    exact = target in ISO and Fraction(stream["time_base"]).denominator != 1000
    slack = Fraction(0) if exact else TICK
    wrong = [(old[0], new[0]) for old, new in zip(before, after)
             if old[0] is not None and (new[0] is None or abs(old[0] - new[0]) > slack)]
    expect(not wrong, f"track {index}: {len(wrong)} of {len(before)} times differ, first {wrong[:1]}")


# Boxes


def described(path):
    """By track, for those that are neither video nor audio: handler, description, media header, durations and references."""
    with open(path, "rb") as file:
        data = file.read()
    movie = next((one for one in children(data, 0, len(data)) if one[0] == b"moov"), None)
    boxes = [one for one in children(data, *movie[1:]) if one[0] == b"trak"] if movie else []
    tracks = {}
    for index, (_, start, end) in enumerate(boxes):
        found = {}
        collect(data, start, end, found)
        if found.get("handler") not in (b"vide", b"soun", None) and {"stsd", "stsz", "stts"} <= found.keys():
            tracks[index] = {"header": b"", **found}
    return tracks


def collect(data, start, end, found):
    for kind, first, last in children(data, start, end):
        if kind in (b"mdia", b"minf", b"stbl", b"edts"):
            collect(data, first, last, found)
        elif kind == b"hdlr" and data[first + 8:first + 12] not in (b"alis", b"url "):
            found["handler"] = data[first + 8:first + 12]
        elif kind in (b"stsd", b"stsz", b"stts"):
            found[kind.decode()] = data[first:last]
        elif kind in (b"gmhd", b"nmhd", b"sthd"):
            found["header"] = data[first:last]
        elif kind == b"tref":
            found["references"] = sorted(one[0] for one in children(data, first, last))


def check_boxes(before, after, kept):
    """Expects that each kept track of text, timecode or data has the boxes that it had; hidden samples may be missing."""
    def boxes(one):
        return one["handler"], one["stsd"], one["header"], one.get("references", [])
    for index, one in before.items():
        if index not in kept:
            continue
        same = [other for other in after.values() if boxes(other) == boxes(one)]
        expect(same, f"track {index}: its description or its references changed")
        expect(any(sizes(other) != sizes(one) or steps(other)[:-1] == steps(one)[:-1] for other in same),
               f"track {index}: the durations of its samples changed")


def sizes(track):
    common, count = struct.unpack_from(">II", track["stsz"], 4)
    return [common] * count if common else list(struct.unpack_from(f">{count}I", track["stsz"], 12))


def steps(track):
    count = struct.unpack_from(">I", track["stts"], 4)[0]
    return [length for place in range(count) for length in
            [struct.unpack_from(">II", track["stts"], 8 + 8 * place)[1]] *
            struct.unpack_from(">II", track["stts"], 8 + 8 * place)[0]]


if __name__ == "__main__":
    sys.exit(main())
