"""Figures of the source code: files, lines, words, folders that know each other in circles.

`--at COMMIT` takes them of an earlier commit, the same way. `--journeys` builds with coverage and counts the source files in which
something ran, for four tasks; that takes some minutes.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from .tools import ROOT, expect, run

LONGEST = 400
# Private types are known in their own file only.
TYPE = re.compile(r"^(?:(?:public|package|internal|final|indirect|@\w+(?:\([^)]*\))?)\s+)*"
                  r"(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)", re.M)
PUBLIC = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*public\s+(?:internal\(set\)\s+|package\(set\)\s+|private\(set\)\s+)?"
                    r"(?:static\s+|final\s+|convenience\s+|mutating\s+|consuming\s+|indirect\s+|override\s+)*"
                    r"(?:struct|class|enum|protocol|typealias|func|var|let|init|subscript|actor)\b", re.M)
# Names of libavformat's readers that are compared as text.
CONTAINERS = r"\"(?:mov|mov,mp4\S*|matroska\S*|ogg|wav|w64|aiff|caf|avi|mxf|asf|flv|mpegts|mpeg|mp3|flac|gif|adts)\""
COMPARISON = re.compile(rf"(?:==|!=|case|hasPrefix\(|contains\()\s*{CONTAINERS}|{CONTAINERS}\s*(?:==|!=)")
# Where libav's own names, extensions of files and what is written are meant.
AT_HOME = ("LibAV/", "ContainerFacts/", "MediaBase/ContainerFormat.swift", "Writing/MediaFileType.swift")


def main():
    parser = argparse.ArgumentParser(prog="scripts/check house", description=__doc__)
    parser.add_argument("--at", help="a commit")
    parser.add_argument("--journeys", action="store_true", help="count the files in which something runs, too")
    parser.add_argument("--list", action="store_true", help="name what is counted")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(ROOT)
        if options.at:
            tree = Path(folder)
            archive = run(["git", "-C", ROOT, "archive", options.at])
            run(["tar", "-xf", "-", "-C", folder], input=archive)
        told, failed = figures(tree / "Sources", options.list)
        for name, value in told:
            print(f"{name:58} {value}")
        if options.journeys:
            for name, files in journeys(tree).items():
                if options.list:
                    print("\n".join(f"{name}: {file}" for file in sorted(files)))
                print(f"{'source files that run in ' + name:58} {len(files)}")
    sys.exit(1 if failed and not options.at else 0)


def figures(sources, lists):
    """(name, value) of each figure, and whether one of them must not be so."""
    texts = {str(path.relative_to(sources)): path.read_text() for path in sorted(sources.rglob("*.swift")) if not path.is_symlink()}
    lengths = {name: text.count("\n") for name, text in texts.items()}
    long = [name for name, length in lengths.items() if length > LONGEST]
    unclear = [f"{name}:{line}" for name, text in texts.items() for line in vague_summaries(text)]
    unsaid = [f"{name}:{line}" for name, text in texts.items() for line in unchecked_without_reason(text)]
    compared = [f"{name}:{text[:match.start()].count(chr(10)) + 1}" for name, text in texts.items()
                if not any(home in name for home in AT_HOME) for match in COMPARISON.finditer(text)
                if not is_codec(text, match.start())]
    loops = circles(texts)
    listed = {"longer files": long, "vague summaries": unclear, "without a reason": unsaid, "compared names": compared}
    if lists:
        for title, places in listed.items():
            for place in places:
                print(f"{title}: {place}")
    told = [
        ("Swift files", len(texts)),
        ("lines of the file in the middle", int(statistics.median(lengths.values()))),
        (f"files over {LONGEST} lines", len(long)),
        ("files under 40 lines", sum(length < 40 for length in lengths.values())),
        ("lines of code", sum(code_lines(text) for text in texts.values())),
        ("lines of comments", sum(comment_lines(text) for text in texts.values())),
        ("public declarations", sum(len(PUBLIC.findall(text)) for text in texts.values())),
        ("pairs of folders that know each other", "; ".join(loops) or 0),
        ("container names compared outside their home", len(compared)),
        ("summaries that begin with What or Whether", len(unclear)),
        ("@unchecked Sendable", sum(text.count("@unchecked Sendable") for text in texts.values())),
        ("… of these without a reason", len(unsaid)),
    ]
    return told, bool(long or unclear or unsaid or compared or loops)


def is_codec(text, place):
    """Whether a name is a case of a switch over codecs, some of which are called like containers."""
    switch = text.rfind("switch ", 0, place)
    return switch >= 0 and "codec" in text[switch:text.index("\n", switch)]


def code_lines(text):
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def comment_lines(text):
    return sum(1 for line in text.splitlines() if line.strip().startswith("//"))


def vague_summaries(text):
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("/// ") and not before.startswith("///") and re.match(r"/// (What|Whether)\b", line):
            yield number
        before = line


def unchecked_without_reason(text):
    """Lines with `@unchecked Sendable` whose type has no comment that speaks of threads, sharing or locks."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if "@unchecked Sendable" not in line or line.strip().startswith("//"):
            continue
        above = []
        for other in reversed(lines[:number]):
            if not other.strip().startswith("//"):
                break
            above.append(other)
        if not re.search(r"thread|lock|shared|concurren|immutable|nothing changes|at a time", " ".join(above), re.I):
            yield number + 1


def circles(texts):
    """Pairs of folders of one module whose files use types of each other."""
    homes = {}
    for name, text in texts.items():
        for kind in TYPE.findall(text):
            homes.setdefault(kind, set()).add(os.path.dirname(name))
    # A name that two folders have tells nothing.
    homes = {kind: next(iter(places)) for kind, places in homes.items() if len(places) == 1}
    uses = defaultdict(lambda: defaultdict(set))
    for name, text in texts.items():
        folder = os.path.dirname(name)
        bare = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"//.*", "", text))
        # A name that the file gives to a type of its own means that one.
        own = re.findall(r"\b(?:struct|class|enum|protocol|typealias|actor)\s+([A-Z]\w*)", bare)
        for kind in set(re.findall(r"\b[A-Z]\w*", bare)) - set(own):
            home = homes.get(kind)
            if home and home != folder and home.split("/")[0] == folder.split("/")[0]:
                uses[folder][home].add(kind)
    return [f"{one} – {other} ({len(uses[one][other])}, {len(uses[other][one])})"
            for one in sorted(uses) for other in sorted(uses[one]) if one < other and one in uses.get(other, {})]


def journeys(tree):
    """The source files in which something runs for a waveform of an MP3, an image, a quality check and a timeline."""
    scratch = tree / ".build-coverage" if tree != Path(ROOT) else Path(ROOT, ".build-coverage")
    subprocess.run(["swift", "build", "--package-path", str(tree), "--scratch-path", str(scratch), "--product", "mediatool",
                    "-Xswiftc", "-profile-generate", "-Xswiftc", "-profile-coverage-mapping"],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    program = scratch / "debug/mediatool"
    # A worker's profile is lost, since it ends with a signal.
    alone = ["--no-sandbox"] if b"--no-sandbox" in run([program, "qc", "--help"]) else []
    # Another release of LLVM does not read what this compiler's programs write.
    tools = Path(shutil.which("swift")).resolve().parent
    fixtures = Path(ROOT, "fixtures")
    with tempfile.TemporaryDirectory() as folder:
        cut = Path(folder, "cut.otio")
        # A timeline names media of its own folder.
        shutil.copy(fixtures / "av.mp4", folder)
        cut.write_text(json.dumps(timeline("av.mp4")))
        tasks = {
            "waveform of an MP3": ["waveform", fixtures / "mp3-lame.mp3", "-o", f"{folder}/w.dat"],
            "thumbs --at": ["thumbs", fixtures / "av.mp4", "--at", "1", "-o", f"{folder}/t.png"],
            "qc": ["qc", fixtures / "av.mp4", "--html", f"{folder}/q.html"],
            "export of a timeline": ["export", cut, "--allow-outside", "-o", f"{folder}/e.mp4"],
        }
        ran = {}
        for name, words in tasks.items():
            raw, merged = f"{folder}/raw.profraw", f"{folder}/merged.profdata"
            code = subprocess.run([program, *words, *alone, "--quiet"], env={**os.environ, "LLVM_PROFILE_FILE": raw},
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
            # A quality check that finds something ends with 1.
            expect(code == 0 or name == "qc" and code == 1, f"{name}: exit {code}")
            run([tools / "llvm-profdata", "merge", raw, "-o", merged])
            report = json.loads(run([tools / "llvm-cov", "export", "--summary-only", "-instr-profile", merged, str(program)]))
            ran[name] = [file["filename"].removeprefix(f"{tree}/Sources/") for file in report["data"][0]["files"]
                         if f"{tree}/Sources/" in file["filename"] and file["summary"]["functions"]["covered"]]
        return ran


def timeline(media):
    """A cut of one clip, as OpenTimelineIO."""
    def span(start, length):
        time = lambda value: {"OTIO_SCHEMA": "RationalTime.1", "rate": 25.0, "value": float(value)}
        return {"OTIO_SCHEMA": "TimeRange.1", "start_time": time(start), "duration": time(length)}
    clip = lambda: {"OTIO_SCHEMA": "Clip.1", "name": "clip", "source_range": span(10, 25),
                    "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": str(media)}}
    tracks = [{"OTIO_SCHEMA": "Track.1", "name": kind, "kind": kind, "children": [clip(), clip()]} for kind in ("Video", "Audio")]
    return {"OTIO_SCHEMA": "Timeline.1", "name": "cut",
            "tracks": {"OTIO_SCHEMA": "Stack.1", "name": "tracks", "children": tracks}}


if __name__ == "__main__":
    main()
