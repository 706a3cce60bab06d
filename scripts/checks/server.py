"""The example server (docs/Examples/Server): many uploads at once, some of which crash or hang what decodes them."""

import argparse
import concurrent.futures
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .programs import MEDIATOOL
from .tools import ROOT

EXAMPLE = Path(ROOT, "docs/Examples/Server")
# The limits of the example, in seconds; what is late beyond the second is an error.
LIMIT, LATE = 5, 0.2
# What the decoder does when the picture is 222 wide and so high, and the status of the answer.
FAULTS = {16: ("abort", 422), 18: ("segv", 422), 20: ("exit", 422), 22: ("sleep", 504), 24: ("loop", 504), 26: ("memory", 422)}
GOOD = ("av.mp4", "h264-aac.mkv", "rotated-90.mov", "vfr.mp4")


def build():
    """The built programs' folder."""
    command = ["swift", "build", "-c", "release", "--package-path", str(EXAMPLE)]
    # As a dependent builds it.
    environment = {name: value for name, value in os.environ.items() if name != "MEDIATOOL_WARNINGS_ARE_ERRORS"}
    subprocess.run(command, check=True, stdout=sys.stderr, env=environment)
    return Path(subprocess.run(
        command + ["--show-bin-path"], check=True, capture_output=True, text=True, env=environment).stdout.strip())


def install(programs, folder):
    """The server, beside a helper whose decoder fails."""
    library = Path(folder, "crash.so")
    subprocess.run([shutil.which("cc") or "clang", "-O", "-shared", "-fPIC", "-o", library,
                    Path(ROOT, "scripts/checks/crash.c")], check=True)
    shutil.copy(programs / "Server", folder)
    helper = Path(folder, "MediaHelper")
    helper.write_text(f"#!/bin/sh\nLD_PRELOAD={library} CRASH=height exec {programs / 'MediaHelper'}\n")
    helper.chmod(0o755)
    return Path(folder, "Server")


def hostile_files(folder):
    """The files that fail, each with the status of its answer; `None` for any."""
    files = []
    for height, (kind, status) in FAULTS.items():
        path = Path(folder, f"{kind}.mp4")
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size=222x{height}:duration=1", "-y", path],
                       check=True)
        files.append((path, status))
    for name in ("cut-mpeg4.avi", "17ccfa552f.avi", "big.jp2", "evil3.mov", "png-16384x8192-rgba64-x32.mov"):
        path = Path(ROOT, "../shared/hostile", name)
        if path.exists():
            files.append((path, None))
    return files


def post(port, path):
    """The status, the body and the seconds of the answer to an upload."""
    begun = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/thumbnail?at=0.5&width=160", body=Path(path).read_bytes())
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, time.monotonic() - begun


def resident(process):
    """The memory of a process in RAM, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def same_picture(picture, source, folder):
    """Whether a picture is the one that mediatool makes."""
    ours, theirs = Path(folder, "ours.png"), Path(folder, "theirs.png")
    theirs.write_bytes(picture)
    subprocess.run([MEDIATOOL, "thumbs", "--at", "0.5", "--tolerance", "exact", "--width", "160", "--force", "-o", ours, source], check=True,
                   stdout=subprocess.DEVNULL)
    pixels = [subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-"], check=True,
                             capture_output=True).stdout for path in (ours, theirs)]
    return pixels[0] == pixels[1]


def check(server, port, folder, count, bad):
    """The number of answers that were right, and what was wrong."""
    good = [Path(ROOT, "fixtures", name) for name in GOOD]
    hostile = hostile_files(folder)
    requests = [(good[number % len(good)], 200) for number in range(count - bad)]
    for number in range(bad):
        requests.insert((number + 1) * (count // (bad + 1)), hostile[number % len(hostile)])
    problems, pictures, memory = [], {}, []
    slowest = 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [(path, wanted, pool.submit(post, port, path)) for path, wanted in requests]
        for number, (path, wanted, answer) in enumerate(answers):
            status, body, seconds = answer.result()
            memory.append(resident(server.pid))
            if wanted == 200:
                if status != 200 or pictures.setdefault(path, body) != body:
                    problems.append(f"{path.name}: {status} {body[:100]}")
                continue
            slowest = max(slowest, seconds)
            if wanted not in (None, status) or seconds > LIMIT + LATE:
                problems.append(f"{path.name}: {status} after {seconds:.2f} s {body[:100]}")
    problems += [f"{path.name}: another picture than mediatool's" for path, picture in pictures.items()
                 if not same_picture(picture, path, folder)]
    early, late = max(memory[count // 5:2 * count // 5]), max(memory[4 * count // 5:])
    print(f"{count} requests, {bad} of them hostile; the slowest of those {slowest:.2f} s; "
          f"the server's memory {early:.0f} MB early, {late:.0f} MB late")
    if late > early * 1.1 + 5:
        problems.append(f"memory grew from {early:.0f} to {late:.0f} MB")
    return count - len(problems), problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="500 requests with 20 hostile ones; otherwise 60 with 6")
    arguments = parser.parse_args()
    count, bad = (500, 20) if arguments.full else (60, 6)
    programs = build()
    with tempfile.TemporaryDirectory(prefix="server-") as folder:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        uploads = Path(folder, "uploads")
        uploads.mkdir()
        environment = {**os.environ, "PORT": str(port), "TMPDIR": str(uploads)}
        with open(Path(folder, "log"), "w+") as log, subprocess.Popen(
                [install(programs, folder)], env=environment, stdout=log, stderr=log) as server:
            try:
                for _ in range(100):
                    with socket.socket() as probe:
                        if probe.connect_ex(("127.0.0.1", port)) == 0:
                            break
                    time.sleep(0.1)
                passed, problems = check(server, port, folder, count, bad)
                left = os.listdir(uploads)
                if left:
                    problems.append(f"uploads that were left: {left}")
            finally:
                server.terminate()
                server.wait(30)
            log.seek(0)
            if problems:
                print(log.read()[-2000:])
    for problem in problems:
        print(f"FAIL {problem}")
    print(f"{passed} passed, {len(problems)} failed")
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main())
