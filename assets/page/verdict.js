// What came out of a race, in words. Every number was measured by the server.

import { h } from "./dom.js";

/**
 * @param {object} line of kind "verdict"
 * @param {{rule: string, lossless: boolean}} header of the speculative lane
 * @returns {HTMLElement[]}
 */
export function verdict(line, header) {
  return [
    h("p", { class: "winner" }, winner(line.speedup)),
    h("p", {}, compared(line)),
    h("p", {}, likeness(line, header)),
  ];
}

function winner(speedup) {
  if (speedup >= 1) return `Speculative wins: ${speedup.toFixed(2)}× the tokens per second.`;
  return `Baseline wins: speculative made only ${speedup.toFixed(2)}× its tokens per second.`;
}

function compared({ ttfa_s, rtf, wall_s }) {
  const ms = (seconds) => `${Math.round(1000 * seconds)} ms`;
  const pairs = [
    ["Time to first audio", ttfa_s.map(ms)],
    ["RTF", rtf.map((value) => value.toFixed(2))],
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
