"""Running programs and counting results; used by scripts/golden/media and scripts/check."""

import json
import os
import resource
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import wraps

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The folder that scripts/check was called in, from which names in its options are meant.
CALLER = os.environ.get("CHECK_FROM", ".")


def run(command, check=True, **options):
    """Runs a program without a terminal and gives its standard output as bytes; an exit code other than 0 raises."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL if "input" not in options else None,
                            capture_output=True, **options)
    if check and result.returncode != 0:
        text = result.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"{os.path.basename(command[0])} ended with {result.returncode}: {' / '.join(text[-3:])}")
    return result.stdout if check else result


def once(function):
    """Keeps results by arguments; of several threads that ask for the same, one works and the others wait."""
    results, locks, guard = {}, {}, threading.Lock()

    @wraps(function)
    def asked(*arguments):
        with guard:
            lock = locks.setdefault(arguments, threading.Lock())
        with lock:
            if arguments not in results:
                results[arguments] = function(*arguments)
            return results[arguments]
    return asked


def ffprobe(path, *arguments):
    """ffprobe's JSON as a dictionary."""
    return json.loads(run(["ffprobe", "-v", "error", *arguments, "-of", "json", path]))


def processor_seconds():
    """What this process and those that it has waited for have used."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


class Report:
    """Counts checks and prints one line for each; safe to call from several threads."""

    def __init__(self, verbose=True, known=None, threads=os.cpu_count()):
        # By group, and by group and name where one thread runs the checks.
        self.counts, self.seconds, self.costs = {}, Counter(), Counter()
        self.known = known or {}
        self.lock = threading.Lock()
        self.verbose = verbose
        self.threads = threads

    def add(self, group, name, problem=None, detail=""):
        """Notes one check; `problem` is None when it passed. What is known to fail is counted apart."""
        reason = self.known.get((group, name))
        with self.lock:
            if reason:
                self.counts.setdefault(group, Counter())["known"] += 1
                print(f"{'known' if problem else 'holds'} {group:9} {name}  {reason}: {problem or 'no longer'}", flush=True)
                return
            self.counts.setdefault(group, Counter())["failed" if problem else "passed"] += 1
            if problem or self.verbose:
                print(f"{'FAIL' if problem else 'ok  '} {group:9} {name}  {problem or detail}".rstrip(), flush=True)

    def each(self, group, jobs):
        """Runs (name, function) pairs on all threads. A function gives a detail for the line, or raises what failed."""
        def one(job):
            name, function = job
            before = processor_seconds()
            try:
                self.add(group, name, detail=function() or "")
            except Exception as error:  # any failure is a result here
                self.add(group, name, problem=f"{error}" or repr(error))
            if self.threads == 1:
                self.costs[group, name] += processor_seconds() - before
        begun = processor_seconds()
        if self.threads == 1:
            for job in jobs:
                one(job)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(one, jobs))
        self.seconds[group] += processor_seconds() - begun

    def join(self, counts, seconds, costs):
        """Takes in what a report of another process counted."""
        for group, numbers in counts.items():
            self.counts.setdefault(group, Counter()).update(numbers)
        self.seconds.update(seconds)
        self.costs.update(costs)

    def finish(self, slowest=0):
        """Prints the table, and the checks that took longest; gives the exit code."""
        for (group, name), cost in self.costs.most_common(slowest):
            print(f"{cost:8.1f} s  {group:10} {name}")
        print(f"\n{'group':10} {'passed':>7} {'failed':>7} {'known':>7} {'processor':>11}")
        total = Counter()
        for group, counts in self.counts.items():
            print(f"{group:10} {counts['passed']:7} {counts['failed']:7} {counts['known']:7} {self.seconds[group]:9.1f} s")
            total += counts
        print(f"{total['passed']} passed, {total['failed']} failed")
        sys.stdout.flush()
        return 1 if total["failed"] else 0


class Tally:
    """Checks one after the other: a line for each as it ends, and the sum at the end."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def check(self, name, function, *arguments):
        """Runs a check, which gives a detail for the line, or raises what failed."""
        try:
            print(f"ok   {name}: {function(*arguments)}", flush=True)
            self.passed += 1
        except Exception as error:  # every failure is counted
            print(f"FAIL {name}: {error}", flush=True)
            self.failed += 1

    def finish(self):
        """Prints the sum; true if a check failed."""
        print(f"{self.passed} passed, {self.failed} failed")
        return self.failed > 0


class Failure(Exception):
    """A check that did not hold; the text says what was found and what was wanted."""


def expect(condition, text):
    """Raises `Failure` with the text unless the condition holds."""
    if not condition:
        raise Failure(text)
