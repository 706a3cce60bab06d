"""Group `export`: the middle of every file with video, encoded anew and copied, held against ffmpeg's word."""

import json
import os
import tempfile
from fractions import Fraction

from . import reference
from .programs import LONG, mediatool, readable
from .proxy import hides_between, is_whole, times
from .schema import problems_of, validator
from .tools import expect, run


def export(report, files):
    """Encoded anew: as many frames as lie in the range, at their times. Copied: the very pictures of the source."""
    schema = validator("export")
    jobs = []
    for name, path in readable(files, "video"):
        jobs.append((f"{name} encoded", lambda path=path: encoded(path, schema)))
        if name.lower().endswith((".mp4", ".mov", ".mkv", ".m4v")) and is_whole(path):
            jobs.append((f"{name} copied", lambda path=path: copied(path, schema)))
    report.each("export", jobs)


def middle(path):
    """The frames' times from zero on, and the numbers of the first and of the one behind the last of the middle third."""
    shown = times(path, 0)
    shown = [max(time, Fraction(0)) for place, time in enumerate(shown)
             if place + 1 == len(shown) or shown[place + 1] > 0]
    first = len(shown) // 3
    return shown, first, min(max(first + 1, 2 * len(shown) // 3), first + 100)


def exported(path, made, schema, first, last, shown, *options):
    arguments = ["--start", f"{first}f"] + (["--end", f"{last}f"] if last < len(shown) else [])
    result = mediatool("export", path, "-o", made, *arguments, "--audio", "none", "--video-track", "v:0", "--quiet",
                       "--json", *options, seconds=LONG)
    expect(result.returncode == 0, result.stderr.decode(errors="replace").strip()[:300])
    content = json.loads(result.stdout)
    problem = problems_of(schema, content)
    expect(not problem, problem)
    return content


def encoded(path, schema):
    shown, first, last = middle(path)
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "part.mov")
        content = exported(path, made, schema, first, last, shown, "--speed", "fastest")
        found = times(made, 0)
        wanted = [time - shown[first] for time in shown[first:last]]
        expect(len(found) == len(wanted), f"{len(found)} frames instead of {len(wanted)}")
        for place, (one, other) in enumerate(zip(wanted, found)):
            expect(abs(one - other) < Fraction(1, 50000), f"frame {place} at {float(other)} instead of {float(one)}")
        expect(content["video"]["frameCount"] == len(wanted), "another number of frames in the JSON")
        return f"{len(wanted)} frames"


def copied(path, schema):
    shown, first, last = middle(path)
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "part.mov")
        if hides_between(path, reference.streams(path, "video")[0]):
            whole = mediatool("export", path, "-o", made, "--copy", "--quiet")
            expect(whole.returncode == 2 and b"does not show the picture" in whole.stderr, "not refused")
            return "refused, as it shows not all of its pictures"
        exported(path, made, schema, first, last, shown, "--copy")
        wanted = [frame.md5 for frame in reference.frames(path)][-len(shown):][first:last]
        found = pictures(made)
        expect(len(found) == len(wanted), f"{len(found)} pictures instead of {len(wanted)}")
        other = sum(one != two for one, two in zip(wanted, found))
        expect(not other, f"{other} of {len(wanted)} pictures are others")
        return f"{len(wanted)} pictures"


def pictures(path):
    """The MD5 of each decoded picture of the first video track."""
    number = reference.streams(path, "video")[0]["index"]
    lines = run(["ffmpeg", "-v", "error", "-nostdin", *reference.uncropped(), "-copyts", "-noautorotate", "-i", path,
                 "-map", f"0:{number}", "-fps_mode", "passthrough", "-enc_time_base", "1/90000", "-f", "framemd5", "-"]).decode().splitlines()
    return [line.rsplit(",", 1)[1].strip() for line in lines if not line.startswith("#")]
