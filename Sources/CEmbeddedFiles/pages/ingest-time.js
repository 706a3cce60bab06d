// Times in this page are seconds from the start of the time line. A frame has a number, from 0 there.

/** Counts frames at a constant rate, and names them by timecode (SMPTE ST 12-1). */
class FrameClock {
  constructor(rate, startTimecode) {
    this.num = rate.num;
    this.den = rate.den;
    this.nominal = Math.max(1, Math.round(rate.num / rate.den));
    // Only 29.97 and 59.94 drop numbers, two and four of each minute but the tenth.
    const drops = /;\d+$/.test(startTimecode || "") && (this.nominal === 30 || this.nominal === 60);
    this.dropped = drops ? this.nominal / 15 : 0;
    this.perMinute = this.nominal * 60;
    this.perTenMinutes = this.perMinute * 10 - 9 * this.dropped;
    this.perDay = this.perTenMinutes * 144;
    this.first = startTimecode ? this.frameOf(startTimecode) || 0 : 0;
  }

  /** The frame on screen at a time. Browsers round to microseconds, and so a thousandth of a frame counts as the next. */
  at(seconds) { return Math.floor(seconds * this.num / this.den + 1e-3); }

  seconds(frame) { return frame * this.den / this.num; }

  /** The frame that a timecode names; null for one of another form. A dropped number is the next that there is. */
  frameOf(text) {
    const parts = /^(\d{1,3}):(\d{1,2}):(\d{1,2})[:;.](\d{1,3})$/.exec(text.trim());
    if (!parts) return null;
    const [hours, minutes, seconds, frames] = parts.slice(1).map(Number);
    if (minutes > 59 || seconds > 59 || frames >= this.nominal) return null;
    return this.frameOfNumber(((hours * 60 + minutes) * 60 + seconds) * this.nominal + frames);
  }

  /** The frame with a number, counted as if none were dropped. */
  frameOfNumber(number) {
    const minutes = Math.floor(number / this.perMinute);
    const place = number % this.perMinute;
    const isShort = minutes % 10 !== 0;
    const kept = isShort && place < this.dropped ? number - place + this.dropped : number;
    return kept - this.dropped * (minutes - Math.floor(minutes / 10));
  }

  /** The frame of the time line that a timecode names, on the day after as well; null for another form. */
  find(text) {
    const frame = this.frameOf(text);
    if (frame === null) return null;
    const place = frame - this.first;
    return place < 0 && place + this.perDay <= lastFrame ? place + this.perDay : place;
  }

  /** The number of a frame since 00:00:00:00, with those that are dropped. */
  number(frame) {
    const tens = Math.floor(frame / this.perTenMinutes);
    const rest = frame - tens * this.perTenMinutes;
    const minute = rest < this.perMinute ? 0 : 1 + Math.floor((rest - this.perMinute) / (this.perMinute - this.dropped));
    return frame + this.dropped * (9 * tens + minute);
  }

  /** The timecode of a frame of the time line, within a day. */
  timecode(frame) {
    const number = this.number(((this.first + frame) % this.perDay + this.perDay) % this.perDay);
    const seconds = Math.floor(number / this.nominal);
    const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(part => padded(part));
    const frames = padded(number % this.nominal, this.nominal > 100 ? 3 : 2);
    return `${clock.join(":")}${this.dropped ? ";" : ":"}${frames}`;
  }
}

const clock = data.frameRate ? new FrameClock(data.frameRate, data.startTimecode) : null;
const start = {value: BigInt(data.start.value), timescale: BigInt(data.start.timescale)};
const startSeconds = data.start.value / data.start.timescale;
const duration = Math.max(data.duration, 0.001);
/** How far an arrow goes where frames have no constant rate. */
const looseStep = 1 / 30;
const lastFrame = clock ? Math.max(0, Math.ceil(duration * clock.num / clock.den - 1e-3) - 1) : 0;

function clamped(seconds) { return Math.min(Math.max(seconds, 0), duration); }

/** The start of the frame that is on screen at a time; without a rate, the time itself. */
function snapped(seconds) {
  if (!clock) return clamped(seconds);
  return clock.seconds(Math.min(Math.max(clock.at(seconds), 0), lastFrame));
}

/** The name that people give a time: its timecode, or the clock without a frame rate. */
function timeText(seconds) { return clock ? clock.timecode(clock.at(seconds)) : clockText(startSeconds + seconds, 3); }

/** Seconds of the presentation, rounded up to a time at which the same frame is on screen. */
function secondsText(seconds) {
  const time = startSeconds + seconds;
  return `${(Math.ceil(time * 1000 - 1e-6) / 1000 + 0).toFixed(3)} s`;
}

/** A time as the program's options take it: a decimal where that is exact, else a fraction of a second. */
function argumentText(seconds, frame) {
  // Without a frame, a time is rounded to milliseconds.
  let num = clock ? BigInt(frame) * BigInt(clock.den) : BigInt(Math.round(seconds * 1000));
  let den = clock ? BigInt(clock.num) : 1000n;
  num = num * start.timescale + start.value * den;
  den = den * start.timescale;
  const divisor = commonDivisor(num < 0n ? -num : num, den) || 1n;
  num /= divisor;
  den /= divisor;
  if (1000n % den !== 0n) return `${num}/${den}`;
  const thousandths = num * (1000n / den);
  const magnitude = thousandths < 0n ? -thousandths : thousandths;
  const fraction = padded(magnitude % 1000n, 3).replace(/0+$/, "");
  return `${thousandths < 0n ? "-" : ""}${magnitude / 1000n}${fraction ? `.${fraction}` : ""}`;
}

function commonDivisor(one, other) {
  while (other) [one, other] = [other, one % other];
  return one;
}
