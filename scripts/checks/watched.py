"""Runs one command within limits, and says what no command may do with any input."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from random import Random

from .programs import MEDIATOOL

SECONDS = 20
MEMORY = 1 << 30
# Beyond this the system gives no more; between both, a run is reported and goes on.
MOST_MEMORY = 2 << 30
FILE_SIZE = 256 << 20


@dataclass
class End:
    """How a command ended."""

    code: int
    is_hung: bool
    seconds: float
    memory: int
    output: bytes
    errors: bytes
    scratch: list

    def json(self):
        """Standard output as JSON; NaN and Infinity are Python's own and raise KeyError."""
        return json.loads(self.output, parse_constant=lambda word: {}[word])

    def problems(self, codes):
        """What must not be, whatever the command was: the most telling ones alone, where there are any."""
        if self.is_hung:
            return [f"no end within {SECONDS} s"]
        if self.code < 0:
            return [f"ended by {signal.Signals(-self.code).name}: {self.errors[-300:]!r}"]
        if self.code not in codes:
            return [f"exit code {self.code}: {self.errors[-300:]!r}"]
        found = []
        if self.memory > MEMORY:
            found.append(f"took {self.memory >> 20} MB")
        lines = self.errors.split(b"\n")[:-1]
        if any(not line.startswith(b"mediatool: ") for line in lines) or len(lines) > 200:
            found.append(f"printed on standard error: {self.errors[:300]!r}")
        if self.code not in (0, 1) and not lines:
            found.append(f"exit code {self.code} without a word")
        if self.scratch:
            found.append(f"left behind among temporary files: {self.scratch}")
        return found


def watched(words, folder, feed=None, current=None):
    """Runs mediatool with those words; `feed` is a file that comes through a pipe, `current` the current folder."""
    scratch = os.path.join(folder, "tmp")
    os.mkdir(scratch)
    # Private writable memory is counted; address space would count libraries and unused stacks too.
    command = ["prlimit", f"--data={MOST_MEMORY}", f"--fsize={FILE_SIZE}", "--core=0", f"--cpu={4 * SECONDS}",
               "--", MEDIATOOL, *words]
    logs = [tempfile.TemporaryFile(dir=folder) for _ in range(2)]
    with open(feed or os.devnull, "rb") as source:
        cat = None
        if feed:
            cat = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        begun = time.monotonic()
        process = subprocess.Popen(command, stdin=cat.stdout if cat else source, stdout=logs[0], stderr=logs[1],
                                   cwd=current, env={**os.environ, "TMPDIR": scratch})
        hung = threading.Event()
        timer = threading.Timer(SECONDS, lambda: (hung.set(), process.kill()))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        seconds = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if cat:
            cat.stdout.close()
            cat.wait()
    left = os.listdir(scratch)
    shutil.rmtree(scratch)
    output, errors = (text(log) for log in logs)
    return End(process.returncode, hung.is_set(), seconds, usage.ru_maxrss << 10, output, errors, left)


def text(log):
    with log:
        log.seek(0)
        return log.read()


class Trial:
    """Some commands on inputs that a seed and a number settle."""

    def __init__(self, options, number):
        self.number = number
        self.options = options
        self.random = Random(f"{options.seed}/{number}")
        self.found = []
        self.seconds = self.memory = self.given_up = 0
        self.about = ""

    def complain(self, words, text):
        line = " ".join(os.fsdecode(word) for word in words)
        self.found.append(f"run {self.number} of seed {self.options.seed}{self.about}: {line!r}: {text}")

    def watch(self, words, folder, **options):
        """Runs mediatool, and keeps account of what it took."""
        end = watched(words, folder, **options)
        self.seconds, self.memory = max(self.seconds, end.seconds), max(self.memory, end.memory)
        self.given_up += b"within the time limit" in end.errors
        return end
