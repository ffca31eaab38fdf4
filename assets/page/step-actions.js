// A round as actions, one after the other, and what each of them is in words. Every number is the view's.

import { share } from "./amounts.js";
import { wordsOf } from "./step-rules.js";

/** Which actions a chapter's figure goes through. */
export const SHOWS = {
  draft: ["draft"],
  verify: ["verify"],
  accept: ["test"],
  residual: ["residual", "corrected"],
  all: ["draft", "verify", "test", "residual", "corrected", "bonus", "plain", "rollback"],
};
const EMITTING = ["residual", "corrected", "bonus", "plain"];

/**
 * What happens in a round, in order. row: the place in the round that it is about.
 * @param {object} view as `Lesson.step` gives it
 * @returns {{kind: string, row: number}[]}
 */
export function actionsOf({ draft_tokens: drafted, rows, accepted, residual }) {
  const rejected = accepted < drafted.length;
  return [
    ...drafted.map((_, row) => ({ kind: "draft", row })),
    { kind: "verify", row: 0 },
    ...rows.map((_, row) => ({ kind: "test", row })),
    ...(rejected && residual ? [{ kind: "residual", row: accepted }] : []),
    { kind: rejected ? "corrected" : drafted.length ? "bonus" : "plain", row: accepted },
    { kind: "rollback", row: accepted },
  ];
}

/** Where among other actions one is, or what stands in its place. */
export function placeOf(action, actions) {
  const exact = actions.findIndex(({ kind, row }) => kind === action.kind && row === action.row);
  if (exact >= 0) return exact;
  const kinds = EMITTING.includes(action.kind) ? EMITTING : [action.kind];
  return actions.findLastIndex(({ kind }) => kinds.includes(kind));
}

/** The state of each place of the round once an action is done; the last is what comes free. */
export function statesAt(view, actions, index, rule) {
  const done = actions.slice(0, index + 1);
  const has = (kind, row) => done.some((action) => action.kind === kind && action.row === row);
  const last = view.rows.length - 1;
  const judged = (row) => has("test", wordsOf(rule).together ? last : row);
  const states = view.draft_tokens.map((_, row) => {
    if (has("corrected", row)) return "corrected";
    if (row < view.accepted && judged(row)) return "accepted";
    if (row >= view.accepted && judged(view.accepted)) return row === view.accepted ? "rejected" : "discarded";
    return has("draft", row) ? "drafted" : "open";
  });
  const free = done.find(({ kind }) => kind === "bonus" || kind === "plain");
  return [...states, free?.kind ?? "open"];
}

/**
 * An action in words: [what happens, why].
 * @returns {string[]}
 */
export function tell(view, { kind, row }, rule) {
  return WORDS[kind](view, row, rule);
}

const WORDS = {
  draft: (view, row) => [
    `The draft guesses token ${view.draft_tokens[row]}.`,
    `Guess ${row + 1} of ${view.draft_tokens.length}, for codebook ${view.codebooks[row]}. The small ` +
      "model gives each entry of the codebook a probability q and draws one: " +
      `q of ${view.draft_tokens[row]} is ${share(view.q[row][view.draft_tokens[row]])}.`,
  ],
  verify: ({ draft_tokens: { length } }) =>
    length
      ? [
          `The target looks at ${length === 1 ? "the guess" : `all ${length} guesses`} in one pass.`,
          "The large model gives its own probabilities p for every guessed place, and for one place " +
            "more. What p and q share is in full colour: that part of the guesses stands.",
        ]
      : ["The target makes one pass.", "Nothing was drafted: it gives p for the next place alone."],
  test: (view, row, rule) =>
    wordsOf(rule).together
      ? [`Guesses 1 to ${row + 1}: ${passes(view.rows[row]) ? "passed" : "not passed"}.`, together(view, row)]
      : [
          `Token ${view.rows[row].token} is ${view.rows[row].accepted ? "accepted" : "rejected"}.`,
          `${test(view.rows[row], rule)}${view.rows[row].accepted ? "" : fate(view, row)}`,
        ],
  residual: (view, row, rule) => {
    const { headline, reason, so } = wordsOf(rule);
    return [headline, `${reason}${so}`];
  },
  corrected: (view, row) => [
    `The target says ${view.next_token} instead of ${view.draft_tokens[row]}.`,
    view.residual
      ? `Drawn from what is in yellow. Under the target itself p of ${view.next_token} is ${share(view.next_prob)}.`
      : `The target's own draw takes the guess's place; its p is ${share(view.next_prob)}.`,
  ],
  bonus: (view, row) => [
    `Every guess stood, so one token more comes free: ${view.next_token}.`,
    `The same pass gave p for the next place, too (codebook ${view.codebooks[row]}). The token is drawn from it; ` +
      `its p is ${share(view.next_prob)}.`,
  ],
  plain: (view) => [
    `The target draws token ${view.next_token}.`,
    `Plain decoding: one pass, one token. Its p is ${share(view.next_prob)}.`,
  ],
  rollback: ({ cache: [before, full, kept], accepted, draft_tokens: { length } }) => [
    kept < full ? "The target's cache is rolled back." : "The target's cache stays as it is.",
    `Its pass took the cache from ${before} to ${full} positions. ` +
      (kept < full
        ? `${full - kept} of them belong to guesses that did not stand: cut off, ${kept} remain. `
        : "All of them belong to tokens that stand. ") +
      `This round emitted ${accepted + 1} ${accepted ? "tokens" : "token"} with one pass of the target` +
      `${length ? "." : ", as always without a draft."}`,
  ],
};

/** A rule either compares with what the target would have said itself, or draws a number. */
function test({ token, accept, draw, accepted, own }, rule) {
  if (own != null) {
    const drawn = `With this place's random numbers the target draws ${own} itself`;
    return accepted ? `${drawn}: the same.` : `${drawn}, not ${token}.`;
  }
  const chance = `It is accepted with probability ${wordsOf(rule).chance} = ${share(accept)}.`;
  return `${chance} The number drawn is ${share(draw)}: ${draw < accept ? "below" : "not below"} that.`;
}

function passes({ draw, accept }) {
  return draw < accept;
}

/** Of a rule that tests all guesses before any is accepted. */
function together({ rows, accepted }, row) {
  const { draw, accept } = rows[row];
  const tested = `They pass with probability ${share(accept)}; the number drawn is ${share(draw)}.`;
  if (row < rows.length - 1) return `${tested} The last test that is passed decides how many stand.`;
  return `${tested} So ${accepted === 0 ? "none stands" : `the first ${accepted} stand`}.`;
}

function fate({ draft_tokens: { length } }, row) {
  const rest = length - row - 1;
  if (!rest) return "";
  return ` The ${rest === 1 ? "guess" : `${rest} guesses`} after it ${rest === 1 ? "is" : "are"} discarded.`;
}
