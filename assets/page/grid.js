// The token grid: a row per codebook, a column per frame, words and phonemes above their frames.

import { Captions } from "./captions.js";
import { drawCells, inkOn, KINDS, REJECTED_SHARE } from "./colours.js";
import { drawEnds, drawFrontier, drawPlayhead, drawWords, edge, outlineRound } from "./marks.js";
import { Surface } from "./surface.js";
import { firstAfter } from "./view.js";

const ROOM_FOR_NUMBERS = 3.3; // widths of a cell in heights of text
const CODEBOOKS = 4; // rows of full height: more of them share their room
const LEAST_ROW = 8; // px
const NEAR = 6; // px, at most, from which the end of a sentence can be pointed at
const PIXELS_PER_FRAME = 1.5; // when frames are narrower, some stand for their neighbours

export class Grid {
  #surface;
  #captions = new Captions();
  #boxes = Object.fromEntries(KINDS.map((kind) => [kind, []]));
  #numbers = []; // cells whose numbers are to be written, and where
  #layout = null;
  #ends = []; // of the run at the last drawing

  /** Rows to keep free before a run says how many it has. */
  rows = CODEBOOKS;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#surface = new Surface(canvas);
  }

  /** Height in CSS px at the last drawing. */
  get height() {
    return this.#layout?.height ?? 0;
  }

  /** The cell at a place of the canvas, in CSS px, or the end of a sentence there; or null. */
  at(x, y) {
    const layout = this.#layout;
    if (!layout || x < layout.gutter || x >= layout.width) return null;
    const end = y >= layout.sounds && y < layout.height ? this.#endAt(x) : null;
    if (end) return { frame: end.frame, q: 0, end };
    const q = Math.floor((y - layout.top) / layout.row);
    let frame = Math.floor((x - layout.origin) / layout.frameWidth);
    if (x < edge(layout, frame)) frame -= 1; // edges are rounded to whole pixels
    if (x >= edge(layout, frame + 1)) frame += 1;
    return q >= 0 && q < layout.Q && frame >= 0 && frame < layout.frames ? { frame, q } : null;
  }

  /**
   * @param {Run} run
   * @param {View} view
   * @param {number} playhead Seconds of sound heard.
   * @param {?{frame: number, q: number, end: ?End}} highlight The cell whose round is outlined.
   */
  draw(run, view, playhead, highlight) {
    const style = this.#surface.style();
    if (!style.width) return;
    view.gutter = style.gutter;
    if (run.Q) this.rows = run.Q;
    const layout = (this.#layout = layOut(run, this.rows, view, style));
    this.#ends = run.ends;
    const context = this.#surface.clear(layout.height);
    this.#drawGutter(context, style, layout, run);
    if (!run.header) return;
    context.save();
    context.beginPath();
    context.rect(layout.gutter, 0, layout.width - layout.gutter, layout.height);
    context.clip();
    this.#drawCaptions(context, style, layout, run, playhead);
    this.#drawCells(context, style, layout, run);
    drawEnds(context, style, layout, run, highlight);
    if (highlight) outlineRound(context, style, layout, run, highlight);
    drawFrontier(context, style, layout, run, view.xAt(playhead));
    drawPlayhead(context, style, layout, view.xAt(playhead));
    context.restore();
  }

  #endAt(x) {
    const { gutter, width, frameWidth } = this.#layout;
    const near = Math.max(2, Math.min(NEAR, frameWidth / 2));
    const off = ({ frame }) => Math.abs(Math.min(edge(this.#layout, frame), width - 1) - x);
    const inSight = ({ frame }) => edge(this.#layout, frame) >= gutter;
    return this.#ends.find((end) => inSight(end) && off(end) <= near) ?? null;
  }

  #drawGutter(context, { colours, font, narrow }, { gutter, top, row, Q, words, sounds, type }, run) {
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.font = font;
    context.fillStyle = colours.muted;
    const right = gutter - type * 0.7;
    context.fillText(narrow ? "word" : "words", right, words + type * 0.75);
    const aligned = !run.sentences.length || run.sentences.some(({ phonemes }) => phonemes?.length);
    if (aligned) context.fillText(narrow ? "sound" : "phonemes", right, sounds + type * 0.7);
    context.fillStyle = colours.ink;
    const every = Math.ceil((type * 0.9) / row); // rows that are lower than their names
    for (let q = 0; q < Q; q += every) {
      context.fillText(narrow ? `${q}` : `codebook ${q}`, right, top + (q + 0.5) * row);
    }
  }

  #drawCaptions(context, style, layout, run, playhead) {
    const { colours, font } = style;
    const { sentences } = run;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const now = playhead / run.secondsPerFrame;
    let i = firstAfter(sentences, (sentence) => sentence.firstFrame + sentence.frames, layout.first);
    for (; i < sentences.length && sentences[i].firstFrame <= layout.last; i += 1) {
      const { firstFrame } = sentences[i];
      const x = layout.origin + firstFrame * layout.frameWidth;
      const labels = this.#captions.labels(context, sentences[i], layout.frameWidth, font, font);
      drawWords(context, style, layout, labels.words, x, now - firstFrame);
      context.fillStyle = colours.muted;
      for (const { text, start, end } of labels.sounds) {
        const middle = x + ((start + end) / 2) * layout.frameWidth;
        context.fillText(text, middle, layout.sounds + 0.7 * layout.type);
      }
      if (!firstFrame) continue;
      context.fillStyle = colours.pending;
      context.fillRect(Math.round(x) - 1, layout.words, 1, layout.height - layout.words);
    }
  }

  #drawCells(context, style, layout, run) {
    const boxes = this.#boxes;
    for (const kind of KINDS) boxes[kind].length = 0;
    this.#numbers.length = 0;
    const numbered = layout.frameWidth >= ROOM_FOR_NUMBERS * layout.type;
    for (let frame = layout.first; frame <= layout.last; frame += layout.step) {
      const x = edge(layout, frame);
      const width = edge(layout, frame + layout.step) - x - layout.gap;
      for (let q = 0; q < layout.Q; q += 1) {
        const y = layout.top + q * layout.row;
        const height = layout.row - 2;
        const cell = run.cell(frame, q);
        if (!cell) {
          boxes.pending.push(x, y, width, height);
        } else if (cell.rejected) {
          const upper = Math.round(height * REJECTED_SHARE);
          boxes.rejected.push(x, y, numbered ? upper - 2 : width, upper);
          boxes.corrected.push(x, y + upper, width, height - upper);
        } else {
          boxes[cell.kind].push(x, y, width, height);
        }
        if (cell && numbered) this.#numbers.push({ cell, x, y, width, height });
      }
    }
    for (const kind of KINDS) drawCells(context, style.colours, kind, boxes[kind]);
    this.#drawNumbers(context, style);
  }

  #drawNumbers(context, { colours, font }) {
    context.font = font;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const { cell, x, y, width, height } of this.#numbers) {
      const upper = cell.rejected ? Math.round(height * REJECTED_SHARE) : 0;
      context.fillStyle = inkOn(cell.kind, colours);
      context.fillText(cell.token, x + width / 2, y + upper + (height - upper) / 2 + 1);
      if (!cell.rejected) continue;
      context.fillStyle = colours.ink;
      context.fillText(cell.rejected.token, x + (upper + width) / 2, y + upper / 2 + 1);
    }
  }
}

/** Places in px: rows from top to bottom, and how frames map to columns. */
function layOut(run, Q, view, { width, type, row: full, gutter }) {
  const row = Math.max(LEAST_ROW, Math.min(full, Math.round((CODEBOOKS * full) / Q)));
  const words = Math.round(type * 1.7);
  const sounds = words + Math.round(type * 1.8);
  const top = sounds + Math.round(type * 1.7);
  const frameWidth = run.header ? run.secondsPerFrame / view.secondsPerPixel : 1;
  const origin = Math.round(view.xAt(0));
  const step = Math.max(1, Math.ceil(PIXELS_PER_FRAME / frameWidth));
  const first = Math.max(0, Math.floor((gutter - origin) / frameWidth / step) * step);
  const last = Math.min(run.frames, Math.ceil((width - origin) / frameWidth)) - 1;
  const gap = frameWidth >= 10 ? 2 : frameWidth >= 4 ? 1 : 0;
  const height = top + Q * row + 4;
  const rows = { width, height, type, row, gutter, words, sounds, top, Q };
  return { ...rows, frameWidth, origin, step, first, last, gap, frames: run.frames };
}
