"""Group `frames`: the library's frames against ffprobe's times and the hashes of ffmpeg's pixels."""

import json
import os
import random
import tempfile
from fractions import Fraction

from . import reference
from .programs import mediacheck, mediatool, readable, stream_count
from .tools import expect

# Every single frame of these is asked for by time, in three orders, and all their video tracks.
THOROUGH = ["mediabunny/cursed-vfr.mp4", "androidx/bbb_avc_pyramid_3b.mp4", "androidx/iibbibb_editlist_videoonly.mp4",
            "androidx/edit_list_positive_shift.mp4", "torchcodec/test_non_zero_start.mp4", "torchcodec/nasa_13013.mp4",
            "mediabunny/frames.webm", "metadata-extractor/Sony_A7M3.mts", "streamio/weird_aspect.small.mpg"]
# Fixtures are small: all of them are asked for thoroughly, but for stills, which have no time line.
STILLS = (".png", ".jpg")


def frames(report, files):
    """Reading in order, and asking for the frame at a time."""
    jobs = []
    for name, path in readable(files, "video"):
        if name.endswith(STILLS):
            continue
        for track in range(stream_count(path, "video")):
            if reference.is_empty(path, track):
                jobs.append((f"{name} v:{track} empty", lambda path=path, track=track: compare_empty(path, track)))
                continue
            jobs.append((f"{name} v:{track} in order", lambda path=path, track=track: compare_order(path, track)))
            jobs.append((f"{name} v:{track} sweep", lambda path=path, track=track: compare_sweep(path, track)))
            if name in THOROUGH or "/" not in name:
                jobs.append((f"{name} v:{track} at times", lambda path=path, track=track: compare_times(path, track)))
    report.each("frames", jobs)


def compare_empty(path, track):
    """A track without samples: no frames, and an error for each image."""
    expect(not mediacheck("frames", path, track), "the track has no samples, and frames")
    manifest, _ = sweep(path, track, [Fraction(0), Fraction(1, 2)], "exact", 1)
    codes = [image.get("error", {}).get("code") for image in manifest["images"]]
    expect(codes == ["outOfRange"] * 2, f"images of a track without samples: {codes}")
    return "no samples"


def compare_order(path, track):
    wanted = reference.frames(path, track)
    lines = mediacheck("frames", path, track).decode().splitlines()
    for index, (line, frame) in enumerate(zip(lines, wanted)):
        time, duration, md5 = line.split()
        expect(Fraction(time) == frame.time, f"frame {index} of {len(wanted)} at {time}, wanted {frame.time}")
        expect(md5 == frame.md5, f"frame {index} of {len(wanted)} at {time} has other pixels{whose(md5, wanted)}")
        if index + 1 < len(wanted):
            interval = wanted[index + 1].time - frame.time
            expect(Fraction(duration) == interval, f"frame {index} lasts {duration}, wanted {interval}")
        else:
            expect(Fraction(duration) > 0, f"the last frame lasts {duration}")
    expect(len(lines) == len(wanted), f"{len(lines)} frames, wanted {len(wanted)}")
    return f"{len(wanted)} frames"


def whose(md5, wanted):
    """Says which frame of the reference has these pixels."""
    found = [index for index, frame in enumerate(wanted) if frame.md5 == md5]
    return f" (those of frame {found[0]})" if found else " (of no frame)"


def compare_times(path, track):
    wanted = reference.frames(path, track)
    asked = [(middle, frame) for middle, frame in zip(middles(wanted), wanted)]
    shuffled = asked[:]
    random.Random(1).shuffle(shuffled)
    for order, times in [("in order", asked), ("reversed", asked[::-1]), ("shuffled", shuffled)]:
        for (time, frame), answer in zip(times, ask(path, track, [time for time, _ in times])):
            words = answer.split()
            expect(words[0] != "error", f"{order}: at {time}: {answer}")
            expect(Fraction(words[0]) == frame.time and words[2] == frame.md5,
                   f"{order}: at {time} came {words[0]}{whose(words[2], wanted)}, wanted {frame.time}")
    for time in outside(wanted):
        answer = ask(path, track, [time])[0].split()
        expect(answer[:2] == ["error", "outOfRange"], f"at {time}, outside: {' '.join(answer)}")
    return f"{len(wanted)} frames, 3 orders"


# --- Sweeps ---------------------------------------------------------------------------------------------------------

# Before and after; None is without a limit.
TOLERANCES = {"exact": (0, 0), "keyframe": (None, None), "0.3": (Fraction(3, 10), Fraction(3, 10)),
              "2,0.1": (Fraction(2), Fraction(1, 10))}
WORKERS = [1, 3]  # and more with --full


def compare_sweep(path, track, wanted=None):
    """Images of up to 20 moments, in no order and some of them twice, at any number of workers and all tolerances."""
    wanted = wanted or reference.frames(path, track)
    chosen = [time for time in middles(wanted) if time >= 0]
    pick = random.Random(2)
    chosen = pick.sample(chosen, min(20, len(chosen)))
    chosen += pick.sample(chosen, min(3, len(chosen)))
    pixels = {}
    for tolerance, (before, after) in TOLERANCES.items():
        first = None
        for workers in WORKERS:
            manifest, files = sweep(path, track, chosen, tolerance, workers)
            if first is None:
                first = manifest, files
                check_images(manifest["images"], wanted, chosen, tolerance, before, after)
            expect(manifest == first[0], f"{tolerance}: the manifest is another one with {workers} workers")
            expect(files == first[1], f"{tolerance}: images are others with {workers} workers")
        for image in first[0]["images"]:
            data = first[1][image["file"]]
            expect(pixels.setdefault(exact(image["actual"]), data) == data,
                   f"{tolerance}: the picture of {exact(image['actual'])} is another one than on other ways to it")
    return f"{len(chosen)} moments, {len(TOLERANCES)} tolerances, workers {', '.join(map(str, WORKERS))}"


def sweep(path, track, times, tolerance, workers):
    """The manifest, and the bytes of every file; names in the manifest are without the folder."""
    with tempfile.TemporaryDirectory() as folder:
        done = mediatool("thumbs", "--at", ",".join(f"{time.numerator}/{time.denominator}" for time in times),
                         "--tolerance", tolerance, "--threads", workers, "--track", f"v:{track}", "--width", 48,
                         "--json", "-o", os.path.join(folder, "{index}.png"), path)
        expect(done.stdout, f"{tolerance}, {workers} workers: {done.stderr.decode().strip()[:200]}")
        manifest = json.loads(done.stdout)
        files = {}
        for image in manifest.get("images", []):
            if "file" in image:
                with open(image["file"], "rb") as file:
                    image["file"] = os.path.basename(image["file"])
                    files[image["file"]] = file.read()
    return manifest, files


def check_images(images, wanted, times, tolerance, before, after):
    expect(len(images) == len(times), f"{tolerance}: {len(images)} images for {len(times)} times")
    for image, time in zip(images, times):
        expect("error" not in image, f"{tolerance}: at {time}: {image.get('error')}")
        actual, duration = exact(image["actual"]), exact(image["duration"])
        place = picture_for(wanted, time, before, after)
        frame = wanted[place]
        expect(actual == frame.time, f"{tolerance}: at {time} came {actual}, wanted {frame.time}")
        expect(image["keyframe"] == frame.is_key, f"{tolerance}: at {time}: keyframe is {image['keyframe']}")
        if place + 1 < len(wanted):
            interval = wanted[place + 1].time - frame.time
            expect(duration == interval, f"{tolerance}: at {time}: lasts {duration}, wanted {interval}")


def exact(time):
    return Fraction(time["value"], time["timescale"])


def picture_for(wanted, time, before, after):
    """The rule: of the sync samples whose interval meets [time - before, time + after] the nearest, else the one at T."""
    def is_allowed(place):
        frame, last = wanted[place], place + 1 == len(wanted)
        return (frame.is_key and (after is None or frame.time <= time + after)
                and (before is None or last or wanted[place + 1].time > time - before))
    allowed = [place for place in range(len(wanted)) if is_allowed(place)]
    if allowed and (before != 0 or after != 0):
        return min(allowed, key=lambda place: (abs(wanted[place].time - time), wanted[place].time))
    return max(place for place in range(len(wanted)) if wanted[place].time <= time)


def middles(wanted):
    """The middle of every frame's interval; the last frame's own duration is only trusted for a nearby time."""
    for frame, following in zip(wanted, wanted[1:]):
        yield (frame.time + following.time) / 2
    last = wanted[-1]
    before = last.time - wanted[-2].time if len(wanted) > 1 else Fraction(1, 100)
    yield last.time + min(last.duration or before, before) / 4


def outside(wanted):
    """Times at which nothing is on screen."""
    first, last = wanted[0].time, wanted[-1]
    # By less than a frame outside, that frame is given.
    length = wanted[1].time - first if len(wanted) > 1 else last.duration
    yield first - length
    if first > 2 * length:
        yield first / 2
    yield last.time + last.duration * 2 + 5


def ask(path, track, times):
    text = "".join(f"{time.numerator}/{time.denominator}\n" for time in times)
    answers = mediacheck("at", path, track, input=text.encode()).decode().splitlines()
    expect(len(answers) == len(times), f"{len(answers)} answers to {len(times)} times")
    return answers
