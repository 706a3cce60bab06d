"""A library of 2,000 files, of which 20 are broken: `ingest` ended at random moments and resumed, and what `ingest report` tells.

Part of scripts/check batch --full.
"""

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

from . import ingest
from .programs import MEDIATOOL
from .tools import expect, run

PROGRAM = os.path.abspath(MEDIATOOL)
BROKEN = 20
KILLS = 10


def spoil(folder, names):
    """Puts broken files in place of every hundredth."""
    kinds = (b"", b"no media at all\n" * 100, b"fLaC" + bytes(100), b"\0\0\0\x18ftypisom\0\0\0\0isommp42" + bytes(1000),
             random.Random(1).randbytes(5000))
    broken = names[::len(names) // BROKEN]
    for place, name in enumerate(broken):
        path = os.path.join(os.fsencode(folder), name)
        os.remove(path)
        with open(path, "wb") as file:
            file.write(kinds[place % len(kinds)])
    return broken


def command(folder, library):
    return [PROGRAM, "ingest", "--files-from", os.path.join(folder, "list"), "-o", os.path.join(folder, library), "--without", "proxy",
            "--jobs", "2", "--threads", "1", "--resume", "--quiet", "--jsonl"]


def make(folder, library):
    """Runs to the end; how long that takes."""
    begun = time.monotonic()
    result = run(command(folder, library), check=False, cwd=folder)
    expect(result.returncode == 2, f"exit {result.returncode}: {result.stderr.decode(errors='replace')[-300:]}")
    return time.monotonic() - begun


def digests(library):
    """By folder: digests of the files, and how many hidden files of ended runs there are."""
    found, hidden = {}, 0
    for place in sorted(path for path in Path(library).iterdir() if path.is_dir()):
        files = {}
        for name, data in ingest.contents(place).items():
            if name.endswith(".partial"):
                hidden += 1
                continue
            if name == "error.json":
                data = {key: value for key, value in json.loads(data).items() if key != "created"}
            data = data if isinstance(data, bytes) else json.dumps(data, sort_keys=True).encode()
            files[name] = hashlib.sha256(data).digest()
        found[place.name] = files
    return found, hidden


def stamps(library):
    """When each output of a folder that has a manifest was last written; the manifest is of the last run."""
    return {path: path.stat().st_mtime_ns for manifest in Path(library).glob("*/manifest.json") for path in manifest.parent.iterdir()
            if path.name not in ("manifest.json", ".state.json") and not path.name.endswith(".partial")}


def survives_kills(folder, count, seed=1):
    """Ends the work at ten random moments and resumes it: the same as an undisturbed run, nothing made twice, nothing half."""
    length = make(folder, "plain")
    wanted, _ = digests(Path(folder, "plain"))
    expect(len(wanted) == count, f"{len(wanted)} folders of {count} files")
    library, kept, complete = Path(folder, "library"), {}, []
    chance = random.Random(seed)
    moments = sorted(chance.uniform(0, length) for _ in range(KILLS))
    for before, moment in zip([0, *moments], moments):
        process = subprocess.Popen(command(folder, "library"), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(moment - before)
        os.killpg(process.pid, signal.SIGKILL)
        expect(process.wait() == -signal.SIGKILL, "the run had ended before")
        found, _ = digests(library) if library.exists() else ({}, 0)
        for name, files in found.items():
            half = [file for file, digest in files.items() if digest != wanted[name].get(file)]
            # A page is of the outputs that were there.
            expect(not half, f"after {moment:.1f} s: {name} has {half}, not whole")
        after = stamps(library)
        again = [path for path, stamp in kept.items() if after.get(path) != stamp]
        expect(not again, f"made twice: {len(again)}, such as {again[:1]}")
        kept = after
        complete.append(len({path.parent for path in kept}))
    rest = make(folder, "library")
    found, hidden = digests(library)
    expect(found == wanted, f"{sum(found.get(name) != files for name, files in wanted.items())} folders differ")
    after = stamps(library)
    expect(all(after.get(path) == stamp for path, stamp in kept.items()), "made twice by the last run")
    return (f"{count} files in {length:.1f} s; ended at {', '.join(f'{moment:.1f}' for moment in moments)} s with {complete} complete, the rest "
            f"in {rest:.1f} s: the same, {len(kept)} outputs untouched; {hidden} hidden files are left")


def report(folder, names, broken):
    """The report's numbers are those of the manifests; causes add up to the broken files; the page has them all."""
    library = Path(folder, "plain")
    told = json.loads(run([PROGRAM, "ingest", "report", library, "--json"]))
    manifests = [json.loads(path.read_text()) for path in library.glob("*/manifest.json")]
    errors = {path.parent.name: json.loads(path.read_text())["error"] for path in library.glob("*/error.json")}
    expect({os.fsencode(name) for name in errors} == set(broken), "other files failed than those that are broken")
    expect((told["files"], told["complete"], told["failed"]) == (len(names), len(names) - len(broken), len(broken)), f"{told}"[:200])
    expect(abs(told["workSeconds"] - sum(one["timings"]["total"] for one in manifests)) < 0.01, "the seconds do not add up")
    causes = {f"{cause['code']}: {re.sub('[0-9]+', '0', cause['message'])}": cause["count"] for cause in told["causes"]}
    wanted = Counter(f"{error['code']}: {re.sub('[0-9]+', '0', error['message'])}" for error in errors.values())
    expect(causes == dict(wanted), f"causes: {causes}, not {dict(wanted)}")
    slowest = sorted((one["timings"]["total"] for one in manifests), reverse=True)[:10]
    expect([one["seconds"] for one in told["slowest"]] == slowest, "others are slower")
    page = Path(folder, "report.html")
    run([PROGRAM, "ingest", "report", library, "--html", page])
    text = page.read_text()
    expect(all(name in text for name in list(errors)[:10]), "the page does not name the files that failed")
    return f"{told['files']} files, {causes}, slowest {slowest[0]:.2f} s, a page of {len(text)} bytes"
