// Four graphs under the grid, on its time axis: time per round, RTF, what is buffered, acceptance.

import { Acceptance, Ahead, drawLabel, RoundTime, Rtf } from "./plots.js";
import { playheadLine } from "./marks.js";
import { Surface } from "./surface.js";

const STEPS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600]; // seconds
const ROOM_FOR_THREE = 4; // heights of text that three lines need in a lane

export class Graphs {
  #surface;
  #lanes = [new RoundTime(), new Rtf(), new Ahead(), new Acceptance()];
  #tops = []; // what each lane needs
  beside = null; // Graphs that are compared with these by eye, so they share their scales

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#surface = new Surface(canvas);
  }

  /**
   * @param {Run} run
   * @param {View} view
   * @param {number} playhead Seconds of sound heard.
   * @param {{buffered: {t: number, ahead: number}[], underruns: {at: number, seconds: number}[]}} heard
   *   What playback met: seconds ahead of the playhead when it was at t (ascending); its underruns.
   */
  draw(run, view, playhead, heard) {
    const style = this.#surface.style();
    const { width, row, type, gutter, colours } = style;
    if (!width) return;
    view.gutter = gutter;
    const height = this.#lanes.length * row + Math.round(type * 1.8);
    const context = this.#surface.clear(height);
    drawAxis(context, style, view, height);
    this.#lanes.forEach((each, i) => {
      const [top, bottom] = [i * row + 8, (i + 1) * row - 8];
      const plot = { context, style, view, run, playhead, heard, top, bottom };
      this.#tops[i] = each.top(plot);
      const scale = Math.max(this.#tops[i], this.beside?.#tops[i] ?? 0);
      context.save();
      context.beginPath();
      context.rect(gutter, i * row, width - gutter, row);
      context.clip();
      each.draw({ ...plot, yAt: (value) => yAt(plot, value / scale) });
      context.restore();
      drawTitle(plot, each, scale);
      context.fillStyle = colours.faint;
      context.fillRect(0, (i + 1) * row - 1, width, 1);
    });
    if (!run.header) return;
    playheadLine(context, style, { height: this.#lanes.length * row, gutter }, view.xAt(playhead));
  }
}

function yAt({ top, bottom }, share) {
  return bottom - Math.max(0, Math.min(share, 1)) * (bottom - top);
}

/** Vertical lines and their times. */
function drawAxis(context, { width, gutter, type, font, colours }, view, height) {
  const distance = type * 6; // px between two times, at least
  const step = STEPS.find((each) => each / view.secondsPerPixel >= distance) ?? STEPS.at(-1);
  context.font = font;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let i = Math.ceil(view.left / step); i * step <= view.timeAt(width); i += 1) {
    const x = Math.round(view.xAt(i * step));
    context.fillStyle = colours.faint;
    context.fillRect(x, 0, 1, height - type * 1.6);
    const text = written(i * step, step);
    const half = context.measureText(text).width / 2;
    if (x - half < gutter - type || x + half > width) continue;
    context.fillStyle = colours.muted;
    context.fillText(text, x, height - type * 0.7);
  }
}

function written(seconds, step) {
  if (seconds < 60) return `${seconds.toFixed(step < 0.1 ? 2 : step < 1 ? 1 : 0)} s`;
  const rest = seconds % 60;
  const places = step < 0.1 ? 2 : step < 1 ? 1 : 0;
  return `${Math.floor(seconds / 60)}:${rest.toFixed(places).padStart(places ? 3 + places : 2, "0")}`;
}

/** A lane's name, what it says now, and its scale, in the gutter. */
function drawTitle(plot, lane, scale) {
  const { context, style, top, bottom } = plot;
  const { type, row, font, large, narrow, gutter, colours } = style;
  context.textAlign = "left";
  context.textBaseline = "top";
  context.font = font;
  context.fillStyle = colours.muted;
  context.fillText(narrow ? lane.short : lane.title, 0, top - 4);
  context.font = large;
  context.fillStyle = colours.ink;
  context.fillText(lane.now(plot), 0, top + type * 0.95);
  context.font = font;
  context.fillStyle = colours.muted;
  if (narrow && row < ROOM_FOR_THREE * type) {
    drawLabel(context, style, lane.scale(scale), gutter + type * 0.4, top - 4, "left");
    return;
  }
  context.textAlign = "right";
  const right = gutter - type * 0.5;
  if (!narrow) context.fillText(lane.scale(scale), right, top - 4);
  context.textBaseline = "alphabetic";
  context.fillText(narrow ? lane.scale(scale) : "0", right, bottom + 5);
}
