"""What `ingest` asks of the file system of its outputs, as strace sees it: no more than network file systems have."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from .. import ingest
from ..opened import calls
from ..programs import MEDIATOOL
from ..tools import ROOT, expect, run
from .tasks import write_recipe

# Files are created, written, read and looked at, folders made and listed.
PLAIN = {"mkdir", "mkdirat", "open", "openat", "openat2", "close", "read", "pread64", "write", "pwrite64", "writev", "pwritev", "lseek", "stat",
         "fstat", "lstat", "newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
         "getdents64", "dup", "dup3", "fcntl", "ftruncate", "fadvise64", "sendmsg", "recvmsg", "execve", "chdir", "fsync"}
# Names change within one folder.
NAMES = {"rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat"}
# These save time, keep permissions or order runs that are at the same names, where a file system has them; that nothing depends on them is shown below.
SPARED = ("fchmod", "fallocate", "flock", "renameat2")
OPENING = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH",
           "O_NOCTTY", "O_TRUNC"}
LOCKS = ("F_SETLK", "F_OFD_SETLK", "F_SETLEASE", "F_NOTIFY")


@contextmanager
def served(folder):
    """A folder that another process serves, as those of networks are (FUSE); nothing where none can be mounted."""
    real, there = Path(folder, "real"), Path(folder, "served")
    real.mkdir()
    there.mkdir()
    if not shutil.which("bindfs") or run(["bindfs", real, there], check=False).returncode:
        yield None
        return
    try:
        yield there
    finally:
        # Only root has umount; the other belongs to FUSE and may be missing.
        leave = ["umount"] if os.geteuid() == 0 else [shutil.which("fusermount3") or "fusermount", "-u"]
        for _ in range(50):
            if run([*leave, there], check=False).returncode == 0:
                break
            time.sleep(0.1)


def beyond(log, library, is_local):
    """How many calls were about files in the folder, by name, and those that more is needed for."""
    seen, found = {}, []
    for _, name, arguments, result in calls(log):
        if str(library) not in arguments or result == "-1":
            continue
        seen[name] = seen.get(name, 0) + 1
        flags = set(re.findall(r"\bO_\w+", arguments))
        folders = {os.path.dirname(path) for path in re.findall(r'"([^"]*)"', arguments) if path.startswith(str(library))}
        if name in ("open", "openat") and "O_TMPFILE" in flags and is_local:
            continue
        wrong = (name not in PLAIN | NAMES | set(SPARED) or name in ("open", "openat") and flags - OPENING or name in NAMES and len(folders) > 1
                 or name == "fcntl" and any(lock in arguments for lock in LOCKS))
        if wrong:
            found.append(f"{name}({arguments[:120]})")
    return seen, found


def trace(log, arguments, *faults):
    result = subprocess.run(
        ["strace", "-f", "-qq", "-y", "-s", "4096", "-o", log, "-e", "trace=!futex,brk,madvise,mprotect", *faults, MEDIATOOL, "ingest",
         "--quiet", *arguments], stdin=subprocess.DEVNULL, capture_output=True)
    expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')[-300:]}")


def needs_little(folder):
    """Runs where the calls that can be spared fail, as NFS and others have it, make the same folder.

    They are without the sandbox, which would end a process for the number that strace puts in place of a call's.
    """
    file, log = os.path.join(ROOT, "docs/Examples/sample.mov"), Path(folder, "strace")
    faults = ["-e", "inject=fchmod,fallocate,flock:error=EOPNOTSUPP", "-e", "inject=renameat2:error=EINVAL"]
    recipe = ["--recipe", write_recipe(folder)]
    ingest.ingest(file, f"{folder}/wanted", *recipe)
    wanted, failed = ingest.contents(f"{folder}/wanted"), {}
    for name, options in (("made", []), ("made", ["--resume", "--without", "probe"]), ("made", ["--force"])):
        trace(log, [file, "-o", f"{folder}/{name}", "--no-sandbox", *recipe, *options], *faults)
        for _, call, _, result in calls(log):
            if call in SPARED and result == "-1":
                failed[call] = failed.get(call, 0) + 1
    expect({"fchmod", "fallocate", "flock"} <= failed.keys(), f"failed were {failed}")
    made = ingest.contents(f"{folder}/made")
    expect(made == wanted, f"{sorted(name for name in made.keys() | wanted.keys() if made.get(name) != wanted.get(name))} differ")
    return f"failed were {', '.join(f'{count} {name}' for name, count in sorted(failed.items()))}"


def asks_little(folder, is_local):
    """Traces a run, and one that resumes it; the folder is that of a run without a trace."""
    library, log = Path(folder, "library"), Path(tempfile.mkdtemp(prefix="trace-"), "strace")
    file = os.path.join(ROOT, "docs/Examples/sample.mov")
    try:
        seen = {}
        for options in ([], ["--resume", "--without", "probe"], ["--force", "--without", "proxy"]):
            trace(log, [file, "-o", library, *options])
            counted, found = beyond(log, library, is_local)
            expect(not found, f"{len(found)} calls ask for more: {'; '.join(sorted(set(found))[:3])}")
            seen = {name: seen.get(name, 0) + counted.get(name, 0) for name in seen | counted}
        expect(seen.get("mkdir", 0) + seen.get("mkdirat", 0) and any(name in seen for name in NAMES), f"the trace has only {seen}")
        with tempfile.TemporaryDirectory() as work:
            ingest.ingest(file, f"{work}/wanted", "--without", "proxy")
            made, wanted = ingest.contents(library), ingest.contents(f"{work}/wanted")
            expect(all(made.get(name) == wanted[name] for name in wanted), "the folder is another")
        return ", ".join(f"{count} {name}" for name, count in sorted(seen.items()) if name in NAMES or name in ("mkdir", "openat"))
    finally:
        shutil.rmtree(log.parent)
