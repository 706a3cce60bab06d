"""Files end alone: a batch of 20 in which the decoder of one crashes, hangs, or takes all memory or disk; batches of mutated
files; what the processes that read media open, as strace sees it; and runs that are killed at any moment.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import batches, killed, opened
from .programs import MEDIATOOL
from .tools import ROOT

FILES = 20
BAD = 7
# What happens: options, the code of the error, words of its message.
CRASHES = {
    "abort": ([], "crashed", "SIGABRT"),
    "segv": ([], "crashed", "SIGSEGV"),
    "exit": ([], "crashed", "damaged or hostile"),
    "loop": (["--timeout", "1"], "timedOut", "time limit"),
    "sleep": (["--timeout", "1"], "timedOut", "time limit"),
    "memory": (["--limit", "memory=300M"], "memoryLimit", "300 MB"),
    "disk": (["--limit", "output-bytes=20M"], "crashed", "SIGABRT"),
}
COMMANDS = {
    "waveform": (["-o", "{stem}.dat", "--jsonl"], ".dat"),
    "export": (["-o", "{stem}.wav", "--jsonl"], ".wav"),
    "qc": (["--jsonl"], None),
}
# A time limit is kept to this many seconds; the rest of a run takes no longer than without a fault.
LATE = 0.2


def fill(folder):
    """Twenty tones, of which one has the rate that crashes."""
    for number in range(FILES):
        rate = "11025" if number == BAD else "22050"
        subprocess.run(["sox", "-n", "-r", rate, "-b", "16", Path(folder, f"{number:02}.flac"), "synth", "2", "sine", "440"],
                       check=True)


def run(folder, library, command, crash, options, jobs):
    """The run of a command, and how long it took."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(".flac"))
    environment = {**os.environ, "LD_PRELOAD": str(library), "CRASH": crash}
    begun = time.monotonic()
    result = subprocess.run(
        [os.path.abspath(MEDIATOOL), command, *names, *COMMANDS[command][0], *options, "--jobs", str(jobs)],
        cwd=folder, env=environment, capture_output=True, timeout=60)
    return result, time.monotonic() - begun


def problem(library, command, crash, jobs):
    """What is not as it should be; empty where all is."""
    options, code, words = CRASHES[crash]
    with tempfile.TemporaryDirectory(prefix="crashes-") as folder:
        fill(folder)
        before = set(os.listdir(folder))
        _, usual = run(folder, library, command, "none", options + ["--force"], jobs)
        for name in set(os.listdir(folder)) - before:
            os.remove(Path(folder, name))
        result, seconds = run(folder, library, command, crash, options, jobs)
        left = set(os.listdir(folder)) - before
        errors = result.stderr.decode(errors="replace").splitlines()
        if result.returncode != 2:
            return f"exit {result.returncode}"
        about = [line for line in errors if f"{BAD:02}.flac" in line and "warning" not in line]
        if len(about) != 1 or words not in about[0]:
            return f"standard error: {errors}"
        objects = [json.loads(line) for line in result.stdout.decode().splitlines()]
        if [o.get("error", {}).get("code") for o in objects] != [code if n == BAD else None for n in range(FILES)]:
            return f"results: {[o.get('error') for o in objects]}"
        ending = COMMANDS[command][1]
        wanted = {f"{n:02}{ending}" for n in range(FILES) if n != BAD} if ending else set()
        if left != wanted:
            return f"files: {sorted(left ^ wanted)}"
        if "--timeout" in options and seconds > usual + float(options[1]) + LATE:
            return f"took {seconds:.2f} s, without the fault {usual:.2f} s"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="every command, 100 batches, all fixtures and ../shared/corpus, 20 kills each")
    parser.add_argument("--batches", type=int, help="the number of batches of 50 mutated files (default: 1, or 100)")
    arguments = parser.parse_args()
    count = (100 if arguments.full else 1) if arguments.batches is None else arguments.batches
    passed, failed = batches.main(count)
    good, bad = killed.main(20 if arguments.full else 3)
    passed, failed = passed + good, failed + bad
    missing = opened.missing()
    if not missing:
        files = [Path(ROOT, "fixtures", name) for name in ("av.mp4", "h264-aac.mkv")]
        if arguments.full:
            files = [path for folder in ("fixtures", "../shared/corpus") for path in sorted(Path(ROOT, folder).rglob("*"))
                     if path.is_file() and path.suffix not in (".tsv", ".md")]
        good, bad = opened.main(files)
        passed, failed = passed + good, failed + bad
    else:
        print(f"{missing}: what workers open was not looked at")
    with tempfile.TemporaryDirectory(prefix="crashes-") as folder:
        library = Path(folder, "crash.so")
        subprocess.run([shutil.which("cc") or "clang", "-O", "-shared", "-fPIC", "-o", library,
                        Path(ROOT, "scripts/checks/crash.c")], check=True)
        for command in COMMANDS if arguments.full else ["waveform"]:
            for jobs in (1, 2) if arguments.full else (2,):
                for crash in CRASHES:
                    found = problem(library, command, crash, jobs)
                    passed, failed = passed + (not found), failed + bool(found)
                    if found:
                        print(f"FAIL {command} --jobs {jobs} {crash}: {found}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
