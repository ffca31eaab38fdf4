// How many of each codebook's tested guesses were accepted, draft by draft, under one rule.

import { choice } from "./bench-parts.js";
import { h } from "./dom.js";
import { box, Drawing, hatched, line, text } from "./fig-svg.js";

const [TOP, BOTTOM, LEFT, HEIGHT] = [20, 46, 48, 400]; // px
const SHARES = [0, 0.25, 0.5, 0.75, 1];
const FILLS = [box, hatched]; // beside a letter under each bar

export class Bars {
  #rows = [];
  #codebooks = 0;

  constructor() {
    this.rule = choice("Rule", {}, () => this.drawing.redraw());
    this.drawing = new Drawing((width) => this.#draw(width));
    this.element = h(
      "section",
      { class: "bench-bars" },
      h("h3", {}, "Accepted of tested, by codebook"),
      this.rule.element,
      this.drawing.element,
    );
  }

  begin(rules, codebooks) {
    this.#codebooks = codebooks;
    this.titles = Object.fromEntries(
      rules.map(({ name, title, lossless }) => [name, lossless ? title : `${title} (not lossless)`]),
    );
  }

  choose(rule) {
    this.rule.value = rule;
  }

  show(rows) {
    this.#rows = rows.filter((row) => !row.baseline);
    const there = new Set(this.#rows.map(({ rule }) => rule));
    this.rule.offer(Object.fromEntries(Object.entries(this.titles).filter(([name]) => there.has(name))));
    this.element.hidden = !there.size;
    this.drawing.redraw();
  }

  // Of several γ the first: what a guess is worth does not depend on how many there are.
  #shown() {
    const mine = this.#rows.filter(({ rule }) => rule === this.rule.value);
    return [...new Map(mine.toReversed().map((row) => [row.letter, row])).values()].reverse();
  }

  #draw(width) {
    const rows = this.#shown();
    const yAt = (share) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share;
    const wide = (width - LEFT - 8) / (this.#codebooks || 1);
    const each = Math.min(40, (wide * 0.84) / (rows.length || 1));
    const books = Array.from({ length: this.#codebooks }, (_, q) => {
      const middle = LEFT + wide * (q + 0.5);
      const bars = rows.map((row, i) => bar(row, q, i, middle + (i - rows.length / 2) * each, each, yAt));
      const label = wide < 80 ? `${q}` : `codebook ${q}`;
      return [bars, text(middle, HEIGHT - 8, label, { anchor: "middle", kind: "fig-muted" })];
    });
    const lines = SHARES.map((share) => [
      line(LEFT, yAt(share), width, yAt(share), "fig-grid"),
      text(LEFT - 8, yAt(share) + 5, `${100 * share}%`, { anchor: "end", kind: "fig-muted" }),
    ]);
    return { height: HEIGHT, label: this.#inWords(rows), nodes: [lines, books] };
  }

  #inWords(rows) {
    const shares = ({ per_codebook: books }) => books.map((book) => (book ? `${Math.round(100 * book[0])}%` : "none")).join(", ");
    return `Accepted of tested by codebook, ${this.titles?.[this.rule.value] ?? ""}. ${rows.map((row) => `${row.draft}: ${shares(row)}`).join(". ")}`;
  }
}

function bar(row, q, i, left, each, yAt) {
  const claim = row.lossless ? "bench-lossless" : "bench-relaxed";
  const found = row.per_codebook[q];
  const letter = text(left + each / 2, yAt(0) + 16, row.letter, { anchor: "middle", kind: "bench-tight fig-strong" });
  if (!found) return letter;
  const [middle, low, high] = found;
  const x = left + each / 2;
  return [
    FILLS[i % FILLS.length](left + 1, yAt(middle), each - 2, yAt(0) - yAt(middle), `bench-bar ${claim}`),
    line(x, yAt(low), x, yAt(high), "bench-whisker"),
    letter,
  ];
}
