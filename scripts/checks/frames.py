"""Group `frames`: the library's frames against ffprobe's times and the hashes of ffmpeg's pixels."""

import random
from fractions import Fraction

from . import reference
from .programs import mediacheck, readable, stream_count
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
            jobs.append((f"{name} v:{track} in order", lambda path=path, track=track: compare_order(path, track)))
            if name in THOROUGH or "/" not in name:
                jobs.append((f"{name} v:{track} at times", lambda path=path, track=track: compare_times(path, track)))
    report.each("frames", jobs)


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
    yield first - Fraction(1, 1000)
    if first > 0:
        yield first / 2
    yield last.time + last.duration * 2 + 5


def ask(path, track, times):
    text = "".join(f"{time.numerator}/{time.denominator}\n" for time in times)
    answers = mediacheck("at", path, track, input=text.encode()).decode().splitlines()
    expect(len(answers) == len(times), f"{len(answers)} answers to {len(times)} times")
    return answers
