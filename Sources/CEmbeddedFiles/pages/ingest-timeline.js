// The time line: ruler, chapters, scene changes, sound and findings on one canvas, which draws only what is visible.

/** The minimum and maximum of each point of one track, as signed bytes; beside them those of 32 points each. */
class Wave {
  constructor(sound) {
    const text = atob(sound.peaks);
    this.channels = sound.channels;
    this.start = sound.start;
    this.pointsPerSecond = sound.pointsPerSecond;
    this.name = sound.name;
    this.values = new Int8Array(text.length);
    for (let place = 0; place < text.length; place++) this.values[place] = text.charCodeAt(place);
    this.points = this.values.length / 2 / this.channels;
    this.coarse = new Int8Array(Math.floor(this.points / 32) * 2 * this.channels);
    for (let point = 0; point < Math.floor(this.points / 32); point++) {
      for (let channel = 0; channel < this.channels; channel++) {
        const found = this.extrema(this.values, channel, point * 32, point * 32 + 32, [127, -128]);
        this.coarse.set(found, (point * this.channels + channel) * 2);
      }
    }
  }

  /** The lowest and highest value of some points, and of those that are known. */
  extrema(values, channel, first, end, [low, high]) {
    const step = 2 * this.channels;
    for (let place = first * step + 2 * channel; place < end * step; place += step) {
      if (values[place] < low) low = values[place];
      if (values[place + 1] > high) high = values[place + 1];
    }
    return [low, high];
  }

  /** The lowest and highest sample between two times, of −1 to 1; null where there is no sound. */
  range(channel, from, to) {
    const first = Math.max(0, Math.floor((from - this.start) * this.pointsPerSecond));
    const end = Math.min(this.points, Math.max(first + 1, Math.ceil((to - this.start) * this.pointsPerSecond)));
    if (first >= end || to <= this.start) return null;
    let found = [127, -128];
    const [inner, innerEnd] = [Math.ceil(first / 32), Math.floor(end / 32)];
    if (inner < innerEnd) {
      found = this.extrema(this.values, channel, first, inner * 32, found);
      found = this.extrema(this.coarse, channel, inner, innerEnd, found);
      found = this.extrema(this.values, channel, innerEnd * 32, end, found);
    } else {
      found = this.extrema(this.values, channel, first, end, found);
    }
    return [found[0] / 128, found[1] / 128];
  }
}

class Timeline {
  constructor(player) {
    this.player = player;
    this.scroller = byID("scroller");
    this.extent = byID("extent");
    this.canvas = byID("canvas");
    this.context = this.canvas.getContext("2d");
    this.head = byID("head");
    this.hover = byID("hover");
    this.range = {start: null, end: null};
    this.layOut();
    this.pixelsPerSecond = 1;
    this.isFitted = true;
    this.readColors();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.readColors(); this.redraw(); });
    new ResizeObserver(() => this.resized()).observe(this.scroller);
    this.scroller.addEventListener("scroll", () => this.redraw(), {passive: true});
    this.resized();
  }

  /** Decides which rows there are, from top to bottom, and their heights. */
  layOut() {
    this.waves = data.sound.map(sound => new Wave(sound));
    const channels = this.waves.flatMap(wave => Array.from({length: wave.channels}, (_, channel) => ({wave, channel})));
    const lanes = channels.slice(0, 16);
    this.unseen = channels.length - lanes.length;
    this.rules = [...new Set(data.findings.filter(finding => finding.start !== undefined).map(finding => finding.rule))];
    // Many rules share the last lane.
    this.ruleLanes = Math.min(this.rules.length, 8);
    let y = 0;
    const row = (height, isThere = true) => { const made = {y, height: isThere ? height : 0}; y += made.height; return made; };
    this.rows = {ruler: row(22), chapters: row(20, data.chapters.length > 0), scenes: row(10, data.scenes.length > 0)};
    const each = lanes.length > 1 ? Math.max(24, Math.min(56, Math.floor(192 / lanes.length))) : 96;
    this.lanes = lanes.map(lane => ({...lane, ...row(each)}));
    if (!lanes.length) this.rows.empty = row(40);
    this.rows.findings = row(this.ruleLanes * 14 + 4, this.ruleLanes > 0);
    this.height = y;
    this.laneOf = new Map(this.rules.map((rule, place) => [rule, Math.min(place, this.ruleLanes - 1)]));
  }

  readColors() {
    const style = getComputedStyle(document.documentElement);
    // Asked for once each: a film may have thousands of marks.
    const known = new Map();
    this.color = name => {
      if (!known.has(name)) known.set(name, style.getPropertyValue(`--${name}`).trim());
      return known.get(name);
    };
  }

  // MARK: Zoom

  get width() { return this.scroller.clientWidth; }
  get fitting() { return Math.max(1, this.width) / duration; }
  /** A frame is twelve pixels wide then, or as wide as browsers lay out. */
  get closest() { return Math.max(this.fitting, Math.min(12 * (clock ? clock.num / clock.den : 30), 4e6 / duration)); }
  x(seconds) { return seconds * this.pixelsPerSecond - this.scroller.scrollLeft; }
  seconds(x) { return clamped((x + this.scroller.scrollLeft) / this.pixelsPerSecond); }

  resized() {
    // A page that is hidden has no width, and keeps its scale.
    if (!this.width) return;
    if (this.isFitted) this.pixelsPerSecond = this.fitting;
    this.zoom(this.pixelsPerSecond, 0);
  }

  /** Sets the scale, and keeps the time at a place of the view where it is. */
  zoom(pixelsPerSecond, x = this.x(this.player.position)) {
    const anchor = this.seconds(Math.min(Math.max(x, 0), this.width));
    const place = Math.min(Math.max(x, 0), this.width);
    this.pixelsPerSecond = Math.min(Math.max(pixelsPerSecond, this.fitting), this.closest);
    this.isFitted = this.pixelsPerSecond <= this.fitting * 1.0001;
    this.extent.style.width = this.isFitted ? "100%" : `${Math.round(duration * this.pixelsPerSecond)}px`;
    this.scroller.scrollLeft = anchor * this.pixelsPerSecond - place;
    this.scroller.classList.toggle("zoomed", !this.isFitted);
    byID("zoomOut").disabled = byID("zoomFit").disabled = this.isFitted;
    byID("zoomIn").disabled = this.pixelsPerSecond >= this.closest * 0.9999;
    this.redraw();
  }

  /** Scrolls so that the position is in view; while it plays, page by page. */
  follow() {
    const x = this.x(this.player.head);
    if (this.isFitted || (x >= 0 && x < this.width)) return;
    this.scroller.scrollLeft += x - (this.player.rate ? (this.player.rate > 0 ? 0.05 : 0.95) : 0.5) * this.width;
  }

  // MARK: Drawing

  redraw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => { this.isWaiting = false; this.draw(); });
  }

  draw() {
    const [width, height, ratio] = [this.width, this.height, devicePixelRatio || 1];
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== across || this.canvas.height !== down) {
      this.canvas.width = across;
      this.canvas.height = down;
      this.canvas.style.width = `${width}px`;
      for (const part of [this.canvas, this.head, this.hover]) part.style.height = `${height}px`;
    }
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.fillStyle = this.color("wave-ground");
    this.context.fillRect(0, 0, across, down);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.textBaseline = "middle";
    const view = {from: this.seconds(0), to: this.seconds(width), width};
    this.drawChapters(view);
    for (const lane of this.lanes) this.drawWave(lane, width, ratio);
    this.drawScenes(view);
    this.drawRange(view);
    this.drawFindings(view);
    this.drawRuler(view);
    this.placeHead();
  }

  fill(color, x, y, width, height) {
    this.context.fillStyle = this.color(color);
    this.context.fillRect(x, y, width, height);
  }

  label(text, x, y, color, most) {
    this.context.font = "11px system-ui, sans-serif";
    let shown = text;
    if (most !== undefined && this.context.measureText(text).width > most) {
      // No letter is narrower than two pixels.
      shown = shown.slice(0, Math.floor(most / 2));
      while (shown && this.context.measureText(`${shown}…`).width > most) shown = shown.slice(0, -1);
      shown = shown ? `${shown}…` : "";
    }
    this.context.fillStyle = this.color(color);
    this.context.fillText(shown, x, y);
  }

  /** A label that stays readable on what lies under it. */
  plate(text, y) {
    this.context.font = "11px system-ui, sans-serif";
    this.context.globalAlpha = 0.8;
    this.fill("wave-ground", 2, y - 6, Math.min(240, this.context.measureText(text).width) + 6, 12);
    this.context.globalAlpha = 1;
    this.label(text, 5, y + 0.5, "quiet", 240);
  }

  drawRuler({from, to}) {
    const {y, height} = this.rows.ruler;
    this.fill("panel", 0, y, this.width, height);
    for (const [seconds, text] of rulerTicks(from, to, this.pixelsPerSecond)) {
      const x = Math.round(this.x(seconds));
      this.fill("line", x, y + height - (text ? 8 : 4), 1, text ? 8 : 4);
      if (text) this.label(text, x + 4, y + 10, "quiet");
    }
    this.fill("line", 0, y + height - 1, this.width, 1);
  }

  drawChapters({from, to, width}) {
    const {y, height} = this.rows.chapters;
    if (!height) return;
    data.chapters.forEach((chapter, place) => {
      if (chapter.start > to || chapter.end < from) return;
      const left = Math.max(0, this.x(chapter.start));
      const right = Math.min(width, this.x(chapter.end));
      this.fill(place % 2 ? "chapter-other" : "chapter", left, y, Math.max(1, right - left), height - 1);
      if (this.x(chapter.start) >= 0) this.fill("accent", left, y, 2, height - 1);
      if (right - left > 20) this.label(chapter.title, left + 6, y + height / 2, "text", right - left - 10);
    });
  }

  drawScenes({from, to}) {
    const {y, height} = this.rows.scenes;
    let last = -1;
    for (const scene of height ? data.scenes : []) {
      const x = Math.round(this.x(scene));
      if (scene < from || scene > to || x === last) continue;
      this.fill("scene", x, y + 2, 1, height - 4);
      last = x;
    }
  }

  drawWave({wave, channel, y, height}, width, ratio) {
    const middle = y + height / 2;
    const half = height / 2 - 2;
    const step = 1 / ratio;
    this.fill("line", 0, y + height - 1, width, 1);
    this.context.fillStyle = this.color("wave");
    for (let x = 0; x < width; x += step) {
      const range = wave.range(channel, this.seconds(x), this.seconds(x + step));
      if (!range) continue;
      const top = middle - range[1] * half;
      this.context.fillRect(x, top, step, Math.max(step, middle - range[0] * half - top));
    }
    if (this.lanes.length > 1) {
      const more = this.unseen && y === this.lanes.at(-1).y ? `, and ${plural(this.unseen, "more channel")}` : "";
      this.plate((wave.channels > 1 ? `${wave.name} · ${channel + 1}` : wave.name) + more, y + 9);
    }
  }

  drawFindings({from, to, width}) {
    const {y, height} = this.rows.findings;
    if (!height) return;
    const last = new Map();
    for (const finding of data.findings) {
      if (finding.start === undefined) continue;
      const end = finding.end ?? finding.start;
      if (finding.start > to || end < from) continue;
      const lane = this.laneOf.get(finding.rule);
      const left = Math.max(-1, this.x(finding.start));
      const right = Math.max(left + 2, Math.min(width, this.x(end)));
      // Marks of one lane on the same pixel are one.
      const key = `${lane} ${finding.severity}`;
      if (right <= last.get(key)) continue;
      last.set(key, right);
      this.fill(`${finding.severity}-mark`, left, y + 4 + lane * 14, right - left, 10);
    }
    for (const [rule, lane] of this.laneOf) {
      if (lane === this.ruleLanes - 1 && this.rules.length > this.ruleLanes && rule !== this.rules[lane]) continue;
      this.plate(lane === this.ruleLanes - 1 && this.rules.length > this.ruleLanes ? "other rules" : rule, y + 9 + lane * 14);
    }
  }

  drawRange({width}) {
    const {start: begin, end} = this.range;
    if (begin === null && end === null) return;
    const left = begin === null ? -1 : this.x(begin);
    const right = end === null ? width + 1 : this.x(end);
    this.fill("range", left, 0, right - left, this.height);
    if (begin !== null) this.fill("accent", left - 1, 0, 2, this.height);
    if (end !== null) this.fill("accent", right - 1, 0, 2, this.height);
  }

  placeHead() {
    const x = this.x(this.player.head);
    this.head.hidden = x < -1 || x > this.width + 1;
    this.head.style.transform = `translateX(${x}px)`;
  }

  // MARK: Marks

  /** The mark at a place of the view, to which a click jumps: its time and text; null where there is none. */
  mark(x, y) {
    const inside = row => row.height && y >= row.y && y < row.y + row.height;
    const nearest = (items, place, most) => items.reduce((best, item) => {
      const far = Math.abs(this.x(place(item)) - x);
      return far <= (best ? best.far : most) ? {item, far} : best;
    }, null)?.item;
    if (inside(this.rows.chapters)) {
      const seconds = this.seconds(x);
      const found = data.chapters.find(chapter => chapter.start <= seconds && seconds < chapter.end);
      return found ? {seconds: found.start, text: found.title} : null;
    }
    if (inside(this.rows.scenes)) {
      const found = nearest(data.scenes, scene => scene, 6);
      return found === undefined ? null : {seconds: found, text: "Scene change"};
    }
    if (inside(this.rows.findings)) {
      const lane = Math.min(Math.max(0, Math.floor((y - this.rows.findings.y - 3) / 14)), this.ruleLanes - 1);
      const here = data.findings.filter(finding => finding.start !== undefined && this.laneOf.get(finding.rule) === lane
        && this.x(finding.start) - 4 <= x && this.x(finding.end ?? finding.start) + 4 >= x);
      const found = nearest(here, finding => finding.start, Infinity);
      return found ? {seconds: found.start, text: found.message, severity: found.severity} : null;
    }
    return null;
  }
}

/** The marks of the ruler between two times: at round timecodes, or round seconds without a rate; with text at the wider ones. */
function rulerTicks(from, to, pixelsPerSecond) {
  const least = 96 / pixelsPerSecond;
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];
  const ticks = [];
  if (!clock) {
    const step = [0.1, 0.2, 0.5, ...steps].find(step => step >= least) || 28800;
    for (let count = Math.floor((startSeconds + from) / step * 2); count * step / 2 <= startSeconds + to; count++) {
      ticks.push([count * step / 2 - startSeconds, count % 2 ? "" : clockText(count * step / 2, step < 1 ? 1 : 0)]);
    }
    return ticks;
  }
  const frames = [1, 2, 5, 10].filter(count => count < clock.nominal);
  const step = [...frames, ...steps.map(count => count * clock.nominal)].find(step => step * clock.den / clock.num >= least)
    || 28800 * clock.nominal;
  const part = step % 5 === 0 ? step / 5 : step % 2 === 0 ? step / 2 : step;
  const end = clock.number(clock.first + clock.at(to));
  for (let number = Math.floor(clock.number(clock.first + clock.at(from)) / part) * part; number <= end; number += part) {
    const frame = clock.frameOfNumber(number) - clock.first;
    const text = clock.timecode(frame);
    ticks.push([clock.seconds(frame), number % step ? "" : step < clock.nominal ? text : text.replace(/[:;]\d+$/, "")]);
  }
  return ticks;
}
