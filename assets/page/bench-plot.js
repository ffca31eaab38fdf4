// Speed against quality: how much faster each way is, across what it costs. Lossless rules that cost
// nothing have a column each, so that their marks do not lie upon one another.

import { badge, mark, nameOf, stepFor } from "./bench-parts.js";
import { h } from "./dom.js";
import { Drawing, line, s, text } from "./fig-svg.js";

const [TOP, BOTTOM, LEFT, RIGHT] = [34, 64, 44, 18]; // px around the plot
const NARROW = 560; // px
const LINES = 5;
const LABEL = { distance: "mean total variation from the target's distribution", wer: "wrong words (WER)" };

export class Plot {
  #shown = { rows: [], best: [], loss: "distance", rules: [] };

  constructor(choose) {
    this.choose = choose;
    this.says = h("p", { class: "bench-says" });
    this.drawing = new Drawing((width) => this.#draw(width));
    this.key = h("ul", { class: "bench-key" });
    this.element = h("section", { class: "bench-plot" }, h("h3", {}, "Speed and quality"), this.drawing.element, this.key, this.says);
  }

  show(shown) {
    this.#shown = shown;
    this.drawing.redraw();
    this.key.replaceChildren(...legend(shown.rows));
    this.says.replaceChildren(...about(shown));
  }

  #draw(width) {
    const { rows, best, chosen, loss, rules } = this.#shown;
    const placed = rows.filter((row) => loss !== "wer" || row.numbers.wer);
    const room = { width, height: width < NARROW ? 340 : 400 };
    const scale = new Scale(placed, rules, loss, room);
    const front = best.filter((row) => placed.includes(row));
    const points = front.map((row) => `${scale.x(row)},${scale.y(row.numbers.speedup[0])}`).join(" ");
    const marks = placed.map((row) => this.#mark(row, scale, front, chosen));
    const rim = s("polyline", { points, class: "bench-front" });
    return { height: room.height, label: inWords(rows, best), nodes: [scale.axes(), rim, marks] };
  }

  #mark(row, scale, front, chosen) {
    const [middle, low, high] = row.numbers.speedup;
    const x = scale.x(row);
    const kind = `${front.includes(row) ? "bench-best" : ""} ${row.name === chosen ? "bench-chosen" : ""}`;
    const claim = row.lossless ? "bench-lossless" : "bench-relaxed";
    const made = s(
      "g",
      { class: "bench-point" },
      s("title", {}, `${nameOf(row)}: ${row.texts.speedup[0]}x (${row.claim})`),
      line(x, scale.y(low), x, scale.y(high), `bench-spread ${claim}`),
      mark(x, scale.y(middle), row, kind),
    );
    made.addEventListener("click", () => this.choose(row.name));
    return made;
  }
}

/** Where things are; in the left part a column for each lossless rule, where nothing is lost. */
class Scale {
  constructor(rows, rules, loss, { width, height }) {
    Object.assign(this, { width, height, loss });
    this.columns = loss === "distance" ? rules.filter(({ lossless }) => lossless) : [];
    this.letters = [...new Set(rows.map(({ letter }) => letter))].sort();
    const plain = width - LEFT - RIGHT;
    this.split = LEFT + (this.columns.length ? plain * (width < NARROW ? 0.5 : 0.36) : 0);
    const lost = rows.filter((row) => !this.#isFree(row)).map((row) => row.numbers[loss][0]);
    this.farthest = Math.max(0, ...lost) * 1.12 || (loss === "wer" ? 0.1 : 0.05);
    this.fastest = Math.max(1.2, ...rows.map((row) => row.numbers.speedup[2])) * 1.06;
  }

  #isFree(row) {
    return this.columns.length > 0 && row.lossless && row.exact;
  }

  x(row) {
    if (!this.#isFree(row)) return this.across(row.numbers[this.loss][0]);
    const wide = (this.split - LEFT) / this.columns.length;
    const column = this.columns.findIndex(({ name }) => name === row.rule);
    const beside = (this.letters.indexOf(row.letter) + 0.5) / this.letters.length;
    return LEFT + wide * (column + 0.06 + 0.88 * beside);
  }

  across(lost) {
    const begin = this.columns.length ? this.split + 14 : LEFT + 14;
    return begin + ((this.width - RIGHT - begin) * lost) / this.farthest;
  }

  y(speed) {
    return this.height - BOTTOM - ((this.height - TOP - BOTTOM) * speed) / this.fastest;
  }

  axes() {
    const { width, height, split } = this;
    const low = height - BOTTOM;
    const step = stepFor(this.fastest, LINES);
    const speeds = Array.from({ length: Math.floor(this.fastest / step) + 1 }, (_, i) => i * step);
    return [
      speeds.map((speed) => [
        line(LEFT, this.y(speed), width - RIGHT, this.y(speed), "fig-grid"),
        text(LEFT - 8, this.y(speed) + 5, `${Number(speed.toFixed(2))}x`, { anchor: "end", kind: "fig-muted" }),
      ]),
      line(LEFT, this.y(1), width - RIGHT, this.y(1), "bench-one"),
      width < NARROW ? null : text(width - RIGHT, this.y(1) - 6, "as fast as the baseline", { anchor: "end", kind: "fig-muted fig-halo" }),
      this.columns.length ? this.#columns(low) : null,
      this.#losses(low),
      this.columns.length ? line(split, TOP - 12, split, low, "bench-wall") : null,
    ];
  }

  #columns(low) {
    const wide = (this.split - LEFT) / this.columns.length;
    const narrow = this.width < NARROW;
    // Short names, every second one a line lower: there is no room for more.
    const words = ({ name, title }, i) => (narrow ? [...Array(i % 2).fill(""), name] : title.split(" "));
    return [
      text(LEFT, TOP - 16, "Lossless", { kind: "fig-strong" }),
      text(this.split + 14, TOP - 16, "Not lossless", { kind: "fig-strong" }),
      this.columns.map((rule, i) =>
        words(rule, i).map((word, row) =>
          text(LEFT + wide * (i + 0.5), low + 18 + 15 * row, word, { anchor: "middle", kind: "fig-muted bench-tight" }),
        ),
      ),
    ];
  }

  #losses(low) {
    const step = stepFor(this.farthest, this.width < NARROW ? 3 : 4);
    const count = Math.floor(this.farthest / step);
    const percent = this.loss === "wer";
    const begin = this.columns.length ? this.split + 14 : LEFT;
    const says = this.width < NARROW && !percent ? "distance" : LABEL[this.loss];
    return [
      Array.from({ length: count + 1 }, (_, i) => {
        const label = percent ? `${Number((100 * i * step).toFixed(1))}%` : `${Number((i * step).toFixed(4))}`;
        if (i === 0 && this.columns.length && this.width < NARROW) return null; // the wall is there
        return text(this.across(i * step), low + 18, label, { anchor: "middle", kind: "fig-muted" });
      }),
      text((begin + this.width - RIGHT) / 2, low + 42, says, { anchor: "middle", kind: "fig-muted" }),
    ];
  }
}

function legend(rows) {
  const drafts = new Map(rows.map((row) => [row.letter, row.draft]));
  return [
    h("li", {}, badge({ lossless: true, letter: "" }), "lossless"),
    h("li", {}, badge({ lossless: false, letter: "" }), "not lossless"),
    ...[...drafts].map(([letter, draft]) => h("li", {}, h("b", {}, letter), ` ${draft}`)),
    h("li", {}, "bold rims, line: Pareto front; bars: quartiles"),
  ];
}

/** The way that was pointed at, or else the best lossless one. */
function about({ rows, best, chosen }) {
  const front = best.filter((row) => row.lossless);
  const row = rows.find(({ name }) => name === chosen) ?? front.at(-1) ?? rows[0];
  if (!row) return [];
  const [speed, spread] = row.texts.speedup;
  const distance = row.exact ? "no distance from the target's distribution" : `distance ${row.texts.distance[0]}`;
  const first = chosen === row.name ? "" : "Fastest lossless: ";
  return [badge(row), h("span", {}, `${first}${nameOf(row)} (${row.claim}): ${speed}x (${spread}), ${distance}.`)];
}

function inWords(rows, best) {
  const told = best.map((row) => `${nameOf(row)}, ${row.claim}, ${row.texts.speedup[0]} times as fast`);
  return `Speed and quality of ${rows.length} ways. On the Pareto front: ${told.join("; ")}. The table has all numbers.`;
}
