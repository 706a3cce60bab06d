"""Lists of files: every command over a list does what it does over names, parts of a list make up the list, tasks take their
parts from the variables of batch systems, and what fails for a reason that may pass is done again.

`--full`: 2,000 files, and the time of `--jobs 2` beside two runs of one job each, and the memory; `ingest` of them, ended at ten
random moments and resumed, and its report.
"""

import argparse
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import libraries
from .programs import MEDIATOOL, media_fixtures
from .tools import ROOT, Report, expect, run

PROGRAM = os.path.abspath(MEDIATOOL)
VARIABLES = ("SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX")
ODD_NAMES = (b"two words.flac", b"# no comment.flac", b"--jobs.flac", b"not utf-8 \xff\xfe.flac", b"12:30.flac", b" .flac")
COMMANDS = {
    "probe": ["probe"],
    "waveform": ["waveform", "-o", "out/{stem}.dat"],
    "export": ["export", "-o", "out/{stem}.wav"],
    "qc": ["qc"],
}
# A run of two jobs takes at most this much longer than two runs of one job.
SLOWER = 1.05


def fnv(line):
    """FNV-1a with 64 bits, as RFC 9923 defines it."""
    value = 0xCBF29CE484222325
    for byte in line:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def mediatool(folder, arguments, check=True, **options):
    """A run in a folder, with the variables of no batch system but those given."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment.update(options.pop("variables", {}))
    return run([PROGRAM, *arguments], check=check, cwd=folder, env=environment, **options)


def fill(folder, count):
    """Tones of 1 to 2 s, all different, the first with odd names; gives the names."""
    names = list(ODD_NAMES) + [b"tone %04d.flac" % number for number in range(count - len(ODD_NAMES))]
    jobs = [["sox", "-n", "-r", "22050", "-b", "16", os.path.join(os.fsencode(folder), name), "synth", f"{1 + place % 10 / 10}",
             "sine", str(200 + place)] for place, name in enumerate(names)]
    running = []
    for job in jobs:
        if len(running) >= 8:
            running.pop(0).wait()
        running.append(subprocess.Popen(job))
    for process in running:
        process.wait()
    return names


def write_list(folder, names, end=b"\n", name="list"):
    Path(folder, name).write_bytes(b"".join(one + end for one in names))


def path(line):
    """The bytes of the name in a line of JSON."""
    result = json.loads(line)
    return base64.b64decode(result["pathBytes"]) if "pathBytes" in result else result["path"].encode()


def digests(folder):
    return {name: hashlib.sha256(Path(folder, name).read_bytes()).hexdigest() for name in sorted(os.listdir(folder))}


def command(folder, names, arguments):
    """A command over a list of lines, and of zero bytes on standard input, against one over names."""
    def results(how, **options):
        Path(folder, "out").mkdir()
        lines = mediatool(folder, [*arguments, "--jsonl", "--quiet", *how], check=False, **options)
        expect(lines.returncode in (0, 1), f"exit {lines.returncode}: {lines.stderr[-300:]}")
        made = digests(Path(folder, "out"))
        shutil.rmtree(Path(folder, "out"))
        return sorted(lines.stdout.splitlines()), made
    wanted = results(["--", *names])
    expect(len(wanted[0]) == len(names), f"{len(wanted[0])} results of {len(names)}")
    write_list(folder, names)
    expect(results(["--files-from", "list", "--jobs", "2"]) == wanted, "a list gives other results than names")
    expect(results(["--files-from", "-", "--null"], input=b"\0".join(names)) == wanted, "names that end with zero bytes do")
    return f"{len(names)} files, {len(wanted[1])} outputs"


def part(folder, names, count, task=None):
    """The names of one part, as the program takes them."""
    how = ["--shard", f"{task}/{count}"]
    return [path(line) for line in mediatool(folder, ["probe", "--jsonl", "-q", "--files-from", "list", *how]).splitlines()]


def shards(folder, names, count):
    """The parts of a list against Python's own arithmetic; another line moves none."""
    write_list(folder, names)
    tasks = sorted({fnv(name) % count for name in names} | {0, count - 1})
    parts = {task: sorted(part(folder, names, count, task)) for task in tasks}
    for task, found in parts.items():
        expect(found == sorted(name for name in names if fnv(name) % count == task), f"part {task} of {count} has {found}")
    expect(sorted(sum(parts.values(), [])) == sorted(names), "the parts do not make up the list")
    write_list(folder, [b"new.flac", *names])
    shutil.copy(os.path.join(os.fsencode(folder), names[0]), os.path.join(os.fsencode(folder), b"new.flac"))
    for task in tasks[:3]:
        found = part(folder, names, count, task)
        expect(sorted(set(found) - {b"new.flac"}) == parts[task], f"another line changes part {task} of {count}")
    return f"{len(tasks)} parts with files"


def variables(folder, names, variable):
    """A task takes its part from a variable, and from none where it is named."""
    write_list(folder, names)
    def lines(how, check=True, **set_to):
        return mediatool(folder, ["probe", "--jsonl", "-q", "--files-from", "list", *how], check=check, variables=set_to)
    for task in range(3):
        wanted = sorted(lines(["--shard", f"{task}/3"]).splitlines())
        expect(sorted(lines(["--shard", "auto/3"], **{variable: str(task)}).splitlines()) == wanted, f"task {task} has another part")
        based = lines(["--shard", "auto/3", "--shard-base", "5"], **{variable: str(task + 5)})
        expect(sorted(based.splitlines()) == wanted, f"task {task + 5} less 5 has another part")
        expect(sorted(lines(["--shard", f"{task}/3"], **{variable: "2"}).splitlines()) == wanted, "the variable is looked at")
    expect(len(lines([], **{variable: "1"}).splitlines()) == len(names), "the variable is looked at without --shard")
    for value in ("3", "-1", "one", ""):
        failed = lines(["--shard", "auto/3"], check=False, **{variable: value})
        expect(failed.returncode == 64 and not failed.stdout, f"'{value}' gives exit {failed.returncode}")
    return ""


def library(folder):
    made = Path(folder, "crash.so")
    run([shutil.which("cc") or "clang", "-O", "-shared", "-fPIC", "-o", made, Path(ROOT, "scripts/checks/crash.c")])
    return made


def retries(folder, crash, arguments, after, options, file):
    """A file whose decoder fails once is done again, and the folder is that of a run without a fault."""
    made = library(folder)
    def attempt(times, **environment):
        Path(folder, "out").mkdir()
        result = mediatool(
            folder, [*arguments, "--jsonl", *options, "--retries", str(times), *file], check=False,
            variables={"LD_PRELOAD": str(made), "CRASH_ONCE": "1", "CRASH_AFTER": str(after), **environment})
        left = digests(Path(folder, "out"))
        shutil.rmtree(Path(folder, "out"))
        return result, left
    good, wanted = attempt(0)
    expect(good.returncode == 0, f"without a fault: exit {good.returncode} {good.stderr[-300:]}")
    failed, _ = attempt(0, CRASH=crash)
    expect(failed.returncode == 2, f"without --retries: exit {failed.returncode}")
    again, found = attempt(2, CRASH=crash)
    told = again.stderr.decode()
    expect(again.returncode == 0, f"exit {again.returncode}: {told[-300:]}")
    expect(told.count("done again (1 of 2)") == 1 and "(2 of 2)" not in told, told)
    expect(found == wanted, f"the folder has {sorted(found)}, not {sorted(wanted)}")
    expect(again.stdout == good.stdout, "the results differ")
    return f"{len(found)} outputs"


def damage(folder):
    """What is damaged is not done again; what fails each time is given up."""
    Path(folder, "broken.flac").write_bytes(b"fLaC" + bytes(100))
    result = mediatool(folder, ["probe", "--retries", "3", "broken.flac"], check=False)
    expect(result.returncode == 2 and b"done again" not in result.stderr, result.stderr)
    run(["sox", "-n", "-r", "11025", "-b", "16", Path(folder, "bad.flac"), "synth", "1", "sine", "440"])
    result = mediatool(folder, ["waveform", "-o", "bad.dat", "--retries", "3", "bad.flac"], check=False,
                       variables={"LD_PRELOAD": str(library(folder)), "CRASH": "abort"})
    told = result.stderr.decode()
    expect(result.returncode == 2 and told.count("done again") == 3 and told.count("SIGABRT") == 4, told)
    expect(not Path(folder, "bad.dat").exists(), "an output is left")
    return ""


def media(folder, count):
    """The fixtures as so many files; gives their names."""
    files, names = media_fixtures(), []
    for number in range(count):
        file = files[number % len(files)]
        names.append(f"{file.stem}-{number:04}{file.suffix}".encode())
        if number < len(files):
            shutil.copy(file, os.path.join(os.fsencode(folder), names[-1]))
        else:
            os.link(os.path.join(os.fsencode(folder), names[number % len(files)]), os.path.join(os.fsencode(folder), names[-1]))
    return names


def seconds(folder, runs):
    """The time until the last of several runs ends that begin together, and the most memory of one in KiB."""
    begun = time.monotonic()
    started = [subprocess.Popen([PROGRAM, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for arguments in runs]
    memory = 0
    for process in started:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        # Some have no audio.
        expect(process.returncode in (0, 2), f"exit {process.returncode}")
        memory = max(memory, used.ru_maxrss)
    return time.monotonic() - begun, memory


def speed(folder, names, arguments):
    """Two jobs in one run beside two runs of one job, each on every second file; the best of five, taken in turn."""
    write_list(folder, names)
    write_list(folder, names[0::2], name="even")
    write_list(folder, names[1::2], name="odd")
    together, apart, made = [], [], []
    for turn in range(5):
        for times, lists, jobs in ((together, ["list"], "2"), (apart, ["even", "odd"], "1")):
            # Each run has a folder of its own, for ext4 takes its time to make files where many were just removed.
            made.append(Path(folder, f"out{turn}{jobs}"))
            made[-1].mkdir()
            words = [word.replace("out/", f"{made[-1].name}/") for word in arguments]
            runs = [[*words, "-q", "--jsonl", "--files-from", one, "--jobs", jobs, "--threads", "1"] for one in lists]
            times.append(seconds(folder, runs)[0])
    for place in made:
        shutil.rmtree(place)
    ratio = min(together) / min(apart)
    expect(ratio <= SLOWER, f"{min(together):.2f} s together, {min(apart):.2f} s apart: {ratio:.3f}")
    return f"{min(together):.2f} s together, {min(apart):.2f} s apart: {ratio:.3f}"


def memory(folder, names):
    """Memory does not grow with the number of files, but for their names."""
    def most(part):
        write_list(folder, part)
        return seconds(folder, [["probe", "-q", "--jsonl", "--files-from", "list"]])[1]
    few, many = most(names[:len(names) // 10]), most(names)
    expect(many <= few + 4096, f"{few} KiB for {len(names) // 10} files, {many} KiB for {len(names)}")
    return f"{few} KiB for {len(names) // 10} files, {many} KiB for {len(names)}"


def main():
    parser = argparse.ArgumentParser(prog="scripts/check batch", description=__doc__)
    parser.add_argument("--full", action="store_true", help="2,000 files, their time and memory")
    arguments = parser.parse_args()
    report = Report(verbose=True, threads=1)
    with tempfile.TemporaryDirectory(prefix="batch-") as folder:
        names = fill(folder, 2000 if arguments.full else 40)
        few = names[:40]
        report.each("lists", [(name, lambda words=words: command(folder, few, words)) for name, words in COMMANDS.items()])
        report.each("parts", [(str(count), lambda count=count: shards(folder, few, count)) for count in (1, 2, 7, 1000)])
        report.each("variables", [(name, lambda name=name: variables(folder, few, name)) for name in VARIABLES])
        run(["sox", "-n", "-r", "11025", "-b", "16", Path(folder, "late.flac"), "synth", "2", "sine", "440"])
        run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=222x16:r=5:d=4", "-c:v", "mpeg4", "-g", "1", Path(folder, "late.mkv")])
        waveform, thumbs = ["waveform", "-o", "out/{stem}.dat"], ["thumbs", "--every", "0.4", "-o", "out/{stem}-{index}.png"]
        report.each("retries", [
            ("crash", lambda: retries(folder, "abort", waveform, 0, [], ["late.flac", "12:30.flac"])),
            ("time limit", lambda: retries(folder, "sleep", waveform, 0, ["--timeout", "1"], ["late.flac", "12:30.flac"])),
            ("in the middle", lambda: retries(folder, "height", thumbs, 6, [], ["late.mkv"])),
            ("damage", lambda: damage(folder)),
        ])
        if arguments.full:
            films = media(folder, 2000)
            report.each("time", [(name, lambda name=name: speed(folder, films, COMMANDS[name])) for name in ("probe", "waveform")])
            report.each("memory", [("probe", lambda: memory(folder, names))])
            broken = libraries.spoil(folder, films)
            write_list(folder, films)
            report.each("library", [("ended and resumed", lambda: libraries.survives_kills(folder, len(films))),
                                    ("report", lambda: libraries.report(folder, films, broken))])
    sys.exit(report.finish())


if __name__ == "__main__":
    main()
