"""Command lines put together by chance from the options that the program says it has."""

import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from . import mutations
from .programs import MEDIATOOL
from .watched import Trial

# What a command may be given where a number, a time, a size, a place, a colour, a name or a file is asked for.
NUMBERS = ("0", "1", "-1", "2", "3.5", "100", "33.3", "1e9", "1e309", "-0", "nan", "inf", "0x10", "65536", "2147483648",
           "9223372036854775807", "9223372036854775808", "99999999999999999999999", "1/0", "1/3", "-1/3", "30000/1001")
TIMES = ("0", "end", "50%", "101%", "-1%", "250f", "-3f", "00:00:00:00", "23:59:59;29", "99:99:99:99", "1:02:03.250",
         "0.1,0.2,end", ",", "1,,2", "10ms", "1e-9", "0.1s", "25%,25%")
SIZES = ("0x0", "1x1", "160x90", "-5x5", "100000x100000", "64x", "x64", "3x2", "2", "1x9999999", "0,0", "0.5,0.5", "w-10,h-10")
COLORS = ("#fff", "#11223344", "#ggg", "red", "", "#", "#0000", "white,#123456,#abc")
TEXTS = ("", " ", "-", "--", "a", "audio:0", "video:9", "1,2,9", "{stem}", "{index", "{nosuch}", "{index}{index}", "%s%n", "é",
         "\n", "a\tb", "\u202e", "x" * 300, "y" * 5000, "s16le:44100:2", "s16le:0:0", "f64be:4000000000:999", "exact",
         "keyframe", "pixels=1", "pixels=0", "streams=", "=", "tracks/0/codec", "$..*", "8", "16", "auto")
FILES = ("film.mov", "talk.wav", "film.mov", "talk.wav", "cut.otio", "policy.yml", "mark.png", "points.dat", "none.mov", ".",
         "folder", "/dev/null", "link.mov", "loop", b"bad\xff.wav", "-film.mov", "./-film.mov", "new\nline.wav")
OUTPUTS = ("a.dat", "a.json", "a.png", "a.svg", "a.csv", "a.jpg", "a.webp", "a.mov", "a.mp4", "a.m4a", "a.vtt", "a.html",
           "a", "-", "folder", "folder/{index}.png", "none/a.png", "film.mov", "talk.wav", "link.mov", "{stem}-{time}.{ext}",
           "{index}.jpg", "{dir}/{name}", "../{stem}.png", "x" * 300 + ".png", b"\xfe.png", "/dev/full", "/proc/x.png", "")
# What makes a line mean something: most lines begin with one of these, and most values are plain.
BASES = {
    "probe": (["--json"], ["--scan"], []),
    "waveform": (["-o", "a.dat"], ["-o", "a.png", "-o", "a.json"], ["-o", "a.svg"], ["-o", "a.csv"], ["-o", "-", "--format", "txt"]),
    "thumbs": (["--count", "3", "-o", "{index}.png"], ["--at", "0,50%,end", "-o", "{stem}-{index}.jpg"],
               ["--every", "0.5", "--sprite", "-o", "s.jpg", "--vtt", "s.vtt"], ["--keyframes", "--contact-sheet", "-o", "c.png"],
               ["--scenes", "0.3", "-o", "{time}.webp"]),
    "proxy": (["-o", "p.mov"], ["-o", "p.mp4", "--preset", "web"], ["--height", "90", "-o", "p.mov"]),
    "export": (["-o", "e.mov"], ["-o", "e.mp4", "--start", "0.2"], ["-o", "e.mov", "--copy"], ["-o", "e.m4a"]),
    "ingest": (["-o", "folder"], ["-o", "folder", "--recipe", "analyse"], ["-o", "folder", "--without", "proxy", "--resume"]),
    "qc": ([], ["--policy", "policy.yml"], ["--html", "q.html"], ["--policy", "content", "--csv", "q.csv"]),
}
PLAIN = {"x": ("160x90", "1x1", "64x64", "31x17"), "color": ("#fff", "#11223344", "#000"), "time": ("0", "0.2", "50%", "12f", "end"),
         "number": ("1", "2", "3", "8", "16", "64", "90", "1000", "65536")}
CODES = {0, 1, 2, 64}
LINES = 8
TIMEOUT = 15


@cache
def commands():
    """Each command with the options that its own help tells of."""
    help_text = subprocess.run([MEDIATOOL, "--experimental-dump-help"], stdout=subprocess.PIPE, check=True).stdout
    return [command for command in json.loads(help_text)["command"]["subcommands"] if command["commandName"] != "help"]


def words_by_chance(random):
    """A command and its words: mostly ones that mean something, so that more than the first check is reached."""
    command = random.choice(commands())
    # Progress would stand among the messages on standard error.
    options = [argument for argument in command["arguments"]
               if argument["kind"] != "positional" and argument["preferredName"]["name"] != "progress"]
    words = [random.choice(FILES[:6] if random.random() < 0.8 else FILES) for _ in range(random.choice((0, 1, 1, 1, 1, 2, 3)))]
    words += random.choice(BASES[command["commandName"]]) if random.random() < 0.85 else ["-o", random.choice(OUTPUTS)]
    for argument in random.choices(options, k=random.choice((0, 1, 1, 2, 2, 3, 5, 8))):
        name = argument["preferredName"]["name"]
        words.append(("-" if len(name) == 1 else "--") + name)
        if argument["kind"] == "option":
            words.append(value(random, argument))
    # Now and then something stands at the wrong place or twice.
    if words and random.random() < 0.1:
        words.insert(random.randrange(len(words)), random.choice(words))
    # No line may work for longer than this, unless chance says so.
    return [command["commandName"], "--timeout", str(TIMEOUT), *words]


def value(random, argument):
    if (known := argument.get("allValues")) and random.random() < 0.9:
        return random.choice(known)
    kind = argument.get("valueName", "").lower()
    if kind in ("file", "path", "output", "policy", "source"):
        return random.choice(FILES + OUTPUTS)
    fitting, plain = (
        (SIZES, "x") if kind.startswith(("wx", "cx", "x,")) else (COLORS, "color") if "color" in kind
        else (TIMES, "time") if kind.startswith(("time", "length")) else (NUMBERS, "number"))
    if random.random() < 0.6:
        return random.choice(PLAIN[plain])
    return random.choice(fitting if random.random() < 0.6 else NUMBERS + TIMES + SIZES + COLORS + TEXTS + FILES + OUTPUTS)


POLICY = """rules:
  - {id: codec, check: videoCodec, oneOf: [h264]}
  - {id: loud, check: loudness, min: -24, max: -22, severity: warn}
  - {id: black, check: black, maxDuration: 1s}
"""


def timeline(random):
    """A timeline of two clips with a dissolve, as OpenTimelineIO writes it."""
    def time(value):
        return {"OTIO_SCHEMA": "RationalTime.1", "rate": 25.0, "value": value}

    def clip(name):
        return {"OTIO_SCHEMA": "Clip.1", "name": name,
                "source_range": {"OTIO_SCHEMA": "TimeRange.1", "start_time": time(0.0), "duration": time(10.0)},
                "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": name}}

    dissolve = {"OTIO_SCHEMA": "Transition.1", "transition_type": "SMPTE_Dissolve", "in_offset": time(2.0),
                "out_offset": time(2.0)}
    track = {"OTIO_SCHEMA": "Track.1", "kind": "Video", "children": [clip("film.mov"), dissolve, clip("film.mov")]}
    text = json.dumps({"OTIO_SCHEMA": "Timeline.1", "name": "cut",
                       "tracks": {"OTIO_SCHEMA": "Stack.1", "children": [track]}})
    if random.random() < 0.5:
        old = random.choice(("25.0", "0.0", "10.0", "2.0", "Video", "Clip.1", "film.mov", "[", "}", "null", "Track.1"))
        text = text.replace(old, random.choice(("-1", "1e400", "null", "[]", "{}", "../film.mov", "Stack.1", "9" * 40, "")), 1)
    return text


class Lines(Trial):
    """Some command lines in one folder of files, some of which are damaged."""

    runs = LINES

    def __init__(self, options, files, number):
        super().__init__(options, number)
        self.files = files

    def all(self):
        with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
            work = Path(folder, "work")
            self.fill(work)
            for _ in range(LINES):
                words = words_by_chance(self.random)
                before = {path: path.read_bytes() for path in work.iterdir() if path.is_file()}
                end = self.watch(words, folder, feed=work / "talk.wav" if "-" in words else None, current=work)
                problems = end.problems(CODES)
                if list(work.rglob("*.partial")):
                    problems.append(f"left behind: {list(work.rglob('*.partial'))}")
                # With --force an output may be any file but an input.
                if "--force" not in words and (changed := [
                        path.name for path, content in before.items() if not path.is_file() or path.read_bytes() != content]):
                    problems.append(f"changed {changed}")
                for problem in problems:
                    self.complain(words, problem)
            if any(Path(folder).glob("*.partial")):
                self.complain(["one of the lines"], "left a part beside the folder")
        return self

    def fill(self, work):
        """What the lines may name: a film, sound, a timeline, a policy, a picture, peaks, links and odd names."""
        random = self.random
        (work / "folder").mkdir(parents=True)
        films = [path for path in self.files if path.suffix in (".mp4", ".mov", ".mkv")]
        sounds = [path for path in self.files if path.suffix in (".wav", ".flac", ".mp3", ".m4a")]
        film, sound = (random.choice(files).read_bytes() for files in (films, sounds))
        if random.random() < 0.2:
            film, _ = mutations.damaged(random, film, sound)
        policy = POLICY if random.random() < 0.5 else POLICY.replace(
            random.choice(("h264", "-24", "1s", "check", "{", "rules")), random.choice(("", "[", "&a *a", "1e999", "~", "x: y")))
        points = subprocess.run([MEDIATOOL, "waveform", "-", "-o", "-", "--format", "dat", "--quiet"], input=sound,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        pictures = [path for path in self.files if path.suffix == ".png"]
        for name, content in (("film.mov", film), ("-film.mov", film), ("talk.wav", sound), (b"bad\xff.wav", sound),
                              ("new\nline.wav", sound), ("cut.otio", timeline(random).encode()),
                              ("policy.yml", policy.encode()), ("points.dat", points),
                              ("mark.png", random.choice(pictures).read_bytes() if pictures else b"")):
            Path(work, os.fsdecode(name)).write_bytes(content)
        (work / "link.mov").symlink_to("film.mov")
        (work / "loop").symlink_to("loop")
