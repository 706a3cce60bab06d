"""The pages of `ingest` in headless Chromium: playing, seeking, keys, marks, foreign text, the policy, sizes of window and film."""

import argparse
import base64
import hashlib
import html
import http.server
import json
import os
import random
import re
import struct
import sys
import tempfile
import threading
import time
from pathlib import Path

from . import browser
from .browser import SHIFT, Browser
from .programs import mediacheck, mediatool
from .tools import CALLER, expect, ffprobe, run

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
        sound = f"aevalsrc='0.7*sin(440*2*PI*t)*abs(sin(t/3))|0.5*sin(220*2*PI*t)*lt(mod(t,4),2)':duration={self.seconds}:sample_rate=48000"
        run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", bars, "-f", "lavfi", "-i", sound,
             "-filter_complex", "[0][1]overlay=0:0,format=yuv420p[v]", "-map", "[v]", "-map", "2", "-c:v", "libx264", "-preset",
             "veryfast", "-c:a", "aac", "-timecode", START, film])
        for arguments in (["proxy", film, "--preset", "web", "-o", "proxy.mp4"],
                          ["thumbs", film, "--sprite", "--every", "2", "--tolerance", "exact", "--width", "160", "--grid", "5x2", "-o",
                           "sprite-{index}.png", "--vtt", "sprite.vtt"],
                          ["thumbs", film, "--at", "5", "-o", "poster.jpg"],
                          ["waveform", film, "-o", "peaks.dat", "--samples-per-pixel", "256", "--bits", "8", "--split-channels"]):
            result = mediatool(*arguments, "--quiet", seconds=120, cwd=self.folder)
            expect(result.returncode == 0, result.stderr.decode())
        stream = ffprobe(str(self.folder / "proxy.mp4"), "-select_streams", "v", "-show_streams")["streams"][0]
        self.frames = int(stream["nb_frames"])
        self.cues = cues((self.folder / "sprite.vtt").read_text())

    def script(self, **other):
        """What the page is to show; names given replace lines."""
        lines = {
            "title": HOSTILE, "name": "film.mov", "duration": f"{self.frames * RATE[1]}/{RATE[0]}", "rate": f"{RATE[0]}/{RATE[1]}",
            "timecode": START, "proxy": "proxy.mp4\tvideo", "poster": "poster.jpg", "sprites": str(self.folder / "sprite.vtt"),
            "sound": f"Track 1\t{self.folder / 'peaks.dat'}", "verdict": "warn", "policy": "content",
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
            ("3003/1000", "5005/1000", "black", "warn", "Black"), ("12012/1000", "13013/1000", "silence", "warn", "Silence on channel 2"),
            ("20020/1000", "-", "droppedFrames", "fail", "A frame is missing"), ("31031/1000", "36036/1000", "freeze", "warn", "Still picture")]
CHAPTERS = [("0", "Opening"), ("10010/1000", f"Second {HOSTILE}"), ("25025/1000", "End credits")]
SCENES = ["4004/1000", "8008/1000", "16016/1000", "30030/1000"]
METADATA = [("Video", [("Codec", "h264 (High)"), ("Size", "640 × 360"), ("Frame rate", "30000/1001"), ("Colour", "bt709, limited")]),
            ("Audio", [("Codec", "aac (LC)"), ("Channels", "stereo"), ("Sample rate", "48000 Hz")]),
            ("Tags", [("title", HOSTILE), ("comment", "‮abc‬ &lt;b&gt; \u2028 " + "long" * 40), ("artist", "Ünïcode 会议 🎬")])]


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
      context.drawImage(player.media, 0, 0, player.media.videoWidth, player.media.videoHeight * {FIELD} / 360, 0, 0, {BITS * FIELD}, {FIELD});
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


# MARK: Checks of the film's page


def loads(page):
    page.wait("player.media.readyState >= 2")
    expect(page.value("player.media.videoWidth") > 0, "the proxy has no picture")
    quiet(page)
    return f"{page.value('player.media.duration'):.3f} s"


def plays(page):
    ready(page)
    page.press(" ")
    page.wait("player.media.currentTime > 1")
    shown = page.value("[player.position, player.media.currentTime, player.rate]")
    page.press(" ")
    page.wait("player.media.paused && player.rate === 0")
    expect(abs(shown[0] - shown[1]) < 0.2 and shown[2] == 1, f"position, time and speed are {shown}")
    quiet(page)
    return f"frame {frame(page.value('player.position'))}"


def shows_its_frame(page):
    """The timecode names the picture that is on screen, after playing and after each step."""
    page.press(" ")
    page.wait("!player.media.paused")
    time.sleep(0.7)
    page.press(" ")
    page.wait("player.rate === 0")
    for step in ["", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowRight"]:
        if step:
            page.press(step)
        shown = page.value("clock.at(player.position)")
        found = picture_number(page)
        expect(found == shown, f"the picture is {found}, the page says {shown} after {step or 'playing'}")
    return f"picture {found}"


def seeks_by_click(page):
    left, top, width, _ = page.box("#canvas")
    lane = page.value("timeline.lanes[0].y + timeline.lanes[0].height / 2")
    length = page.value("duration")
    for part in (0.1, 0.371, 0.5, 0.93, 0.2):
        x = left + width * part
        page.click(x, top + lane)
        wanted, found = (x - left) / width * length, current(page)
        expect(abs(found - wanted) <= RATE[1] / RATE[0], f"a click at {wanted:.3f} s leads to {found:.3f}")
        if page.value("location.protocol") != "file:":
            number = picture_number(page)
            expect(number == frame(wanted), f"a click at {wanted:.3f} s shows picture {number}")
    return f"{found:.3f} s"


def drags(page):
    left, top, width, _ = page.box("#canvas")
    y = top + page.value("timeline.lanes[0].y + 5")
    page.mouse("mouseMoved", left + 50, y)
    page.mouse("mousePressed", left + 50, y, "left", buttons=1, clickCount=1)
    for part in range(50, int(width) - 100, 40):
        page.mouse("mouseMoved", left + part, y, "left", buttons=1)
    page.mouse("mouseReleased", left + part, y, "left", clickCount=1)
    wanted, found = part / width * page.value("duration"), current(page)
    expect(abs(found - wanted) <= RATE[1] / RATE[0], f"dragged to {wanted:.3f} s, it is at {found:.3f}")
    return f"{found:.3f} s"


def previews(page, film):
    """The picture under the pointer is the cue's, and states a number of a frame of its time."""
    left, top, width, _ = page.box("#canvas")
    y = top + page.value("timeline.lanes[0].y + 10")
    length = page.value("duration")
    for part in (0.02, 0.26, 0.49, 0.5, 0.77, 0.99):
        page.mouse("mouseMoved", left + width * part, y)
        seconds = width * part / width * length
        start, _, file, x, y0, wide, high = [cue for cue in film.cues if cue[0] <= seconds][-1]
        page.wait("!byID('preview').hidden")
        style = page.value("(s => [s.backgroundImage, s.backgroundPosition, s.width, s.height])(getComputedStyle(byID('previewPicture')))")
        expect(file in style[0] and style[1:] == [f"{-x}px {-y0}px", f"{wide}px", f"{high}px"], f"at {seconds:.3f} s {style}, not {file} {x} {y0}")
        expect(page.value("byID('previewTime').textContent") == page.value(f"timeText({seconds!r})"), "the time is another")
        # What is painted, from a picture of the window.
        page.value(f"new Promise(done => {{ const i = new Image(); i.onload = done; i.src = {json.dumps(file)}; }})")
        with tempfile.NamedTemporaryFile(suffix=".png") as shot:
            page.picture(shot.name)
            box = page.box("#previewPicture")
            gray = run(["ffmpeg", "-v", "error", "-i", shot.name, "-vf", f"crop={wide}:2:{round(box[0])}:{round(box[1]) + 4},format=gray",
                        "-f", "rawvideo", "-"])
        number = sum(2 ** bit for bit in range(BITS) if gray[bit * wide // BITS + wide // BITS // 2] > 127)
        expect(number == frame(start) or moment(number) >= start and number <= frame(start) + 1,
               f"at {seconds:.3f} s the picture is that of frame {number}, the cue's is {frame(start)}")
    page.mouse("mouseMoved", left, top - 200)
    page.wait("byID('preview').hidden")
    return f"{len(film.cues)} cues"


def jumps_to_findings(page):
    rows = "document.querySelectorAll('#panel0 .rows button.jump')"
    expect(page.value(f"{rows}.length") == 4, "not all findings with a time are buttons")
    for place, wanted in enumerate((3.003, 12.012, 20.02, 31.031)):
        page.value(f"{rows}[{place}].scrollIntoView({{block: 'center'}})")
        left, top, width, height = page.value(f"(b => [b.left, b.top, b.width, b.height])({rows}[{place}].getBoundingClientRect())")
        page.click(left + width / 2, top + height / 2)
        at_frame(page, frame(wanted), f"finding {place}")
    page.value("scrollTo(0, 0)")
    return "4 findings"


def jumps_to_marks(page):
    """Marks of findings, chapters and scene changes on the time line."""
    left, top, width, _ = page.box("#canvas")
    length = page.value("duration")
    lanes = dict(page.value("[...timeline.laneOf]"))
    findings = page.value("timeline.rows.findings.y")
    for seconds, inside, y in ((3.003, 4.5, findings + 8 + 14 * lanes["black"]), (31.031, 33, findings + 8 + 14 * lanes["freeze"]),
                               (20.02, 20.02, findings + 8 + 14 * lanes["droppedFrames"]), (10.01, 15, page.value("timeline.rows.chapters.y + 5")),
                               (16.016, 16.016, page.value("timeline.rows.scenes.y + 5"))):
        page.click(left + inside / length * width, top + y)
        at_frame(page, frame(seconds), f"the mark at {seconds}")
    return "5 marks"


def obeys_keys(page, film):
    last = film.frames - 1
    page.value("timeline.scroller.focus()")
    steps = [("Home", 0, 0), ("ArrowRight", 0, 1), ("ArrowRight", 0, 2), ("ArrowLeft", 0, 1), ("ArrowRight", SHIFT, 31), ("ArrowLeft", SHIFT, 1),
             ("PageDown", 0, 301), ("PageUp", 0, 1), ("n", 0, frame(3.003)), ("n", 0, frame(4.004)), ("p", 0, frame(3.003)), ("End", 0, last),
             ("ArrowRight", 0, last), ("Home", 0, 0), ("ArrowLeft", 0, 0)]
    for key, modifiers, wanted in steps:
        page.press(key, modifiers)
        at_frame(page, wanted, f"{'Shift ' if modifiers else ''}{key}")
    # Shuttle.
    page.press("l")
    page.wait("player.media.currentTime > 0.3 && player.media.playbackRate === 1")
    page.press("l")
    page.wait("player.media.playbackRate === 2 && !player.media.paused")
    page.press("l")
    page.wait("player.media.playbackRate === 4 && player.rate === 4 && player.media.currentTime > 4")
    page.press("j")
    before = page.value("player.position")
    page.wait(f"player.rate === -1 && player.media.paused && player.position < {before} - 0.3")
    page.press("j")
    page.wait("player.rate === -2")
    page.press("k")
    page.wait("player.rate === 0 && player.media.paused")
    here = frame(current(page))
    page.press("k", release=False)
    page.press("l")
    at_frame(page, here + 1, "L with K held")
    page.press("j")
    at_frame(page, here, "J with K held")
    page.release("k")
    # Backwards it ends at the start.
    page.press("Home")
    page.press("ArrowRight", SHIFT)
    page.press("j")
    page.wait("player.rate === 0 && player.position === 0", 10)
    page.press("?")
    expect(page.value("help.open"), "? shows no keys")
    page.press("Escape")
    expect(not page.value("help.open"), "Escape does not close the keys")
    page.press("m")
    expect(page.value("player.media.muted"), "M does not mute")
    page.press("m")
    quiet(page)
    return "25 keys"


def zooms(page):
    left, top, width, _ = page.box("#canvas")
    page.press("Home")
    for _ in range(4):
        page.mouse("mouseWheel", left + width * 0.75, top + 60, deltaX=0, deltaY=-400)
    page.wait("timeline.pixelsPerSecond > timeline.fitting * 10")
    seconds = page.value(f"timeline.seconds({width * 0.75})")
    expect(abs(seconds - page.value("duration") * 0.75) < 0.1, f"the place under the pointer is {seconds} s now")
    page.click(left + width * 0.75, top + page.value("timeline.lanes[0].y + 10"))
    at_frame(page, frame(seconds), "a click when zoomed")
    page.press("Home")
    page.wait("timeline.scroller.scrollLeft === 0")
    for _ in range(20):
        page.press("+")
    ratio = page.value("timeline.pixelsPerSecond / clock.num * clock.den")
    expect(abs(ratio - 12) < 1e-6, f"a frame is {ratio} pixels wide at most")
    page.press("-")
    expect(page.value("timeline.pixelsPerSecond / clock.num * clock.den") < ratio, "- does not zoom out")
    page.press("0")
    expect(page.value("timeline.isFitted && timeline.scroller.scrollWidth === timeline.scroller.clientWidth"), "0 does not show all")
    return f"{ratio:.0f} pixels a frame"


def copies_range(page, film):
    """The copied range, read by the program, is the marked one."""
    page.press("x")
    page.press("Home")
    for _ in range(7):
        page.press("ArrowRight")
    page.press("i")
    page.press("PageDown")
    page.press("o")
    ready(page)
    page.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.press("c")
    page.wait("byID('message').textContent.startsWith('Copied')")
    text = page.value("navigator.clipboard.readText()")
    expect(text == f"--start 7007/30000 --end {308 * 1001 // 4}/{30000 // 4}", f"{text!r} was copied")
    shown = page.value("byID('rangeLength').textContent")
    expect("301 frames" in shown, f"the length is {shown}")
    cut = film.folder / "cut.mp4"
    result = mediatool("export", film.folder / "film.mov", *text.split(), "-o", cut, "--force", "--quiet", seconds=120)
    expect(result.returncode == 0, result.stderr.decode())
    frames = ffprobe(str(cut), "-select_streams", "v", "-count_frames", "-show_streams")["streams"][0]["nb_read_frames"]
    gray = run(["ffmpeg", "-v", "error", "-i", cut, "-frames:v", "1", "-vf", f"crop=iw:2:0:{FIELD // 2},format=gray", "-f", "rawvideo", "-"])
    number = sum(2 ** bit for bit in range(BITS) if gray[bit * FIELD + FIELD // 2] > 127)
    expect((frames, number) == ("301", 7), f"the range as the program takes it has {frames} frames from {number}")
    return text


def goes_to(page):
    for text, wanted in (("00:01:00;02", 300), ("00:01:00;00", 300), ("0:20", frame(20)), ("12.5", frame(12.5)), ("00:00:59;29", 299)):
        page.press("g")
        page.value(f"byID('goTo').value = {json.dumps(text)}")
        page.press("Enter")
        page.value("byID('goToForm').requestSubmit()")
        at_frame(page, wanted, text)
        expect(page.value("document.activeElement.id") == "scroller", "the focus is not on the time line")
    return "5 times"


def harms_nothing(page):
    expect(page.value("document.title") == HOSTILE and page.value("byID('title').textContent") == HOSTILE, "the title is another text")
    for place in range(page.value("panels.tabs.length")):
        page.value(f"panels.tabs[{place}].tab.click()")
    page.value("panels.tabs[0].tab.click()")
    found = page.value("[...document.images].map(image => image.id).join()")
    expect(found == "poster", f"images: {found}")
    expect(page.value("document.scripts.length") == 2, "there is another script")
    expect(page.value("!document.querySelector('[onerror]') && document.querySelectorAll('script, img, b, iframe').length === 3"), "text became markup")
    quiet(page)
    return "a title that is markup"


def policy_holds(page, path):
    """The policy has the hashes of the style and the script as Python works them out, and what breaks it does nothing."""
    text = Path(path).read_text()
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    for name, part in (("script-src", re.findall(r"<script>(.*?)</script>", text, re.S)), ("style-src", re.findall(r"<style>(.*?)</style>", text, re.S))):
        expect(len(part) == 1, f"{len(part)} elements for {name}")
        wanted = base64.b64encode(hashlib.sha256(part[0].encode()).digest()).decode()
        expect(f"{name} 'sha256-{wanted}';" in policy, f"{name} is not {wanted}")
    expect("unsafe" not in policy and "http" not in policy and "*" not in policy, policy)
    expect(not re.search(r"\son\w+\s*=|\sstyle\s*=|javascript:|https?://(?!www\.w3\.org)", re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.S)),
           "the markup has a handler, a style or an address")
    quiet(page)
    tried = page.value("""(async () => {
      const done = [];
      try { const s = document.createElement('script'); s.text = 'window.broken = 1'; document.body.append(s); } catch (e) { done.push('script'); }
      try { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.broken = 2">'); } catch (e) { done.push('markup'); }
      try { await fetch('proxy.mp4'); } catch (e) { done.push('fetch'); }
      try { eval('window.broken = 3'); } catch (e) { done.push('eval'); }
      const styled = document.createElement('p'); styled.setAttribute('style', 'color: red');
      if (!styled.style.color) done.push('style');
      return done.join() + (window.broken || '');
    })()""", allowUnsafeEvalBlockedByCSP=False)
    expect(tried == "script,markup,fetch,eval,style", f"only these were refused: {tried}")
    return policy[:40]


def is_usable_without_pointer(page):
    """Everything that has a function can be reached by Tab, has a name, and shows its focus."""
    page.value("(scrollTo(0, 0), document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex'))")
    seen = []
    for _ in range(60):
        page.press("Tab")
        name = page.value("(e => e === document.body ? '' : e.id || e.className)(document.activeElement)")
        if not name or name in seen and name not in ("jump", ""):
            break
        expect(page.value("(e => e.matches(':focus-visible') && parseFloat(getComputedStyle(e).outlineWidth) > 0)(document.activeElement)"),
               f"{name} shows no focus")
        seen.append(name)
    for wanted in ("back", "play", "forward", "goTo", "in", "out", "mute", "keys", "scroller", "zoomIn", "panel0tab", "jump"):
        expect(wanted in seen, f"Tab does not lead to {wanted}: {seen}")
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    nameless = [node for node in tree if node.get("role", {}).get("value") in ("button", "slider", "tab", "searchbox", "combobox", "dialog")
                and not node.get("name", {}).get("value") and not node.get("ignored")]
    expect(not nameless, f"without a name: {[node['role']['value'] for node in nameless]}")
    expect(page.value("timeline.scroller.getAttribute('aria-valuetext') === timeText(player.position)"), "the slider says another time")
    # Arrows go from tab to tab, and not through the film.
    before = page.value("player.position")
    page.value("panels.tabs[0].tab.focus()")
    page.press("ArrowRight")
    expect(page.value("document.activeElement.id") == "panel1tab" and page.value("player.position") == before, "arrows do not change tabs")
    page.press("ArrowLeft")
    return f"{len(seen)} places"


def fits(page, width):
    page.wait("!timeline || !timeline.isWaiting")
    found = page.value("document.documentElement.scrollWidth")
    expect(found <= width, f"the page is {found} wide")
    return f"{found} pixels"


# MARK: Timecodes


def timecodes_are_ffmpegs(page, folder, rate, first, minutes):
    """Each timecode is the one that ffmpeg's encoder of MPEG-2 writes for that frame; and the way back leads to the frame."""
    path = f"{folder}/timecode.mpg"
    run(["ffmpeg", "-y", "-v", "error", "-f", "lavfi", "-i", f"color=size=16x16:rate={rate}:duration={minutes * 60}", "-c:v", "mpeg2video",
         "-g", "1", "-bf", "0", "-q:v", "31", "-timecode", first, "-f", "mpeg2video", path])
    shown = ffprobe(path, "-show_entries", "frame=side_data_list:frame_side_data=timecode", "-show_frames")["frames"]
    wanted = [side["timecode"] for one in shown for side in one.get("side_data_list", []) if "timecode" in side]
    expect(len(wanted) > minutes * 60 * 20, f"ffmpeg wrote {len(wanted)} timecodes")
    num, den = map(int, rate.split("/"))
    page.value(f"void (window.tried = new FrameClock({{num: {num}, den: {den}}}, {json.dumps(first)}))")
    # Its encoder counts the pictures that it has begun: the first is one.
    found = page.value(f"Array.from({{length: {len(wanted)}}}, (_, frame) => tried.timecode(frame + 1))")
    wrong = [(number, one, other) for number, (one, other) in enumerate(zip(found, wanted)) if one != other]
    expect(not wrong, f"frame, ours, ffmpeg's: {wrong[:3]}")
    back = page.value(f"Array.from({{length: {len(wanted)}}}, (_, frame) => tried.find(tried.timecode(frame)) - frame).slice(0, lastFrame + 1).find(x => x) || 0")
    expect(back == 0, f"the way back is {back} frames off")
    return f"{len(wanted)} frames to {wanted[-1]}"


# MARK: Other pages


def without_proxy(page, film):
    """The sprite's pictures take the proxy's place."""
    expect(page.value("byID('media').hidden && !byID('poster').hidden"), "the poster is not shown")
    page.press("PageDown")
    start, _, file, x, y, _, _ = [cue for cue in film.cues if cue[0] <= 10][-1]
    style = page.value("(s => [s.backgroundImage, s.backgroundPosition])(getComputedStyle(byID('still')))")
    expect(file in style[0] and style[1] == f"{-x}px {-y}px", f"{style}")
    expect(page.value("byID('play').hidden"), "there is a button for playing")
    page.press(" ")
    quiet(page)
    return file


def starts_later(page):
    """A time line that begins at 1.001 s, the timecode of its first frame 00:00:50;00."""
    ready(page)
    page.value("document.querySelectorAll('#panel0 .rows button.jump')[0].click()")
    at_frame(page, frame(3.003 - 1.001), "the first finding")
    expect(page.value("[byID('timecode').textContent, byID('seconds').textContent].join()") == "00:00:52;00,3.003 s", "the position is another")
    page.press("i")
    page.press("o")
    text = page.value("byID('rangeText').textContent")
    expect(text == "--start 3.003 --end 91091/30000", f"the range is {text}")
    page.press("g")
    page.value("(byID('goTo').value = '1.2', byID('goToForm').requestSubmit())")
    at_frame(page, frame(1.2 - 1.001), "go to 1.2 s")
    quiet(page)
    return text


def counts_no_frames(page):
    """Without a rate, times are a clock, and a mark shows the picture that begins there."""
    ready(page)
    for place, wanted in ((1, 12.012), (2, 20.02), (0, 3.003)):
        page.value(f"document.querySelectorAll('#panel0 .rows button.jump')[{place}].click()")
        number = picture_number(page)
        expect(number == frame(wanted), f"the finding at {wanted} s shows picture {number}")
    expect(page.value("byID('timecode').textContent") == "0:03.003", "the position is another")
    page.press("ArrowRight")
    expect(abs(current(page) - 3.003 - 1 / 30) < 0.002, "an arrow goes elsewhere")
    quiet(page)
    return page.value("byID('timecode').textContent")


def refuses_proxy(page):
    page.wait("player.media === null && !byID('message').hidden")
    page.press("PageDown")
    expect(page.value("!byID('still').hidden"), "no picture is shown")
    return page.value("byID('message').textContent")


def only_sound(page):
    page.wait("player.media && player.media.readyState >= 2")
    page.press(" ")
    page.wait("player.position > 0.5")
    page.press(" ")
    page.press("ArrowRight")
    quiet(page)
    return page.value("timeText(player.position)")


def long_film(folder):
    """The script of a film of three hours with 1,000 cues, 2,000 findings and the peaks of two channels, 4,096 samples a point."""
    chance = random.Random(1)
    points = 3 * 3600 * 48000 // 4096
    values = bytearray()
    for _ in range(points * 2):
        loud = chance.randrange(128)
        values += struct.pack("bb", -loud, loud)
    Path(folder, "long.dat").write_bytes(struct.pack("<iIiiIi", 2, 1, 48000, 4096, points, 2) + values)
    lines = ["title\tA film of three hours", "name\tlong.mov", "duration\t10800", "rate\t25/1", "timecode\t10:00:00:00", "verdict\tfail",
             f"sound\tTrack 1\t{folder}/long.dat", f"sprites\t{folder}/long.vtt", "poster\tposter.jpg"]
    cue = ("{:02}:{:02}:{:06.3f} --> {:02}:{:02}:{:06.3f}\nsprite-{}.jpg#xywh={},{},160,90\n")
    text = "WEBVTT\n"
    for place in range(1000):
        a, b = place * 10.8, place * 10.8 + 10.8
        text += "\n" + cue.format(int(a // 3600), int(a // 60) % 60, a % 60, int(b // 3600), int(b // 60) % 60, b % 60, place // 100 + 1,
                                  place % 10 * 160, place // 10 % 10 * 90)
    Path(folder, "long.vtt").write_text(text)
    for place in range(2000):
        start = chance.randrange(10790000)
        lines.append(f"finding\t{start}/1000\t{start + chance.randrange(9000)}/1000\t{chance.choice(['black', 'freeze', 'silence', 'clipping', 'illegalLuma'])}"
                     f"\t{chance.choice(['warn', 'warn', 'fail'])}\t{place % 2}\tSomething was measured, -41.{place} dBFS, wanted at most -40")
    lines += [f"chapter\t{place * 600}\tReel {place + 1}" for place in range(18)] + [f"scene\t{place * 6}" for place in range(1, 1800)]
    return "\n".join(lines) + "\n"


def is_quick(page, path):
    """Size and speed of the page of a long film; the speeds are told, not judged."""
    size = os.path.getsize(path)
    expect(size <= 3_000_000, f"the page has {size} bytes")
    page.wait("typeof panels !== 'undefined' && !timeline.isWaiting")
    loaded = page.value("Math.round(performance.getEntriesByType('navigation')[0].domComplete)")
    drawn = page.value("""(() => { let most = 0;
      for (const zoom of [0, 1, 10, 100, 1e9]) for (const place of [0, 0.3, 0.9]) {
        timeline.zoom(zoom, 0); timeline.scroller.scrollLeft = place * timeline.scroller.scrollWidth;
        const before = performance.now(); timeline.draw(); most = Math.max(most, performance.now() - before);
      } timeline.zoom(0); return most; })()""")
    # At 25 frames a second every frame has a decimal.
    numbers = page.value("[0, 13, 90001].map(frame => argumentText(clock.seconds(frame), frame)).join()")
    expect(numbers == "0,0.52,3600.04", f"frames as arguments: {numbers}")
    rows = page.value("document.querySelectorAll('#panel0 .rows li').length")
    expect(rows == 200 and "1,800" in page.value("document.querySelector('.more').textContent"), f"{rows} findings are made")
    page.value("document.querySelector('.more').click()")
    expect(page.value("document.querySelectorAll('#panel0 .rows li').length") == 400, "no more findings are made")
    quiet(page)
    return f"{size:,} bytes, loaded in {loaded} ms, drawn in {drawn:.1f} ms at most"


def tells_what_is_missing(page):
    shown, more = page.value("[data.findings.length, data.moreFindings]")
    expect(shown + more == 20000 and more > 0, f"{shown} and {more} findings")
    expect(page.value("data.findings.filter(f => f.severity === 'fail').length") == 10, "failures were left out before warnings")
    expect(f"{more:,} more findings" in page.value("byID('panel0').textContent"), "the page does not say how many are missing")
    return f"{shown} of 20000"


# MARK: The gallery


def gallery_entries(count, folder):
    chance = random.Random(2)
    entries = []
    for place in range(count):
        verdict = chance.choice(["pass", "pass", "warn", "fail", "-"])
        error = "the file is damaged <b>" if place % 97 == 5 else "-"
        name = HOSTILE if place == 3 else f"Reel {place} {chance.choice(['Éclair', 'Brücke', '会议', 'news'])}.mov"
        poster = "-" if place % 11 == 4 else "poster.jpg"
        page = "javascript:alert(1)" if place == 7 else "film.html" if error == "-" else "-"
        entries.append({"folder": f"f{place}", "name": name, "seconds": None if error != "-" else chance.randrange(1, 9000), "verdict": verdict, "poster": poster,
                        "page": page, "warnings": chance.randrange(4), "error": error})
    lines = [f"title\tMedia {HOSTILE}"] + ["\t".join(["entry", e["folder"], e["name"], "-" if e["seconds"] is None else str(e["seconds"]), e["verdict"],
                                                     e["poster"], e["page"], str(e["warnings"]), e["error"]]) for e in entries]
    Path(folder, "gallery.txt").write_text("\n".join(lines) + "\n")
    Path(folder, "gallery.html").write_bytes(mediacheck("page", f"{folder}/gallery.txt"))
    return entries


def gallery_finds(page, entries):
    count = "shown.length"
    expect(page.value(count) == len(entries), "not all are shown")
    expect(page.value("document.querySelectorAll('.card').length") < 300, "all cards are made at once")
    for words, state, sort in (("brücke", "", "name"), ("", "fail", "longest"), ("REEL 12", "", "shortest"), ("news 7", "warn", "warnings"),
                               ("", "error", "name"), ("nothing of this name", "", "name"), ("", "", "verdict"), ("img", "", "name")):
        page.value(f"choose({json.dumps({'words': words, 'state': state, 'sort': sort})})")
        wanted = [e for e in entries if all(w in f"{e['name']}\n{e['folder']}".lower() for w in words.lower().split())
                  and state in ("", "error" if e["error"] != "-" else "none" if e["verdict"] == "-" else e["verdict"])]
        expect(page.value(count) == len(wanted), f"{words!r} {state!r}: {page.value(count)} files, not {len(wanted)}")
        if sort in ("longest", "shortest"):
            found = [s for s in page.value("shown.map(e => e.duration ?? null)") if s is not None]
            expect(found == sorted(found, reverse=sort == "longest"), f"{sort} is not in order")
            expect(found == sorted([e["seconds"] for e in wanted if e["seconds"] is not None], reverse=sort == "longest"), "other files")
    page.value("choose({words: '', state: '', sort: 'name'})")
    # The page makes more cards as it is scrolled.
    page.value("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait("document.querySelectorAll('.card').length > 200")
    page.value("scrollTo(0, 0)")
    page.press("/")
    page.call("Input.insertText", text="reel 77")
    page.wait("shown.length < 200 && location.hash.includes('reel')")
    names = page.value("shown.map(e => e.name)")
    expect(len(names) == sum("77" in e["name"] for e in entries if "Reel" in e["name"]), f"{names[:3]}")
    page.value("choose({words: 'img', state: '', sort: 'name'})")
    expect(page.value("document.querySelectorAll('.card h2')[0].textContent") == HOSTILE, "the name is another text")
    expect(page.value("[...document.links].every(a => a.protocol === location.protocol)"), "a link leads elsewhere")
    page.value("choose({words: '', state: '', sort: 'name'})")
    expect(page.value("[...document.links].every(a => a.protocol === location.protocol)"), "a link leads elsewhere")
    quiet(page)
    spent = page.value("(() => { const before = performance.now(); choose({words: 'e'}); document.body.offsetHeight; const t = performance.now() - before;"
                       " choose({words: ''}); return t; })()")
    return f"{len(entries)} files, a search takes {spent:.0f} ms"


def main():
    parser = argparse.ArgumentParser(prog="scripts/check page", description=__doc__)
    parser.add_argument("--pictures", help="a folder for pictures of the pages, to look at")
    options = parser.parse_args()
    if not browser.is_there():
        print("not run: Chromium is not installed (apt-get install chromium)")
        return 0
    passed, failed = 0, 0

    def check(name, function, *arguments):
        nonlocal passed, failed
        try:
            print(f"ok   {name}: {function(*arguments)}", flush=True)
            passed += 1
        except Exception as error:  # every failure is counted
            print(f"FAIL {name}: {error}", flush=True)
            failed += 1

    with tempfile.TemporaryDirectory() as folder, Browser() as chromium:
        film = Film(folder)
        film.page("index.html")
        server = Server(folder)
        for kind, address in (("folder", f"file://{folder}"), ("server", server.address)):
            page = chromium.open(f"{address}/index.html")
            check(f"{kind}: loads", loads, page)
            check(f"{kind}: plays", plays, page)
            if kind == "server":
                check(f"{kind}: the shown frame is named", shows_its_frame, page)
            check(f"{kind}: click on the waveform", seeks_by_click, page)
            check(f"{kind}: drag", drags, page)
            check(f"{kind}: picture under the pointer", previews, page, film)
            check(f"{kind}: findings", jumps_to_findings, page)
            check(f"{kind}: marks", jumps_to_marks, page)
            check(f"{kind}: keys", obeys_keys, page, film)
            check(f"{kind}: zoom", zooms, page)
            check(f"{kind}: range", copies_range, page, film)
            check(f"{kind}: go to", goes_to, page)
            check(f"{kind}: foreign text", harms_nothing, page)
            check(f"{kind}: without a pointer", is_usable_without_pointer, page)
            check(f"{kind}: policy", policy_holds, page, f"{folder}/index.html")
        page = chromium.open(f"file://{folder}/index.html")
        for rate, first, minutes in (("30000/1001", "00:00:00;00", 21), ("30000/1001", "09:59:58;12", 2), ("30000/1001", "23:59:50;00", 1),
                                     ("60000/1001", "01:00:00;00", 12), ("25/1", "10:00:00:00", 2), ("24000/1001", "00:59:00:00", 2)):
            check(f"timecode {first} at {rate}", timecodes_are_ffmpegs, page, folder, rate, first, minutes)
        for width in (1280, 360):
            page.shape(width, 800)
            check(f"{width} pixels wide", fits, page, width)
        check("no proxy", without_proxy, chromium.open(f"file://{folder}/{film.page('none.html', proxy=None)}"), film)
        check("a later start", starts_later, chromium.open(f"file://{folder}/{film.page('late.html', start='1001/1000')}"))
        check("no frame rate", counts_no_frames,
              chromium.open(f"{server.address}/{film.page('free.html', rate=None, timecode=None)}"))
        Path(folder, "broken.mp4").write_bytes(b"no media")
        check("a proxy that does not play", refuses_proxy,
              chromium.open(f"file://{folder}/{film.page('broken.html', proxy='broken.mp4' + chr(9) + 'video')}"))
        run(["ffmpeg", "-v", "error", "-i", f"{folder}/proxy.mp4", "-vn", "-c", "copy", f"{folder}/sound.m4a"])
        check("only sound", only_sound, chromium.open(f"file://{folder}/" + film.page(
            "sound.html", proxy="sound.m4a\taudio", poster=None, sprites=None, rate=None, timecode=None)))
        Path(folder, "long.txt").write_text(long_film(folder))
        Path(folder, "long.html").write_bytes(mediacheck("page", f"{folder}/long.txt"))
        check("three hours", is_quick, chromium.open(f"file://{folder}/long.html"), f"{folder}/long.html")
        many = "".join(f"finding\t{n}/10\t-\tblack\t{'fail' if n >= 19990 else 'warn'}\t0\tFrame {n} is darker than the policy allows\n" for n in range(20000))
        Path(folder, "many.txt").write_text("title\tMany\nduration\t2000\nverdict\tfail\n" + many)
        Path(folder, "many.html").write_bytes(mediacheck("page", f"{folder}/many.txt"))
        check("20,000 findings", tells_what_is_missing, chromium.open(f"file://{folder}/many.html"))
        entries = gallery_entries(5000, folder)
        for kind, address in (("folder", f"file://{folder}"), ("server", server.address)):
            gallery = chromium.open(f"{address}/gallery.html")
            check(f"{kind}: gallery", gallery_finds, gallery, entries)
        gallery.shape(360, 800)
        check("gallery 360 pixels wide", lambda: fits_gallery(gallery))
        check("gallery: policy", gallery_policy, f"{folder}/gallery.html")
        if options.pictures:
            film.page("nice.html", title="Harbour, morning (rushes, day 3)")
            take_pictures(chromium, folder, Path(CALLER, options.pictures))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


def fits_gallery(page):
    width = page.value("document.documentElement.scrollWidth")
    expect(width <= 360, f"the page is {width} wide")
    return f"{width} pixels"


def gallery_policy(path):
    text = Path(path).read_text()
    for part in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", text, re.S):
        expect(base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() in text.split("<style>")[0], "a hash is another")
    return "2 hashes"


def take_pictures(chromium, folder, target):
    """Pictures of the pages in dark and light, wide and narrow."""
    target.mkdir(parents=True, exist_ok=True)
    for dark in (False, True):
        for width, height in ((1280, 900), (360, 1250)):
            name = f"{'dark' if dark else 'light'}-{width}"
            page = chromium.open(f"file://{folder}/nice.html", width, height, dark, 2 if width == 360 else 1)
            ready(page)
            left, top, wide, _ = page.box("#canvas")
            page.click(left + wide * 0.3, top + page.value("timeline.lanes[0].y + 10"))
            page.press("i")
            page.press("PageDown")
            page.press("o")
            ready(page)
            page.mouse("mouseMoved", left + wide * 0.7, top + page.value("timeline.lanes[0].y + 10"))
            time.sleep(0.5)
            page.picture(target / f"page-{name}.png")
            for number in range(1, page.value("panels.tabs.length")):
                page.value(f"panels.tabs[{number}].tab.click()")
                if width == 1280:
                    page.picture(target / f"page-{name}-{number}.png")
            long = chromium.open(f"file://{folder}/long.html", width, height, dark)
            time.sleep(0.3)
            long.picture(target / f"long-{name}.png")
            gallery = chromium.open(f"file://{folder}/gallery.html", width, height, dark)
            time.sleep(0.5)
            gallery.picture(target / f"gallery-{name}.png")
    page.press("?")
    page.picture(target / "keys.png")


if __name__ == "__main__":
    sys.exit(main())
