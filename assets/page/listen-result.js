// What came out of a test: words, numbers, a figure, and every trial. The server works them out.

import { h } from "./dom.js";
import { LEVEL, percent, percentUp, probability } from "./listen-words.js";

/** A result on the page. What can have the focus stays while the rest is shown anew. */
export class Outcome {
  /**
   * @param {string} title
   * @param {HTMLElement[]} actions links and buttons at its end
   */
  constructor(title, actions = []) {
    this.title = h("h2", { tabindex: -1 }, title);
    this.found = h("div", { class: "found" });
    this.figure = h("img", { class: "figure", onload: () => URL.revokeObjectURL(this.figure.src) });
    this.element = h(
      "section",
      { class: "outcome" },
      this.title,
      this.found,
      h("div", { class: "scroll" }, this.figure),
      h("div", { class: "actions" }, actions),
    );
  }

  /** @param {object} result as the server sends it */
  show(result) {
    const { finding, words, pair, figure } = result;
    this.found.replaceChildren(
      h("p", { class: "pair" }, `${pair.first.title} against ${pair.second.title}`),
      h("div", { class: "numbers" }, numbers(result)),
      h("p", { class: "finding" }, finding),
      ...words.map((sentence) => h("p", {}, sentence)),
    );
    // As an image: whatever a figure's texts are, they cannot become part of the page.
    this.figure.src = URL.createObjectURL(new Blob([figure], { type: "image/svg+xml" }));
    this.figure.alt = `Figure. ${[finding, ...words].join(" ")}`;
  }
}

function numbers({ kind, pair, right, of, ties, unit, p, interval, detects }) {
  const abx = kind === "abx";
  const share = of ? percent(right / of) : "–";
  const [low, high] = interval.map(percent);
  const answers = abx ? "Right answers" : `Preferred: ${pair.first.title}`;
  const counted = ties ? `${unit}; ${ties} without a preference` : unit;
  const range = abx ? "Share right" : "Share of preferences";
  return [
    tile(answers, `${right} of ${of}`, abx ? "" : counted),
    tile(range, share, `95% interval ${low} to ${high}`),
    tile("p, if it were chance", probability(p), `${LEVEL} or less is significant`),
    tile("Could have found", detects == null ? "nothing" : percentUp(detects), "with 80% probability"),
  ];
}

function tile(label, value, hint) {
  const [above, big, below] = [["label", label], ["value", value], ["hint", hint]].map(([name, text]) =>
    h("span", { class: name }, text),
  );
  return h("div", { class: "tile" }, above, big, below);
}

/** The table of a session's trials, everything revealed. */
export function trials({ kind, pair, rows }) {
  const titles = Object.fromEntries(Object.values(pair).map(({ name, title }) => [name, title]));
  const abx = kind === "abx";
  const columns = ["Trial", "Text", "A was", "B was", ...(abx ? ["X was"] : []), "You said", ...(abx ? ["Right?"] : [])];
  const cells = ({ trial, text, a, b, x, choice, correct }) => [
    trial + 1,
    text,
    titles[a] ?? a,
    titles[b] ?? b,
    ...(abx ? [titles[x] ?? x] : []),
    choice === "none" ? "no preference" : choice,
    ...(abx ? [correct ? "✓ right" : "✗ wrong"] : []),
  ];
  const table = new Table("All trials", columns);
  table.show(rows.map(cells));
  return table.element;
}

/** A table with a caption that scrolls sideways where it must. */
export class Table {
  constructor(caption, columns) {
    this.body = h("tbody");
    this.element = h(
      "div",
      { class: "scroll", tabindex: 0, role: "group", "aria-label": caption },
      h(
        "table",
        {},
        h("caption", {}, caption),
        h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
        this.body,
      ),
    );
  }

  /** @param {Array<string|number>[]} rows */
  show(rows) {
    this.body.replaceChildren(...rows.map((row) => h("tr", {}, row.map((text) => h("td", {}, text)))));
  }
}
