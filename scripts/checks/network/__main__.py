"""Media at addresses: servers that are good and bad, near and far, and what every command makes of them.

The servers are nginx (TLS, HTTP/2), hadro for S3, and a server that breaks every rule; they listen on this machine alone.
"""

import argparse
import sys

from ..tools import Report
from . import servers
from .world import world

GROUPS = {"servers": servers.servers}


def main():
    parser = argparse.ArgumentParser(prog="scripts/check network", description=__doc__)
    parser.add_argument("--only", default=",".join(GROUPS), help="groups: " + " ".join(GROUPS))
    parser.add_argument("--quiet", action="store_true", help="print only what failed, and the table")
    options = parser.parse_args()
    report = Report(verbose=not options.quiet, threads=1)
    with world() as made:
        for group in options.only.split(","):
            GROUPS[group](report, made)
    return report.finish()


sys.exit(main())
