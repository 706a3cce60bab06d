// The proxy, or where there is none, a position that moves without sound.

/** The sheet of images for players: which picture belongs to a time. */
const sprites = {
  /** The cue of a time: [start, end, sheet, x, y, width, height]; null without sprites. */
  cue(seconds) {
    const cues = data.cues;
    let [low, high] = [0, cues.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cues[middle][0] <= seconds) low = middle + 1; else high = middle;
    }
    return cues[Math.max(0, low - 1)] || null;
  },

  /** Shows the picture of a time in an element of one picture's size; gives its width and height. */
  show(target, seconds) {
    const cue = this.cue(seconds);
    const sheet = cue && relative(data.sheets[cue[2]]);
    if (!sheet) return null;
    const [x, y, width, height] = cue.slice(3);
    // Escaped as a string of CSS, though the reference has no quotes.
    const image = `url(${JSON.stringify(sheet)})`;
    if (target.dataset.image !== image) target.style.backgroundImage = target.dataset.image = image;
    target.style.backgroundPosition = `${-x}px ${-y}px`;
    target.style.width = `${width}px`;
    target.style.height = `${height}px`;
    return {width, height};
  }
};

class Player {
  constructor() {
    this.stage = byID("stage");
    this.still = byID("still");
    this.position = 0;
    /** 0 while it stands, else the speed; negative backwards. */
    this.rate = 0;
    this.listeners = [];
    this.media = null;
    /** The place to seek to when the seek that is under way has ended. */
    this.wanted = null;
    /** True while the position is that of the pictures that are presented; a seek states its own. */
    this.follows = false;
    const proxy = data.proxy && relative(data.proxy.reference);
    if (proxy) this.open(proxy, data.proxy.kind);
    else this.showStill();
    addEventListener("resize", () => this.fitStill());
  }

  open(reference, kind) {
    const media = byID("media");
    const poster = relative(data.poster);
    if (poster && kind === "video") media.poster = poster;
    this.media = media;
    this.hasFrames = kind === "video" && "requestVideoFrameCallback" in media;
    media.hidden = kind !== "video";
    // Sound has a cover at most.
    if (media.hidden) this.showPoster(poster);
    media.addEventListener("seeked", () => this.seekEnded());
    media.addEventListener("ended", () => { this.moved(duration); this.stopped(); });
    // The keys of a headset play and pause as well. Events come late, when it may be playing again.
    media.addEventListener("pause", () => { if (this.rate > 0 && media.paused) this.stopped(); });
    media.addEventListener("play", () => { if (this.rate <= 0 && !media.paused) this.play(media.playbackRate); });
    media.addEventListener("error", () => this.refused());
    media.addEventListener("click", () => this.toggle());
    if (this.hasFrames) this.watchFrames();
    media.src = reference;
  }

  /** Goes on without the proxy, which this browser cannot play or the folder has not. */
  refused() {
    if (!this.media) return;
    this.media.hidden = true;
    this.media = null;
    this.rate = 0;
    byID("hint").textContent = "This browser cannot play the proxy; images of the film take its place.";
    tell(byID("hint").textContent);
    this.showStill();
    this.changed();
  }

  /** The picture that is presented states its own time, which the position in the media only approaches. */
  watchFrames() {
    const each = (_, picture) => {
      if (!this.media) return;
      if (this.follows && !this.media.seeking) {
        const seconds = picture.mediaTime;
        this.moved(clock ? clock.seconds(Math.round(seconds * clock.num / clock.den)) : seconds);
      }
      this.media.requestVideoFrameCallback(each);
    };
    this.media.requestVideoFrameCallback(each);
  }

  moved(seconds) {
    this.position = snapped(seconds);
    this.changed();
  }

  changed() { for (const listener of this.listeners) listener(); }

  /** Goes to the frame of a time, and stays as it was, playing or not. */
  seek(seconds) {
    this.position = snapped(seconds);
    this.follows = false;
    if (this.rate < 0) this.anchor = {position: this.position, now: performance.now()};
    this.moveMedia();
    this.changed();
  }

  moveMedia() {
    if (!this.media) return this.showStill();
    // Inside the frame, because times in the file and in browsers are rounded.
    const target = Math.min(this.position + (clock ? clock.seconds(0.25) : 0.001), duration);
    // A seek may have ended without its event having come; what was wanted before does not count then.
    this.wanted = this.media.seeking ? target : null;
    if (this.wanted === null) this.media.currentTime = target;
  }

  seekEnded() {
    if (this.wanted === null) {
      this.follows = this.rate > 0;
      return;
    }
    this.media.currentTime = this.wanted;
    this.wanted = null;
  }

  step(frames) {
    this.pause();
    if (clock) this.seek(clock.seconds(clock.at(this.position) + frames));
    else this.seek(this.position + frames * looseStep);
  }

  /** Moves by seconds, in whole frames. */
  skip(seconds) {
    if (clock) this.seek(clock.seconds(clock.at(this.position) + Math.round(seconds * clock.num / clock.den)));
    else this.seek(this.position + seconds);
  }

  toggle() { if (this.rate) this.pause(); else this.play(1); }

  play(rate) {
    if (!this.media) return tell("There is no proxy to play.");
    if (rate > 0) {
      if (snapped(this.position) >= snapped(duration) && this.media.ended) this.seek(0);
      this.media.playbackRate = rate;
      this.rate = rate;
      this.follows = !this.media.seeking;
      // A play that a pause cut short is refused too, perhaps when it plays again.
      this.media.play().catch(() => { if (this.media?.paused) this.stopped(); });
    } else {
      this.rate = rate;
      this.follows = false;
      this.media.pause();
      this.anchor = {position: this.position, now: performance.now()};
    }
    this.run();
  }

  pause() {
    if (this.rate === 0) return;
    this.rate = 0;
    if (this.media) this.media.pause();
    this.stopped();
  }

  stopped() {
    this.rate = 0;
    if (this.media && !this.media.paused) this.media.pause();
    // The next picture may have been on its way; the one that is named is to stay.
    if (this.media && this.hasFrames && !this.media.ended) {
      this.follows = false;
      this.moveMedia();
    }
    this.changed();
  }

  /** One step faster in a direction, or from the other direction to single speed. */
  shuttle(direction) {
    const speed = Math.sign(this.rate) === direction ? Math.min(8, Math.abs(this.rate) * 2) : 1;
    this.play(direction * speed);
  }

  /** Follows what plays. No browser plays backwards, so that is done by seeking. */
  run() {
    if (this.running) return this.changed();
    this.running = true;
    const each = now => {
      if (this.rate === 0) { this.running = false; return; }
      if (this.rate > 0) {
        if (!this.hasFrames && this.media && !this.media.seeking) this.moved(this.media.currentTime);
      } else {
        const seconds = this.anchor.position + (now - this.anchor.now) / 1000 * this.rate;
        if (seconds <= 0) { this.moved(0); this.moveMedia(); this.stopped(); }
        else if (!this.media.seeking && snapped(seconds) !== this.position) { this.moved(seconds); this.moveMedia(); }
      }
      requestAnimationFrame(each);
    };
    requestAnimationFrame(each);
    this.changed();
  }

  /** Where the media is while it plays, finer than frames, for the play head. */
  get head() { return this.rate > 0 && this.media ? clamped(this.media.currentTime) : this.position; }

  showPoster(poster) {
    const image = byID("poster");
    image.hidden = this.stage.hidden = !poster;
    if (poster && !image.getAttribute("src")) image.src = poster;
  }

  /** In place of the proxy: the poster at the start, then the sprite's picture of the time. */
  showStill() {
    const poster = relative(data.poster);
    const size = this.position > 0 || !poster ? sprites.show(this.still, this.position) : null;
    this.showPoster(size ? null : poster);
    this.still.hidden = !size;
    this.stillSize = size;
    this.stage.hidden = !size && !poster;
    this.fitStill();
  }

  fitStill() {
    if (!this.stillSize || this.still.hidden) return;
    const {width, height} = this.stillSize;
    const scale = Math.min(this.stage.clientWidth / width, this.stage.clientHeight / height);
    this.still.style.transform = `translate(-50%, -50%) scale(${scale})`;
  }
}
