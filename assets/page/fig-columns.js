// A column for each symbol, over a scale of shares.

import { percent } from "./fig-parts.js";
import { box, hatched, line, text } from "./fig-svg.js";

export const GUTTER = 54; // px left of the columns, for the scale
const TOP = 22; // px above the scale's end, for values on full bars
const FOOT = 26; // px below, for the symbols
const LINES = [0, 0.25, 0.5, 0.75, 1];

/**
 * A scale with a column for each symbol.
 * @param {{width: number, height: number, symbols: string[], top: number}} frame top: the greatest
 *   share that the scale has room for.
 * @param {function(number, {left: number, width: number, y: function(number): number}): Array} column
 *   What stands in a column: of its index and where it is.
 */
export function columns({ width, height, symbols, top }, column) {
  const base = height - FOOT;
  const y = (share) => base - (share / top) * (base - TOP);
  const step = (width - GUTTER) / symbols.length;
  return [
    LINES.filter((share) => share <= top).map((share) => [
      line(GUTTER, y(share), width, y(share), "fig-grid"),
      text(GUTTER - 8, y(share) + 5, percent(share), { anchor: "end", kind: "fig-muted" }),
    ]),
    symbols.map((name, i) => {
      const place = { left: GUTTER + i * step, width: step, y };
      const middle = place.left + step / 2;
      return [column(i, place), text(middle, height - 6, name, { anchor: "middle", kind: "fig-strong" })];
    }),
  ];
}

/** Which column an x is in, and how far into it (0 to 1); the share at a y. */
export function placeAt({ width, height, symbols, top }, x, y) {
  const at = ((x - GUTTER) / (width - GUTTER)) * symbols.length;
  const base = height - FOOT;
  return { index: Math.floor(at), into: at - Math.floor(at), share: ((base - y) / (base - TOP)) * top };
}

/** Bars of p and q side by side: where, in a column. */
export function pairPlaces({ left, width }) {
  const bar = Math.min(64, width * 0.36);
  const middle = left + width / 2;
  return { p: middle - bar - 2, q: middle + 2, bar };
}

/**
 * What was accepted, and on top of it, hatched, what was redrawn; a line where p is.
 * @param {{accepted: number, redrawn: number, p: ?number}} shares
 */
export function stack({ left, width, y }, { accepted, redrawn, p }) {
  const bar = Math.min(84, width * 0.6);
  const x = left + (width - bar) / 2;
  const out = accepted + redrawn;
  return [
    box(x, y(accepted), bar, y(0) - y(accepted), "fig-accepted"),
    hatched(x, y(out), bar, y(accepted) - y(out), "fig-redrawn"),
    p != null && line(left + 4, y(p), left + width - 4, y(p), "fig-goal"),
  ];
}
