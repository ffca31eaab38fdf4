// Parts of the picture of a round: its tokens, the key, the line of the test, the cache.

import { compared, equals, named, share } from "./amounts.js";
import { h } from "./dom.js";
import { wordsOf } from "./step-rules.js";

// What a state looks like besides its colour.
const SIGNS = {
  open: "·",
  drafted: "?",
  accepted: "✓",
  rejected: "✕",
  corrected: "○",
  discarded: "–",
  bonus: "◆",
  plain: "■",
};
const NAMES = { q: "q: the draft", p: "p: the target", residual: "what is drawn from" };

/** A button per place of the round, which looks at it. */
export function chips(view, states, looked, look) {
  return states.map((state, row) => {
    const known = state !== "open";
    const drafted = view.draft_tokens[row];
    const token = named(state === "corrected" ? view.next_token : (drafted ?? view.next_token), view);
    const chip = h(
      "button",
      { type: "button", class: `chip ${state}`, disabled: !known, onclick: () => look(row) },
      h("span", { class: "place" }, drafted == null ? "free" : `guess ${row + 1}`),
      h("span", { class: "token" }, `${SIGNS[state]}\uFE0E `, known ? token : ""),
      h("span", { class: "place" }, state === "corrected" ? h("s", {}, drafted) : `codebook ${view.codebooks[row]}`),
    );
    chip.setAttribute("aria-label", known ? `Token ${token}, ${state}` : "Not there yet");
    chip.setAttribute("aria-current", row === looked);
    return chip;
  });
}

/**
 * What the colours of the bars mean.
 * @param {string[]} names of the distributions
 * @param {"common"|"excess"|undefined} shade what is in full colour
 * @param {object|undefined} tested the view's row of the place, if it has one
 * @param {string} rule that decided
 */
export function key(names, shade, tested, rule) {
  const { overlap } = wordsOf(rule);
  const common = tested ? `${overlap} ${equals(share(tested.overlap))}` : overlap;
  const impossible = tested?.q === 0 ? ", of guesses that the draft can make" : "";
  const shades = { common: `full colour: what both share, ${common}${impossible}`, excess: "full colour: what p has above q" };
  return [
    ...names.map((name) => h("span", {}, h("i", { class: `swatch ${name}` }), NAMES[name])),
    shade && h("span", { class: "shade" }, shades[shade]),
  ].filter(Boolean);
}

/** From 0 to 1: what is accepted, and where the drawn number fell. */
export function acceptLine({ token, q, accept, draw, own }, rule) {
  if (own != null) return [h("p", { class: "own" }, `the target's own: ${own}`, h("b", {}, own === token ? " = " : " ≠ "), `the guess: ${token}`)];
  const { chance, threshold } = wordsOf(rule);
  if (threshold) return []; // no number decides
  const passed = draw < accept;
  const [limit, drawn] = compared(accept, draw);
  const label = `Passed below ${limit}; drawn ${drawn}: ${passed ? "passed" : "not passed"}`;
  return [
    h(
      "div",
      { class: `line ${passed ? "passed" : "failed"}`, role: "img", "aria-label": label },
      h("span", { class: "end" }, "0"),
      h(
        "span",
        { class: "track" },
        h("span", { class: "fill", style: `width: ${100 * accept}%` }),
        pointer("limit", accept, q ? `${chance} ${equals(limit)}` : limit),
        pointer("needle", draw, `drawn ${drawn}`),
      ),
      h("span", { class: "end" }, "1"),
    ),
  ];
}

/** A place between 0 and 1, and its text, which stays inside. */
function pointer(kind, value, text) {
  const label = h("b", { style: `transform: translateX(${-100 * value}%)` }, text);
  return h("span", { class: kind, style: `left: ${100 * value}%` }, label);
}

/** The positions that the target's pass added, and which of them stay. */
export function cacheStrip({ cache: [before, full, kept], draft_tokens: drafted }) {
  const cells = Array.from({ length: full - before }, (_, i) => {
    const stays = before + i < kept;
    const text = i === 0 ? (before ? "last" : "start") : drafted[i - 1];
    return h("span", { class: stays ? "stays" : "goes" }, h("b", {}, stays ? text : h("s", {}, text)));
  });
  const label = `Cache: ${before} positions before the pass, ${full} after it, ${kept} after the rollback`;
  return [
    h("div", { class: "cache", role: "img", "aria-label": label }, h("span", { class: "before" }, `${before} before`), ...cells),
    h("p", { class: "lengths" }, `${before} → ${full} → `, h("b", {}, `${kept} positions`)),
  ];
}
