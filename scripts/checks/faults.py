"""The table of docs/faults.md, run: each command in a folder of its own, and what happens beside what the table says."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .programs import MEDIATOOL
from .tools import ROOT

SECONDS = 60


def rows():
    """The rows of the tables that have commands: fault, command, exit code, message, files left."""
    for line in Path(ROOT, "docs/faults.md").read_text().splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[1].startswith("`"):
            yield cells[0], cells[1].strip("`").strip(), int(cells[2]), cells[3], cells[4]


def quoted(cell):
    """What stands in backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def scratch(folder):
    """What every command finds: media, the library that makes faults, and the program on PATH."""
    for name, source in (("film.mov", "docs/Examples/sample.mov"), ("talk.wav", "fixtures/pcm-s16-stereo.wav"),
                         ("clip.mp4", "fixtures/av.mp4")):
        shutil.copy(Path(ROOT, source), Path(folder, name))
    os.mkdir(Path(folder, "bin"))
    os.symlink(os.path.abspath(MEDIATOOL), Path(folder, "bin/mediatool"))
    library = Path(folder, "bin/fault.so")
    subprocess.run([shutil.which("cc") or "clang", "-O", "-shared", "-fPIC", "-o", library, Path(ROOT, "scripts/checks/fault.c")], check=True)
    return {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "FAULTS": str(library), "TMPDIR": folder + "/bin"}


def contents(folder):
    """All files below a folder, without what was put there; names that are no UTF-8 as Python escapes them."""
    return {os.path.relpath(os.path.join(place, name), folder)
            for place, _, names in os.walk(folder) for name in names if not place.endswith("/bin")}


def problem(command, code, message, left, verbose):
    """What is not as the row says; empty where all is."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        environment = scratch(folder)
        before = contents(folder)
        try:
            result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                    capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"does not end within {SECONDS} s"
        errors = result.stderr.decode(errors="replace")
        new = contents(folder) - before
        if verbose:
            print(f"    {result.returncode} {errors.strip()} {sorted(new)}")
        if result.returncode != code:
            return f"exit code {result.returncode} and not {code}: {errors.strip()}"
        for words in quoted(message):
            if words not in errors:
                return f"standard error lacks '{words}': {errors.strip()}"
        if not quoted(message) and errors.strip():
            return f"standard error is not empty: {errors.strip()}"
        if len(errors.splitlines()) > 3:
            return f"standard error has many lines: {errors.strip()}"
        wanted = set(quoted(left))
        if {ascii(name).strip("'") for name in new} != wanted:
            return f"left {sorted(map(ascii, new))} and not {sorted(wanted)}"
        hidden = [name for name in os.listdir(os.path.join(folder, "bin")) if name not in ("mediatool", "fault.so")]
        return f"left in the temporary folder: {hidden}" if hidden else ""


def main():
    parser = argparse.ArgumentParser(prog="scripts/check faults", description=__doc__)
    parser.add_argument("--only", default="", help="a part of a row")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    for fault, command, code, message, left in rows():
        if options.only not in fault + command:
            continue
        if options.verbose:
            print(f"{fault}: {command}")
        if text := problem(command, code, message, left, options.verbose):
            print(f"FAILED {fault}: {command}\n    {text}", flush=True)
            failed += 1
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
