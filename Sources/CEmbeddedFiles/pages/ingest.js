// The page: what is written at its top, the controls, the keys, and the range to copy.

/** Says something for a moment, to screen readers too; what matters stays. */
function tell(text, stays = false) {
  const message = byID("message");
  message.textContent = text;
  clearTimeout(tell.timer);
  if (!stays) tell.timer = setTimeout(() => { message.textContent = ""; }, 3000);
}

document.title = data.title;
byID("title").textContent = data.title;
byID("fileName").textContent = data.fileName;
byID("fileName").hidden = data.fileName === data.title;
byID("verdict").replaceChildren(...(data.verdict ? [badge(data.verdict)] : []));
byID("facts").textContent = [
  data.policy && data.verdict ? `policy ${data.policy}` : null, clockText(data.duration, 3),
  clock ? `${Number((clock.num / clock.den).toFixed(3))} frames a second` : null,
  data.startTimecode ? `from ${data.startTimecode}` : null
].filter(Boolean).join(" · ");

const player = new Player();
const timeline = new Timeline(player);
const pointer = new TimelinePointer(timeline, player);
const panels = new Panels();

// MARK: The position

function showPosition() {
  const position = player.position;
  byID("timecode").textContent = timeText(position);
  byID("seconds").textContent = secondsText(position);
  byID("frame").textContent = clock ? `frame ${clock.at(position)}` : "";
  const isPlaying = player.rate !== 0;
  byID("playIcon").setAttribute("href", isPlaying ? "#pauseShape" : "#playShape");
  byID("play").setAttribute("aria-label", isPlaying ? "Pause" : "Play");
  byID("play").hidden = byID("mute").hidden = !player.media;
  byID("full").hidden = !player.media || player.media.hidden || !document.fullscreenEnabled;
  byID("rate").textContent = Math.abs(player.rate) > 1 || player.rate < 0 ? `${player.rate}×`.replace("-", "−") : "";
  timeline.scroller.setAttribute("aria-valuenow", position.toFixed(3));
  timeline.scroller.setAttribute("aria-valuetext", timeText(position));
  if (isPlaying && !pointer.isScrubbing) timeline.follow();
  timeline.placeHead();
  // A few times a second suffice for the lists.
  showPosition.timer ??= setTimeout(() => { showPosition.timer = null; showCurrentRows(player.position); }, 150);
}

timeline.scroller.setAttribute("aria-valuemax", duration.toFixed(3));
player.listeners.push(showPosition);
showPosition();

// MARK: The range

const range = timeline.range;

/** The frame at the end of the range belongs to it, as editors have it; the time at its end does not. */
function rangeText() {
  const frame = clock ? clock.at(range.end) : 0;
  const first = range.start === null ? 0 : range.start;
  const parts = [`--start ${argumentText(first, clock ? clock.at(first) : 0)}`];
  if (range.end !== null) parts.push(`--end ${argumentText(range.end, frame)}`);
  return parts.join(" ");
}

function showRange() {
  const isThere = range.start !== null || range.end !== null;
  byID("range").hidden = !isThere;
  if (isThere) {
    byID("rangeText").textContent = rangeText();
    const length = (range.end ?? duration) - (range.start ?? 0);
    const frames = clock ? `, ${plural(Math.round(length * clock.num / clock.den), "frame")}` : "";
    byID("rangeLength").textContent = lengthText(length) + frames;
  }
  timeline.redraw();
}

function markIn() {
  range.start = player.position;
  if (range.end !== null && range.end <= range.start) range.end = null;
  tell(`In: ${timeText(player.position)}`);
  showRange();
}

function markOut() {
  range.end = clock ? clock.seconds(clock.at(player.position) + 1) : player.position;
  if (range.start !== null && range.start >= range.end) range.start = null;
  tell(`Out: ${timeText(player.position)}`);
  showRange();
}

function clearRange() {
  range.start = range.end = null;
  showRange();
}

/** Copies the range; pages of servers without HTTPS have the old way only. */
async function copyRange() {
  if (range.start === null && range.end === null) return tell("Mark a range with I and O first.");
  const text = rangeText();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const selection = getSelection();
    selection.selectAllChildren(byID("rangeText"));
    if (!document.execCommand("copy")) return tell(`Copy this: ${text}`, true);
    selection.removeAllRanges();
  }
  tell(`Copied: ${text}`);
}

// MARK: Controls

const help = byID("help");

function showHelp() { if (help.open) help.close(); else help.showModal(); }

function goTo() {
  const field = byID("goTo");
  const text = field.value.trim();
  const frame = clock ? clock.find(text) : null;
  const parts = /^(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d*)?)\s*s?$/.exec(text);
  if (frame !== null) player.seek(clock.seconds(frame));
  else if (parts) player.seek(Number(parts[1] || 0) * 3600 + Number(parts[2] || 0) * 60 + Number(parts[3]) - startSeconds);
  else return tell("Write a timecode, minutes and seconds, or seconds.");
  timeline.follow();
  timeline.scroller.focus({preventScroll: true});
}

/** Goes to the next finding, chapter or scene change, or the one before. */
function goToMark(direction) {
  const times = [...data.findings.map(finding => finding.start), ...data.chapters.map(chapter => chapter.start), ...data.scenes]
    .filter(time => time !== undefined).map(snapped);
  const later = times.filter(time => direction > 0 ? time > player.position : time < player.position);
  if (!later.length) return tell(direction > 0 ? "Nothing is marked after this." : "Nothing is marked before this.");
  player.seek(later.reduce((one, other) => direction > 0 ? Math.min(one, other) : Math.max(one, other)));
  timeline.follow();
}

function toggleSound() {
  if (!player.media) return;
  player.media.muted = !player.media.muted;
  byID("mute").setAttribute("aria-pressed", String(player.media.muted));
}

function toggleFullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else byID("stage").requestFullscreen?.().catch(() => tell("The browser allows no full screen."));
}

const actions = {
  play: () => player.toggle(), back: () => player.step(-1), forward: () => player.step(1), in: markIn, out: markOut,
  copy: copyRange, clear: clearRange, mute: toggleSound, full: toggleFullScreen, keys: showHelp, closeHelp: () => help.close(),
  zoomIn: () => timeline.zoom(timeline.pixelsPerSecond * 1.6), zoomOut: () => timeline.zoom(timeline.pixelsPerSecond / 1.6),
  zoomFit: () => timeline.zoom(0)
};
for (const [id, action] of Object.entries(actions)) byID(id).addEventListener("click", action);
byID("goToForm").addEventListener("submit", event => { event.preventDefault(); goTo(); });

// MARK: Keys

let holdsK = false;

const keys = {
  " ": actions.play,
  ArrowLeft: event => event.shiftKey ? player.skip(-1) : player.step(-1),
  ArrowRight: event => event.shiftKey ? player.skip(1) : player.step(1),
  PageUp: () => player.skip(-10), PageDown: () => player.skip(10),
  Home: () => player.seek(0), End: () => player.seek(duration),
  // With K held down, J and L go by single frames.
  j: () => holdsK ? player.step(-1) : player.shuttle(-1),
  k: () => { holdsK = true; player.pause(); },
  l: () => holdsK ? player.step(1) : player.shuttle(1),
  i: markIn, o: markOut, c: copyRange, x: clearRange, n: () => goToMark(1), p: () => goToMark(-1),
  g: () => { byID("goTo").focus(); byID("goTo").select(); },
  m: toggleSound, f: toggleFullScreen,
  "+": actions.zoomIn, "=": actions.zoomIn, "-": actions.zoomOut, _: actions.zoomOut, 0: actions.zoomFit, "?": showHelp
};

document.addEventListener("keydown", event => {
  const target = event.target;
  const isTyping = target.matches("input, select, textarea");
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  // Where a keyboard writes other letters, the places of the keys count.
  const key = letter in keys || !/^Key[A-Z]$/.test(event.code) ? letter : event.code.slice(3).toLowerCase();
  if (event.key === "Escape" && isTyping) timeline.scroller.focus({preventScroll: true});
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || (help.open && key !== "?")) return;
  // Space presses the button that has the focus.
  if (key === " " && target.closest("button")) return;
  // Lists scroll by these.
  if (["PageUp", "PageDown", "Home", "End"].includes(key) && target.closest("[role=tabpanel]")) return;
  const action = keys[key];
  if (!action || (event.repeat && ["k", " ", "j", "l"].includes(key) && !holdsK)) return;
  event.preventDefault();
  action(event);
  if (key.startsWith("Arrow") || ["PageUp", "PageDown", "Home", "End"].includes(key)) timeline.follow();
});
document.addEventListener("keyup", event => { if (event.key.toLowerCase() === "k" || event.code === "KeyK") holdsK = false; });
addEventListener("blur", () => { holdsK = false; });
