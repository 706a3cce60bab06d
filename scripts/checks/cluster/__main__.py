"""Parts of a list as tasks of clusters: what docs/cluster has for users, run.

The variables of Slurm, Kubernetes and AWS Batch are set, and the commands taken out of their files; GNU parallel and a Slurm of two
node daemons on this machine are real. A node is killed in the middle of a task. `--full`: more files, also those of
../shared/corpus, and a node's daemon that dies alone, so that two tasks work at one file.
"""

import argparse
import shutil
import signal
import sys
import tempfile

from ..network.same import corpus_files
from ..programs import media_fixtures
from ..tools import Report, run
from . import folders, runs, slurm, tasks

SMALL = ("aac.m4a", "h264-bframes.mp4", "flac-s16-stereo.flac", "mp3-lame.mp3", "pcm-s16.caf", "video-only.mp4", "chapters.mp4", "vorbis.ogg")
# Enough for parts 3 and 17.
PARTS = 20
AGAIN = (3, 17)


def tasks_of_scripts(report, folder, full):
    """The commands of docs/cluster, without their engines but for GNU parallel."""
    absent = {"parallel": not shutil.which("parallel"), "shellcheck": not shutil.which("shellcheck"),
              "kubernetes": run(["/usr/bin/python3", "-c", "import yaml"], check=False).returncode != 0}
    for name, needed in (("parallel", "GNU parallel"), ("shellcheck", "shellcheck"), ("kubernetes", "python3-yaml")):
        if absent[name]:
            print(f"not run: {name}: {needed} is not installed")
    if not absent["shellcheck"]:
        report.each("scripts", [("shellcheck", tasks.shells)])
    with tempfile.TemporaryDirectory(dir=folder) as work:
        library = tasks.Library(work, [path for path in media_fixtures() if path.name in SMALL], tasks.PARTS)
        report.each("tasks", [(one.__name__, lambda one=one: one(library))
                              for one in (tasks.slurm, tasks.kubernetes, tasks.batch, tasks.parallel) if not absent.get(one.__name__)])


def node(report, folder, full):
    """A node that dies."""
    media = media_fixtures() * (3 if full else 1)
    with tempfile.TemporaryDirectory(prefix="slurm-", dir=folder) as work, tempfile.TemporaryDirectory(dir=folder) as place:
        library = tasks.Library(place, media + (corpus_files() if full else []), PARTS, has_bad=full)
        report.each("slurm", [("a node dies", lambda: runs.node_dies(work, library, PARTS, AGAIN))])


def daemon(report, folder, full):
    """A node's daemon that dies alone."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        library = tasks.Library(place, runs.films(folder), 1)
        for name, comes_back in (("a daemon dies alone", False), ("and comes back", True)):
            with tempfile.TemporaryDirectory(prefix="slurm-", dir=folder) as work:
                report.each("slurm", [(name, lambda: runs.daemon_dies(work, library, comes_back))])


def asked_of_folders(report, folder, full):
    """What is asked of the file system of the outputs."""
    if run(["strace", "-qq", "-o", "/dev/null", "true"], check=False).returncode:
        print("not run: strace cannot trace here")
        return
    with tempfile.TemporaryDirectory(dir=folder) as work:
        report.each("folders", [("local", lambda: folders.asks_little(work, is_local=True)),
                                ("calls that fail", lambda: folders.needs_little(work))])
    with tempfile.TemporaryDirectory(dir=folder) as work, folders.served(work) as there:
        if there:
            report.each("folders", [("served by a process (FUSE)", lambda: folders.asks_little(there, is_local=False))])
        else:
            print("not run: bindfs cannot mount a folder here")


GROUPS = {"tasks": tasks_of_scripts, "folders": asked_of_folders, "node": node, "daemon": daemon}
# What takes minutes.
FULL = {"daemon"}


def main():
    parser = argparse.ArgumentParser(prog="scripts/check cluster", description=__doc__)
    parser.add_argument("--full", action="store_true", help="more files, and two tasks at one file")
    parser.add_argument("--only", help=f"groups: {' '.join(GROUPS)} (default: all but {' and '.join(FULL)})")
    options = parser.parse_args()
    groups = options.only.split(",") if options.only else [name for name in GROUPS if options.full or name not in FULL]
    if unknown := set(groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    # Daemons end with the check, also when `timeout` ends it.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    report = Report(threads=1)
    missing = slurm.missing()
    if missing:
        print(f"not run: Slurm: {missing}")
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        try:
            for group in groups:
                if not missing or group not in ("node", "daemon"):
                    GROUPS[group](report, folder, options.full)
        finally:
            tasks.end_all()
    return report.finish()


sys.exit(main())
