"""Group `editing`: mixes and composited frames of made sources, held against what numpy makes of the same numbers.

Nothing here looks at how the library does it: sound is resampled by a long windowed sinc, and pictures are smooth
functions of the plane, so that a turned one is the function at the turned place.
"""

import os
import struct
import tempfile

import numpy as np

from .programs import mediacheck
from .tools import expect, run

RATE = 48000


def editing(report, names):
    report.each("editing", [(name, EDITING[name]) for name, _ in names])


# --- Sound ----------------------------------------------------------------------------------------------------------

def noise(seconds, rate, highest, seed, peak):
    """Noise that has nothing above a frequency."""
    count = int(seconds * rate)
    generator = np.random.default_rng(seed)
    spectrum = np.zeros(count // 2 + 1, complex)
    last = int(highest * seconds)
    spectrum[10:last] = generator.normal(size=last - 10) + 1j * generator.normal(size=last - 10)
    samples = np.fft.irfft(spectrum, count)
    return (samples * (peak / np.abs(samples).max())).astype(np.float32)


def write_wav(path, samples, rate):
    data = samples.astype("<f4").tobytes()
    form = struct.pack("<HHIIHH", 3, 1, rate, rate * 4, 4, 32)
    with open(path, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + form
                   + b"data" + struct.pack("<I", len(data)) + data)


def resampled(samples, rate, first, count, reach=256):
    """Samples of 1/48000 s from a time on, by a Kaiser window of 2 x 256 taps."""
    samples = samples.astype(float)
    taps = np.arange(-reach + 1, reach + 1)
    made = np.zeros(count)
    for start in range(0, count, 2048):
        places = (first + np.arange(start, min(start + 2048, count)) / RATE) * rate
        whole = np.floor(places).astype(int)
        index = whole[:, None] + taps
        distance = places[:, None] - index
        window = np.i0(12 * np.sqrt(np.clip(1 - (distance / reach) ** 2, 0, 1))) / np.i0(12)
        known = (index >= 0) & (index < len(samples))
        values = np.where(known, samples[np.clip(index, 0, len(samples) - 1)], 0)
        made[start:start + len(places)] = (values * np.sinc(distance) * window).sum(1)
    return made


def volumes(points, count):
    """A volume for each sample: (from, to, at from, at to), the last one stays."""
    times = np.arange(count) / RATE
    made = np.ones(count)
    for start, end, first, last in points:
        part = np.clip((times - start) / (end - start), 0, 1) if end > start else 1
        made = np.where(times >= start, first + (last - first) * part, made)
    return made


def mix():
    slow = noise(4, 44100, 15000, 1, 0.4)
    fast = noise(4, RATE, 18000, 2, 0.4)
    loud = noise(4, RATE, 5000, 3, 0.95)
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, samples, rate in [("slow", slow, 44100), ("fast", fast, RATE), ("loud", loud, RATE)]:
            paths[name] = os.path.join(folder, name + ".wav")
            write_wav(paths[name], samples, rate)
        edit = os.path.join(folder, "edit")
        with open(edit, "w", encoding="ascii") as file:
            file.write(f"""track audio
clip {paths['slow']} 1/2 3/2 0
clip {paths['slow']} 5/2 3/4 7/4
volumeRamp 1/10 6/5 0.2 1
volume 19/10 0.5
track audio
clip {paths['fast']} 1 2 3/10
volumeRamp 3/2 23/10 1 0
track audio
clip {paths['loud']} 1 1/2 13/5
track audio
clip {paths['loud']} 1 1/2 13/5
""")
        made = np.frombuffer(mediacheck("mix", edit), "<f4").astype(float)
    count = int(3.1 * RATE)
    expect(len(made) == count, f"{len(made)} samples instead of {count}")
    first = np.zeros(count)
    first[:72000] = resampled(slow, 44100, 0.5, 72000)
    first[84000:120000] = resampled(slow, 44100, 2.5, 36000)
    second = np.zeros(count)
    second[14400:110400] = fast[48000:144000]
    third = np.zeros(count)
    third[124800:148800] = loud[48000:72000]
    wanted = first * volumes([(0.1, 1.2, 0.2, 1), (1.9, 1.9, 0.5, 0.5)], count)
    wanted += second * volumes([(1.5, 2.3, 1, 0)], count) + 2 * third
    expect((np.abs(wanted) > 1).sum() > 100, "nothing is to be limited")
    wanted = np.clip(wanted, -1, 1)
    # Between both rates' samples no gap is made: the first file's second clip follows a gap of a quarter of a second.
    expect(np.all(made[110400:124800][np.abs(wanted[110400:124800]) == 0] == 0), "a gap is not silent")
    error = np.abs(made - wanted)
    worst = int(error.argmax())
    expect(error.max() < 1e-5, f"{error.max():.2e} off at sample {worst}")
    return f"{count} samples, {error.max():.1e} at most"


# --- Pictures -------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, FRAMES = 192, 128, 20


def back_picture(x, y):
    """Red, green and blue of the picture behind at places of the plane, 0 to 255."""
    return np.stack([128 + 90 * np.sin(x / 21 + y / 34), 128 + 90 * np.cos(x / 27 - y / 19),
                     128 + 90 * np.sin(y / 23)], -1)


def front_picture(x, y):
    """The same of the one in front."""
    return np.stack([128 + 100 * np.cos(x / 30 - y / 25), 110 + 90 * np.sin(x / 18), 140 + 90 * np.cos(y / 31 + x / 40)],
                    -1)


def centres(width, height):
    return np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)


def write_video(path, picture, width, height):
    pixels = np.clip(np.rint(picture(*centres(width, height))), 0, 255).astype(np.uint8).tobytes() * FRAMES
    run(["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", "25", "-i", "-",
         "-c:v", "png", "-y", path], input=pixels)


def ramp(first, last, start, end, time):
    part = min(max((time - start) / (end - start), 0), 1)
    return np.asarray(first, float) + (np.asarray(last, float) - np.asarray(first, float)) * part


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


def inside(place, low, high, scale):
    """Whether places lie between two edges, and whether nearer than a pixel of the frame to one of them."""
    near = np.minimum(np.abs(place - low), np.abs(place - high)) < 1.01 * scale
    return (place > low) & (place < high), near


def composite():
    identity = [1, 0, 0, 1, 0, 0]
    sine, cosine = 0.5, np.sqrt(3) / 2
    turned = [0.5 * cosine, 0.5 * sine, -0.5 * sine, 0.5 * cosine, 80, 20]
    crops = [[0, 0, 160, 96], [30, 20, 90, 60]]
    mark = np.zeros((24, 40, 4), np.uint8)
    mark[..., 0], mark[..., 1], mark[..., 2] = 250, np.arange(40) * 6, np.arange(24)[:, None] * 10
    mark[..., 3] = np.linspace(0, 255, 40).astype(np.uint8)
    ground = (40, 90, 160)
    with tempfile.TemporaryDirectory() as folder:
        back, front, over, edit = (os.path.join(folder, name) for name in ("back.mov", "front.mov", "mark", "edit"))
        write_video(back, back_picture, 128, 96)
        write_video(front, front_picture, 160, 96)
        with open(over, "wb") as file:
            file.write(mark.tobytes())
        with open(edit, "w", encoding="ascii") as file:
            file.write(f"""size {WIDTH} {HEIGHT}
background {ground[0]} {ground[1]} {ground[2]}
track video
clip {front} 0 4/5 0
transformRamp 1/5 3/5 {numbers(identity)} {numbers(turned)}
cropRamp 1/10 7/10 {numbers(crops[0])} {numbers(crops[1])}
opacityRamp 1/5 4/5 1 0.25
track video
clip {back} 0 4/5 0
transform 0 1 0 0 1 40 24
overlay {over} 40 24 140 96 0.7
""")
        made = np.frombuffer(mediacheck("composite", edit), np.uint8)
    expect(len(made) == FRAMES * HEIGHT * WIDTH * 4, f"{len(made)} bytes of frames")
    made = made.reshape(FRAMES, HEIGHT, WIDTH, 4).astype(float)
    expect((made[..., 3] == 255).all(), "frames are not opaque")
    x, y = centres(WIDTH, HEIGHT)
    worst, compared = 0.0, 0
    for frame in range(FRAMES):
        time = frame / 25
        wanted = np.broadcast_to(np.array(ground, float), (HEIGHT, WIDTH, 3)).copy()
        edges = np.zeros((HEIGHT, WIDTH), bool)

        def draw(picture, u, v, rectangle, scale, opacity):
            nonlocal wanted, edges
            left, top, right, bottom = rectangle
            (across, near_x), (down, near_y) = inside(u, left, right, scale[0]), inside(v, top, bottom, scale[1])
            reach_x, reach_y = 1.01 * scale[0], 1.01 * scale[1]
            edges |= near_x & (v > top - reach_y) & (v < bottom + reach_y)
            edges |= near_y & (u > left - reach_x) & (u < right + reach_x)
            covered = (across & down)[..., None] * opacity
            wanted = picture(u, v) * covered + wanted * (1 - covered)

        draw(back_picture, x - 40, y - 24, (0, 0, 128, 96), (1, 1), 1)
        a, b, c, d, tx, ty = ramp(identity, turned, 0.2, 0.6, time)
        inverse = np.linalg.inv(np.array([[a, c], [b, d]]))
        u = inverse[0, 0] * (x - tx) + inverse[0, 1] * (y - ty)
        v = inverse[1, 0] * (x - tx) + inverse[1, 1] * (y - ty)
        crop = ramp(crops[0], crops[1], 0.1, 0.7, time)
        shown = (max(crop[0], 0), max(crop[1], 0), min(crop[0] + crop[2], 160), min(crop[1] + crop[3], 96))
        opacity = float(ramp(1, 0.25, 0.2, 0.8, time))
        draw(front_picture, u, v, shown, (np.hypot(*inverse[0]), np.hypot(*inverse[1])), opacity)
        alpha = mark[..., 3:].astype(float) / 255 * 0.7
        place = wanted[96:120, 140:180]
        wanted[96:120, 140:180] = mark[..., :3] * alpha + place * (1 - alpha)

        error = np.abs(made[frame, ..., :3] - np.clip(wanted, 0, 255)).max(-1)
        error[edges] = 0
        compared += int((~edges).sum())
        row, column = np.unravel_index(error.argmax(), error.shape)
        expect(error.max() <= 2, f"frame {frame}: {error.max():.2f} off at {column}, {row}")
        worst = max(worst, error.max())
    expect(compared > FRAMES * HEIGHT * WIDTH * 0.9, "too much lies at edges")
    return f"{FRAMES} frames, {worst:.2f} of 255 at most"


EDITING = {"mix": mix, "composite": composite}
