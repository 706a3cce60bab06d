"""Groups `commands` and `shapes`: every file through every command, and pictures upright and square-pixelled."""

import json
import math
import os
import struct
import tempfile
from fractions import Fraction

import numpy

from . import reference
from .programs import is_list, is_refused_by_some, mediatool, readable, stream_count
from .tools import expect, ffprobe, run

COMMANDS = {
    "probe": lambda path, folder: ["probe", "--json", path],
    "waveform": lambda path, folder: ["waveform", path, "-o", os.path.join(folder, "x.dat")],
    "thumbs": lambda path, folder: ["thumbs", path, "--count", "3", "-o", folder, "--json"],
}
NEEDS = {"waveform": "audio", "thumbs": "video"}
# Display size, where a display matrix or a pixel aspect changes it.
SIZES = {"decord/video_90.mov": (320, 568), "decord/video_180.mov": (568, 320), "decord/video_270.mov": (320, 568),
         "rails/rotated_video.mp4": (480, 640), "rails/video_with_rectangular_samples.mp4": (1920, 1080),
         "rotated-90.mov": (90, 160), "rotated-180.mov": (160, 90), "rotated-270.mov": (90, 160),
         "mirrored.mp4": (160, 90), "mirrored-rotated-90.mp4": (90, 160), "anamorphic.mp4": (256, 144),
         # Unequal scales of the matrix, and a `pasp` of 4:3 where the codec has 1:1; ffmpeg follows neither.
         "fate/displaymatrix.mov": (240, 320), "fate/dnxhd100_cid1260.mov": (1920, 1080)}

# ffmpeg's crop for a clean aperture (clap), which is 704/1 x 480/1 and 1416/1 x 1062/1 about the middle.
CLEAN = {"format-corpus/dv-ntsc-progressive.mov": ("crop=704:480:8:0", (640, 480)),
         "format-corpus/xdcam-hd-1080i60.mov": ("crop=1416:1062:12:9", (1888, 1062)),
         # 704/1 x 480/1 about the middle of 486 rows, above which lie 26 of vertical blanking that are coded too (D-10).
         "format-corpus/mpeg-imx-525-60.mov": ("crop=704:480:8:29", (640, 480)),
         # By the recipes in scripts/fixtures: 56 by 40 in the middle of 64 by 48; 8 off the left and 3 off the top.
         "apertures.mov": ("crop=56:40:4:4", (56, 40)), "crop.mkv": ("crop=56:45:8:3:exact=1", (56, 45))}


# Where chroma lies from left (0) to right (256), scaled with as much care as luma; and to RGB in the same step.
SITING = ":flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp:in_h_chr_pos={},format=rgb24"


def commands(report, files):
    """No crash, no hang, exit 0 or 2, JSON that parses, one line for a person for each thing that is wrong."""
    report.each("commands", [(f"{name} {command}", lambda path=path, command=command: one_command(command, path))
                             for name, path in files for command in COMMANDS])


# What is no media, by what makes it at a path.
OTHERS = {"an empty file": lambda path: open(path, "w").close(), "a text file": lambda path: open(path, "w").write("no media\n" * 20),
          "a folder": os.mkdir, "a missing file": lambda path: None}


def others(report, names):
    """The same of what is no media, which is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "other.mp4")
        for name, _ in names:
            OTHERS[name](path)
            report.each("commands", [(f"{name} {command}", lambda command=command: one_command(command, path, wanted=2))
                                     for command in COMMANDS])


def one_command(command, path, wanted=None):
    is_refused = is_refused_by_some(path) and not stream_count(path, "video")
    if wanted is None and not is_refused:
        kind = NEEDS.get(command)
        refused = os.path.isfile(path) and (is_list(path) or not stream_count(path, "audio") + stream_count(path, "video"))
        # A cover picture is no video track for other checks, but thumbs shows it where there is nothing else.
        has_cover = command == "thumbs" and not refused and os.path.isfile(path) and any(
            entry.get("disposition", {}).get("attached_pic") for entry in ffprobe(path, "-show_streams")["streams"])
        wanted = 2 if refused or kind and not stream_count(path, kind) and not has_cover else None
    with tempfile.TemporaryDirectory() as folder:
        result = mediatool(*COMMANDS[command](path, folder))
        left = os.listdir(folder)
    lines = result.stderr.decode(errors="replace").splitlines()
    shown = " / ".join(lines)[:300]
    expect(result.returncode >= 0, f"ended by signal {-result.returncode}: {shown}")
    expect(result.returncode in (0, 2), f"exit {result.returncode}: {shown}")
    expect(wanted in (None, result.returncode), f"exit {result.returncode}, wanted {wanted}: {shown}")
    if result.returncode == 2:
        failed = 1
        if command == "thumbs":
            content = json.loads(result.stdout)
            images = content.get("images", [])
            failed = max(1, len({image["error"]["message"] for image in images if "error" in image}))
            if "damage" in content:
                # What is damaged is told besides.
                warnings = [line for line in lines if ": warning: " in line]
                expect(len(warnings) == 1, f"{len(warnings)} warnings of damage: {shown}")
                failed += 1
            if images and wanted is None:
                check_break(path, images)
        expect(len(lines) == failed and lines[0].strip(), f"{len(lines)} lines on standard error: {shown}")
        expect(os.path.basename(path) in lines[0], f"the line does not name the file: {shown}")
        expect(command == "thumbs" or not left, f"left behind: {left}")
    elif command == "waveform":
        expect(left == ["x.dat"], f"files: {left}")
    expect(not [name for name in left if name.endswith(".tmp") or name.startswith(".")], f"left behind: {left}")
    if command != "waveform":
        content = json.loads(result.stdout)
        expect(content.get("schemaVersion") == 1, "no schemaVersion 1 in the JSON")
        expect(result.returncode == 0 or command == "thumbs" or "error" in content, "no error in the JSON")
        if command == "probe" and result.returncode == 0 and not is_refused:
            count = len(ffprobe(path, "-show_streams").get("streams", []))
            expect(len(content["tracks"]) == count, f"{len(content['tracks'])} tracks, ffprobe sees {count}")
    return f"exit {result.returncode}" + (f": {shown}" if lines else "")


def check_break(path, images, is_exact=False):
    """Where a file breaks off, all images before that are there, and those after it are damaged; a tolerance may find others."""
    end = reference.break_of(path)
    expect(end is not None, f"no image: {next(i['error'] for i in images if 'error' in i)}")
    for image in images:
        time = Fraction(image["requested"]["value"], image["requested"]["timescale"])
        code = image.get("error", {}).get("code")
        # From there to the end of the last frame's interval, that frame is shown.
        allowed = (None,) if time < end else ("damaged",) if is_exact else ("damaged", None)
        expect(code in allowed, f"it breaks off at {end}: at {time} came {code or 'an image'}")


def shapes(report, files):
    """Sizes of images, and their likeness to ffmpeg's upright pictures."""
    jobs = []
    for name, path in readable(files, "video"):
        # ffmpeg counts its pictures anew where their size changes; `frames` compares this one.
        if name == "size-change.ts":
            continue
        crop, size = CLEAN.get(name, ("null", SIZES.get(name)))
        jobs.append((name, lambda path=path, size=size, crop=crop: one_shape(path, size, crop)))
    report.each("shapes", jobs)


def one_shape(path, size, crop):
    size = size or display_size(path)
    with tempfile.TemporaryDirectory() as folder:
        at, end = "90%", reference.break_of(path)
        if end is not None:
            result = mediatool("thumbs", path, "--at", at, "-o", folder, "--json", "--track", "v:0")
            expect(result.returncode == 2, f"it breaks off at {end}, and 90% is there: exit {result.returncode}")
            check_break(path, json.loads(result.stdout)["images"], is_exact=True)
            at = f"{(end * 9 / 10).numerator}/{(end * 9 / 10).denominator}"
        result = mediatool("thumbs", path, "--at", at, "-o", folder, "--json", "--track", "v:0")
        expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
        image = json.loads(result.stdout)["images"][0]
        expect("file" in image, f"no image: {image}")
        with open(image["file"], "rb") as file:
            header = file.read(24)
        got = struct.unpack(">II", header[16:24])
        expect(header[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG file")
        expect(got == size, f"{got[0]}x{got[1]}, wanted {size[0]}x{size[1]}")
        expect((image["width"], image["height"]) == got, "the manifest says another size")
        ratio = likeness(path, image, size, crop)
    # HDR is tone-mapped, so only its size is compared. Wrong way up gives 5 to 12 dB, another matrix about 20.
    shown = f"{got[0]}x{got[1]}" + ("" if ratio is None else f", {ratio:.0f} dB like ffmpeg's upright picture")
    expect(ratio is None or ratio > 24, shown)
    return shown


def display_size(path):
    """Encoded size by ffprobe, made square-pixelled by scaling the width, turned by the display matrix."""
    stream = reference.streams(path, "video")[0]
    width, height = stream["width"], stream["height"]
    aspect = stream.get("sample_aspect_ratio", "1:1").replace(":", "/")
    if not aspect.startswith("0/"):
        width = math.floor(width * Fraction(aspect) + Fraction(1, 2))
    turned = [entry["rotation"] for entry in stream.get("side_data_list", []) if "rotation" in entry]
    return (height, width) if turned and turned[0] % 180 else (width, height)


def likeness(path, image, size, crop):
    """PSNR in dB of an image to ffmpeg's frame of that time, turned by ffmpeg; None for HDR sources."""
    stream = reference.streams(path, "video")[0]
    if stream.get("color_transfer") in ("smpte2084", "arib-std-b67"):
        return None
    actual = Fraction(image["actual"]["value"], image["actual"]["timescale"])
    numbers = {frame.time: frame.number for frame in reference.frames(path)}
    expect(actual in numbers, f"no frame begins at {actual}")
    raw = ["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    # Chroma lies to the left where nothing else is said, except in what comes from still images, where ffmpeg takes the
    # middle as we do. ffmpeg turns first: what it mirrors has its chroma to the right.
    is_still = stream["codec_name"] in ("mjpeg", "png", "gif")
    sitings = [",format=rgb24"] if is_still else [SITING.format(place) for place in (0, 256)]
    got = numpy.frombuffer(run(["ffmpeg", "-v", "error", "-nostdin", "-i", image["file"], *raw]), "u1")
    best = 0.0
    for siting in sitings:
        picture = f"select=eq(n\\,{numbers[actual]}),{crop},scale={size[0]}:{size[1]}{siting}"
        wanted = numpy.frombuffer(
            run(["ffmpeg", "-v", "error", "-nostdin", *reference.unedited(path), *reference.uncropped(), "-i",
                 path, "-map", f"0:{stream['index']}", "-fps_mode", "passthrough", "-vf", picture, *raw]), "u1")
        if len(got) == len(wanted):
            error = ((got.astype(numpy.float64) - wanted) ** 2).mean()
            best = max(best, 99.0 if error == 0 else 10 * math.log10(255 ** 2 / error))
    return best
