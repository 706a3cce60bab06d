"""The pages of `ingest` in headless Chromium: playing, seeking, keys, marks, foreign text, the policy, sizes."""

import argparse
import base64
import hashlib
import html
import json
import re
import sys
import tempfile
import time
from pathlib import Path

from . import browser, page_others
from .browser import SHIFT, Browser
from .page_media import (BITS, FIELD, HOSTILE, RATE, Film, Server, at_frame, current, frame, gallery_entries, long_film,
                         many_findings, moment, picture_number, quiet, ready)
from .programs import mediacheck, mediatool
from .tools import CALLER, Tally, expect, ffprobe, run


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
    for length in (0.7, 0.31, 0.42, 0.53):
        page.press(" ")
        page.wait("!player.media.paused")
        time.sleep(length)
        page.press(" ")
        page.wait("player.rate === 0 && player.media.paused")
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
        style = page.value(
            "(s => [s.backgroundImage, s.backgroundPosition, s.width, s.height])(getComputedStyle(byID('previewPicture')))")
        wanted = [f"{-x}px {-y0}px", f"{wide}px", f"{high}px"]
        expect(file in style[0] and style[1:] == wanted, f"at {seconds:.3f} s {style}, not {file} {wanted}")
        expect(page.value("byID('previewTime').textContent") == page.value(f"timeText({seconds!r})"), "the time is another")
        # What is painted, from a picture of the window.
        page.value(f"new Promise(done => {{ const i = new Image(); i.onload = done; i.src = {json.dumps(file)}; }})")
        with tempfile.NamedTemporaryFile(suffix=".png") as shot:
            page.picture(shot.name)
            box = page.box("#previewPicture")
            gray = run(["ffmpeg", "-v", "error", "-i", shot.name, "-vf",
                       f"crop={wide}:2:{round(box[0])}:{round(box[1]) + 4},format=gray", "-f", "rawvideo", "-"])
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
        left, top, width, height = page.value(
            f"(b => [b.left, b.top, b.width, b.height])({rows}[{place}].getBoundingClientRect())")
        page.click(left + width / 2, top + height / 2)
        at_frame(page, frame(wanted), f"finding {place}")
        page.wait(f"{rows}[{place}].getAttribute('aria-current') === 'true'")
        expect(page.value("document.querySelectorAll('#panel0 [aria-current]').length") == 1, "several rows are current")
    page.value("scrollTo(0, 0)")
    return "4 findings"


def jumps_to_marks(page):
    """Marks of findings, chapters and scene changes on the time line."""
    left, top, width, _ = page.box("#canvas")
    length = page.value("duration")
    lanes = dict(page.value("[...timeline.laneOf]"))
    findings = page.value("timeline.rows.findings.y")
    chapters, scenes = page.value("[timeline.rows.chapters.y + 5, timeline.rows.scenes.y + 5]")

    def lane(rule):
        return findings + 8 + 14 * lanes[rule]
    for seconds, inside, y in ((3.003, 4.5, lane("black")), (31.031, 33, lane("freeze")), (20.02, 20.02, lane("droppedFrames")),
                               (10.01, 15, chapters), (16.016, 16.016, scenes)):
        page.click(left + inside / length * width, top + y)
        at_frame(page, frame(seconds), f"the mark at {seconds}")
    return "5 marks"


def obeys_keys(page, film):
    last = film.frames - 1
    page.value("timeline.scroller.focus()")
    steps = [("Home", 0, 0), ("ArrowRight", 0, 1), ("ArrowRight", 0, 2), ("ArrowLeft", 0, 1), ("ArrowRight", SHIFT, 31),
             ("ArrowLeft", SHIFT, 1), ("PageDown", 0, 301), ("PageUp", 0, 1), ("n", 0, frame(3.003)), ("n", 0, frame(4.004)),
             ("p", 0, frame(3.003)), ("End", 0, last), ("ArrowRight", 0, last), ("Home", 0, 0), ("ArrowLeft", 0, 0)]
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
    # A Russian keyboard has this letter where others have M.
    page.press("ь", place="KeyM")
    expect(not page.value("player.media.muted"), "the key in M's place does not mute")
    quiet(page)
    return "26 keys"


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
    expect(page.value("timeline.isFitted && timeline.scroller.scrollWidth === timeline.scroller.clientWidth"),
           "0 does not show all")
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
    gray = run(["ffmpeg", "-v", "error", "-i", cut, "-frames:v", "1", "-vf",
               f"crop=iw:2:0:{FIELD // 2},format=gray", "-f", "rawvideo", "-"])
    number = sum(2 ** bit for bit in range(BITS) if gray[bit * FIELD + FIELD // 2] > 127)
    expect((frames, number) == ("301", 7), f"the range as the program takes it has {frames} frames from {number}")
    return text


def goes_to(page):
    for text, wanted in (("00:01:00;02", 300), ("00:01:00;00", 300), ("0:20", frame(20)),
                         ("12.5", frame(12.5)), ("00:00:59;29", 299)):
        page.press("g")
        page.value(f"byID('goTo').value = {json.dumps(text)}")
        page.press("Enter")
        page.value("byID('goToForm').requestSubmit()")
        at_frame(page, wanted, text)
        expect(page.value("document.activeElement.id") == "scroller", "the focus is not on the time line")
    return "5 times"


def harms_nothing(page):
    expect(page.value("document.title") == HOSTILE, "the title of the window is another text")
    expect(page.value("byID('title').textContent") == HOSTILE, "the title is another text")
    for place in range(page.value("panels.tabs.length")):
        page.value(f"panels.tabs[{place}].tab.click()")
    page.value("panels.tabs[0].tab.click()")
    found = page.value("[...document.images].map(image => image.id).join()")
    expect(found == "poster", f"images: {found}")
    expect(page.value("document.scripts.length") == 2, "there is another script")
    found = page.value("document.querySelectorAll('script, img, b, iframe, [onerror]').length")
    expect(found == 3, f"text became markup: {found} elements in place of two scripts and a picture")
    quiet(page)
    return "a title that is markup"


def policy_holds(page, path):
    """The policy has the hashes of the style and the script as Python works them out, and what breaks it does nothing."""
    text = Path(path).read_text()
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    for name, part in (("script-src", re.findall(r"<script>(.*?)</script>", text, re.S)),
                       ("style-src", re.findall(r"<style>(.*?)</style>", text, re.S))):
        expect(len(part) == 1, f"{len(part)} elements for {name}")
        wanted = base64.b64encode(hashlib.sha256(part[0].encode()).digest()).decode()
        expect(f"{name} 'sha256-{wanted}';" in policy, f"{name} is not {wanted}")
    expect("unsafe" not in policy and "http" not in policy and "*" not in policy, policy)
    markup = re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.S)
    found = re.search(r"\son\w+\s*=|\sstyle\s*=|javascript:|https?://(?!www\.w3\.org)", markup)
    expect(not found, f"the markup has {found and found[0]!r}")
    quiet(page)
    tried = page.value("""(async () => {
      const done = [];
      const refused = async (name, act) => { try { await act(); } catch { done.push(name); } };
      await refused('script', () => {
        const script = document.createElement('script');
        script.text = 'window.broken = 1';
        document.body.append(script);
      });
      await refused('markup', () => document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.broken = 2">'));
      await refused('fetch', () => fetch('proxy.mp4'));
      await refused('eval', () => eval('window.broken = 3'));
      const styled = document.createElement('p'); styled.setAttribute('style', 'color: red');
      if (!styled.style.color) done.push('style');
      return done.join() + (window.broken || '');
    })()""", allowUnsafeEvalBlockedByCSP=False)
    expect(tried == "script,markup,fetch,eval,style", f"only these were refused: {tried}")
    return policy[:40]


def is_usable_without_pointer(page):
    """Everything that has a function can be reached by Tab, has a name, and shows its focus."""
    # From the top of the page on.
    page.value("(scrollTo(0, 0), document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex'))")
    seen = []
    for _ in range(60):
        page.press("Tab")
        name = page.value("(e => e === document.body ? '' : e.id || e.className)(document.activeElement)")
        if not name or name in seen and name not in ("jump", ""):
            break
        shown = page.value("(e => e.matches(':focus-visible') && parseFloat(getComputedStyle(e).outlineWidth))"
                           "(document.activeElement)")
        expect(shown, f"{name} shows no focus")
        seen.append(name)
    for wanted in ("back", "play", "forward", "goTo", "in", "out", "mute", "keys", "scroller", "zoomIn", "panel0tab", "jump"):
        expect(wanted in seen, f"Tab does not lead to {wanted}: {seen}")
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "slider", "tab", "searchbox", "combobox", "dialog")
    nameless = [node for node in tree if not node.get("ignored") and node.get("role", {}).get("value") in roles
                and not node.get("name", {}).get("value")]
    expect(not nameless, f"without a name: {[node['role']['value'] for node in nameless]}")
    expect(page.value("timeline.scroller.getAttribute('aria-valuetext') === timeText(player.position)"),
           "the slider says another time")
    # Arrows go from tab to tab, and not through the film.
    before = page.value("player.position")
    page.value("panels.tabs[0].tab.focus()")
    page.press("ArrowRight")
    expect(page.value("document.activeElement.id") == "panel1tab", "arrows do not change tabs")
    expect(page.value("player.position") == before, "arrows on tabs move the film")
    page.press("ArrowLeft")
    return f"{len(seen)} places"


def fits(page, width):
    """No part of the page is wider than the window, with any panel and with a range marked."""
    page.press("i")
    page.press("o")
    for place in range(page.value("panels.tabs.length")):
        page.value(f"panels.tabs[{place}].tab.click()")
        page.wait("!timeline.isWaiting")
        found = page.value("document.documentElement.scrollWidth")
        expect(found <= width, f"the page is {found} wide with panel {place}")
        # The canvas is as wide as the time line when zoomed; tabs may be scrolled.
        outside = page.value("""[...document.querySelectorAll('main *:not(canvas, #extent, [role=tab], [role=tab] *)')]
          .filter(e => e.getClientRects().length).filter(e => {
            const box = e.getBoundingClientRect();
            return box.right > innerWidth + 1 || box.left < -1;
          }).map(e => e.id || e.className)""")
        expect(not outside, f"cut off in panel {place}: {outside[:5]}")
    page.press("x")
    page.value("panels.tabs[0].tab.click()")
    return f"{found} pixels"


def main():
    parser = argparse.ArgumentParser(prog="scripts/check page", description=__doc__)
    parser.add_argument("--pictures", help="a folder for pictures of the pages, to look at")
    options = parser.parse_args()
    if not browser.is_there():
        print("not run: Chromium is not installed (apt-get install chromium)")
        return 77
    tally = Tally()
    check = tally.check

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
        for rate, first, minutes in (("30000/1001", "00:00:00;00", 21), ("30000/1001", "09:59:58;12", 2),
                                     ("30000/1001", "23:59:50;00", 1), ("60000/1001", "01:00:00;00", 12),
                                     ("25/1", "10:00:00:00", 2), ("24000/1001", "00:59:00:00", 2)):
            check(f"timecode {first} at {rate}", page_others.timecodes_are_ffmpegs, page, folder, rate, first, minutes)
        for width in (1280, 360):
            page.shape(width, 800)
            check(f"{width} pixels wide", fits, page, width)
        home = f"file://{folder}"
        check("no proxy", page_others.without_proxy, chromium.open(f"{home}/{film.page('none.html', proxy=None)}"), film)
        check("a later start", page_others.starts_later, chromium.open(f"{home}/{film.page('late.html', start='1001/1000')}"))
        free = film.page("free.html", rate=None, timecode=None)
        check("no frame rate", page_others.counts_no_frames, chromium.open(f"{server.address}/{free}"))
        Path(folder, "broken.mp4").write_bytes(b"no media")
        broken = film.page("broken.html", proxy="broken.mp4\tvideo")
        check("a proxy that does not play", page_others.refuses_proxy, chromium.open(f"{home}/{broken}"))
        run(["ffmpeg", "-v", "error", "-i", f"{folder}/proxy.mp4", "-vn", "-c", "copy", f"{folder}/sound.m4a"])
        sound = film.page("sound.html", proxy="sound.m4a\taudio", poster=None, sprites=None, rate=None, timecode=None)
        check("only sound", page_others.only_sound, chromium.open(f"{home}/{sound}"))
        Path(folder, "long.txt").write_text(long_film(folder))
        Path(folder, "long.html").write_bytes(mediacheck("page", f"{folder}/long.txt"))
        check("three hours", page_others.is_quick, chromium.open(f"file://{folder}/long.html"), f"{folder}/long.html")
        Path(folder, "many.txt").write_text(many_findings(20000))
        Path(folder, "many.html").write_bytes(mediacheck("page", f"{folder}/many.txt"))
        check("20,000 findings", page_others.tells_what_is_missing, chromium.open(f"file://{folder}/many.html"))
        entries = gallery_entries(5000, folder)
        for kind, address in (("folder", f"file://{folder}"), ("server", server.address)):
            gallery = chromium.open(f"{address}/gallery.html")
            check(f"{kind}: gallery", page_others.gallery_finds, gallery, entries)
        gallery.shape(360, 800)
        check("gallery 360 pixels wide", lambda: page_others.fits_gallery(gallery))
        check("gallery: policy", page_others.gallery_policy, f"{folder}/gallery.html")
        if options.pictures:
            film.page("nice.html", title="Harbour, morning (rushes, day 3)")
            take_pictures(chromium, folder, Path(CALLER, options.pictures))
    return tally.finish()


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
            page.press("?")
            page.picture(target / f"keys-{name}.png")
            long = chromium.open(f"file://{folder}/long.html", width, height, dark)
            time.sleep(0.3)
            long.picture(target / f"long-{name}.png")
            for kind in ("sound", "none", "broken"):
                other = chromium.open(f"file://{folder}/{kind}.html", width, height, dark)
                other.press("PageDown")
                time.sleep(0.3)
                other.picture(target / f"{kind}-{name}.png")
            gallery = chromium.open(f"file://{folder}/gallery.html", width, height, dark)
            time.sleep(0.5)
            gallery.picture(target / f"gallery-{name}.png")


if __name__ == "__main__":
    sys.exit(main())
