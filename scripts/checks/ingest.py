"""`ingest` beside the single commands: the same bytes, one read, and folders that are whole after any interruption.

    scripts/check ingest [FILE…] [--full]

The short form takes a few fixtures; --full makes three films of ten minutes (1080p H.264 and AAC; ProRes with four tracks of PCM;
a phone's clip of variable rate and HDR) and ends a run at thirty random moments.
"""

import argparse
import filecmp
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .programs import MEDIATOOL
from .tools import CALLER, ROOT, Report, expect, run

SECONDS = 3600
FIXTURES = ("docs/Examples/sample.mov",)
# What the manifest says of one run alone.
OF_THE_RUN = {"created", "timings", "counters"}


def ingest(file, folder, *options, check=True):
    """Runs the command; gives its manifest."""
    result = run([MEDIATOOL, "ingest", file, "-o", folder, "--quiet", "--progress", "never", "--json", *options],
                 check=False, timeout=SECONDS)
    if check:
        expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')[:300]}")
    return json.loads(Path(folder, "manifest.json").read_text()) if Path(folder, "manifest.json").exists() else None


def singles(file, manifest, folder):
    """Makes each output by its own command in another folder."""
    parts = {part["name"] for part in manifest["recipe"]["parts"]}
    made = {output["file"] for output in manifest["outputs"]}
    quiet = ["--quiet", "--progress", "never"]

    def mediatool(*arguments, into=None):
        result = run([MEDIATOOL, *map(str, arguments), *quiet], check=False, timeout=SECONDS)
        expect(result.returncode in (0, 1), f"{arguments[0]}: {result.stderr.decode(errors='replace')[:300]}")
        if into:
            Path(folder, into).write_bytes(result.stdout)

    if "probe" in parts:
        mediatool("probe", file, "--json", into="probe.json")
    for name, level in (("peaks.dat", 256), ("peaks-4096.dat", 4096)):
        if name in made:
            mediatool("waveform", file, "-o", f"{folder}/{name}", "--samples-per-pixel", level, "--bits", 8)
    if "waveform.svg" in made:
        mediatool("waveform", file, "-o", f"{folder}/waveform.svg")
    if "poster.jpg" in made:
        mediatool("thumbs", file, "--at", "10%", "--best", "--width", 1280, "-o", f"{folder}/poster.jpg")
    if "sprite.vtt" in made:
        images = [image for output in manifest["outputs"] if output["kind"] == "sprite" for image in output["images"]]
        times = sorted(image["requested"]["seconds"] for image in images)
        every = 2 if len(times) < 2 or times[1] - times[0] < 9 else 10
        mediatool("thumbs", file, "--sprite", "--every", every, "--tolerance", "exact",
                  "-o", f"{folder}/sprite-{{index}}.jpg", "--vtt", f"{folder}/sprite.vtt")
    if "proxy" in parts and any(output["kind"] == "proxy" for output in manifest["outputs"]):
        name = next(output["file"] for output in manifest["outputs"] if output["kind"] == "proxy")
        preset = next((option["value"] for part in manifest["recipe"]["parts"] if part["name"] == "proxy"
                       for option in part["options"] if option["name"] == "preset"), "web")
        mediatool("proxy", file, "--preset", preset, "-o", f"{folder}/{name}")
    if "qc.json" in made:
        mediatool("qc", file, "--json", into="qc.json")


def is_same(file, once=False):
    """Every output equals that of its own command, and the manifest is true; with ONCE, also that all came of one read."""
    with tempfile.TemporaryDirectory() as work:
        manifest = ingest(file, f"{work}/one")
        if once:
            expect_one_read(manifest, file, 1.05)
        os.mkdir(f"{work}/two")
        singles(file, manifest, f"{work}/two")
        for output in manifest["outputs"]:
            path = Path(work, "one", output["file"])
            data = path.read_bytes()
            expect(len(data) == output["sizeBytes"], f"{output['file']} has another size than the manifest says")
            expect(hashlib.sha256(data).hexdigest() == output["sha256"], f"{output['file']} has another hash")
            if output["kind"] not in ("page", "scenes", "frames"):
                expect(filecmp.cmp(path, Path(work, "two", output["file"]), shallow=False),
                       f"{output['file']} is not what its command makes")
        listed = {output["file"] for output in manifest["outputs"]} | {"manifest.json", ".state.json"}
        expect(set(os.listdir(f"{work}/one")) == listed, f"the folder has {set(os.listdir(f'{work}/one')) ^ listed} too")
        return f"{len(manifest['outputs'])} outputs, {told(manifest, file)}"


def told(manifest, file):
    counters = manifest["counters"]
    return (f"{counters['bytesRead'] / os.path.getsize(file):.3f} of the file read, {counters['packetsDelivered']} packets, "
            f"{counters['prerollPackets']} preroll")


def expect_one_read(manifest, file, limit):
    """The counters: bytes at most LIMIT times the file, each packet once, preroll at most 2 %."""
    counters, size = manifest["counters"], os.path.getsize(file)
    expect(counters["bytesRead"] <= limit * size, told(manifest, file))
    streams = json.loads(run(["ffprobe", "-v", "error", "-count_packets", "-show_entries",
                              "stream=codec_type,nb_read_packets", "-of", "json", file]))["streams"]
    packets = sum(int(stream.get("nb_read_packets", 0)) for stream in streams if stream["codec_type"] in ("video", "audio"))
    expect(counters["packetsDelivered"] == packets, f"{told(manifest, file)}; ffprobe counts {packets}")
    expect(counters["prerollPackets"] <= 0.02 * packets, told(manifest, file))


def hashes_as_it_reads(file):
    """The hash of the file costs one more read at most."""
    with tempfile.TemporaryDirectory() as work:
        manifest = ingest(file, f"{work}/one", "--fixity", "--without", "proxy")
        expect_one_read(manifest, file, 2.05)
        expect(manifest["sha256"] == hashlib.sha256(Path(file).read_bytes()).hexdigest(), "the file's hash is wrong")
        return told(manifest, file)


def contents(folder):
    """The files of a folder with their bytes; of the manifest what is not about the run alone."""
    found = {}
    for path in sorted(Path(folder).iterdir()):
        if path.name == "manifest.json":
            manifest = json.loads(path.read_text())
            found[path.name] = {key: value for key, value in manifest.items() if key not in OF_THE_RUN}
        elif path.name != ".state.json":
            found[path.name] = path.read_bytes()
    return found


def survives_kills(file, times, seed, *options):
    """Ends runs at random moments, resumes each, and compares the folder with an undisturbed one."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        begun = time.monotonic()
        ingest(file, f"{work}/undisturbed", *options)
        length = time.monotonic() - begun
        wanted = contents(f"{work}/undisturbed")
        kept = 0
        for number in range(times):
            folder = f"{work}/{number}"
            process = subprocess.Popen(
                [MEDIATOOL, "ingest", file, "-o", folder, "--quiet", "--progress", "never", *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(chance.uniform(0, length))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            names = set(os.listdir(folder)) if os.path.isdir(folder) else set()
            hidden = {name for name in names if name.startswith(".") and name != ".state.json"}
            for name in names - hidden - {".state.json", "manifest.json"}:
                expect(Path(folder, name).read_bytes() == wanted[name], f"after {number}: {name} is not whole")
            before = {name: os.stat(f"{folder}/{name}").st_ino for name in names - hidden}
            ingest(file, folder, "--resume", *options)
            after = contents(folder)
            for name in hidden:
                after.pop(name, None)
            expect(after == wanted, f"after {number}: {[name for name in wanted if after.get(name) != wanted[name]]} differ")
            kept += sum(before[name] == os.stat(f"{folder}/{name}").st_ino for name in before if name in wanted)
        return f"{times} runs ended in {length:.1f} s; {kept} files were kept"


def makes_what_changed(file):
    """A changed part of a recipe is made anew, with the page, and nothing else."""
    with tempfile.TemporaryDirectory() as work:
        recipe = Path(work, "house.yml")
        text = run([MEDIATOOL, "ingest", "--show-recipe"]).decode()
        recipe.write_text(text)
        ingest(file, f"{work}/one", "--recipe", recipe)
        before = {name: os.stat(f"{work}/one/{name}").st_ino for name in os.listdir(f"{work}/one")}
        expect("width: 1280" in text, "the recipe has another poster")
        recipe.write_text(text.replace("width: 1280", "width: 96"))
        ingest(file, f"{work}/one", "--recipe", recipe, "--resume")
        after = {name: os.stat(f"{work}/one/{name}").st_ino for name in os.listdir(f"{work}/one")}
        changed = {name for name in after if before.get(name) != after[name]}
        allowed = {"poster.jpg", "index.html", "manifest.json", ".state.json"}
        expect("poster.jpg" in changed and changed <= allowed, f"made anew: {sorted(changed)}")
        return f"made anew: {', '.join(sorted(changed))}"


def keeps_the_timings(file):
    """A run that finds all made tells the counters and the seconds of the read that made it."""
    with tempfile.TemporaryDirectory() as work:
        first = ingest(file, f"{work}/one", "--without", "proxy")
        second = ingest(file, f"{work}/one", "--without", "proxy", "--resume")
        expect(second["counters"] == first["counters"], "the counters differ")
        expect(second["timings"]["reading"] == first["timings"]["reading"], f"{second['timings']} after {first['timings']}")
        expect(second["timings"]["total"] >= second["timings"]["reading"], f"{second['timings']}")
        return f"read in {second['timings']['reading']:.2f} s"


def refuses_options_of_runs(file):
    """A recipe with an option that it cannot have is refused before anything is read, with its line."""
    for text, words in (("outputs:\n  qc: {html: q.html}", "line 2"), ("outputs:\n  probe:\n  proxy: {output: ../p.mov}", "line 3"),
                        ("outputs:\n  poster: {heights: 3}", "line 2"), ("outputs:\n  qc: {findings: 3}", "line 2")):
        with tempfile.TemporaryDirectory() as work:
            recipe = Path(work, "recipe.yml")
            recipe.write_text(text)
            result = run([MEDIATOOL, "ingest", file, "-o", f"{work}/one", "--recipe", recipe], check=False)
            expect(result.returncode == 2 and words in result.stderr.decode(), f"{text!r}: {result.stderr.decode()[:200]}")
            expect(not os.path.exists(f"{work}/one"), f"{text!r}: a folder was made")
    return "4 recipes"


def says_what_fails(file):
    """An output that cannot be made does not take the others with it; the manifest says so."""
    with tempfile.TemporaryDirectory() as work:
        os.makedirs(f"{work}/one/poster.jpg")
        result = run([MEDIATOOL, "ingest", file, "-o", f"{work}/one", "--quiet", "--progress", "never", "--without", "page"],
                     check=False, timeout=SECONDS)
        expect(result.returncode == 2, f"exit {result.returncode}")
        manifest = json.loads(Path(work, "one", "manifest.json").read_text())
        failed = [entry["part"] for entry in manifest["failed"]]
        expect(failed == ["poster"], f"failed: {failed}")
        expect(any(output["kind"] == "proxy" for output in manifest["outputs"]), "the proxy is missing")
        return result.stderr.decode().strip()[:100]


def films(folder):
    """Three films of ten minutes."""
    return (
        ten_minutes(f"{folder}/film.mp4", "testsrc2=s=1920x1080:r=25,format=yuv420p",
                    ("-c:v", "libx264", "-preset", "ultrafast", "-b:v", "8M", "-g", "50"),
                    ["anoisesrc=a=0.1:r=48000,aformat=cl=stereo"], ("-c:a", "aac", "-b:a", "160k")),
        ten_minutes(f"{folder}/prores.mov", "testsrc2=s=960x540:r=25,format=yuv422p10", ("-c:v", "prores_ks", "-profile:v", "0"),
                    [f"sine={300 + 100 * number}:r=48000" for number in range(4)],
                    ("-c:a", "pcm_s24le", "-timecode", "10:00:00:00")),
        ten_minutes(f"{folder}/phone.mov", "testsrc2=s=1080x1920:r=30,setpts='PTS+0.004*random(0)/TB',format=yuv420p10",
                    ("-fps_mode", "vfr", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                     "log-level=error:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc", "-tag:v", "hvc1"),
                    ["sine=440:r=44100"], ("-c:a", "aac")))


def ten_minutes(path, picture, codec, sounds, last):
    """Encodes a minute of video, and copies it ten times beside sound of ten minutes."""
    minute = f"{os.path.dirname(path)}/minute{Path(path).suffix}"
    run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", picture, *codec, "-t", "60", minute])
    inputs = [word for sound in sounds for word in ("-f", "lavfi", "-i", sound)]
    maps = [word for number in range(len(sounds)) for word in ("-map", f"{number + 1}:a")]
    run(["ffmpeg", "-v", "error", "-stream_loop", "9", "-i", minute, *inputs, "-map", "0:v", *maps, "-c:v", "copy", *last,
         "-t", "600", path])
    os.remove(minute)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="files to compare in place of the usual ones")
    parser.add_argument("--full", action="store_true", help="three films of ten minutes, thirty interruptions")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report = Report(threads=1)
    sample = os.path.join(ROOT, FIXTURES[0])
    files = [os.path.join(CALLER, file) for file in options.files] or [os.path.join(ROOT, name) for name in FIXTURES]
    with tempfile.TemporaryDirectory() as work:
        made = films(work) if options.full and not options.files else ()
        report.each("same", [(os.path.basename(file), lambda file=file: is_same(file, once=file in made))
                             for file in [*files, *made]])
        report.each("fixity", [(os.path.basename(file), lambda file=file: hashes_as_it_reads(file)) for file in made])
        report.each("recipe", [("a changed part", lambda: makes_what_changed(sample)),
                               ("nothing to do", lambda: keeps_the_timings(sample)),
                               ("options of runs", lambda: refuses_options_of_runs(sample)),
                               ("a part that fails", lambda: says_what_fails(sample))])
        report.each("killed", [("and resumed", lambda: survives_kills(sample, 30 if options.full else 5, options.seed))])
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
