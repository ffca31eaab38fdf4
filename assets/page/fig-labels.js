// Names in a drawing, each where it covers no other and no point that is named.

import { text } from "./fig-svg.js";

const LETTER = 10.5; // px; names are placed by their length, before the browser has set them
const LINE = 20; // px
const POINT = 10; // px from the middle of a point to its edge
const AWAY = 14; // px from the middle of a point to its name
const ASCENT = 15; // px of a line above its foot
// Where a name may stand, in the order of preference: its direction from the point, and its anchor.
const SPOTS = [
  [0, -1, "middle"],
  [1, 0, "start"],
  [-1, 0, "end"],
  [0, 1, "middle"],
  [1, -1, "start"],
  [-1, -1, "end"],
  [1, 1, "start"],
  [-1, 1, "end"],
  [0, -2, "middle"],
  [0, 2, "middle"],
];

export class Labels {
  #taken = [];

  /** @param {number} width of the drawing, in px @param {number} height */
  constructor(width, height) {
    Object.assign(this, { width, height });
  }

  /** Keep names away from a point. */
  avoid(x, y) {
    this.#taken.push({ left: x - POINT, right: x + POINT, top: y - POINT, bottom: y + POINT });
  }

  /** The name of a point, as near as there is room for it. */
  name(x, y, words) {
    const places = SPOTS.map((spot) => placed(x, y, words, spot));
    const free = places.find((place) => this.#fits(place)) ?? places[0];
    this.#taken.push(free);
    return text(free.x, free.y, words, { anchor: free.anchor, kind: "fig-value" });
  }

  #fits({ left, right, top, bottom }) {
    if (left < 0 || right > this.width || top < 0 || bottom > this.height) return false;
    return this.#taken.every(
      (other) => right <= other.left || left >= other.right || bottom <= other.top || top >= other.bottom,
    );
  }
}

function placed(px, py, words, [across, down, anchor]) {
  const x = px + across * AWAY;
  const y = down ? py + down * AWAY + Math.sign(down) * 2 + (down > 0 ? ASCENT - 4 : 0) : py + 5;
  const width = words.length * LETTER;
  const left = x - { start: 0, middle: width / 2, end: width }[anchor];
  return { x, y, anchor, left, right: left + width, top: y - ASCENT, bottom: y + LINE - ASCENT };
}

/** Heights as they are, or moved down as far as it takes to keep lines of text apart. */
export function apart(heights, gap = 15) {
  const moved = new Map();
  let last = -Infinity;
  for (const [y, i] of heights.map((y, i) => [y, i]).sort(([a], [b]) => a - b)) {
    last = Math.max(y, last + gap);
    moved.set(i, last);
  }
  return heights.map((_, i) => moved.get(i));
}
