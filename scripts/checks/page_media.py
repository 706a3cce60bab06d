"""What scripts/check page looks at: a film whose pictures state their numbers, its pages, others, and a server for them."""

import http.server
import random
import re
import struct
import threading
from pathlib import Path

from .programs import mediacheck, mediatool
from .tools import expect, ffprobe, run

RATE = (30000, 1001)
START = "00:00:50;00"
HOSTILE = "</script><img src=x onerror=alert(1)>"
# The number of each frame in sixteen fields at the top of the picture, the lowest digit first.
BITS = 16
FIELD = 40


def frame(seconds):
    return int(seconds * RATE[0] / RATE[1] + 1e-3)


def moment(number):
    return number * RATE[1] / RATE[0]


class Film:
    """A film whose pictures state their numbers, and what the commands make of it, in a folder."""

    seconds = 40

    def __init__(self, folder):
        self.folder = Path(folder)
        film = self.folder / "film.mov"
        bars = f"nullsrc=size={BITS}x1:rate={RATE[0]}/{RATE[1]}:duration={self.seconds},format=gray," \
               f"geq=lum='255*mod(floor(N/pow(2,X)),2)',scale={BITS * FIELD}:{FIELD}:flags=neighbor"
        picture = f"testsrc2=size={BITS * FIELD}x360:rate={RATE[0]}/{RATE[1]}:duration={self.seconds}"
        sound = "aevalsrc='0.7*sin(440*2*PI*t)*abs(sin(t/3))|0.5*sin(220*2*PI*t)*lt(mod(t,4),2)'" \
                f":duration={self.seconds}:sample_rate=48000"
        run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", bars, "-f", "lavfi", "-i", sound,
             "-filter_complex", "[0][1]overlay=0:0,format=yuv420p[v]", "-map", "[v]", "-map", "2", "-c:v", "libx264", "-preset",
             "veryfast", "-c:a", "aac", "-timecode", START, film])
        sprites = ["--sprite", "--every", "2", "--tolerance", "exact", "--width", "160", "--grid", "5x2", "--vtt", "sprite.vtt"]
        for arguments in (["proxy", film, "--preset", "web", "-o", "proxy.mp4"],
                          ["thumbs", film, *sprites, "-o", "sprite-{index}.png"],
                          ["thumbs", film, "--at", "5", "-o", "poster.jpg"],
                          ["waveform", film, "--samples-per-pixel", "256", "--bits", "8", "--split-channels", "-o", "peaks.dat"]):
            result = mediatool(*arguments, "--quiet", seconds=120, cwd=self.folder)
            expect(result.returncode == 0, result.stderr.decode())
        stream = ffprobe(str(self.folder / "proxy.mp4"), "-select_streams", "v", "-show_streams")["streams"][0]
        self.frames = int(stream["nb_frames"])
        self.cues = cues((self.folder / "sprite.vtt").read_text())

    def script(self, **other):
        """What the page is to show; names given replace lines."""
        lines = {
            "title": HOSTILE, "name": "film.mov", "duration": f"{self.frames * RATE[1]}/{RATE[0]}",
            "rate": f"{RATE[0]}/{RATE[1]}", "timecode": START, "proxy": "proxy.mp4\tvideo", "poster": "poster.jpg",
            "sprites": str(self.folder / "sprite.vtt"), "sound": f"Track 1\t{self.folder / 'peaks.dat'}",
            "verdict": "warn", "policy": "content",
        } | other
        text = [f"{name}\t{value}" for name, value in lines.items() if value is not None]
        for start, end, rule, severity, message in FINDINGS:
            text.append(f"finding\t{start}\t{end}\t{rule}\t{severity}\t0\t{message}")
        text += [f"chapter\t{start}\t{title}" for start, title in CHAPTERS] + [f"scene\t{scene}" for scene in SCENES]
        for section, rows in METADATA:
            text += [f"section\t{section}"] + [f"row\t{key}\t{value}" for key, value in rows]
        text += ["loudness\tTrack 1\t-22.7\t6.3\t-18.4\t-20.1\t-1.2", f"warning\t3 packets are damaged {HOSTILE}",
                 "leftOut\tsubtitles.vtt\tthe file has no subtitles"]
        return "\n".join(text) + "\n"

    def page(self, name, **other):
        """Writes a page beside the film's files; gives its name."""
        script = self.folder / "script.txt"
        script.write_text(self.script(**other))
        (self.folder / name).write_bytes(mediacheck("page", script))
        return name


FINDINGS = [("-", "-", "loudness", "warn", f"The integrated loudness is -22.7 LUFS {HOSTILE}"),
            ("3003/1000", "5005/1000", "black", "warn", "Black"),
            ("12012/1000", "13013/1000", "silence", "warn", "Silence on channel 2"),
            ("20020/1000", "-", "droppedFrames", "fail", "A frame is missing"),
            ("31031/1000", "36036/1000", "freeze", "warn", "Still picture")]
CHAPTERS = [("0", "Opening"), ("10010/1000", f"Second {HOSTILE}"), ("25025/1000", "End credits")]
SCENES = ["4004/1000", "8008/1000", "16016/1000", "30030/1000"]
METADATA = [("Video", [("Codec", "h264 (High)"), ("Size", "640 × 360"), ("Frame rate", "30000/1001")]),
            ("Audio", [("Codec", "aac (LC)"), ("Channels", "stereo"), ("Sample rate", "48000 Hz")]),
            ("Tags", [("title", HOSTILE), ("artist", "Ünïcode 会议 🎬"),
                      ("comment", "\u202eabc\u202c &lt;b&gt; \u2028 " + "long" * 40)])]


def cues(text):
    """(start, end, file, x, y, width, height) of each cue of a WebVTT file."""
    found = re.findall(r"(\S+) --> (\S+)\n(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)", text)

    def seconds(clock):
        hours, minutes, rest = clock.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(rest)
    return [(seconds(a), seconds(b), file, *map(int, rest)) for a, b, file, *rest in found]


class Server:
    """Serves a folder on this machine, with ranges, without which browsers do not seek."""

    def __init__(self, folder):
        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def do_GET(self):
                path = Path(self.translate_path(self.path))
                wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                if not wanted or not path.is_file():
                    return super().do_GET()
                data = path.read_bytes()
                first, last = int(wanted[1]), min(int(wanted[2] or len(data) - 1), len(data) - 1)
                self.send_response(206)
                self.send_header("Content-Type", self.guess_type(str(path)))
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
                self.send_header("Content-Length", str(last + 1 - first))
                self.end_headers()
                self.wfile.write(data[first:last + 1])

            def handle(self):
                # A browser that has seen enough hangs up.
                try:
                    super().handle()
                except ConnectionError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"


def ready(page):
    page.wait("player.media && player.media.readyState >= 2 && !player.media.seeking && player.wanted === null")


def current(page):
    """Where the media is when it has come to rest."""
    ready(page)
    return page.value("player.media.currentTime")


def picture_number(page):
    """The number that the shown picture states; for pages of a server, as others may not look into their pictures."""
    ready(page)
    # The picture that was sought may be painted a moment after the seek.
    return page.value(f"""new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {{
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [{BITS * FIELD}, {FIELD}];
      const context = canvas.getContext('2d');
      const {{videoWidth, videoHeight}} = player.media;
      context.drawImage(player.media, 0, 0, videoWidth, videoHeight * {FIELD} / 360, 0, 0, {BITS * FIELD}, {FIELD});
      const data = context.getImageData(0, {FIELD // 2}, {BITS * FIELD}, 1).data;
      let number = 0;
      for (let bit = 0; bit < {BITS}; bit++) if (data[(bit * {FIELD} + {FIELD // 2}) * 4] > 127) number += 2 ** bit;
      done(number);
    }})))""")


def quiet(page):
    """Expects that the page has complained of nothing."""
    found = page.complaints()
    expect(not found, "; ".join(found[:3]))


def at_frame(page, number, what):
    found = frame(current(page))
    expect(found == number, f"{what}: at frame {found}, not {number}")
    expect(page.value("player.position") == page.value(f"clock.seconds({number})"), f"{what}: the page shows another position")


def clock(seconds):
    """A time as WebVTT has it."""
    return f"{int(seconds // 3600):02}:{int(seconds // 60) % 60:02}:{seconds % 60:06.3f}"


def long_film(folder):
    """The script of a film of three hours: 1,000 cues, 2,000 findings, peaks of two channels with 4,096 samples a point."""
    chance = random.Random(1)
    points = 3 * 3600 * 48000 // 4096
    values = bytearray()
    for _ in range(points * 2):
        loud = chance.randrange(128)
        values += struct.pack("bb", -loud, loud)
    Path(folder, "long.dat").write_bytes(struct.pack("<iIiiIi", 2, 1, 48000, 4096, points, 2) + values)
    text = "WEBVTT\n"
    for place in range(1000):
        image = f"sprite-{place // 100 + 1}.jpg#xywh={place % 10 * 160},{place // 10 % 10 * 90},160,90"
        text += f"\n{clock(place * 10.8)} --> {clock(place * 10.8 + 10.8)}\n{image}\n"
    Path(folder, "long.vtt").write_text(text)
    lines = ["title\tA film of three hours", "name\tlong.mov", "duration\t10800", "rate\t25/1", "timecode\t10:00:00:00",
             "verdict\tfail", f"sound\tTrack 1\t{folder}/long.dat", f"sprites\t{folder}/long.vtt", "poster\tposter.jpg"]
    for place in range(2000):
        start = chance.randrange(10790000)
        rule = chance.choice(["black", "freeze", "silence", "clipping", "illegalLuma"])
        end, severity = start + chance.randrange(9000), chance.choice(["warn", "warn", "fail"])
        lines.append(f"finding\t{start}/1000\t{end}/1000\t{rule}\t{severity}\t{place % 2}\t"
                     f"Something was measured, -41.{place} dBFS, wanted at most -40")
    lines += [f"chapter\t{place * 600}\tReel {place + 1}" for place in range(18)]
    lines += [f"scene\t{place * 6}" for place in range(1, 1800)]
    return "\n".join(lines) + "\n"


def many_findings(count):
    """The script of a page with more findings than it has room for; the last ten fail."""
    lines = ["title\tMany", "duration\t2000", "verdict\tfail"]
    for number in range(count):
        severity = "fail" if number >= count - 10 else "warn"
        lines.append(f"finding\t{number}/10\t-\tblack\t{severity}\t0\tFrame {number} is darker than the policy allows")
    return "\n".join(lines) + "\n"


def gallery_entries(count, folder):
    """Writes a gallery of so many files; gives what is known of each."""
    chance = random.Random(2)
    entries = []
    lines = [f"title\tMedia {HOSTILE}"]
    for place in range(count):
        error = "the file is damaged <b>" if place % 97 == 5 else "-"
        entry = {
            "folder": f"f{place}",
            "name": HOSTILE if place == 3 else f"Reel {place} {chance.choice(['Éclair', 'Brücke', '会议', 'news'])}.mov",
            "seconds": None if error != "-" else chance.randrange(1, 9000),
            "verdict": chance.choice(["pass", "pass", "warn", "fail", "-"]),
            "poster": "-" if place % 11 == 4 else "poster.jpg",
            "page": "javascript:alert(1)" if place == 7 else "film.html" if error == "-" else "-",
            "warnings": chance.randrange(4),
            "error": error,
        }
        entries.append(entry)
        lines.append("\t".join(["entry", *("-" if value is None else str(value) for value in entry.values())]))
    Path(folder, "gallery.txt").write_text("\n".join(lines) + "\n")
    Path(folder, "gallery.html").write_bytes(mediacheck("page", f"{folder}/gallery.txt"))
    return entries
