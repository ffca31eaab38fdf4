// What came out of a comparison: a plot, bars, a table; all of the same rows.

import { Bars } from "./bench-bars.js";
import { Plot } from "./bench-plot.js";
import { Table } from "./bench-table.js";
import { choice } from "./bench-parts.js";
import { h } from "./dom.js";

const FILES = {
  "bench.json": "Everything (JSON)",
  "bench.csv": "A line per way (CSV)",
  "bench.png": "Figure (PNG)",
  "bench.svg": "Figure (SVG)",
};
const LOSSES = { distance: "Distance from the target", wer: "Wrong words (WER)" };

export class Board {
  #rows = new Map(); // name -> row, as the server tells it
  #fronts = {};
  #chosen = null; // name of the row that was pointed at

  constructor() {
    this.loss = choice("Across", LOSSES, () => this.#draw());
    this.temperature = choice("Temperature", {}, () => this.#draw());
    this.where = h("p", { class: "hint" });
    this.links = Object.entries(FILES).map(([file, text]) => [file, h("a", { download: "" }, text)]);
    this.plot = new Plot((name) => this.#choose(name));
    this.bars = new Bars();
    this.table = new Table((name) => this.#choose(name));
    const saving = h("div", { class: "actions", role: "group", "aria-label": "Save" }, this.links.map(([, link]) => link));
    this.element = h(
      "div",
      { class: "bench-board", hidden: true },
      h("div", { class: "bench-tools" }, this.loss.element, this.temperature.element, saving),
      h("div", { class: "bench-figures" }, this.plot.element, this.bars.element),
      this.table.element,
      this.where,
    );
  }

  /** @param {function(string): URL} place Where a file of these results is. */
  begin({ where, columns, rules, codebooks }, place) {
    this.#rows.clear();
    this.#fronts = {};
    this.#chosen = null;
    this.where.textContent = `Medians, and below them the quartiles over sentences (WER: 95% interval). ${where}.`;
    this.rules = rules;
    this.table.begin(columns);
    this.bars.begin(rules, codebooks);
    for (const [file, link] of this.links) link.href = place(file);
    this.element.hidden = true;
  }

  add({ rows, fronts }) {
    for (const row of rows) this.#rows.set(row.name, row);
    this.#fronts = fronts;
    const temperatures = [...new Set([...this.#rows.values()].map((row) => row.temperature))].sort((a, b) => a - b);
    this.temperature.offer(Object.fromEntries(temperatures.map((t) => [`${t}`, `${t}`])));
    this.temperature.element.hidden = temperatures.length < 2;
    this.loss.disable("wer", ![...this.#rows.values()].some((row) => row.numbers.wer));
    this.element.hidden = false;
    this.#draw();
  }

  #choose(name) {
    this.#chosen = name;
    const row = this.#rows.get(name);
    if (row && !row.baseline) this.bars.choose(row.rule);
    this.#draw();
  }

  #draw() {
    const temperature = Number(this.temperature.value);
    const rows = [...this.#rows.values()].filter((row) => row.temperature === temperature);
    const front = this.#fronts[this.loss.value] ?? [];
    const best = front.map((name) => rows.find((row) => row.name === name)).filter(Boolean);
    this.plot.show({ rows, best, chosen: this.#chosen, loss: this.loss.value, rules: this.rules });
    this.bars.show(rows);
    this.table.show({ rows, best, chosen: this.#chosen });
  }
}
