"""Media at addresses: servers that are good and bad, near and far, and what every command makes of them.

The servers are nginx (TLS, HTTP/2), hadro for S3, and a server that breaks every rule; they listen on this machine alone.
"""

import argparse
import os
import signal
import sys

from ..tools import CALLER, Report
from . import counts, faults, private, same, secrets, servers
from .world import world

GROUPS = {"servers": servers.servers, "same": same.same, "secrets": secrets.secrets, "faults": faults.faults, "private": private.private,
          "counts": counts.counts}
# What shows that the servers are as bad as they are meant to be, and what needs root.
FULL = {"servers", "counts"}


def main():
    parser = argparse.ArgumentParser(prog="scripts/check network", description=__doc__)
    parser.add_argument("--full", action="store_true", help="all groups, and all that takes long")
    others = " and ".join(sorted(FULL))
    parser.add_argument("--only", help=f"groups: {' '.join(GROUPS)} (default: all but {others})")
    parser.add_argument("--quiet", action="store_true", help="print only what failed, and the table")
    parser.add_argument("--folder", help="media beside the fixtures with --full, in place of ../shared/corpus")
    options = parser.parse_args()
    groups = options.only.split(",") if options.only else [name for name in GROUPS if options.full or name not in FULL]
    if unknown := set(groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    # Servers end with the check, also when `timeout` ends it.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    report = Report(verbose=not options.quiet, threads=1)
    folder = options.folder and os.path.join(CALLER, options.folder)
    with world(same.corpus_files(folder) if options.full else ()) as made:
        if not made.endpoint:
            print("not run: hadro is not installed, and nothing is read from S3")
        for group in groups:
            GROUPS[group](report, made, options.full)
    return report.finish()


sys.exit(main())
