"""Group `mediainfo`: fields of `mediatool probe --json --scan` against MediaInfo's, and what is written in boxes against
golden/probe/boxes.tsv."""

import csv
import json
import os
import shutil

from .probe import Comparison
from .programs import is_list, mediatool
from .tools import ROOT, expect, run

NAMES = {"BT.709": "bt709", "BT.2020": "bt2020", "PQ": "smpte2084", "HLG": "arib-std-b67",
         "BT.2020 non-constant": "bt2020nc", "BT.601 NTSC": "smpte170m", "BT.601": "smpte170m",
         "BT.601 PAL": "bt470bg", "BT.470 System B/G": "bt470bg"}
# By file, the fields in which MediaInfo says something else; docs/probe.md says who is right, and why.
EXCEPTIONS = {
    "androidx/bear-vbr-xing-header.mp3": {"duration"},
    "androidx/edit_list_positive_shift.mp4": {"frames"},
    "androidx/sample-with-key-frame-index.flv": {"duration"},
    "androidx/sample.ac3": {"duration"},
    "androidx/sample_with_chapters.mkv": {"duration"},
    "audiofile/sine20.caf": {"duration"},
    "bmx/d10_sample.mxf": {"height"},
    "format-corpus/dv-ntsc-progressive.mov": {"shape"},
    "gopro/max-heromode.mp4": {"duration", "range", "timecode"},
    "mediabunny/no-initial-keyframe.ts": {"duration", "frames"},
    "metadata-extractor/Sony_A7M3.mts": {"duration", "frames"},
    "moviepy/pigs_in_a_polka.gif": {"tracks"},
    "music-metadata/matroska-test5-short.mkv": {"duration"},
    "rails/rotated_video.mp4": {"duration"},
    "streamio/weird_aspect.small.mpg": {"frames"},
    "torchcodec/test_non_zero_start.mp4": {"frames"},
}


def mediainfo(report, files):
    """One check a file, where MediaInfo is installed; one for each file of which boxes were written down."""
    if shutil.which("mediainfo"):
        report.each("mediainfo", [(name, lambda name=name, path=path: one_file(name, path)) for name, path in files])
    written = {}
    with open(os.path.join(ROOT, "golden", "probe", "boxes.tsv")) as table:
        for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            written.setdefault(row["file"], []).append(row)
    report.each("boxes", [(name, lambda path=path, rows=written[name]: boxes(path, rows))
                          for name, path in files if name in written])


def boxes(path, rows):
    for row in rows:
        result = mediatool("probe", "--quiet", "--jsonl", "--select", row["path"], path)
        got = result.stdout.decode().strip()
        expect(got == row["expected"], f"{row['path']}: {got}, written is {row['expected']} ({row['bytes']})")
    return f"{len(rows)} fields"


def one_file(name, path):
    result = mediatool("probe", "--json", "--scan", path)
    if result.returncode or is_list(path):
        return "refused"
    got = json.loads(result.stdout)
    tracks = json.loads(run(["mediainfo", "--Output=JSON", path]))["media"]["track"]
    fields = Comparison(EXCEPTIONS.get(name, set()), other="MediaInfo")

    def same(place, field, ours, theirs):
        if theirs is not None:
            fields.same(place, field, ours, theirs)

    def near(place, field, ours, theirs, within):
        if theirs is not None:
            fields.near(place, field, ours, float(theirs), within)

    general = tracks[0]
    near("file", "duration", got["container"].get("duration", {}).get("seconds"), general.get("Duration"), 0.0015)
    timecode = next((track["TimeCode_FirstFrame"] for track in tracks
                     if track["@type"] == "Other" and "TimeCode_FirstFrame" in track), None)
    same("file", "timecode", got["container"].get("startTimecode"), timecode)
    for kind, other in [("video", "Video"), ("audio", "Audio")]:
        ours = [track for track in got["tracks"]
                if track["type"] == kind and "attached_pic" not in track["dispositions"]]
        theirs = [track for track in tracks if track["@type"] == other]
        fields.same(kind, "tracks", len(ours), len(theirs))
        for track, info in zip(ours, theirs):
            (compare_video if kind == "video" else compare_audio)(f"#{track['index']}", track, info, same, near)
    expect(not fields.problems, "; ".join(fields.problems))
    return f"{fields.count} fields"


def compare_video(place, track, info, same, near):
    def number(key):
        return int(info[key]) if key in info else None

    video = track["video"]
    same(place, "frames", track["scan"].get("frameCount", track["scan"]["packetCount"]), number("FrameCount"))
    same(place, "width", video["encodedSize"]["width"], number("Width"))
    same(place, "height", video["encodedSize"]["height"], number("Height"))
    same(place, "bits", video.get("bitDepth"), number("BitDepth"))
    same(place, "chroma", video.get("chromaSubsampling"), info.get("ChromaSubsampling"))
    order = video.get("fieldOrder") or video.get("fields", {}).get("stream")
    if order:
        same(place, "scan", "Progressive" if order == "progressive" else "Interlaced", info.get("ScanType"))
    same(place, "order", {"tt": "TFF", "bb": "BFF"}.get(order), info.get("ScanOrder"))
    near(place, "rotation", video.get("rotation", 0), info.get("Rotation"), 0)
    clean = video.get("cleanAperture", {}).get("pixelRect", {})
    same(place, "clean width", clean.get("width"), number("Width_CleanAperture"))
    same(place, "clean height", clean.get("height"), number("Height_CleanAperture"))
    shape = video.get("displayAspectRatio") or {"num": video["encodedSize"]["width"],
                                                "den": video["encodedSize"]["height"]}
    near(place, "shape", shape["num"] / shape["den"],
         info.get("DisplayAspectRatio_CleanAperture", info.get("DisplayAspectRatio")), 0.002)
    rates = video.get("frameRate", {})
    if "average" in rates:
        near(place, "rate", rates["average"]["num"] / rates["average"]["den"], info.get("FrameRate"), 0.01)
    if "mode" in rates:
        same(place, "mode", {"constant": "CFR", "variable": "VFR"}[rates["mode"]], info.get("FrameRate_Mode"))
    color = video.get("color", {}).get("effective", {})
    same(place, "range", {"tv": "Limited", "pc": "Full"}.get(color.get("range")), info.get("colour_range"))
    for ours, theirs in [("primaries", "colour_primaries"), ("transfer", "transfer_characteristics"),
                         ("matrix", "matrix_coefficients")]:
        same(place, ours, color.get(ours), NAMES.get(info.get(theirs), info.get(theirs)))


def compare_audio(place, track, info, same, near):
    near(place, "channels", track["audio"].get("channels"), info.get("Channels"), 0)
    near(place, "sample rate", track["audio"].get("sampleRate"), info.get("SamplingRate"), 0)
