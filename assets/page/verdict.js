// What came out of a race, in words. Every number was measured by the server.

import { h } from "./dom.js";

/**
 * @param {object} line of kind "verdict"
 * @param {{rule: string, lossless: boolean}} header of the speculative lane
 * @returns {HTMLElement[]}
 */
export function verdict(line, header) {
  return [
    h("p", { class: "winner" }, line.silent.some(Boolean) ? unsaid(line.silent) : winner(line.speedup)),
    h("p", {}, compared(line)),
    h("p", {}, line.silent.every(Boolean) ? NOTHING : likeness(line, header)),
  ];
}

const NOTHING = "Every sentence ended at once: try another seed.";

/** A lane without sound has no speed that means anything. */
function unsaid([plain, fast]) {
  if (plain && fast) return "Nobody wins: nothing was said.";
  return `Nobody wins: ${plain ? "the baseline" : "speculative"} said nothing.`;
}

function winner(speedup) {
  if (speedup >= 1) return `Speculative wins: ${speedup.toFixed(2)}× the tokens per second.`;
  return `Baseline wins: speculative made only ${speedup.toFixed(2)}× its tokens per second.`;
}

function compared({ ttfa_s, rtf, wall_s }) {
  const ms = (seconds) => (seconds == null ? "–" : `${Math.round(1000 * seconds)} ms`);
  const pairs = [
    ["Time to first audio", ttfa_s.map(ms)],
    ["RTF", rtf.map((value) => value?.toFixed(2) ?? "–")],
    ["in all, codec included", wall_s.map((seconds) => `${seconds.toFixed(2)} s`)],
  ];
  return pairs.map(([name, [plain, fast]]) => `${name} ${plain} → ${fast}`).join(" · ");
}

function likeness({ identical, first_difference: first }, { rule, lossless }) {
  if (identical) return "The two waveforms are identical, sample by sample.";
  if (rule === "same-seed") {
    return `The two waveforms should be identical, but differ from token ${first} on: the target's ` +
      "arithmetic differs between passes over one token and over several.";
  }
  if (lossless) return "Different samples of the same distribution: the rule is lossless.";
  return "Not lossless: the distribution is not exactly the target's.";
}
