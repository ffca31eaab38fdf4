// What came out of a test: words, numbers, a figure, and every trial. The server works them out.

import { h } from "./dom.js";
import { percent, probability } from "./listen-words.js";

const FINDING = /^(Significant|Not significant)/; // the sentence that answers the question

/**
 * A result on the page.
 * @param {object} result as the server sends it
 * @param {string} title
 * @param {HTMLElement[]} actions links and buttons at its end
 */
export function outcome(result, title, actions = []) {
  const { words, pair, figure, rows } = result;
  return h(
    "section",
    { class: "outcome" },
    h("h2", { tabindex: -1 }, title),
    h("p", { class: "pair" }, `${pair.first.title} against ${pair.second.title}`),
    h("div", { class: "numbers" }, numbers(result)),
    h("div", { class: "words" }, words.map((sentence) => h("p", { class: FINDING.test(sentence) && "finding" }, sentence))),
    figure && picture(figure, words.join(" ")),
    h("div", { class: "actions" }, actions),
    rows && table(result),
  );
}

function numbers({ kind, pair, right, of, ties, p, interval, detects }) {
  const share = of ? percent(right / of) : "–";
  const [low, high] = interval.map(percent);
  const answers = kind === "abx" ? "Right answers" : `Preferred: ${pair.first.title}`;
  const range = kind === "abx" ? "Share right" : "Share of preferences";
  return [
    tile(answers, `${right} of ${of}`, ties ? `${ties} without a preference` : ""),
    tile(range, share, `95% interval ${low} to ${high}`),
    tile("p, if it were chance", probability(p), "0.05 or less is significant"),
    tile("Could have found", detects == null ? "nothing" : percent(detects), "with 80% probability"),
  ];
}

function tile(label, value, hint) {
  const [above, big, below] = [["label", label], ["value", value], ["hint", hint]].map(([name, text]) =>
    h("span", { class: name }, text),
  );
  return h("div", { class: "tile" }, above, big, below);
}

// As an image: whatever a figure's texts are, they cannot become part of the page.
function picture(svg, text) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = h("img", { class: "figure", src: url, alt: `Figure. ${text}`, onload: () => URL.revokeObjectURL(url) });
  return h("div", { class: "scroll" }, image);
}

function table({ kind, pair, rows }) {
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
  return grid("All trials", columns, rows.map(cells));
}

/** A table with a caption that scrolls sideways where it must. */
export function grid(caption, columns, rows) {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((text) => h("td", {}, text))))),
    ),
  );
}
