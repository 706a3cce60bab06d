"""Long media for the group `counts`, made once and kept below .build."""

import os
import shutil
from pathlib import Path

from ..tools import ROOT, run

FOLDER = Path(ROOT, ".build", "network", "films")
HOURS = 2
SECONDS = HOURS * 3600
FFMPEG = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
NAMES = ("index-first.mp4", "index-last.mp4", "cues.mkv", "hour.flac")


def films():
    """The folder of two-hour films and an hour of sound; a minute of pictures is coded, and copied end to end."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if all((FOLDER / name).exists() for name in NAMES):
        return FOLDER
    part = FOLDER / "part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    run([*FFMPEG, "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=60", "-f", "lavfi", "-i",
         "sine=frequency=300:sample_rate=48000:duration=60", "-c:v", "libx264", "-preset", "veryfast", "-crf", "34", "-g", "50",
         "-c:a", "aac", "-b:a", "64k", "-shortest", str(part / "minute.mp4")])
    loop = [*FFMPEG, "-stream_loop", str(HOURS * 60 - 1), "-i", str(part / "minute.mp4"), "-map", "0", "-c", "copy"]
    run([*loop, "-movflags", "+faststart", str(part / "index-first.mp4")])
    run([*loop, str(part / "index-last.mp4")])
    run([*loop, str(part / "cues.mkv")])
    noise = "anoisesrc=color=pink:amplitude=0.05:seed=1:sample_rate=44100:duration=3600"
    run([*FFMPEG, "-f", "lavfi", "-i", noise, "-sample_fmt", "s16", "-c:a", "flac", str(part / "hour.flac")])
    for name in NAMES:
        os.replace(part / name, FOLDER / name)
    shutil.rmtree(part)
    return FOLDER


def index_size(path):
    """The bytes of a movie's `moov` box."""
    start, end = index_range(path)
    return end - start


def index_range(path):
    """The first byte of a movie's `moov` box, and the one after it."""
    with open(path, "rb") as file:
        place, end = 0, os.fstat(file.fileno()).st_size
        while place < end:
            file.seek(place)
            head = file.read(16)
            size = int.from_bytes(head[:4], "big")
            size = int.from_bytes(head[8:], "big") if size == 1 else size or end - place
            if head[4:8] == b"moov":
                return place, place + size
            place += size
    raise ValueError(f"no moov in {path}")
