// Which stretch of time a stage shows; the grid and the graphs of a stage share one.

const PLAYHEAD_SHARE = 0.35; // of the width, while the view follows
const CLOSEST = 1 / 2500; // seconds per pixel
const FARTHEST = 5;

export class View {
  /** Seconds of sound per CSS pixel. */
  secondsPerPixel = 1 / 300;
  /** The time at the right edge of the gutter, in seconds. */
  left = 0;
  /** Width of the row labels in px; the canvases set it when they draw. */
  gutter = 0;

  /** @param {{paged?: boolean}} options paged: turn pages instead of scrolling. */
  constructor({ paged = matchMedia("(prefers-reduced-motion: reduce)").matches } = {}) {
    this.paged = paged;
  }

  /** The time shown at x px from the canvas's left edge. */
  timeAt(x) {
    return this.left + (x - this.gutter) * this.secondsPerPixel;
  }

  /** Where a time is shown, in px from the canvas's left edge. */
  xAt(time) {
    return this.gutter + (time - this.left) / this.secondsPerPixel;
  }

  /** How many seconds a canvas of this width shows. */
  span(width) {
    return Math.max(0, width - this.gutter) * this.secondsPerPixel;
  }

  /** Moves so that the playhead stays in sight; `total`: seconds there are to show. */
  follow(playhead, total, width) {
    const span = this.span(width);
    if (!this.paged) {
      this.left = clamp(playhead - PLAYHEAD_SHARE * span, 0, total - span);
    } else if (playhead < this.left || playhead > this.left + 0.95 * span) {
      this.left = clamp(playhead - 0.05 * span, 0, total - span);
    }
  }

  /** Zooms in by a factor (out if below 1) around x px; the time there stays where it is. */
  zoom(factor, aroundX) {
    const time = this.timeAt(aroundX);
    this.secondsPerPixel = clamp(this.secondsPerPixel / factor, CLOSEST, FARTHEST);
    this.left = Math.max(0, time - (aroundX - this.gutter) * this.secondsPerPixel);
  }

  /** Shows everything. */
  fit(total, width) {
    const pixels = Math.max(1, width - this.gutter);
    this.secondsPerPixel = clamp(total / pixels, CLOSEST, FARTHEST);
    this.left = 0;
  }
}

function clamp(value, low, high) {
  return Math.max(low, Math.min(value, high));
}

/** The index of the first item whose value is above `bound`; values ascend. */
export function firstAfter(items, value, bound) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value(items[middle]) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
