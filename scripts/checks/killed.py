"""`kill -9` of the supervisor and its workers at any moment: nothing is left of outputs that are not in place.

Moments are chosen by chance, from the start of a run to its usual end.
"""

import errno
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from random import Random

from .programs import MEDIATOOL
from .tools import run

# A run of each takes about a second.
COMMANDS = {
    "proxy": ["film.mp4", "-o", "p.mov"],
    "export": ["film.mp4", "--preset", "640x480", "-o", "e.mp4"],
    "thumbs": ["film.mp4", "--sprite", "--count", "240", "--max-size", "320x180", "--vtt", "s.vtt", "-o", "s-{index}.jpg"],
    "waveform": ["sound.flac", "-o", "w.dat", "-o", "w.json", "--samples-per-pixel", "16"],
}
SECONDS = 60


def missing(folder):
    """What is missing for this check; empty where nothing is."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            return f"{folder} has no files without a name"
        raise
    return ""


def media(folder):
    """Ten seconds of film, and ten minutes of sound."""
    run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=10", "-f", "lavfi", "-i",
         "sine=duration=10", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", Path(folder, "film.mp4")])
    run(["sox", "-n", "-r", "48000", "-c", "2", "-b", "16", Path(folder, "sound.flac"), "synth", "600", "sine", "440", "vol", "0.5"])


def contents(folder):
    """Every file of a folder, hidden ones too, with its bytes."""
    return {name: Path(folder, name).read_bytes() for name in os.listdir(folder)}


def start(command, folder, sources):
    """A run, in a group of processes of its own."""
    arguments = [str(Path(sources, word)) if word in os.listdir(sources) else word for word in COMMANDS[command]]
    return subprocess.Popen(
        [os.path.abspath(MEDIATOOL), command, *arguments, "--quiet"], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def end(process):
    """Kills a run and its workers, and waits until all have ended; True if it was still running."""
    was_running = process.poll() is None
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            break
        process.poll()
        time.sleep(0.005)
    process.wait()
    return was_running


def problem(command, sources, random, times):
    """What is not as it should be after so many kills of running processes, empty where all is; and their number."""
    with tempfile.TemporaryDirectory(prefix="killed-") as folder:
        begun = time.monotonic()
        if code := start(command, folder, sources).wait(timeout=SECONDS):
            return f"exit {code}", 0
        usual, whole = time.monotonic() - begun, contents(folder)
    met = 0
    for _ in range(3 * times):
        if met == times:
            break
        moment = random.uniform(0, usual)
        with tempfile.TemporaryDirectory(prefix="killed-") as folder:
            process = start(command, folder, sources)
            time.sleep(moment)
            if end(process):
                met += 1
            else:
                # The first run was slower.
                usual = min(usual, moment)
            for name, data in contents(folder).items():
                # What was in place by then is whole.
                if whole.get(name) != data:
                    return f"killed after {moment:.3f} s of {usual:.3f} s: {name} is left, {len(data)} bytes", met
    return ("" if met == times else f"only {met} of {times} kills met a running process"), met


def main(times):
    """Kills each command so many times; how many commands passed and failed."""
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="killed-") as sources:
        if lack := missing(sources):
            print(f"{lack}: nothing was killed")
            return 0, 0
        media(sources)
        random, total = Random("killed"), 0
        for command in COMMANDS:
            found, met = problem(command, sources, random, times)
            passed, failed, total = passed + (not found), failed + bool(found), total + met
            if found:
                print(f"FAIL kill -9 {command}: {found}", flush=True)
    print(f"{total} runs killed, of {len(COMMANDS)} commands")
    return passed, failed
