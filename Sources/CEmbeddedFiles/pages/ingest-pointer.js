// The pointer over the time line: the picture under it, seeking, jumping to marks, zooming.

class TimelinePointer {
  constructor(timeline, player) {
    this.timeline = timeline;
    this.player = player;
    this.preview = byID("preview");
    this.picture = byID("previewPicture");
    const surface = timeline.scroller;
    surface.addEventListener("pointermove", event => this.moved(event));
    surface.addEventListener("pointerleave", () => this.hide());
    surface.addEventListener("pointerdown", event => this.pressed(event));
    surface.addEventListener("pointerup", event => this.released(event));
    surface.addEventListener("pointercancel", () => this.ended());
    surface.addEventListener("wheel", event => this.turned(event), {passive: false});
    surface.addEventListener("scroll", () => this.hide(), {passive: true});
  }

  place(event) {
    const box = this.timeline.canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top, box};
  }

  moved(event) {
    const {x, y, box} = this.place(event);
    // The bar that scrolls is no time.
    if (y > box.height && !this.isScrubbing) return this.hide();
    const seconds = this.timeline.seconds(x);
    if (this.isScrubbing) this.player.seek(seconds);
    const mark = this.isScrubbing ? null : this.timeline.mark(x, y);
    this.timeline.scroller.classList.toggle("onMark", Boolean(mark));
    this.show(seconds, Math.min(Math.max(x, 0), box.width), mark);
  }

  show(seconds, x, mark) {
    const shown = mark && mark.severity === undefined ? mark.seconds : seconds;
    const size = sprites.show(this.picture, shown);
    this.picture.hidden = !size;
    byID("previewTime").textContent = timeText(shown);
    byID("previewText").textContent = mark ? mark.text : "";
    byID("previewText").hidden = !mark;
    this.preview.hidden = false;
    this.timeline.hover.hidden = false;
    this.timeline.hover.style.transform = `translateX(${x}px)`;
    const width = this.preview.offsetWidth;
    const most = this.timeline.width - width;
    this.preview.style.transform = `translate(${Math.max(0, Math.min(x - width / 2, most))}px, -100%)`;
  }

  hide() {
    if (this.isScrubbing) return;
    this.preview.hidden = this.timeline.hover.hidden = true;
  }

  pressed(event) {
    const {x, y, box} = this.place(event);
    if (event.button !== 0 || y > box.height) return;
    // A finger that moves over a zoomed time line scrolls it; one that does not, seeks when it is lifted.
    this.tap = {x, y};
    if (event.pointerType === "touch" && !this.timeline.isFitted) return;
    const mark = this.timeline.mark(x, y);
    if (mark) return;
    event.preventDefault();
    this.timeline.scroller.focus({preventScroll: true});
    this.timeline.scroller.setPointerCapture(event.pointerId);
    this.isScrubbing = true;
    this.player.seek(this.timeline.seconds(x));
    this.moved(event);
  }

  released(event) {
    const {x, y} = this.place(event);
    const tap = this.tap;
    const wasScrubbing = this.isScrubbing;
    this.ended();
    if (wasScrubbing || !tap || Math.abs(tap.x - x) > 6 || Math.abs(tap.y - y) > 6) return;
    const mark = this.timeline.mark(x, y);
    this.player.seek(mark ? mark.seconds : this.timeline.seconds(x));
    this.timeline.scroller.focus({preventScroll: true});
  }

  ended() {
    this.isScrubbing = false;
    this.tap = null;
  }

  turned(event) {
    // Sideways is the browser's own scrolling; with Control it would be the browser's zoom, and means the same here.
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) return;
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 200 : 1;
    const before = this.timeline.pixelsPerSecond;
    this.timeline.zoom(before * Math.exp(-event.deltaY * unit / 400), this.place(event).x);
    // Where there is nothing more to zoom, the page scrolls.
    if (this.timeline.pixelsPerSecond !== before) event.preventDefault();
  }
}
