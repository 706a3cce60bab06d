"""Chooses files and groups of checks, runs them, prints the table.

`images` compares exact images with a plain decode, bit for bit; `containers` does so for files of every container that
ffmpeg writes, which it makes itself. Without the folder of real media the check says so and ends with 0.
"""

import argparse
import multiprocessing
import os
import sys
import zlib
from collections import defaultdict

from . import commands, cursors, editing, exact, export, frames, mediainfo, peaks, pictures, probe, proxy, qc, scan, sheets, sound
from .known import KNOWN
from .tools import CALLER, ROOT, Report

GROUPS = {"pcm": sound.pcm, "segments": sound.segments, "range": sound.ranges, "peaks": peaks.peaks,
          "pictures": pictures.pictures, "frames": frames.frames, "images": exact.images,
          "containers": exact.containers, "probe": probe.probe, "scan": scan.scan, "cursors": cursors.cursors,
          "mediainfo": mediainfo.mediainfo, "commands": commands.commands, "others": commands.others, "shapes": commands.shapes,
          "sheets": sheets.sheets, "proxy": proxy.proxy, "proxies": proxy.proxies, "copies": proxy.copies, "export": export.export,
          "editing": editing.editing, "loudness": qc.loudness}
# Groups that make their own media, by name.
MADE = {"containers": exact.CONTAINERS, "others": commands.OTHERS, "editing": editing.EDITING}


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


# Groups that cost little: a sample holds all files in them.
CHEAP = {"probe", "scan", "cursors", "mediainfo", "commands", "others", "editing"}


def chosen(group, names, options):
    """The files that a group checks: of each kind of file one of N, at least one. The names and the seed alone settle it."""
    if group in CHEAP or options.sample == 1:
        return set(names)
    kinds = defaultdict(list)
    for name in names:
        kinds[os.path.splitext(name)[1].lower()].append(name)
    def rank(name):
        return zlib.crc32(f"{options.seed} {group} {name}".encode())
    return {name for kind in kinds.values() for name in sorted(kind, key=rank)[:-(-len(kind) // options.sample)]}


def tasks(files, groups, options):
    """The groups and files that one process checks, which reads what other programs say of a file once; long ones first."""
    made = [([group], [(name, None)]) for group in groups if group in MADE
            for name in sorted(chosen(group, [name for name in MADE[group] if options.file in name], options))]
    shared = {group: chosen(group, [name for name, _ in files], options) for group in groups if group not in MADE}
    return [([group for group in shared if file[0] in shared[group]], [file])
            for file in sorted(files, key=lambda file: -os.path.getsize(file[1]))] + made


def work(task):
    """The results of a task, worked out by a process that ends with it, so that nothing of its file stays in memory."""
    groups, files, verbose = task
    report = Report(verbose=verbose, known=KNOWN, threads=1)
    for group in groups:
        GROUPS[group](report, files)
    return report.counts, report.seconds, report.costs


def main():
    parser = argparse.ArgumentParser(prog="scripts/check corpus", description=__doc__)
    parser.add_argument("--folder", default=os.path.join(ROOT, "..", "shared", "corpus"),
                        help="the media (default: ../shared/corpus)")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups: " + " ".join(GROUPS))
    parser.add_argument("--file", default="", help="only files whose path holds this")
    parser.add_argument("--quiet", action="store_true", help="print only what failed, and the table")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="name the N checks that used most of the processor")
    parser.add_argument("--full", action="store_true", help="sweeps with 2 and 8 workers, too")
    parser.add_argument("--sample", type=int, default=1, metavar="N",
                        help="one of N of each kind of file in the groups that cost much, all files in the others")
    parser.add_argument("--seed", default="", help="another text makes another choice")
    options = parser.parse_args()
    if options.sample > 1:
        print(f"a sample: --sample {options.sample} --seed {options.seed!r} repeats it")
    if options.full:
        frames.WORKERS += [2, 8]
    folder = os.path.normpath(os.path.join(CALLER, options.folder))
    groups = options.only.split(",")
    unknown = set(groups) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    if not os.path.isdir(folder):
        print(f"no corpus at {folder}: nothing compared", file=sys.stderr)
        return 0
    report = Report()
    todo = [(*task, not options.quiet) for task in tasks(media_files(folder, options.file), groups, options)]
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        for results in pool.imap_unordered(work, todo):
            report.join(*results)
    return report.finish(options.slowest)


sys.exit(main())
