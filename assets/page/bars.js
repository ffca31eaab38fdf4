// Distributions as bars, side by side per entry, largest first; what is too small to read is
// compressed at the right end. Heights are probabilities, so areas can be compared.

import { Picture } from "./picture.js";

const SLOT = 2.8; // width of an entry's slot, in heights of the type
const TAIL = 0.14; // part of the width that the compressed entries get
const NARROWEST = 5.5; // of that part, in heights of the type: their number stands below it
const TOP = 2.6; // heights of the type above the bars: for a mark and a number
const BOTTOM = 1.6; // and below them: for the entry's name
const PALE = 0.3; // opacity of what a shade leaves out
const NICE = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1];

/** Colour of each distribution in the palette. */
export const SERIES = { q: "draft", p: "ahead", residual: "corrected" };

/**
 * All entries, those with the largest of their values first.
 * @param {...ArrayLike<number>} series
 * @returns {number[]}
 */
export function largestFirst(...series) {
  const largest = Array.from(series[0], (_, entry) => Math.max(...series.map((each) => each[entry])));
  return largest.map((_, entry) => entry).sort((a, b) => largest[b] - largest[a] || a - b);
}

/** Sum of min(p, q): the chance that a token drawn from q is accepted. */
export function overlap(p, q) {
  return p.reduce((sum, value, entry) => sum + Math.min(value, q[entry]), 0);
}

/**
 * Where every bar stands. Distances are in px from the left edge, heights are probabilities.
 * @param {Object<string, ArrayLike<number>>} series by name, drawn from left to right
 * @param {number[]} order all entries, as they stand from left to right
 * @param {number} width
 * @param {number} type height of the type
 * @returns {{wide: number, slot: number, tail: number, most: number, bars: {series: string,
 *   entry: number, x: number, width: number, value: number, common: number}[]}} wide: how many
 *   entries have a slot of their own; slot: its width; tail: the width of the others together;
 *   most: the axis' end; common: what all series have of an entry
 */
export function layout(series, order, width, type) {
  const names = Object.keys(series);
  const fits = Math.floor(width / (SLOT * type));
  const all = order.length <= fits;
  const tail = all ? 0 : Math.max(width * TAIL, NARROWEST * type);
  const wide = all ? order.length : Math.floor((width - tail) / (SLOT * type));
  const slot = Math.min((width - tail) / wide, 12 * type);
  const thin = tail / (order.length - wide);
  const bars = order.flatMap((entry, place) => {
    const inTail = place >= wide;
    const step = inTail ? thin : slot;
    const left = inTail ? width - tail + (place - wide) * thin : place * slot;
    const gap = inTail ? 0 : Math.min(slot * 0.16, type);
    const each = (step - 2 * gap) / names.length;
    const common = Math.min(...names.map((name) => series[name][entry]));
    return names.map((name, i) => ({
      series: name,
      entry,
      x: left + gap + i * each,
      width: each,
      value: series[name][entry],
      common,
    }));
  });
  const peak = bars.reduce((most, { value }) => Math.max(most, value), 0); // too many to be arguments
  return { wide, slot, tail, bars, most: NICE.find((most) => peak <= most) ?? 1 };
}

/** One picture of one or several distributions. */
export class Bars {
  /** @param {string} [kind] class of the canvas */
  constructor(kind = "bars") {
    this.picture = new Picture((surface) => this.#draw(surface), kind);
    this.element = this.picture.element;
  }

  /**
   * @param {object} shown
   * @param {Object<string, ArrayLike<number>>} shown.series names are keys of SERIES
   * @param {string} shown.label what it shows, for those who do not see it
   * @param {number[]} [shown.order] of the entries; largest first if left out
   * @param {"common"|"excess"} [shown.shade] what is drawn in full colour: what all series have in
   *   common, or what the last has above the others; all of it if left out
   * @param {{entry: number, text: string}[]} [shown.marks] entries that are pointed at
   * @param {function(number): string} [shown.name] of an entry; its number if left out
   * @param {number} [shown.most] the axis' end; a round number above the largest if left out
   */
  show(shown) {
    this.shown = { order: largestFirst(...Object.values(shown.series)), marks: [], name: String, ...shown };
    this.picture.show(shown.label);
  }

  #draw(surface) {
    if (!this.shown) return;
    const style = surface.style();
    const { series, order, marks, shade } = this.shown;
    const height = style.row;
    const context = surface.clear(height);
    const placed = layout(series, order, style.width, style.type);
    const most = this.shown.most ?? placed.most;
    const floor = height - BOTTOM * style.type;
    const rise = (value) => ((floor - TOP * style.type) * value) / most;
    drawAxis(context, style, most, floor, rise);
    for (const bar of placed.bars) drawBar(context, style.colours, bar, shade, floor, rise);
    drawNames(context, style, placed, this.shown, floor);
    const taken = []; // places of texts
    for (const mark of marks) drawMark(context, style, placed, mark, floor, rise, taken);
  }
}

function drawAxis(context, { width, type, colours, font }, most, floor, rise) {
  context.strokeStyle = colours.faint;
  context.lineWidth = 1;
  context.fillStyle = colours.muted;
  context.font = font;
  context.textAlign = "right";
  context.textBaseline = "bottom";
  for (const part of [0.5, 1]) {
    const y = Math.round(floor - rise(most * part)) + 0.5;
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
    context.fillText(String(+(most * part).toPrecision(3)), width, y - 1);
  }
  context.fillStyle = colours.muted;
  context.fillRect(0, floor, width, Math.max(1, type / 12));
}

function drawBar(context, colours, { series, x, width, value, common }, shade, floor, rise) {
  const paint = (bottom, part, opacity) => {
    context.globalAlpha = opacity;
    context.fillRect(x, floor - rise(bottom + part), width, rise(part));
  };
  context.fillStyle = colours[SERIES[series]];
  if (!shade) paint(0, value, 1);
  else {
    paint(0, common, shade === "common" ? 1 : PALE);
    paint(common, value - common, shade === "excess" && series === "p" ? 1 : PALE);
  }
  context.globalAlpha = 1;
  if (width < 4 || !(shade || series === "residual")) return;
  context.strokeStyle = series === "residual" ? colours.outline : colours[SERIES[series]];
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, floor - rise(value) + 0.5, width - 1, Math.max(0, rise(value) - 1));
}

function drawNames(context, style, { wide, slot, tail }, { order, marks, name }, floor) {
  const { width, type, colours } = style;
  const marked = new Set(marks.map(({ entry }) => entry));
  context.textBaseline = "top";
  context.textAlign = "center";
  for (let place = 0; place < wide; place++) {
    const bold = marked.has(order[place]);
    context.font = bold ? style.bold : style.font;
    context.fillStyle = bold ? colours.ink : colours.muted;
    context.fillText(name(order[place]), (place + 0.5) * slot, floor + 0.35 * type, slot);
  }
  if (!tail) return;
  context.font = style.font;
  context.fillStyle = colours.muted;
  context.fillText(`${order.length - wide} more`, width - tail / 2, floor + 0.35 * type, tail);
}

/** A pointer at an entry's bars. Bars to its right are lower, so its text goes there. */
function drawMark(context, style, { bars }, { entry, text }, floor, rise, taken) {
  const { width, type, colours } = style;
  const mine = bars.filter((bar) => bar.entry === entry);
  const middle = (mine[0].x + mine.at(-1).x + mine.at(-1).width) / 2;
  const top = floor - rise(Math.max(...mine.map(({ value }) => value)));
  context.fillStyle = colours.ink;
  context.beginPath();
  context.moveTo(middle, top - 0.25 * type);
  context.lineTo(middle - 0.45 * type, top - type);
  context.lineTo(middle + 0.45 * type, top - type);
  context.fill();
  context.font = style.bold;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  const room = context.measureText(text).width;
  const x = Math.max(0, Math.min(middle - 0.45 * type, width - room));
  let y = top - 1.3 * type;
  while (taken.some((box) => Math.abs(box.y - y) < 1.2 * type && x < box.end && box.x < x + room)) y -= 1.3 * type;
  taken.push({ x, end: x + room + type, y });
  context.save();
  context.strokeStyle = colours.ground;
  context.lineWidth = 0.3 * type;
  context.lineJoin = "round";
  context.strokeText(text, x, y);
  context.restore();
  context.fillText(text, x, y);
}
