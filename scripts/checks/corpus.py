"""Chooses files and groups of checks, runs them, prints the table.

`images` compares exact images with a plain decode, bit for bit; `containers` does so for files of every container that
ffmpeg writes, which it makes itself. Without the folder of real media the check says so and ends with 0.
"""

import argparse
import os
import sys

from . import commands, editing, exact, export, frames, mediainfo, peaks, pictures, probe, proxy, qc, scan, sheets, sound
from .known import KNOWN
from .tools import CALLER, ROOT, Report

GROUPS = {"pcm": sound.pcm, "segments": sound.segments, "range": sound.ranges, "peaks": peaks.peaks,
          "pictures": pictures.pictures, "frames": frames.frames, "images": exact.images,
          "containers": exact.containers, "probe": probe.probe, "scan": scan.scan,
          "mediainfo": mediainfo.mediainfo, "commands": commands.commands, "shapes": commands.shapes,
          "sheets": sheets.sheets, "proxy": proxy.proxy, "proxies": proxy.proxies, "copies": proxy.copies, "export": export.export,
          "editing": editing.editing, "loudness": qc.loudness}


def media_files(folder, part):
    """(name, path) of every file below the folder, in order; lists and hidden files are left out."""
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            relative = os.path.relpath(path, folder)
            if not name.startswith(".") and not name.endswith((".tsv", ".md")) and part in relative:
                found.append((relative, path))
    return found


def main():
    parser = argparse.ArgumentParser(prog="scripts/check corpus", description=__doc__)
    parser.add_argument("--folder", default=os.path.join(ROOT, "..", "shared", "corpus"),
                        help="the media (default: ../shared/corpus)")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups: " + " ".join(GROUPS))
    parser.add_argument("--file", default="", help="only files whose path holds this")
    parser.add_argument("--quiet", action="store_true", help="print only what failed, and the table")
    parser.add_argument("--full", action="store_true", help="sweeps with 2 and 8 workers, too")
    options = parser.parse_args()
    if options.full:
        frames.WORKERS += [2, 8]
    folder = os.path.normpath(os.path.join(CALLER, options.folder))
    unknown = set(options.only.split(",")) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    if not os.path.isdir(folder):
        print(f"no corpus at {folder}: nothing compared", file=sys.stderr)
        return 0
    report = Report(verbose=not options.quiet, known=KNOWN)
    files = media_files(folder, options.file)
    for group in options.only.split(","):
        if group == "containers":
            exact.containers(report, files, options.file)
        else:
            GROUPS[group](report, files)
    return report.finish()


sys.exit(main())
