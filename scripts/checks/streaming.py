"""Movies in segments and fragments: HLS folders beside ffmpeg, in Chromium, and files whose writer is killed."""

import argparse
import http.server
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from .boxes import children
from .programs import MEDIACHECK, mediatool
from .tools import CALLER, ROOT, Tally, expect, ffprobe, run

PAGE = """<!doctype html><meta charset=utf-8><video id=v muted playsinline></video><script>
const post = result => fetch('/result', {method: 'POST', body: JSON.stringify(result)});
const lines = async name => (await (await fetch(name)).text()).split('\\n');
(async () => {
  const folder = location.hash.slice(1) + '/', video = document.getElementById('v');
  const codecs = (await lines(folder + 'index.m3u8')).join().match(/CODECS="([^"]*)"/)[1];
  const mime = `video/mp4; codecs="${codecs}"`;
  if (!MediaSource.isTypeSupported(mime)) return post({error: mime + ' is not supported'});
  const list = await lines(folder + 'media.m3u8');
  const names = [list.join().match(/MAP:URI="([^"]*)"/)[1], ...list.filter(line => line && !line.startsWith('#'))];
  const source = new MediaSource();
  video.src = URL.createObjectURL(source);
  await new Promise(done => source.addEventListener('sourceopen', done, {once: true}));
  const buffer = source.addSourceBuffer(mime);
  for (const name of names) {
    buffer.appendBuffer(await (await fetch(folder + name)).arrayBuffer());
    await new Promise(done => buffer.addEventListener('updateend', done, {once: true}));
    if (video.error) return post({error: name + ': ' + video.error.message});
  }
  source.endOfStream();
  const ranges = [...Array(buffer.buffered.length).keys()].map(i => [buffer.buffered.start(i), buffer.buffered.end(i)]);
  video.playbackRate = 2;
  video.addEventListener('error', () => post({error: video.error.message}));
  video.addEventListener('ended', () => post({ranges, duration: video.duration, time: video.currentTime,
    width: video.videoWidth, height: video.videoHeight, frames: video.getVideoPlaybackQuality().totalVideoFrames}));
  await video.play();
})().catch(error => post({error: String(error)}));
</script>"""


def segments_agree(folder, report):
    """Expects that each segment has the times that the report says; gives their number."""
    header = Path(folder, "init.mp4").read_bytes()
    last = None
    for segment in report["segments"]:
        with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
            file.write(header + Path(folder, segment["file"]).read_bytes())
            file.flush()
            streams = ffprobe(file.name, "-show_streams")["streams"]
            packets = []
            # A segment before the first picture has sound alone.
            for leading in sorted(streams, key=lambda s: s["codec_type"] != "video"):
                packets = packets or ffprobe(file.name, "-select_streams", str(leading["index"]), "-show_packets")["packets"]
                if packets:
                    break
        start = segment["start"]["value"] / segment["start"]["timescale"]
        length = segment["duration"]["value"] / segment["duration"]["timescale"]
        expect("K" in packets[0]["flags"], f"{segment['file']} does not begin with a keyframe")
        times = [float(p["pts_time"]) for p in packets if "pts_time" in p]
        expect(abs(max(0, min(times)) - start) < 1e-5, f"{segment['file']} starts at {min(times)}, not {start}")
        # How long the last picture is shown only the next segment tells, and ffprobe takes the last packet of sound for a
        # whole one.
        expect(max(times) < start + length, f"{segment['file']} ends at {start + length}, and has a packet at {max(times)}")
        if last is not None:
            expect(abs(last - start) < 0.025, f"{segment['file']} starts at {start}, and the one before ends at {last}")
        last = start + length
        size = Path(folder, segment["file"]).stat().st_size
        expect(size == segment["sizeBytes"], f"{segment['file']} has {size} bytes")
    return len(report["segments"])


def decoded(path, *arguments):
    """The MD5 of each frame that ffmpeg decodes of the video, with its time; no messages are allowed."""
    # Without the time base of the file, ffmpeg counts in frames of the nominal rate, and complains of two in one.
    result = run(["ffmpeg", "-v", "warning", "-i", path, "-map", "0:v:0?", "-map", "0:a:0?", *arguments,
                  "-fps_mode", "passthrough", "-enc_time_base:v", "1/90000", "-f", "null", "-"], check=False)
    text = result.stderr.decode(errors="replace").strip()
    expect(result.returncode == 0 and not text, f"ffmpeg says: {text[:200]}")
    lines = run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:v:0?", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
    return [line.rsplit(",", 1)[1].strip() for line in lines.decode().splitlines() if line and line[0] != "#"]


def folder_is_right(source, folder, *arguments):
    """Writes an HLS folder of a file, and compares it with a whole file written alike; gives a detail."""
    result = mediatool("export", source, "-o", f"{folder}/", "--json", "--quiet", "--segments", *arguments, seconds=600)
    expect(result.returncode == 0, result.stderr.decode()[-200:] or result.stdout.decode()[-300:])
    report = json.loads(result.stdout)
    count = segments_agree(folder, report)
    whole = f"{folder}.mp4"
    result = mediatool("export", source, "-o", whole, "--quiet", *arguments[1:], seconds=600)
    expect(result.returncode == 0, result.stderr.decode()[-200:])
    if report.get("video"):
        found, wanted = decoded(f"{folder}/index.m3u8"), decoded(whole)
        if "--copy" in arguments:
            expect(found == wanted, f"{len(found)} pictures differ from the {len(wanted)} of the whole file")
        else:
            # Keyframes at other places give other pictures, but as many.
            expect(len(found) == len(wanted), f"{len(found)} pictures, not {len(wanted)}")
    else:
        decoded(f"{folder}/index.m3u8")
    return f"{count} segments"


class Server:
    """Serves a folder on this machine, and waits for what the page reports."""

    def __init__(self, folder):
        self.result, self.came = None, threading.Event()
        outer = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def do_POST(self):
                outer.result = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(204)
                self.end_headers()
                outer.came.set()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def play(self, name):
        """What the page reports of a folder, played in headless Chromium."""
        self.came.clear()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            url = f"http://127.0.0.1:{self.server.server_port}/page.html#{name}"
            browser = subprocess.Popen(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio", f"--user-data-dir={profile}",
                 "--autoplay-policy=no-user-gesture-required", url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                expect(self.came.wait(180), "the page reported nothing in 180 s")
            finally:
                browser.terminate()
                browser.wait()
        return self.result


def plays(server, folder, source):
    """Expects that a browser plays the segments to their end; gives a detail."""
    result = server.play(os.path.basename(folder))
    expect("error" not in result, result.get("error"))
    stream = ffprobe(source, "-show_streams", "-show_format")
    video = next(s for s in stream["streams"] if s["codec_type"] == "video")
    expect(len(result["ranges"]) == 1, f"the buffer has holes: {result['ranges']}")
    start, end = result["ranges"][0]
    expect(start < 0.1, f"playing starts at {start} s")
    length = float(stream["format"]["duration"])
    expect(abs(end - length) < 0.15 and abs(result["time"] - end) < 0.15, f"{result} of {length} s")
    # A turn exchanges the sides.
    expect({result["width"], result["height"]} == {video["width"], video["height"]}, f"{result}")
    return f"{result['frames']} frames, {end:.3f} s"


def killed_writer_leaves_whole_fragments(source, folder, moment, whole):
    """Kills a writer of fragments after so many seconds; expects that what it had finished can be read."""
    path = f"{folder}/killed.mp4"
    if os.path.exists(path):
        os.remove(path)
    process = subprocess.Popen([MEDIACHECK, "fragments", source, path, "1/2"], stderr=subprocess.DEVNULL)
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = [name for name in os.listdir(folder) if name.endswith(".partial")]
    for name in left:
        os.remove(os.path.join(folder, name))
    if not os.path.exists(path):
        return "killed before its first fragment"
    # The last fragment may be cut off; what comes before it is to be the same as in the finished file.
    data = Path(path).read_bytes()
    end = max((last for kind, _, last in children(data, 0, len(data)) if kind == b"mdat"), default=0)
    expect(end > 0, "the file has its name before its first fragment")
    expect(whole.startswith(data[:end]), "the fragments are not those of the finished file")
    probed = mediatool("probe", "--scan", "--json", path)
    expect(probed.returncode == 0, f"probe says {probed.stdout.decode()[-200:]}")
    wanted = packets_of(data[:end], folder)
    found = [p["pts_time"] for p in ffprobe(path, "-select_streams", "v:0", "-show_packets")["packets"]]
    expect(wanted and found[:len(wanted)] == wanted, f"ffprobe reads {len(found)} packets, not {len(wanted)}")
    return f"{len(wanted)} pictures"


def packets_of(data, folder):
    """The times of the video packets in whole fragments."""
    path = Path(folder, "cut.mp4")
    path.write_bytes(data)
    return [p["pts_time"] for p in ffprobe(str(path), "-select_streams", "v:0", "-show_packets")["packets"]]


def sources(full, given):
    """The files that are streamed: fixtures, and with `--full` those of the corpus with tracks that such streams have."""
    names = ["av.mp4", "h264-bframes.mp4", "vfr.mp4", "late-audio.mp4", "late-video.mp4", "aac-5.1.m4a", "rotated-90.mov"]
    files = [str(Path(ROOT, "fixtures", name)) for name in names]
    corpus = Path(given or Path(ROOT, "../shared/corpus"))
    if full and corpus.is_dir():
        for path in sorted(corpus.rglob("*")):
            if path.suffix not in (".mp4", ".mov", ".m4a", ".mkv", ".webm", ".ts", ".mxf", ".avi") or not path.is_file():
                continue
            try:
                kinds = {s.get("codec_type") for s in ffprobe(str(path), "-show_streams")["streams"]}
            except RuntimeError:
                continue
            if kinds & {"video", "audio"}:
                files.append(str(path))
    return files


def main():
    parser = argparse.ArgumentParser(prog="scripts/check streaming", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the corpus too, the browser, and 50 killed writers")
    parser.add_argument("--folder", help="media beside the fixtures in place of ../shared/corpus")
    options = parser.parse_args()
    tally = Tally()
    check = tally.check

    with tempfile.TemporaryDirectory() as folder:
        given = os.path.join(CALLER, options.folder) if options.folder else None
        files = sources(options.full, given)
        for number, path in enumerate(files):
            name = os.path.basename(path)
            preset = [] if path.endswith(".m4a") else ["--preset", "640x480"]
            check(f"{name} encoded", folder_is_right, path, f"{folder}/{number}e", "1", *preset)
            if number < 7 and "vfr" not in name:
                check(f"{name} copied", folder_is_right, path, f"{folder}/{number}c", "1", "--copy")
        if options.full:
            if shutil.which("chromium"):
                Path(folder, "page.html").write_text(PAGE)
                server = Server(folder)
                for number, path in enumerate(files[:5]):
                    check(f"{os.path.basename(path)} in Chromium", plays, server, f"{folder}/{number}e", f"{folder}/{number}e.mp4")
            else:
                print("not run: Chromium is not installed (apt-get install chromium)")
        source = f"{folder}/long.mp4"
        run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=40", "-f", "lavfi", "-i",
             "sine=duration=40", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", source])
        begun = time.monotonic()
        run([MEDIACHECK, "fragments", source, f"{folder}/finished.mp4", "1/2"])
        length = time.monotonic() - begun
        whole = Path(folder, "finished.mp4").read_bytes()
        moments = random.Random(1)
        for number in range(50 if options.full else 6):
            moment = moments.uniform(0, length)
            check(f"killed after {moment:.2f} s", killed_writer_leaves_whole_fragments, source, folder, moment, whole)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
