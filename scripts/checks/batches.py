"""Mutated files in batches of 50 through all commands: exit codes 0, 1 and 2 only, nothing half-written, no file late.

A batch is settled by the seed and its number. The time limit of a file is measured from one result to the next.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from . import containers, mutations
from .programs import MEDIATOOL
from .tools import ROOT

SIZE = 50
TIMEOUT = 5
LATE = 0.2
# What a result costs that is not the file's: printing, and a fresh process after a death.
SLACK = 0.1
COMMANDS = (
    ["probe", "--scan"],
    ["waveform", "-o", "OUT/{stem}.dat"],
    ["thumbs", "--at", "0,50%,end", "--max-size", "160x160", "-o", "OUT/{stem}-{index}.jpg"],
    ["proxy", "-o", "OUT/{stem}.mov"],
    ["export", "--copy", "-o", "OUT/{stem}.mkv"],
    ["qc", "--html", "OUT/q.html"],
)


def fill(folder, number, files):
    """The batch: 50 files, each mutated of one seed with parts of another."""
    random = Random(f"batch {number}")
    for place in range(SIZE):
        seed, other = random.choice(files), random.choice(files)
        data, _ = mutations.damaged(random, Path(seed).read_bytes(), Path(other).read_bytes())
        Path(folder, f"{place:02}{Path(seed).suffix}").write_bytes(data)


def run(folder, command):
    """What is wrong with a run of a command over a batch; and how many files the run gave up or lost."""
    out = Path(folder, "out")
    out.mkdir(exist_ok=True)
    names = sorted(str(path) for path in Path(folder).iterdir() if path.is_file())
    arguments = [word.replace("OUT", str(out)) for word in command]
    errors = open(Path(folder, "out", "errors"), "w+b")
    process = subprocess.Popen(
        [MEDIATOOL, *arguments, *names, "--jsonl", "--jobs", "1", "--quiet", "--timeout", str(TIMEOUT),
         "--limit", "pixels=33177600"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
    last, late, results, lost = time.monotonic(), 0.0, 0, {}
    for line in process.stdout:
        now = time.monotonic()
        late, last, results = max(late, now - last), now, results + 1
        for code in ("crashed", "timedOut", "memoryLimit"):
            if f'"error":{{"code":"{code}"'.encode() in line:
                lost[code] = lost.get(code, 0) + 1
    code = process.wait()
    errors.seek(0)
    text = errors.read().decode(errors="replace")
    errors.close()
    found = []
    if code not in (0, 1, 2):
        found.append(f"exit {code}")
    if results != SIZE:
        found.append(f"{results} results")
    if late > TIMEOUT + LATE + SLACK:
        found.append(f"a file took {late:.2f} s")
    if any(name.endswith(".partial") for _, _, left in os.walk(folder) for name in left):
        found.append("a file is half-written")
    if "Fatal error" in text or "Assertion" in text and "crashed" not in text:
        found.append(text[-300:])
    for path in out.iterdir():
        path.unlink()
    return found, lost, late


def main(count, first=0):
    """Runs so many batches; prints a summary and gives the number that failed."""
    files = [str(path) for path in containers.seeds(Path(ROOT) / ".build/hostile-seeds")]
    passed = failed = 0
    total, longest = {}, 0.0
    for number in range(first, first + count):
        with tempfile.TemporaryDirectory(prefix="batches-") as folder:
            fill(folder, number, files)
            for command in COMMANDS:
                found, lost, late = run(folder, command)
                passed, failed = passed + (not found), failed + bool(found)
                longest = max(longest, late)
                for code, times in lost.items():
                    total[code] = total.get(code, 0) + times
                if found:
                    print(f"FAIL batch {number} {command[0]}: {'; '.join(found)}", flush=True)
    print(f"{count * SIZE} mutated files through {len(COMMANDS)} commands; "
          + ", ".join(f"{code} {times}" for code, times in sorted(total.items())) + f"; the longest result took {longest:.2f} s")
    return passed, failed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]))[1] > 0)
