// All numbers of a comparison: sorted by any column; on a telephone a card for each way.

import { badge, choice } from "./bench-parts.js";
import { h } from "./dom.js";

export class Table {
  #columns = [];
  #shown = { rows: [], best: [] };
  #sorted = { key: "speedup", sign: -1 };

  constructor(choose) {
    this.choose = choose;
    this.head = h("tr", {});
    this.body = h("tbody", {});
    this.sort = choice("Sort by", {}, () => this.#sortBy(this.sort.value));
    this.element = h(
      "section",
      { class: "bench-table" },
      this.sort.element,
      h("div", { class: "bench-scroll", tabindex: 0, role: "region", "aria-label": "All ways" }, h("table", {}, h("caption", {}, "All ways"), h("thead", {}, this.head), this.body)),
    );
  }

  begin(columns) {
    this.#columns = columns;
    this.sort.offer(Object.fromEntries(columns.map(({ key, title }) => [key, title])));
    this.#drawHead();
  }

  show(shown) {
    this.#shown = shown;
    const focused = this.body.contains(document.activeElement) && document.activeElement.dataset.name;
    this.body.replaceChildren(...this.#inOrder().map((row) => this.#row(row)));
    if (focused) this.body.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
  }

  #sortBy(key) {
    const { sign } = this.#sorted;
    this.#sorted = { key, sign: key === this.#sorted.key ? -sign : -1 };
    this.sort.value = key;
    this.#drawHead(key);
    this.show(this.#shown);
  }

  /** What was not measured comes last, whichever way. */
  #inOrder() {
    const { key, sign } = this.#sorted;
    const value = (row) => row.numbers[key]?.[0];
    return this.#shown.rows.toSorted((a, b) => {
      const [one, other] = [value(a), value(b)];
      if (one == null || other == null) return (one == null) - (other == null);
      return sign * (one - other);
    });
  }

  #drawHead(focused) {
    const { key: sorted, sign } = this.#sorted;
    const heads = this.#columns.map(({ key, title, hint }) => {
      const order = key === sorted ? (sign > 0 ? "ascending" : "descending") : "none";
      const arrow = key === sorted ? (sign > 0 ? " ▲" : " ▼") : "";
      const press = h("button", { type: "button", title: hint || title, onclick: () => this.#sortBy(key) }, title + arrow);
      if (key === focused) queueMicrotask(() => press.focus());
      return h("th", { scope: "col", "aria-sort": order }, press);
    });
    this.head.replaceChildren(h("th", { scope: "col" }, "Way"), h("th", { scope: "col" }, "γ"), ...heads, h("th", { scope: "col" }, "Sentences"));
  }

  #row(row) {
    const { best, chosen } = this.#shown;
    const kind = [best.includes(row) && "bench-best", row.name === chosen && "bench-chosen"].filter(Boolean).join(" ");
    const cells = this.#columns.map(({ key, title }) => {
      const [middle, spread] = row.texts[key];
      return h("td", { "data-label": title }, h("b", {}, middle), spread && h("small", {}, spread));
    });
    return h(
      "tr",
      { class: kind },
      h("th", { scope: "row" }, this.#name(row, best.includes(row))),
      h("td", { "data-label": "γ" }, row.gamma),
      ...cells,
      h("td", { "data-label": "Sentences" }, `${row.sentences}`),
    );
  }

  #name(row, isBest) {
    return h(
      "button",
      { type: "button", "data-name": row.name, "aria-pressed": `${row.name === this.#shown.chosen}`, onclick: () => this.choose(row.name) },
      badge(row),
      h(
        "span",
        {},
        h("b", {}, row.draft),
        h("span", {}, row.rule_title),
        h(
          "span",
          {},
          h("i", { class: row.lossless ? "bench-is-lossless" : "bench-is-relaxed" }, row.claim),
          isBest && h("i", { class: "bench-is-best" }, " · Pareto front"),
        ),
      ),
    );
  }
}
