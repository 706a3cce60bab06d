"""What every command makes of files, as data that two builds can be compared by: `scripts/check release`.

    python3 -m checks.results FOLDER… --into FILE     one JSON object: file name -> command -> what it said and made

A file's name is that of its folder and its path below it, so that the results of two systems have the same names.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy

from .programs import MEDIATOOL
from .tools import run

SECONDS = 600
# Files of which a command would take long, or that name other files.
LARGEST = 64 << 20
# What a run says of itself: where files are, and how large coded ones are that other versions of encoders make.
OMITTED = {"path", "output", "file", "sizeBytes"}


def results(path):
    """What all commands make of one file."""
    return {name: measured(path, *command) for name, command in COMMANDS.items()}


def measured(path, arguments, made):
    """Exit code and JSON of a command, and what its outputs hold."""
    with tempfile.TemporaryDirectory(prefix="results-") as folder:
        command = [os.path.abspath(MEDIATOOL), *arguments, path]
        try:
            result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return {"exit": f"none within {SECONDS} s"}
        said = {"exit": result.returncode}
        try:
            said |= flat(json.loads(result.stdout or b"{}"))
        except ValueError:
            said["output"] = "not JSON"
        for name in sorted(os.listdir(folder)):
            said |= {f"{name} {what}": value for what, value in made(os.path.join(folder, name)).items()}
        return said


def flat(value, place=""):
    """Every value below an object by its place: `tracks[0].video.range`. Times and rationals count as one value."""
    if isinstance(value, dict):
        if {"value", "timescale"} <= value.keys():
            return {place: f"{value['value']}/{value['timescale']}"}
        if value.keys() == {"num", "den"}:
            return {place: f"{value['num']}/{value['den']}"}
        parts = [flat(item, f"{place}.{name}".lstrip(".")) for name, item in value.items() if name not in OMITTED]
    elif isinstance(value, list):
        parts = [flat(item, f"{place}[{index}]") for index, item in enumerate(value)] + [{place + ".count": len(value)}]
    else:
        return {place: value}
    return {name: item for part in parts for name, item in part.items()}


def pixels(path):
    """The digest of a PNG picture's pixels; compressed data may differ with the version of zlib."""
    data = run(["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba64le", "-"])
    return {"pixels": hashlib.sha256(data).hexdigest()[:16]}


def peaks(path):
    """The points of a peaks file, packed, as one text."""
    with open(path) as file:
        points = numpy.array(json.load(file)["data"], "<i2")
    return {"peaks": zlib.compress(points.tobytes()).hex()}


def digest(path):
    return {"bytes": hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]}


def nothing(path):
    return {}


def probed(path):
    """What the same program reads in a file that it made: the coded bytes are the encoder's, the rest is ours."""
    result = subprocess.run([os.path.abspath(MEDIATOOL), "probe", "--json", path], capture_output=True, timeout=SECONDS)
    said = flat(json.loads(result.stdout or b"{}"))
    return {name: value for name, value in said.items() if "bitRate" not in name and not name.startswith("container.size")}


COMMANDS = {
    "probe": (["probe", "--json"], nothing),
    "scan": (["probe", "--scan", "--json"], nothing),
    "thumbs": (["thumbs", "--count", "5", "--tolerance", "exact", "--json", "-o", "{index}.png"], pixels),
    "waveform": (["waveform", "--serial", "--split-channels", "--json", "-o", "peaks.json"], peaks),
    "qc": (["qc", "--policy", "ebu-r128", "--json"], nothing),
    "copy": (["export", "--copy", "--json", "-o", "copy.mov"], digest),
    "proxy": (["proxy", "--json", "-o", "proxy.mov"], probed),
}


def files_of(folders, part=""):
    """(name, path) of the media files below the folders."""
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            name = f"{Path(folder).name}/{path.relative_to(folder)}"
            hidden = any(piece.startswith(".") for piece in path.relative_to(folder).parts)
            if path.is_file() and not hidden and path.suffix not in (".tsv", ".md") and part in name \
                    and path.stat().st_size <= LARGEST:
                yield name, str(path)


def collected(folders, part=""):
    """The results of every file, worked out on all cores."""
    files = list(files_of(folders, part))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip((name for name, _ in files), pool.map(lambda file: results(file[1]), files)))


def main():
    parser = argparse.ArgumentParser(prog="checks.results")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--into", required=True)
    parser.add_argument("--file", default="")
    options = parser.parse_args()
    found = collected(options.folders, options.file)
    Path(options.into).write_text(json.dumps(found))
    print(f"{len(found)} files", file=sys.stderr)


if __name__ == "__main__":
    main()
