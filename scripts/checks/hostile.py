"""Every command on damaged files: see scripts/hostile."""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from . import mutations
from .programs import MEDIATOOL
from .schema import problems_of, validator

SECONDS = 20
# What every command is told; some files mean hours of silence, and ask for much work in good order.
TIMEOUT = 15
MEMORY = 1 << 30
# Beyond this the system gives no more; between both, a run is reported and goes on.
MOST_MEMORY = 2 << 30
FILE_SIZE = 256 << 20
LARGEST_INPUT = 2 << 20

# Name, arguments (IN and OUT stand for the input and an empty folder), exit codes.
COMMANDS = (
    ("probe", ["probe", "--json", "--scan", "IN"], {0, 2}),
    ("waveform", ["waveform", "--json", "-o", "OUT/w.dat", "-o", "OUT/w.json", "-o", "OUT/w.png", "-o", "OUT/w.svg",
                  "--samples-per-pixel", "64", "IN"], {0, 2}),
    ("thumbs", ["thumbs", "--json", "--at", "0,50%,end", "--max-size", "160x160", "-o", "OUT/{stem}-{index}.{ext}",
                "IN"], {0, 2}),
    ("thumbs", ["thumbs", "--json", "--sprite", "--count", "6", "-o", "OUT/{stem}-{index}.jpg", "--vtt", "OUT/i.vtt",
                "IN"], {0, 2}),
    ("proxy", ["proxy", "--json", "--height", "90", "-o", "OUT/proxy.mov", "IN"], {0, 2}),
    ("export", ["export", "--json", "--start", "0.2", "--end", "1.5", "--height", "90", "-o", "OUT/part.mov", "IN"], {0, 2}),
    ("export", ["export", "--json", "--start", "0.2", "--end", "1.5", "--copy", "-o", "OUT/copy.mov", "IN"], {0, 2}),
    ("qc", ["qc", "--json", "--html", "OUT/q.html", "IN"], {0, 1, 2}),
)

VALIDATORS = {name: validator(name) for name in {command[0] for command in COMMANDS}}


class Run:
    """One damaged file and what the commands made of it."""

    def __init__(self, options, files, number):
        self.number = number
        self.options = options
        random = Random(f"{options.seed}/{number}")
        source, other = random.choice(files), random.choice(files)
        self.content, self.kind = mutations.damaged(random, source.read_bytes(), other.read_bytes())
        self.source = source.name
        # Some come through a pipe, and some with the work on one thread.
        self.piped = random.random() < 0.1
        self.more = random.choice(([], [], ["--threads", "1"], ["--strict"]))
        self.found = []
        self.seconds = self.memory = self.given_up = 0

    def complain(self, command, text):
        self.found.append(f"run {self.number} of seed {self.options.seed} ({self.source}, {self.kind}): "
                          f"{' '.join(command)}: {text}")

    def all(self):
        with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
            path = os.path.join(folder, "damaged" + os.path.splitext(self.source)[1])
            Path(path).write_bytes(self.content)
            for name, arguments, codes in COMMANDS:
                self.one(name, arguments, codes, path, folder)
            if Path(path).read_bytes() != self.content:
                self.complain(["any command"], "the input was changed")
            if self.found:
                os.makedirs(self.options.keep, exist_ok=True)
                shutil.copy(path, os.path.join(self.options.keep, f"{self.options.seed}-{self.number}-{self.source}"))
        return self

    def one(self, name, arguments, codes, path, folder):
        out, scratch = os.path.join(folder, "out"), os.path.join(folder, "tmp")
        os.mkdir(out)
        os.mkdir(scratch)
        words = [("-" if self.piped else path) if word == "IN" else word.replace("OUT", out) for word in arguments]
        words = [words[0], "--timeout", str(TIMEOUT), *self.more, *words[1:]]
        # Private writable memory is counted; address space would count libraries and unused stacks too.
        command = ["prlimit", f"--data={MOST_MEMORY}", f"--fsize={FILE_SIZE}", "--core=0", f"--cpu={4 * SECONDS}",
                   "--", MEDIATOOL, *words]
        logs = [tempfile.TemporaryFile(dir=folder) for _ in range(2)]
        with open(path if self.piped else os.devnull, "rb") as feed:
            if self.piped:
                cat = subprocess.Popen(["cat"], stdin=feed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                feed = cat.stdout
            begun = time.monotonic()
            process = subprocess.Popen(command, stdin=feed, stdout=logs[0], stderr=logs[1],
                                       env={**os.environ, "TMPDIR": scratch})
            hung = threading.Event()
            timer = threading.Timer(SECONDS, lambda: (hung.set(), process.kill()))
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = code = os.waitstatus_to_exitcode(status)
            if self.piped:
                cat.stdout.close()
                cat.wait()
        self.seconds = max(self.seconds, time.monotonic() - begun)
        self.memory = max(self.memory, usage.ru_maxrss << 10)
        output, errors = (self.text(log) for log in logs)
        self.judge(name, words, code, codes, hung.is_set(), usage, output, errors, out, scratch)
        shutil.rmtree(out)
        shutil.rmtree(scratch)

    @staticmethod
    def text(log):
        with log:
            log.seek(0)
            return log.read()

    def judge(self, name, words, code, codes, hung, usage, output, errors, out, scratch):
        def complain(text):
            self.complain(words, text)

        if hung:
            return complain(f"no end within {SECONDS} s")
        if code < 0:
            return complain(f"ended by {signal.Signals(-code).name}: {errors[-300:]!r}")
        if code not in codes:
            return complain(f"exit code {code}: {errors[-300:]!r}")
        if usage.ru_maxrss << 10 > MEMORY:
            complain(f"took {usage.ru_maxrss >> 10} MB")
        self.given_up += b"within the time limit" in errors
        lines = errors.split(b"\n")[:-1]
        if any(not line.startswith(b"mediatool: ") for line in lines) or len(lines) > 200:
            complain(f"printed on standard error: {errors[:300]!r}")
        if code == 2 and not lines:
            complain("exit code 2 without a word")
        try:
            # NaN and Infinity are Python's own and no JSON.
            result = json.loads(output, parse_constant=lambda word: {}[word])
            if problems := problems_of(VALIDATORS[name], result):
                complain(problems)
        except (ValueError, KeyError) as error:
            complain(f"printed no JSON: {error}: {output[:200]!r}")
        left = sorted(os.listdir(out))
        if any(file.endswith(".partial") for file in left) or os.listdir(scratch):
            complain(f"left behind: {left} {os.listdir(scratch)}")
        if name == "proxy" and left != (["proxy.mov"] if code == 0 else []):
            complain(f"exit code {code} with {left}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/hostile")
    parser.add_argument("--from", dest="here", default=".", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--folder", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep")
    options = parser.parse_args()
    root = Path(__file__).resolve().parents[2]
    folders = [Path(options.here, folder) for folder in options.folder] or [root / "fixtures"]
    options.keep = Path(options.here, options.keep) if options.keep else root / ".build/hostile"
    files = sorted(path for folder in folders for path in folder.rglob("*")
                   if path.is_file() and 0 < path.stat().st_size <= LARGEST_INPUT and path.suffix not in (".tsv", ".md"))
    if not files:
        parser.error("no files to damage: run scripts/fixtures")
    end = time.monotonic() + (options.seconds or 60) if options.runs is None else float("inf")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    found, runs, seconds, memory, given_up = [], 0, 0.0, 0, 0
    number, lock = options.first, threading.Lock()

    def work():
        nonlocal number, runs, seconds, memory, given_up
        while True:
            with lock:
                if time.monotonic() > end or options.runs is not None and number >= options.first + options.runs:
                    return
                mine, number = number, number + 1
            run = Run(options, files, mine).all()
            with lock:
                runs, given_up = runs + 1, given_up + run.given_up
                seconds, memory = max(seconds, run.seconds), max(memory, run.memory)
                found.extend(run.found)
                for text in run.found:
                    print(text, flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        for worker in [pool.submit(work) for _ in range(options.jobs)]:
            worker.result()
    print(f"{runs} damaged files through {len(COMMANDS)} runs each; the longest took {seconds:.1f} s, "
          f"the largest {memory >> 20} MB; {given_up} gave up after {TIMEOUT} s; {len(found)} found")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
