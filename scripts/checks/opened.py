"""What workers open, as strace sees it: after they are locked down, nothing but the system's files that docs/security.md lists."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from .programs import MEDIATOOL
from .tools import ROOT

COMMANDS = (
    ["probe", "--scan"], ["waveform", "-o", "OUT/w.dat", "-o", "OUT/w.png"],
    ["thumbs", "--contact-sheet", "--count", "4", "-o", "OUT/c.jpg"], ["proxy", "-o", "OUT/p.mov"],
    ["export", "--end", "1", "-o", "OUT/e.mkv"], ["qc", "--html", "OUT/q.html"],
    ["ingest", "-o", "OUT/folder"],
)
FORBIDDEN = {"socket", "connect", "bind", "listen", "execve", "execveat", "ptrace", "unlink", "unlinkat", "rename", "renameat",
             "renameat2", "mkdir", "mkdirat", "link", "linkat", "symlink", "symlinkat"}


def missing():
    """What is missing for this check; empty where nothing is."""
    if subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        return "strace cannot trace here"
    told = json.loads(subprocess.run([MEDIATOOL, "--version", "--json"], capture_output=True, check=True).stdout)["sandbox"]
    return "" if told["landlock"] and told["seccomp"] else f"this kernel has not all of the sandbox ({told})"


def allowed():
    """The list of docs/security.md."""
    text = Path(ROOT, "docs/security.md").read_text()
    paragraph = text[text.index("The files that a worker can read:"):].split("Without them")[0]
    return re.findall(r"`(/[^`]*)`", paragraph)


def calls(log):
    """(process, name, arguments, result) of every call; calls that were interrupted by others are put together again."""
    waiting = {}
    for line in log.read_text(errors="replace").splitlines():
        process, _, rest = line.partition(" ")
        rest = rest.strip()
        if rest.endswith("<unfinished ...>"):
            waiting[process] = rest[:-len("<unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", rest)
        if resumed:
            rest = waiting.pop(process, "") + resumed[1]
        call = re.match(r"(\w+)\((.*)\)\s+= (-?\d+|\?)", rest)
        if call:
            yield process, call[1], call[2], call[3]


def problems(log, listed):
    """What locked processes did that they should not be able to."""
    locked, found = set(), []
    for process, name, arguments, result in calls(log):
        if name in ("clone", "clone3") and process in locked and result.isdigit():
            locked.add(result)
        if name == "seccomp" and "SET_MODE_FILTER" in arguments and result == "0":
            locked.add(process)
        elif process in locked and not result.startswith("-"):
            path = re.search(r'"([^"]*)"', arguments)
            if name in FORBIDDEN:
                found.append(f"{name}({arguments[:80]})")
            elif name in ("open", "openat") and path and "O_PATH" not in arguments:
                # What the system tells of the process's own threads; elsewhere these names lead to other processes.
                own = re.match(r"/proc/(thread-self|self/task/\d+)/\w+$", path[1])
                real = "/proc/self/task" if own else os.path.realpath(path[1])
                if not any(real == place or real.startswith(place + "/") for place in listed):
                    found.append(f"{name}({arguments[:80]})")
                elif "O_RDONLY" not in arguments:
                    found.append(f"{name}({arguments[:80]})")
    return locked, found


def main(files):
    """Runs all commands on the files; how many runs passed and failed."""
    listed, passed, failed = allowed(), 0, 0
    for file in files:
        for command in COMMANDS:
            with tempfile.TemporaryDirectory(prefix="opened-") as folder:
                log = Path(folder, "strace")
                arguments = [word.replace("OUT", folder) for word in command]
                subprocess.run(
                    ["strace", "-f", "-qq", "-o", log, "-e", "trace=%file,%process,%network,seccomp,ptrace", MEDIATOOL, *arguments,
                     "--quiet", file], stdin=subprocess.DEVNULL, capture_output=True)
                locked, found = problems(log, listed)
                if not locked:
                    found = ["no process was locked down"]
                passed, failed = passed + (not found), failed + bool(found)
                if found:
                    print(f"FAIL {command[0]} {os.path.basename(file)}: {'; '.join(sorted(set(found))[:5])}")
    return passed, failed
