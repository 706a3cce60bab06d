"""Two builds of the program make the same of the same files, byte for byte: standard output, messages and outputs.

For changes that must not be seen from outside. What differs is printed, by file and command, with the first values that do.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .results import COMMANDS, SECONDS, files_of, flat
from .tools import CALLER, ROOT

SHOWN = 4


def main():
    parser = argparse.ArgumentParser(prog="scripts/check same", description=__doc__)
    parser.add_argument("before", help="the earlier program")
    parser.add_argument("after", help="the later program")
    parser.add_argument("--folder", action="append", default=[], help="media (default: fixtures and ../shared/corpus)")
    parser.add_argument("--file", default="", help="only files whose path holds this")
    parser.add_argument("--only", default=",".join(COMMANDS), help="commands: " + " ".join(COMMANDS))
    options = parser.parse_args()
    programs = [os.path.abspath(os.path.join(CALLER, program)) for program in (options.before, options.after)]
    folders = [os.path.join(CALLER, folder) for folder in options.folder] or [
        folder for folder in (os.path.join(ROOT, "fixtures"), os.path.join(ROOT, "../shared/corpus")) if os.path.isdir(folder)]
    jobs = [(name, path, command) for name, path in files_of(folders, options.file) for command in options.only.split(",")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda job: compare(programs, *job), jobs))
    problems = [problem for problem in found if problem]
    print("\n".join(problems))
    print(f"{len(jobs)} runs, {len(problems)} differ")
    sys.exit(1 if problems else 0)


def compare(programs, name, path, command):
    """A line on what differs; None where nothing does."""
    before, after = (outcome(program, command, path) for program in programs)
    if before == after:
        return None
    places = [f"{key}: {str(before.get(key))[:80]} before, {str(after.get(key))[:80]} after"
              for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
    more = f"; and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return f"{command:9} {name}  {'; '.join(places[:SHOWN])}{more}"


def outcome(program, command, path):
    arguments, _ = COMMANDS[command]
    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        result = subprocess.run([program, *arguments, path], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                timeout=SECONDS, check=False)
        said = {"exit code": result.returncode, "standard output": digest(result.stdout),
                "messages": result.stderr.decode(errors="replace")}
        try:
            said |= flat(json.loads(result.stdout))
        except ValueError:
            pass
        return said | {output: digest(Path(folder, output).read_bytes()) for output in sorted(os.listdir(folder))}


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


if __name__ == "__main__":
    main()
