"""Checks of scripts/check page beside the film's own page: timecodes, films without this and that, long ones, galleries."""

import base64
import hashlib
import json
import os
import re
from pathlib import Path

from .page_media import HOSTILE, at_frame, current, frame, picture_number, quiet, ready
from .tools import expect, ffprobe, run


def timecodes_are_ffmpegs(page, folder, rate, first, minutes):
    """Each timecode is the one that ffmpeg's encoder of MPEG-2 writes for that frame; and the way back leads to the frame."""
    path = f"{folder}/timecode.mpg"
    run(["ffmpeg", "-y", "-v", "error", "-f", "lavfi", "-i", f"color=size=16x16:rate={rate}:duration={minutes * 60}",
         "-c:v", "mpeg2video", "-g", "1", "-bf", "0", "-q:v", "31", "-timecode", first, "-f", "mpeg2video", path])
    shown = ffprobe(path, "-show_entries", "frame=side_data_list:frame_side_data=timecode", "-show_frames")["frames"]
    wanted = [side["timecode"] for one in shown for side in one.get("side_data_list", []) if "timecode" in side]
    expect(len(wanted) > minutes * 60 * 20, f"ffmpeg wrote {len(wanted)} timecodes")
    num, den = map(int, rate.split("/"))
    page.value(f"void (window.tried = new FrameClock({{num: {num}, den: {den}}}, {json.dumps(first)}))")
    # Its encoder counts the pictures that it has begun: the first is one.
    found = page.value(f"Array.from({{length: {len(wanted)}}}, (_, frame) => tried.timecode(frame + 1))")
    wrong = [(number, one, other) for number, (one, other) in enumerate(zip(found, wanted)) if one != other]
    expect(not wrong, f"frame, ours, ffmpeg's: {wrong[:3]}")
    back = page.value(f"""Array.from({{length: {len(wanted)}}}, (_, frame) => tried.find(tried.timecode(frame)) - frame)
      .slice(0, lastFrame + 1).find(difference => difference) || 0""")
    expect(back == 0, f"the way back is {back} frames off")
    return f"{len(wanted)} frames to {wanted[-1]}"


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
    position = page.value("[byID('timecode').textContent, byID('seconds').textContent]")
    expect(position == ["00:00:52;00", "3.003 s"], f"the position is {position}")
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
    page.wait("player.media === null && byID('hint').textContent.includes('cannot play')")
    page.press("PageDown")
    expect(page.value("!byID('still').hidden && byID('play').hidden"), "no picture is shown, or a button for playing")
    return page.value("byID('hint').textContent")


def only_sound(page):
    page.wait("player.media && player.media.readyState >= 2")
    page.press(" ")
    page.wait("player.position > 0.5")
    page.press(" ")
    page.press("ArrowRight")
    quiet(page)
    return page.value("timeText(player.position)")


def is_quick(page, path):
    """Size and speed of the page of a long film; the speeds are told, not judged."""
    size = os.path.getsize(path)
    expect(size <= 3_000_000, f"the page has {size} bytes")
    page.wait("typeof panels !== 'undefined' && !timeline.isWaiting")
    loaded = page.value("Math.round(performance.getEntriesByType('navigation')[0].domComplete)")
    drawn = page.value("""(() => {
      let most = 0;
      for (const zoom of [0, 1, 10, 100, 1e9]) {
        for (const place of [0, 0.3, 0.9]) {
          timeline.zoom(zoom, 0);
          timeline.scroller.scrollLeft = place * timeline.scroller.scrollWidth;
          const before = performance.now();
          timeline.draw();
          most = Math.max(most, performance.now() - before);
        }
      }
      timeline.zoom(0);
      return most;
    })()""")
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
    failures = page.value("data.findings.filter(finding => finding.severity === 'fail').length")
    expect(failures == 10, f"{failures} of 10 failures are there")
    expect(f"{more:,} more findings" in page.value("byID('panel0').textContent"), "the page does not say how many are missing")
    return f"{shown} of 20000"


STATES = ["fail", "error", "warn", "pass", "none"]
# What sorts a list, from the script's own entries; lists of names are in the order that people expect of numbers.
ORDERS = {
    "verdict": (lambda entry: STATES.index(entry["state"]), "state"), "warnings": (lambda entry: -entry["warnings"], "warnings"),
    "longest": (lambda entry: -(entry.get("duration") or -1), "duration"),
    "shortest": (lambda entry: entry.get("duration") or 1e9, "duration"),
    "name": (lambda entry: int((re.findall(r"\d+", entry["name"]) or [0])[0]) if "Reel" in entry["name"] else -1, "name"),
}


def state_of(entry):
    return "error" if entry["error"] != "-" else "none" if entry["verdict"] == "-" else entry["verdict"]


def gallery_finds(page, entries):
    expect(page.value("shown.length") == len(entries), "not all are shown")
    expect(page.value("document.querySelectorAll('.card').length") < 300, "all cards are made at once")
    for words, state, sort in (("brücke", "", "name"), ("", "fail", "longest"), ("REEL 12", "", "shortest"),
                               ("news 7", "warn", "warnings"), ("", "error", "name"), ("nothing of this name", "", "name"),
                               ("", "", "verdict"), ("img", "", "name")):
        page.value(f"choose({json.dumps({'words': words, 'state': state, 'sort': sort})})")
        wanted = [e["folder"] for e in entries if state in ("", state_of(e))
                  and all(word in f"{e['name']}\n{e['folder']}".lower() for word in words.lower().split())]
        found = page.value("shown")
        expect(sorted(e["folder"] for e in found) == sorted(wanted), f"{words!r} {state!r}: {len(found)} files, not {len(wanted)}")
        order, key = ORDERS[sort]
        expect(found == sorted(found, key=order), f"not in order by {key}, {sort}")
        made = page.value("[...document.querySelectorAll('.card h2')].map(name => name.textContent)")
        expect(len(made) >= min(len(found), 100), f"only {len(made)} cards are made")
        expect(made == [e["name"] for e in found[:len(made)]], f"the cards are others: {made[:3]}")
    page.value("choose({words: '', state: '', sort: 'name'})")
    # The page makes more cards as it is scrolled.
    page.value("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait("document.querySelectorAll('.card').length > 200")
    page.value("scrollTo(0, 0)")
    page.press("/")
    page.call("Input.insertText", text="reel 77")
    page.wait("shown.length < 200 && location.hash.includes('reel')")
    names = page.value("shown.map(entry => entry.name)")
    expect(len(names) == sum("77" in e["name"] for e in entries if "Reel" in e["name"]), f"{names[:3]}")
    for words in ("img", ""):
        page.value(f"choose({{words: '{words}', state: '', sort: 'name'}})")
        expect(page.value("document.querySelector('.card h2').textContent") == HOSTILE, "the name is another text")
        expect(page.value("[...document.links].every(link => link.protocol === location.protocol)"), "a link leads elsewhere")
    quiet(page)
    spent = page.value("""(() => {
      const before = performance.now();
      choose({words: 'e'});
      document.body.offsetHeight;
      const spent = performance.now() - before;
      choose({words: ''});
      return spent;
    })()""")
    return f"{len(entries)} files, a search takes {spent:.0f} ms"


def fits_gallery(page):
    width = page.value("document.documentElement.scrollWidth")
    expect(width <= 360, f"the page is {width} wide")
    return f"{width} pixels"


def gallery_policy(path):
    text = Path(path).read_text()
    for part in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", text, re.S):
        wanted = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        expect(wanted in text.split("<style>")[0], f"{wanted} is not in the policy")
    return "2 hashes"
