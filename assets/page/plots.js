// What each graph shows: its title, its value now (the title says of what), its scale, and how it is
// drawn. Numbers are those that Python measured; only what is visible is read and drawn.

import { DASHES, fillBoxes } from "./colours.js";
import { firstAfter } from "./view.js";

const ROUND_SCALES = [5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000, 2000]; // ms
const AHEAD_SCALES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]; // seconds
const ROUND_HEADROOM = 2.2; // height of the scale in mean rounds: a slow first one must not flatten the rest
const RTF_TOP = 1.5;
const MOST_COLUMNS = 5; // of labels at the ends of lines: more could not be told apart

const nice = (value, scales) => scales.find((scale) => scale >= value) ?? scales.at(-1);

/** Seconds of draft and verify of each round, stacked, over the tokens that the round emitted. */
export class RoundTime {
  title = "round time, mean";
  short = "mean round";
  #run = null;
  #counted = 0;
  #seconds = 0;

  now({ run }) {
    return run.rounds.length ? `${(this.#mean(run) * 1000).toFixed(0)} ms` : "–";
  }

  scale(top) {
    return `${Math.round(top * 1000)} ms`;
  }

  top({ run }) {
    return nice(this.#mean(run) * 1000 * ROUND_HEADROOM, ROUND_SCALES) / 1000;
  }

  /** The slowest of the rounds that share a pixel stands for them. */
  draw({ context, style, view, run, top, bottom, yAt }) {
    const { rounds, Q, secondsPerFrame } = run;
    if (!rounds.length) return;
    const perToken = secondsPerFrame / Q;
    const from = view.timeAt(style.gutter) / perToken;
    const to = view.timeAt(style.width) / perToken;
    const bars = { draft: [], verify: [] };
    let i = firstAfter(rounds, (round) => round.firstToken + round.accepted + 1, from);
    while (i < rounds.length && rounds[i].firstToken < to) {
      let slowest = rounds[i];
      const x = Math.round(view.xAt(slowest.firstToken * perToken));
      let end = x;
      for (; end <= x && i < rounds.length; i += 1) {
        end = Math.round(view.xAt((rounds[i].firstToken + rounds[i].accepted + 1) * perToken));
        if (spent(rounds[i]) > spent(slowest)) slowest = rounds[i];
      }
      const width = end - x > 3 ? end - x - 1 : end - x;
      const middle = yAt(slowest.draft_s);
      bars.draft.push(x, middle, width, bottom - middle);
      const high = yAt(spent(slowest));
      bars.verify.push(x, high, width, middle - high);
    }
    fillBoxes(context, style.colours.draft, bars.draft);
    fillBoxes(context, style.colours.verify, bars.verify);
    this.#drawKey(context, style, top - 4);
  }

  #drawKey(context, style, y) {
    const { type, width, colours } = style;
    let x = width - type / 2;
    for (const [name, colour] of [["verify", colours.verify], ["draft", colours.draft]]) {
      const left = x - drawLabel(context, style, `    ${name}`, x, y, "right");
      context.fillStyle = colour;
      context.fillRect(left, y + type * 0.15, type * 0.6, type * 0.6);
      x = left - type * 0.8;
    }
  }

  #mean(run) {
    if (run !== this.#run) [this.#run, this.#counted, this.#seconds] = [run, 0, 0];
    for (; this.#counted < run.rounds.length; this.#counted += 1) {
      this.#seconds += spent(run.rounds[this.#counted]);
    }
    return this.#seconds / (this.#counted || 1);
  }
}

/** RTF up to each piece of sound, with the line that it has to stay under. */
export class Rtf {
  title = "RTF so far";
  short = "RTF";

  now({ run }) {
    return run.metrics?.audio_s ? run.metrics.rtf.toFixed(2) : "–";
  }

  scale(top) {
    return `${top}`;
  }

  top() {
    return RTF_TOP;
  }

  draw(plot) {
    const { context, style, top, yAt } = plot;
    const { colours, gutter, width, type } = style;
    const one = Math.round(yAt(1));
    context.fillStyle = colours.pending;
    context.fillRect(gutter, one, width - gutter, 1);
    drawLine(plot, colours.ahead, [], (metrics) => metrics.rtf);
    drawLabel(context, style, "1 = real time", width - type / 2, Math.max(top - 6, one - type - 3), "right");
  }
}

/** Seconds of sound that were there ahead of the playhead as it moved; red where there were none. */
export class Ahead {
  title = "buffered ahead";
  short = "ahead";
  #heard = null;
  #counted = 0;
  #most = 0;

  now({ run, playhead }) {
    return run.audioSeconds ? `${Math.max(0, run.audioSeconds - playhead).toFixed(1)} s` : "–";
  }

  scale(top) {
    return `${top} s`;
  }

  top({ heard: { buffered } }) {
    if (buffered !== this.#heard || buffered.length < this.#counted) {
      [this.#heard, this.#counted, this.#most] = [buffered, 0, 0];
    }
    for (; this.#counted < buffered.length; this.#counted += 1) {
      this.#most = Math.max(this.#most, buffered[this.#counted].ahead);
    }
    return nice(this.#most, AHEAD_SCALES);
  }

  draw(plot) {
    const { context, style, view, heard, bottom } = plot;
    const { colours, gutter, width } = style;
    const trace = () => traceSeries(plot, heard.buffered, (sample) => sample.t, (sample) => sample.ahead);
    const ends = trace();
    if (ends) {
      context.lineTo(ends.last.x, bottom);
      context.lineTo(ends.first.x, bottom);
      context.globalAlpha = 0.3;
      context.fillStyle = colours.ahead;
      context.fill();
      context.globalAlpha = 1;
      trace();
      strokeLine(context, colours.ahead, []);
    }
    let free = gutter; // from here on a label covers no other
    for (const { at, seconds } of heard.underruns) {
      const x = view.xAt(at);
      if (x > gutter && x < width) free = drawUnderrun(plot, x, seconds, free);
    }
  }
}

/**
 * Share of the tested tokens that were accepted up to each piece of sound, by codebook. Drafted tokens
 * after a rejection are not tested, so this is higher than the acceptance rate: accepted of drafted.
 */
export class Acceptance {
  title = "accepted of tested";
  short = "of tested";

  /** From the worst codebook to the best. */
  now({ run }) {
    const rates = (run.metrics?.per_codebook ?? []).filter((rate) => rate != null);
    if (!rates.length) return "–";
    const [low, high] = [Math.min(...rates), Math.max(...rates)].map((rate) => Math.round(100 * rate));
    return low === high ? `${low} %` : `${low}–${high} %`;
  }

  scale() {
    return "100 %";
  }

  top() {
    return 1;
  }

  draw(plot) {
    const { context, style, run, top, bottom } = plot;
    const { colours, type, font } = style;
    const ends = [];
    for (let q = 0; q < run.Q; q += 1) {
      const colour = colours.series[q % colours.series.length];
      const dash = DASHES[(q + Math.floor(q / DASHES.length)) % DASHES.length];
      const end = drawLine(plot, colour, dash, (metrics) => metrics.per_codebook[q]);
      if (end) ends.push({ text: `${q}`, colour, ...end });
    }
    context.font = font;
    context.textAlign = "left";
    context.textBaseline = "middle";
    if (run.header?.gamma === 0) {
      context.fillStyle = colours.muted;
      context.fillText("no draft: nothing to accept", style.gutter + 5 * type, (top + bottom) / 2);
    }
    const columns = spread(ends, top + type * 0.4, bottom - type * 0.4, type * 0.95);
    if (columns > MOST_COLUMNS) return;
    const room = Math.max(2, columns) * type;
    for (const { text, colour, x, y, column } of ends) {
      const left = Math.min(x + 4, style.width - room) + column * type;
      context.fillStyle = colours.ground;
      context.fillRect(left - 2, y - type * 0.45, type * 0.8, type * 0.9);
      context.fillStyle = colour;
      context.fillText(text, left, y + 1);
    }
  }
}

/** Text on a ground of its own, so that no line runs through it; its width. */
export function drawLabel(context, { type, font, colours }, text, x, y, align) {
  context.font = font;
  const { width } = context.measureText(text);
  context.fillStyle = colours.ground;
  context.fillRect((align === "right" ? x - width : x) - 3, y - 1, width + 6, type + 2);
  context.textAlign = align;
  context.textBaseline = "top";
  context.fillStyle = colours.muted;
  context.fillText(text, x, y);
  return width;
}

function spent({ draft_s: draft, verify_s: verify }) {
  return draft + verify;
}

/** A line through a metric of every piece of sound; where it ends, or null if there is none. */
function drawLine(plot, colour, dash, value) {
  const { samples, header } = plot.run;
  const time = (chunk) => (chunk.start + chunk.samples) / header.sample_rate;
  const ends = traceSeries(plot, samples, time, (chunk) => value(chunk.metrics));
  strokeLine(plot.context, colour, dash);
  return ends?.last;
}

/** Begins a path through those items of an ascending series that are in sight, at most one a pixel. */
function traceSeries({ context, style, view, yAt }, items, time, value) {
  const { gutter, width } = style;
  const first = Math.max(0, firstAfter(items, time, view.timeAt(gutter)) - 1);
  const last = Math.min(items.length - 1, firstAfter(items, time, view.timeAt(width)));
  const stride = Math.max(1, Math.ceil((last - first) / (width - gutter)));
  let ends = null;
  context.beginPath();
  for (let i = first; i <= last; i += stride) {
    const measured = value(items[i]);
    if (measured == null) continue;
    const point = { x: view.xAt(time(items[i])), y: yAt(measured) };
    context.lineTo(point.x, point.y); // the first one of a path only moves there
    ends = { first: ends?.first ?? point, last: point };
  }
  return ends;
}

function strokeLine(context, colour, dash) {
  context.strokeStyle = colour;
  context.lineWidth = 2.5;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
}

/** A mark, and how long it took where there is room; gives where the next label has room. */
function drawUnderrun({ context, style, top, bottom }, x, seconds, free) {
  const { colours, type, bold } = style;
  context.fillStyle = colours.rejected;
  context.fillRect(x - 2, top, 4, bottom - top);
  if (x < free) return free;
  context.font = bold;
  context.textAlign = "left";
  context.textBaseline = "top";
  const text = `✕ waited ${seconds.toFixed(2)} s`;
  context.strokeStyle = colours.ground;
  context.lineWidth = 4;
  context.strokeText(text, x + type * 0.4, top); // a rim
  context.fillText(text, x + type * 0.4, top);
  return x + type + context.measureText(text).width;
}

/** Moves labels apart vertically until none covers another, in as many columns as that takes. */
function spread(ends, top, bottom, distance) {
  const columns = Math.max(1, Math.ceil(((ends.length - 1) * distance) / (bottom - top)));
  ends.sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => (end.column = i % columns));
  let next = top;
  for (const end of ends) {
    end.y = Math.max(end.y, next);
    next = end.y + distance / columns;
  }
  let limit = bottom;
  for (const end of ends.toReversed()) {
    end.y = Math.min(end.y, limit);
    limit = end.y - distance / columns;
  }
  return columns;
}
