"""The two programs under test, and which files have what."""

import json
import os
from functools import cache
from pathlib import Path

from . import reference
from .tools import ROOT, expect, run

MEDIATOOL = os.environ.get("MEDIATOOL_BINARY", "mediatool")
MEDIACHECK = os.environ.get("MEDIACHECK_BINARY", "mediacheck")
SECONDS = 20  # what a command that reads may take on any file
LONG = 600  # one that encodes or decodes a whole file hangs after that, however slow the machine


def mediacheck(*arguments, **options):
    """Standard output of `mediacheck`, as bytes."""
    return run([MEDIACHECK, *map(str, arguments)], timeout=LONG, **options)


def mediatool(*arguments, seconds=SECONDS, **options):
    """The finished `mediatool` process; neither its exit code nor its messages are judged here."""
    return run([MEDIATOOL, *map(str, arguments)], check=False, timeout=seconds, **options)


def is_refused_as_damaged(*arguments):
    """Expects that a command ends with exit code 2, says `damaged`, and names no output; gives a detail for the line."""
    result = mediatool(*arguments, "--json", "--quiet")
    expect(result.returncode == 2, f"exit {result.returncode} though nothing can be decoded")
    code = json.loads(result.stdout)["error"]["code"]
    expect(code == "damaged", f"the error is {code}")
    return "nothing can be decoded: damaged"


def is_refused_by_some(path):
    """Whether some versions of ffprobe refuse the file: from 6 on for one clean aperture that is not inside its picture."""
    return os.path.basename(path) == "apertures.mov"


@cache
def stream_count(path, kind):
    """How many audio or video tracks ffprobe sees; 0 for a file it refuses."""
    try:
        return len(reference.streams(path, kind))
    except RuntimeError:
        return 0


def readable(files, kind):
    """The files that have a track of that kind and were not made to be refused or damaged."""
    return [(name, path) for name, path in files
            if stream_count(path, kind) and not is_list(path)
            and not os.path.basename(name).startswith(("damaged", "truncated.mp4"))]


@cache
def is_list(path):
    """Whether the file only names other files: a playlist or a concat list, whatever its extension."""
    with open(path, "rb") as file:
        return file.read(16).startswith((b"#EXTM3U", b"ffconcat"))


def media_fixtures():
    """The fixtures that are media and not damaged, without hidden files and lists."""
    others = (".", "clicks", "concat", "damaged", "empty", "hls", "picture", "text", "truncated")
    return [path for path in sorted(Path(ROOT, "fixtures").iterdir()) if path.is_file() and not path.name.startswith(others)]
