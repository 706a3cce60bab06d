"""Memory of long work while it is done, drawn as docs/memory.svg; fails where it keeps growing. Takes some minutes and 300 MB of space."""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from .programs import MEDIATOOL
from .tools import ROOT, run

# Growth that is allowed from the first fifth of the work to its end; buffers are filled within that fifth.
SLACK = 1.15
SLACK_BYTES = 24 << 20
COLORS = ("#365e9e", "#b5482f", "#3c8c4a", "#8a5aa8", "#b08a1e")


def looped(source, target, seconds, *options):
    """A file of so many seconds, the packets of a short one again and again."""
    run(["ffmpeg", "-v", "error", "-y", "-stream_loop", "-1", "-i", source, "-t", str(seconds), "-map", "0", "-c", "copy",
         *options, target])


def measure(command, folder):
    """Resident memory in bytes while a command runs, with the moment of each sample; the command must succeed."""
    with open(os.path.join(folder, "log"), "w+b") as log:
        begun = time.monotonic()
        process = subprocess.Popen([MEDIATOOL, *command], cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        samples, pause = [], 0.01
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/statm") as file:
                    resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            except (OSError, IndexError):
                break
            # A process that ended has none.
            if resident:
                samples.append((time.monotonic() - begun, resident))
            if len(samples) == 400:
                samples, pause = samples[::2], 2 * pause
            time.sleep(pause)
        if process.wait() != 0:
            log.seek(0)
            raise RuntimeError(f"{' '.join(command)}: {log.read()[-500:].decode(errors='replace')}")
    return samples


def grows(samples):
    """Whether the whole takes more than its first fifth; the text that says how much."""
    end = samples[-1][0]
    early = max(size for moment, size in samples if moment <= max(1, end / 5))
    late = max(size for moment, size in samples)
    text = f"{early >> 20} MB in the first fifth, {late >> 20} MB at most, {end:.1f} s"
    return late > max(early * SLACK, early + SLACK_BYTES), text


def graph(curves):
    """The curves as an SVG file: a share of the run across, MB up."""
    width, height, left, bottom, top = 760, 380, 56, 60, 16 + 20 * len(curves)
    most = max(size for _, samples in curves for _, size in samples) / (1 << 20)
    step = next(step for step in (10, 20, 50, 100, 200, 500) if most / step <= 8)
    most = (int(most / step) + 1) * step
    across = lambda share: left + share * (width - left - 16)
    up = lambda size: height - bottom - size / most * (height - bottom - top)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 12} {height}" font-family="sans-serif" font-size="13">',
             f'<rect width="{width + 12}" height="{height}" fill="white"/>']
    for size in range(0, int(most) + 1, step):
        parts.append(f'<path d="M{left} {up(size):.1f}H{width - 16}" stroke="#ddd"/>'
                     f'<text x="{left - 8}" y="{up(size) + 4:.1f}" text-anchor="end">{size} MB</text>')
    for share in range(0, 101, 20):
        parts.append(f'<text x="{across(share / 100):.1f}" y="{height - bottom + 20}" text-anchor="middle">{share} %</text>')
    parts.append(f'<text x="{across(0.5):.1f}" y="{height - 14}" text-anchor="middle">of the time that the work takes</text>')
    for number, (name, samples) in enumerate(curves):
        end, color = samples[-1][0], COLORS[number % len(COLORS)]
        points = " ".join(f"{across(moment / end):.1f},{up(size / (1 << 20)):.1f}" for moment, size in samples)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>'
                     f'<text x="{left}" y="{20 + 20 * number}" fill="{color}">{name}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="scripts/check memory", description=__doc__)
    parser.add_argument("--hours", type=float, default=10)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--no-graph", action="store_true")
    options = parser.parse_args()
    fixtures = os.path.join(ROOT, "fixtures")
    curves, failed = [], 0
    with tempfile.TemporaryDirectory(prefix="memory-") as folder:
        sound, film, short = (os.path.join(folder, name) for name in ("sound.mp3", "film.mkv", "short.mkv"))
        looped(f"{fixtures}/mp3-vbr-stereo.mp3", sound, options.hours * 3600)
        looped(f"{fixtures}/h264-aac.mkv", film, options.images)
        looped(f"{fixtures}/h264-aac.mkv", short, options.images / 5)
        os.mkdir(os.path.join(folder, "images"))
        jobs = [
            (f"waveform: {options.hours:g} hours of MP3, 256 samples a point",
             ["waveform", sound, "-o", "w.dat", "--samples-per-pixel", "256", "--bits", "8", "--quiet"]),
            (f"thumbs: {options.images} images",
             ["thumbs", film, "--every", "1", "-o", "images/{index}.jpg", "--quiet"]),
            (f"probe --scan: {options.images / 3600:.1f} hours of H.264 and AAC", ["probe", "--scan", film]),
            (f"qc: {options.images / 18000:.1f} hours of H.264 and AAC", ["qc", short, "--quiet"]),
            (f"proxy: {options.images / 18000:.1f} hours of H.264 and AAC",
             ["proxy", short, "-o", "proxy.mov", "--height", "90", "--quiet"]),
        ]
        for name, command in jobs:
            samples = measure(command, folder)
            hasGrown, text = grows(samples)
            failed += hasGrown
            print(f"{'FAILED ' if hasGrown else ''}{name}: {text}", flush=True)
            curves.append((name, samples))
        made = len(os.listdir(os.path.join(folder, "images")))
        if made < options.images * 0.99:
            print(f"FAILED only {made} images were made")
            failed += 1
    if not options.no_graph:
        with open(os.path.join(ROOT, "docs", "memory.svg"), "w") as file:
            file.write(graph(curves))
    print(f"{len(jobs) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
