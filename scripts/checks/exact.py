"""Groups `images` and `containers`: exact images are, bit for bit, the frames of a plain decode from the start.

The reference is ffmpeg's own decode with one thread (`framemd5` in the decoder's pixel format) at ffprobe's times. Twenty
moments, chosen by a fixed seed, are asked for in rising order as a sweep asks, in rising, falling and shuffled order, with
one codec thread and with all.
"""

import os
import random
import tempfile
from fractions import Fraction

from . import frames, reference
from .programs import mediacheck, readable, stream_count
from .tools import expect, run

MOMENTS = 20
THREADS = (1, 0)  # 0: as many as there are cores
# Still images have no time line.
STILLS = (".png", ".jpg")
# Codecs whose decoder gives other bits after a seek, or with other threads, than from the start; none is known.
INEXACT = {}


def images(report, files):
    """Every video track of every file."""
    jobs = []
    for name, path in readable(files, "video"):
        if name.endswith(STILLS):
            continue
        for track in range(stream_count(path, "video")):
            jobs.append((f"{name} v:{track}", lambda path=path, track=track: compare(path, track)))
    report.each("images", jobs)


def compare(path, track):
    codec = reference.streams(path, "video")[track]["codec_name"]
    if codec in INEXACT:
        return f"not compared: {INEXACT[codec]}"
    if reference.is_empty(path, track):
        return expect_empty(path, track)
    wanted = list(presented(reference.frames(path, track)))
    pick = random.Random(1)
    chosen = sorted(pick.sample(range(len(wanted)), min(MOMENTS, len(wanted))))
    asked = [(moment(wanted, place, pick), wanted[place]) for place in chosen]
    shuffled = asked[:]
    pick.shuffle(shuffled)
    orders = [("in a sweep", asked, ["sweep"]), ("rising", asked, []), ("falling", asked[::-1], []),
              ("shuffled", shuffled, [])]
    wrong = []
    for threads in THREADS:
        for order, moments, how in orders:
            answers = ask(path, track, threads, how, [time for time, _ in moments])
            for (time, frame), answer in zip(moments, answers):
                if not is_same(answer, frame):
                    wrong.append(f"{order}, {threads or 'all'} threads: at {time} came {describe(answer, wanted)}, "
                                 f"wanted {frame.time}")
    expect(not wrong, f"{len(wrong)} of {len(asked) * len(orders) * len(THREADS)} images are wrong: {wrong[0] if wrong else ''}")
    return f"{len(asked)} moments of {len(wanted)} frames"


def expect_empty(path, track):
    """A track without samples has no picture at any time."""
    for threads in THREADS:
        answer = ask(path, track, threads, [], [Fraction(0)])[0].split()
        expect(answer[:2] == ["error", "outOfRange"], f"the track has no samples: {' '.join(answer)}")
    return "no samples, and no pictures"


def presented(frames):
    """The frames that are on screen for some time: from zero on, one for each time."""
    shown = None
    for frame, following in zip(frames, [*frames[1:], None]):
        if (following is None or following.time > max(frame.time, 0)) and (shown is None or frame.time > shown):
            yield frame
            shown = frame.time


def moment(wanted, place, pick):
    """Some time at which a frame is on screen: its very start, or within its interval."""
    frame = wanted[place]
    start = max(frame.time, Fraction(0))
    if place + 1 < len(wanted):
        length = wanted[place + 1].time - start
    else:
        length = frame.duration / 4
    return start + length * pick.choice((Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)))


def is_same(answer, frame):
    words = answer.split()
    return words[0] != "error" and Fraction(words[0]) == frame.time and words[2] == frame.md5


def describe(answer, wanted):
    words = answer.split()
    if words[0] == "error":
        return answer
    found = [frame.time for frame in wanted if frame.md5 == words[2]]
    return f"{words[0]}, " + (f"the frame of {found[0]}" if found else "a frame that the file does not have")


def ask(path, track, threads, how, times):
    text = "".join(f"{time.numerator}/{time.denominator}\n" for time in times)
    answers = mediacheck("at", path, track, threads, *how, input=text.encode()).decode().splitlines()
    expect(len(answers) == len(times), f"{len(answers)} answers to {len(times)} times")
    return answers


# --- Files of every container ---------------------------------------------------------------------------------------

SOURCE = ["-f", "lavfi", "-i", "testsrc2=size=192x112:rate=25:duration=8"]
SOUND = ["-f", "lavfi", "-i", "sine=duration=8:sample_rate=48000"]
X264 = ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
X265 = ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:keyint=20:bframes=3:open-gop=1"]
MPEG4 = ["-c:v", "mpeg4", "-q:v", "5", "-g", "15"]
MPEG2 = ["-c:v", "mpeg2video", "-q:v", "4", "-g", "12"]
OPEN = ["-x264-params", "keyint=20:min-keyint=20:scenecut=0:bframes=3:b-adapt=0:open-gop=1"]
# Name: the options of its streams. Sound lies between the pictures where the container takes it.
CONTAINERS = {
    "msmpeg4.wmv": ["-c:v", "msmpeg4", "-g", "15", "-c:a", "wmav2"],
    "wmv1.wmv": ["-c:v", "wmv1", "-g", "15", "-c:a", "wmav2"],
    "wmv2.asf": ["-c:v", "wmv2", "-g", "25", "-c:a", "wmav2"],
    "h264.asf": [*X264, "-g", "20", "-bf", "2", "-c:a", "wmav2"],
    "mpeg4-b.asf": [*MPEG4, "-bf", "2", "-c:a", "wmav2"],
    "mpeg1.mpg": ["-c:v", "mpeg1video", "-q:v", "4", "-g", "12", "-bf", "2", "-c:a", "mp2"],
    "mpeg2-b.mpg": [*MPEG2, "-bf", "2", "-c:a", "mp2", "-f", "vob"],
    "mpeg2.mpg": [*MPEG2, "-bf", "0", "-c:a", "mp2"],
    "mpeg1-no-b.mpg": ["-c:v", "mpeg1video", "-q:v", "4", "-g", "12", "-bf", "0", "-c:a", "mp2"],
    "h264.vob": [*X264, *OPEN, "-c:a", "ac3", "-f", "vob"],
    "flv1.flv": ["-c:v", "flv1", "-g", "15", "-c:a", "libmp3lame", "-ar", "44100"],
    "h264.flv": [*X264, "-g", "20", "-bf", "2", "-c:a", "aac"],
    "h264-open.flv": [*X264, *OPEN, "-c:a", "aac"],
    "mpeg4.avi": [*MPEG4, "-c:a", "mp2"],
    "mpeg4-b.avi": [*MPEG4, "-bf", "2", "-c:a", "mp2"],
    "xvid-packed.avi": ["-c:v", "libxvid", "-bf", "2", "-g", "15", "-flags", "+mv4", "-c:a", "mp2"],
    "msmpeg4v2.avi": ["-c:v", "msmpeg4v2", "-g", "15", "-c:a", "mp2"],
    "h264.avi": [*X264, "-g", "20", "-bf", "2", "-c:a", "mp2"],
    "ffv1.avi": ["-c:v", "ffv1", "-g", "10", "-c:a", "pcm_s16le"],
    "mpeg2-b.mxf": [*MPEG2, "-bf", "2", "-c:a", "pcm_s16le"],
    "h264-intra.mxf": [*X264, "-profile:v", "high", "-g", "1", "-c:a", "pcm_s16le"],
    "h264-b.mxf": [*X264, "-g", "12", "-bf", "2", "-c:a", "pcm_s16le"],
    "theora.ogv": ["-c:v", "libtheora", "-q:v", "5", "-g", "20", "-c:a", "libvorbis"],
    "vp8.ogv": ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-g", "20", "-c:a", "libvorbis"],
    "mpeg2-open.ts": [*MPEG2, "-bf", "2", "-c:a", "mp2"],
    "h264-open.ts": [*X264, *OPEN, "-c:a", "aac"],
    "hevc-open.ts": [*X265, "-c:a", "aac"],
    "mpeg4.ts": [*MPEG4, "-bf", "2", "-c:a", "mp2"],
    "h264-refresh.ts": [*X264, "-x264-params", "keyint=20:intra-refresh=1:bframes=2", "-c:a", "aac"],
    "h264.h264": [*X264, *OPEN],
    "hevc.hevc": X265,
    "mpeg2.m2v": [*MPEG2, "-bf", "2"],
    "mpeg4.m4v": [*MPEG4, "-bf", "2"],
    "vp8.ivf": ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-g", "20"],
    "vp9.ivf": ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-g", "20"],
    "mpeg4.nut": [*MPEG4, "-bf", "2", "-c:a", "mp2"],
    "h264.nut": [*X264, *OPEN, "-c:a", "mp2"],
    "rv10.rm": ["-c:v", "rv10", "-g", "15", "-c:a", "ac3"],
    "rv20.rm": ["-c:v", "rv20", "-g", "15", "-bf", "0", "-c:a", "ac3"],
    "mpeg2.wtv": [*MPEG2, "-bf", "2", "-c:a", "mp2"],
    "gif.gif": [],
    "apng.apng": ["-f", "apng"],
    "dv.dv": ["-s", "720x576", "-c:v", "dvvideo", "-pix_fmt", "yuv420p", "-t", "1"],
    "mjpeg.gxf": ["-s", "720x576", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-t", "1"],
    "mpeg4.mov": [*MPEG4, "-bf", "2", "-c:a", "aac"],
    "h264-open.mkv": [*X264, *OPEN, "-c:a", "aac"],
    "mpeg4-b.mkv": [*MPEG4, "-bf", "2", "-c:a", "mp2"],
    "hevc-open.mp4": [*X265, "-c:a", "aac"],
}


# Files whose keyframes are not compared, as the reference does not tell them.
UNMARKED = {"apng.apng": "libavcodec's decoder calls every picture one"}


def containers(report, names):
    """A file of each container and of the codecs that it is used with, B-frames where it takes them; exact images, and
    sweeps with every tolerance."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(name, lambda name=name: check_made(folder, name)) for name, _ in names]
        report.each("containers", jobs)


def check_made(folder, name):
    path = make(folder, name)
    detail = compare(path, 0)
    if name in UNMARKED:
        return f"{detail}; no keyframes: {UNMARKED[name]}"
    return f"{detail}; {frames.compare_sweep(path, 0, list(presented(reference.frames(path, 0))))}"


def make(folder, name):
    path = os.path.join(folder, name)
    options = CONTAINERS[name]
    run(["ffmpeg", "-v", "error", "-nostdin", "-y", *SOURCE, *(SOUND if "-c:a" in options else []), *options,
         "-threads", "1", path])
    return path
