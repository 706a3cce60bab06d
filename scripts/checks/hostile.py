"""What no file and no command line may do: crash, hang, take too much memory, leave files behind, end with an
undocumented exit code, or print what is not its schema's JSON.

A run damages one file and gives it to all commands. The same seed and number make the same run: what a report calls
run 17 of seed 1 is repeated by `--seed 1 --first 17 --runs 1`. Files that were reported are kept in .build/hostile.
"""

import argparse
import os
import resource
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import mutated, mutations
from .command_lines import Lines
from .schema import problems_of, validator
from .tools import CALLER
from .watched import Trial

# What every command is told; some files mean hours of silence, and ask for much work in good order.
TIMEOUT = 15
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
    ("ingest", ["ingest", "--json", "-o", "OUT/folder", "IN"], {0, 2}),
)

VALIDATORS = {name: validator(name) for name in {command[0] for command in COMMANDS}}


class Damage(Trial):
    """One damaged file and what the commands made of it."""

    runs = len(COMMANDS)

    def __init__(self, options, files, number):
        super().__init__(options, number)
        random = self.random
        source, other = random.choice(files), random.choice(files)
        self.content, kind = mutations.damaged(random, source.read_bytes(), other.read_bytes())
        self.source = source.name
        self.about = f" ({self.source}, {kind})"
        # Some come through a pipe, and some with the work on one thread.
        self.piped = random.random() < 0.1
        self.more = random.choice(([], [], ["--threads", "1"], ["--strict"]))

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
        out = os.path.join(folder, "out")
        os.mkdir(out)
        words = [("-" if self.piped else path) if word == "IN" else word.replace("OUT", out) for word in arguments]
        words = [words[0], "--timeout", str(TIMEOUT), *self.more, *words[1:]]
        end = self.watch(words, folder, feed=path if self.piped else None)
        for problem in end.problems(codes) or self.problems(name, end, sorted(os.listdir(out))):
            self.complain(words, problem)
        shutil.rmtree(out)

    @staticmethod
    def problems(name, end, left):
        try:
            if problems := problems_of(VALIDATORS[name], end.json()):
                yield problems
        except (ValueError, KeyError) as error:
            yield f"printed no JSON: {error}: {end.output[:200]!r}"
        if any(file.endswith(".partial") for file in left):
            yield f"left behind: {left}"
        if name == "proxy" and left != (["proxy.mov"] if end.code == 0 else []):
            yield f"exit code {end.code} with {left}"


def main():
    parser = argparse.ArgumentParser(prog="scripts/check hostile", description=__doc__)
    parser.add_argument("--seconds", type=float, help="how long (default: 60)")
    parser.add_argument("--runs", type=int, help="how many runs, in place of a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="the number of the first run")
    parser.add_argument("--folder", action="append", default=[], help="what is damaged (default: fixtures)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="a folder for files that were reported")
    parser.add_argument("--command-lines", dest="kind", action="store_const", const=Lines, default=Damage,
                        help="command lines put together by chance from all options, with values that fit and that do not")
    parser.add_argument("--mutations", type=int, default=0, help="how many mutated files of every container, counted")
    parser.add_argument("--cuts", type=int, default=0, help="how many cut-off files")
    parser.add_argument("--log", help="a file that keeps the counts of an interrupted run")
    options = parser.parse_args()
    root = Path(__file__).resolve().parents[2]
    folders = [Path(CALLER, folder) for folder in options.folder] or [root / "fixtures"]
    options.keep = Path(CALLER, options.keep) if options.keep else root / ".build/hostile"
    if options.mutations or options.cuts:
        options.log = Path(CALLER, options.log) if options.log else None
        sys.exit(mutated.main(options, root))
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
            run = options.kind(options, files, mine).all()
            with lock:
                runs, given_up = runs + 1, given_up + run.given_up
                seconds, memory = max(seconds, run.seconds), max(memory, run.memory)
                found.extend(run.found)
                for text in run.found:
                    print(text, flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        for worker in [pool.submit(work) for _ in range(options.jobs)]:
            worker.result()
    what = "folders of files" if options.kind is Lines else "damaged files"
    print(f"{runs} {what} through {options.kind.runs} runs each; the longest took {seconds:.1f} s, "
          f"the largest {memory >> 20} MB; {given_up} gave up after {TIMEOUT} s; {len(found)} found")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
