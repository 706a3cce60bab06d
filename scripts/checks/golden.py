"""Writes golden/pcm.tsv and golden/frames/*.tsv. The formats are described in golden/README.md.

With --differing: the same tables below fixtures/.golden, of the fixtures whose bytes are not those that golden/ was made of.
"""

import argparse
import hashlib
import os
import re
import shutil
import sys

from . import reference
from .tools import ROOT

FIXTURES = os.path.join(ROOT, "fixtures")
GOLDEN = os.path.join(ROOT, "golden")
HERE = os.path.join(FIXTURES, ".golden")
# No assembler: then the lossy decoders' sums are the same on every processor, and this script's output too.
FLAGS = ("-cpuflags", "0")
# Refused on purpose, empty, or no media at all.
NO_MEDIA = {"hls-list.mp4", "concat-list.wav", "empty.mp4", "text.mp4", "truncated-header.mp4"}
# What a decoder makes of damage depends on its threads; still pictures have no time; ffmpeg makes all pictures one size,
# and refuses odd clean apertures from version 6 on.
NO_FRAMES = {"damaged.ts", "damaged.mp4", "truncated.mp4", "picture.png", "picture.jpg",
             "size-change.ts", "apertures.mov"}


def digest(data):
    return hashlib.sha256(data).hexdigest()


def digest_of(path):
    with open(path, "rb") as file:
        return digest(file.read())


def differing(names):
    """Those of the names that golden/ has a table of, and whose bytes are others here."""
    with open(os.path.join(GOLDEN, "fixtures.sha256")) as file:
        recorded = dict(reversed(line.split()) for line in file if not line.startswith("#"))
    with open(os.path.join(GOLDEN, "pcm.tsv")) as file:
        described = {line.split("\t")[0] for line in file}
    described |= {re.sub(r"\.v\d+\.tsv$", "", name) for name in os.listdir(os.path.join(GOLDEN, "frames"))}
    return [name for name in names if name in described and digest_of(os.path.join(FIXTURES, name)) != recorded.get(name)]


def write(path, comments, columns, rows):
    with open(path, "w") as file:
        file.writelines(f"# {comment}\n" for comment in comments)
        file.writelines("\t".join(map(str, row)) + "\n" for row in [columns, *rows])


def pcm_rows(name, path, fixture):
    for track in range(len(reference.streams(path, "audio"))):
        sound = reference.sound(path, track)
        decoded = len(sound.decoded("s16", FLAGS))
        s16, f32 = sound.presented("s16", FLAGS), sound.presented("flt", FLAGS)
        yield (name, track, sound.codec, sound.kind, sound.rate, sound.channels, decoded, sound.lead, len(s16),
               "yes" if sound.is_exact else "no", digest(s16.tobytes()), digest(f32.tobytes()), fixture)


def frame_files(name, path, fixture):
    for track, stream in enumerate(reference.streams(path, "video")):
        rows = [(index, f"{frame.time.numerator}/{frame.time.denominator}", int(frame.is_key), frame.md5)
                for index, frame in enumerate(reference.frames(path, track, FLAGS))]
        exact = "yes" if stream["codec_name"] in reference.EXACT_VIDEO else "no"
        yield f"{name}.v{track}.tsv", [f"fixture {name}", f"sha256 {fixture}", f"exact {exact}"], rows


def main():
    parser = argparse.ArgumentParser(prog="scripts/golden/media")
    parser.add_argument("--differing", action="store_true")
    options = parser.parse_args()
    into = HERE if options.differing else GOLDEN
    names = [name for name in sorted(os.listdir(FIXTURES)) if not name.startswith(".") and name not in NO_MEDIA]
    if options.differing:
        shutil.rmtree(HERE, ignore_errors=True)
        names = differing(names)
        if not names:
            return
    os.makedirs(os.path.join(into, "frames"), exist_ok=True)
    pcm, written = [], set()
    for name in names:
        path = os.path.join(FIXTURES, name)
        fixture = digest_of(path)
        if name not in NO_FRAMES:
            pcm += pcm_rows(name, path, fixture)
        if name not in NO_FRAMES:
            for file_name, comments, rows in frame_files(name, path, fixture):
                write(os.path.join(into, "frames", file_name), comments, ["index", "time", "keyframe", "md5"], rows)
                written.add(file_name)
    columns = ["fixture", "track", "codec", "format", "rate", "channels", "decoded", "lead", "frames", "exact",
               "s16le", "f32le", "sha256"]
    write(os.path.join(into, "pcm.tsv"), [], columns, pcm)
    for stale in set(os.listdir(os.path.join(into, "frames"))) - written:
        os.remove(os.path.join(into, "frames", stale))
    print(f"{len(pcm)} audio tracks, {len(written)} video tracks", file=sys.stderr)


main()
