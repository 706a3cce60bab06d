"""Mutated and cut-off files of every container through the commands that read them: see scripts/check hostile --mutations.

A run is one file and all commands. It is settled by the seed, its kind and its number, so that it can be repeated, and that
a later call can go on where an earlier one was ended.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from . import containers, mutations
from .programs import MEDIATOOL

# The program's own limit of time is below the one after which it counts as hung.
TIMEOUT, SECONDS = 20, 30
MEMORY = 1 << 30
OPTIONS = ["--timeout", str(TIMEOUT), "--limit", "pixels=33177600", "--quiet"]
# Name, arguments, exit codes, and how much may be written of an input of one byte and of nothing.
COMMANDS = (
    ("probe", ["probe", "--json", "--scan", "IN"], (0, 2), (0, 0)),
    ("waveform", ["waveform", "-o", "OUT/w.dat", "IN"], (0, 2), (16, 1 << 30)),
    ("thumbs", ["thumbs", "--at", "0,50%,end", "--max-size", "160x160", "-o", "OUT/{index}.jpg", "IN"], (0, 2),
     (16, 1 << 30)),
    ("qc", ["qc", "--json", "IN"], (0, 1, 2), (0, 0)),
    ("export", ["export", "--copy", "-o", "OUT/copy.EXT", "IN"], (0, 2), (1.1, 64 << 20)),
)
FAULTS = ("abort", "hang", "memory", "output", "exit")


@dataclass
class Outcome:
    """What the commands made of one file."""

    kind: str
    number: int
    seed: str
    what: str
    seconds: float = 0.0
    memory: int = 0
    gave_up: int = 0
    faults: list = field(default_factory=list)

    def line(self):
        """The outcome as one line of the log."""
        return json.dumps(asdict(self)) + "\n"


class Watchdog:
    """Ends processes that run too long; one thread for all."""

    def __init__(self):
        self.lock, self.running, self.ended = threading.Lock(), {}, set()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while True:
            time.sleep(0.5)
            with self.lock:
                for pid, deadline in self.running.items():
                    if time.monotonic() > deadline and pid not in self.ended:
                        self.ended.add(pid)
                        os.kill(pid, signal.SIGKILL)

    def wait(self, pid):
        """Waits for a child; tells its status, what it used, and whether it had to be ended."""
        with self.lock:
            self.running[pid] = time.monotonic() + SECONDS
        # Left as it is until nobody can end it any more: its number may be given to another one.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with self.lock:
            del self.running[pid]
            is_hung = pid in self.ended
            self.ended.discard(pid)
        _, status, usage = os.wait4(pid, 0)
        return os.waitstatus_to_exitcode(status), usage, is_hung


class Worker:
    """A folder, and the runs that happen in it one by one."""

    def __init__(self, files, options, watchdog):
        self.files, self.options, self.watchdog = files, options, watchdog
        self.folder = tempfile.TemporaryDirectory(prefix="mutated-")
        self.out = os.path.join(self.folder.name, "out")
        os.mkdir(self.out)
        self.errors = os.path.join(self.folder.name, "errors")

    def run(self, kind, number):
        random = Random(f"{self.options.seed}/{kind}/{number}")
        # One after the other, so that no container is left out however few runs there are.
        source = self.files[number % len(self.files)]
        content = source.read_bytes()
        if kind == "cut":
            data, what = content[:self.length(random, content)], "cut"
        else:
            data, what = mutations.damaged(random, content, random.choice(self.files).read_bytes())
        outcome = Outcome(kind, number, source.name, what)
        path = os.path.join(self.folder.name, "in" + source.suffix)
        with open(path, "wb") as file:
            file.write(data)
        for name, arguments, codes, (factor, more) in COMMANDS:
            ending = "mkv" if number // len(self.files) % 2 else "mov"
            words = [path if word == "IN" else word.replace("OUT", self.out).replace("EXT", ending) for word in arguments]
            fault = self.one(outcome, words, codes, int(factor * len(data)) + more)
            if fault:
                outcome.faults.append((fault[0], name, fault[1]))
        if outcome.faults:
            os.makedirs(self.options.keep, exist_ok=True)
            with open(os.path.join(self.options.keep, f"{self.options.seed}-{kind}-{number}-{source.name}"), "wb") as file:
                file.write(data)
        os.unlink(path)
        return outcome

    @staticmethod
    def length(random, content):
        """Where a file is cut off: anywhere, or near its beginning or end, where headers and indices lie."""
        if random.random() < 0.5:
            return random.randint(1, max(1, len(content) - 1))
        distance = int(min(len(content) - 1, 2 ** random.uniform(0, 12)))
        return max(1, distance if random.random() < 0.5 else len(content) - distance)

    def one(self, outcome, words, codes, most_output):
        """Runs one command; tells what is wrong with its end, or nothing."""
        begun = time.monotonic()
        pid = os.posix_spawn(MEDIATOOL, [MEDIATOOL, words[0], *OPTIONS, *words[1:]], os.environ, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, self.errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)])
        code, usage, is_hung = self.watchdog.wait(pid)
        outcome.seconds = max(outcome.seconds, time.monotonic() - begun)
        outcome.memory = max(outcome.memory, usage.ru_maxrss << 10)
        written = 0
        for name in os.listdir(self.out):
            file = os.path.join(self.out, name)
            written += os.path.getsize(file)
            os.unlink(file)
        with open(self.errors, "rb") as file:
            errors = file.read(4096)
        outcome.gave_up += b"within the time limit" in errors
        if is_hung:
            return "hang", f"no end within {SECONDS} s"
        if code < 0:
            return "abort", f"{signal.Signals(-code).name} {errors[-200:]!r}"
        if code not in codes:
            return "exit", f"{code} {errors[-200:]!r}"
        if code == 2 and not errors:
            return "exit", "2 without a word"
        if usage.ru_maxrss << 10 > MEMORY:
            return "memory", f"{usage.ru_maxrss >> 10} MB"
        if written > most_output:
            return "output", f"{written} bytes, more than {most_output}"
        return None


class Tally:
    """The runs that are still to be done, and the sum of those that are."""

    def __init__(self, wanted, log):
        self.lock, self.done, self.failed = threading.Lock(), 0, 0
        self.counts = dict.fromkeys(FAULTS, 0)
        self.seconds, self.memory, self.gave_up = 0.0, 0, 0
        known = set()
        if log and log.is_file():
            # The last line may have been broken off.
            lines = [line for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]
            log.write_text("".join(lines))
            for outcome in (Outcome(**json.loads(line)) for line in lines):
                run = (outcome.kind, outcome.number)
                if run in wanted and run not in known:
                    known.add(run)
                    self.add(outcome)
        self.rest = iter([run for run in wanted if run not in known])
        self.taken_over = len(known)
        self.log = open(log, "a", encoding="utf-8") if log else None

    def next(self):
        with self.lock:
            return next(self.rest, None)

    def add(self, outcome, is_new=False):
        with self.lock:
            self.done += 1
            self.failed += bool(outcome.faults)
            self.seconds, self.memory = max(self.seconds, outcome.seconds), max(self.memory, outcome.memory)
            self.gave_up += outcome.gave_up
            for kind, command, text in outcome.faults:
                self.counts[kind] = self.counts.get(kind, 0) + 1
                print(f"{outcome.kind} {outcome.number} ({outcome.seed}, {outcome.what}): {command}: {kind}: {text}",
                      flush=True)
            if is_new and self.log:
                self.log.write(outcome.line())
                self.log.flush()
            if is_new and self.done % 500 == 0:
                print(f"{self.done} runs, {self.failed} of them with faults", file=sys.stderr, flush=True)


def main(options, root):
    """Does the runs that are asked for; the exit code."""
    files = containers.seeds(root / ".build/hostile-seeds")
    wanted = {("mutation", number): None for number in range(options.first, options.first + options.mutations)}
    wanted |= {("cut", number): None for number in range(options.first, options.first + options.cuts)}
    if options.log:
        options.log.parent.mkdir(parents=True, exist_ok=True)
    tally, watchdog = Tally(wanted, options.log), Watchdog()
    # Inherited by the commands: no core files, and no more memory or output than would be reported anyway.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 30, 2 << 30))
    begun, broken = time.monotonic(), []

    def work():
        worker = Worker(files, options, watchdog)
        try:
            while run := tally.next():
                tally.add(worker.run(*run), is_new=True)
        except BaseException as error:
            broken.append(error)
            raise

    threads = [threading.Thread(target=work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if broken:
        return 70
    counts = tally.counts
    print(f"{tally.done} files of {len(files)} seeds ({options.mutations} mutated, {options.cuts} cut off; "
          f"{tally.taken_over} taken over from the log) through {len(COMMANDS)} commands each "
          f"in {time.monotonic() - begun:.0f} s")
    print(f"aborts {counts['abort']}, hangs over {SECONDS} s {counts['hang']}, over {MEMORY >> 30} GB of memory "
          f"{counts['memory']}, outputs over their limit {counts['output']}, other exit codes {counts['exit']}; "
          f"the longest took {tally.seconds:.1f} s, the largest {tally.memory >> 20} MB; "
          f"{tally.gave_up} gave up after {TIMEOUT} s")
    print(f"{tally.done - tally.failed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0
