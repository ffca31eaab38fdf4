// A round as actions, one after the other, and what each of them is in words. Every number is the view's.

import { compared, equals, named, share } from "./amounts.js";
import { wordsOf } from "./step-rules.js";

/** Which actions a chapter's figure goes through. */
export const SHOWS = {
  draft: ["draft"],
  verify: ["verify"],
  accept: ["test"],
  residual: ["residual", "corrected"],
  all: ["draft", "verify", "test", "residual", "corrected", "bonus", "plain", "rollback"],
};
const NOTHING_LEFT = [
  "The place is drawn from p.",
  "p is nowhere above q: nothing is left to make up for, so p itself, in yellow, is drawn from.",
];
const EMITTING = ["residual", "corrected", "bonus", "plain"];

/**
 * What happens in a round, in order. row: the place in the round that it is about.
 * @param {object} view as `Lesson.step` gives it; first_only: nothing but its first place means anything
 * @returns {{kind: string, row: number}[]}
 */
export function actionsOf({ draft_tokens: drafted, rows, accepted, residual, first_only: firstOnly }) {
  if (firstOnly && drafted.length) return ["draft", "verify", "test"].map((kind) => ({ kind, row: 0 }));
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
  const alike = actions.findLastIndex(({ kind }) => kinds.includes(kind));
  return alike < 0 ? actions.length - 1 : alike;
}

/** The state of each place of the round once an action is done; the last is what comes free. */
export function statesAt(view, actions, index, rule) {
  const done = actions.slice(0, index + 1);
  const has = (kind, row) => done.some((action) => action.kind === kind && action.row === row);
  const last = view.rows.length - 1;
  const judged = (row) => has("test", wordsOf(rule).together ? last : row);
  const states = view.draft_tokens.map((_, row) => {
    if (!has("draft", row)) return "open";
    if (has("corrected", row)) return "corrected";
    if (row < view.accepted && judged(row)) return "accepted";
    if (row >= view.accepted && judged(view.accepted)) return row === view.accepted ? "rejected" : "discarded";
    return "drafted";
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
      `model gives each entry of the codebook a probability q and draws one. ${guessed(view, row)}`,
  ],
  verify: ({ draft_tokens: { length } }, _row, rule) =>
    length
      ? [
          `The target looks at ${length === 1 ? "the guess" : `all ${length} guesses`} in one pass.`,
          "The large model gives its own probabilities p for every guessed place, and for one place " +
            `more. ${shared(rule)}`,
        ]
      : ["The target makes one pass.", "Nothing was drafted: it gives p for the next place alone."],
  test: (view, row, rule) =>
    wordsOf(rule).together
      ? [
          `${upTo(row)}: ${passes(view.rows[row]) ? "passed" : "not passed"}.`,
          sentences(impossible(view, row, rule), together(view, row)),
        ]
      : [
          `Token ${view.rows[row].token} is ${view.rows[row].accepted ? "accepted" : "rejected"}.`,
          sentences(
            impossible(view, row, rule),
            test(view.rows[row], rule),
            !view.rows[row].accepted && !view.first_only && fate(view, row),
          ),
        ],
  residual: (view, row, rule) => {
    const { excess, headline, reason, so } = wordsOf(rule);
    return excess && !view.p[row].some((p, entry) => p > view.q[row][entry]) ? NOTHING_LEFT : [headline, `${reason}${so}`];
  },
  corrected: (view, row) => [
    `The target says ${named(view.next_token, view)} instead of ${view.draft_tokens[row]}.`,
    view.residual
      ? "The corrected token, drawn from what is in yellow. " +
        `Under the target itself p of ${named(view.next_token, view)} is ${share(view.next_prob)}.`
      : `The corrected token: the target's own draw takes the guess's place; its p is ${share(view.next_prob)}.`,
  ],
  bonus: (view, row) => [
    `Every guess stood, so one token more comes free: ${named(view.next_token, view)}.`,
    `The same pass gave p for the next place, too (codebook ${view.codebooks[row]}). The token drawn from it is ` +
      `called the bonus; its p is ${share(view.next_prob)}.`,
  ],
  plain: (view) => [
    `The target draws token ${named(view.next_token, view)}.`,
    `Plain decoding: one pass, one token. Its p is ${share(view.next_prob)}.`,
  ],
  rollback: ({ cache: [before, full, kept], accepted, draft_tokens: { length } }) => [
    kept < full ? "The target's cache is rolled back." : "The target's cache stays as it is.",
    "The cache is what the target keeps of each token it has read, so as not to read it again. " +
      `This pass took it from ${before} to ${full} positions. ` +
      (kept < full
        ? `${full - kept} of them belong to guesses that did not stand: cut off, ${kept} remain. `
        : "All of them belong to tokens that stand. ") +
      `This round emitted ${accepted + 1} ${accepted ? "tokens" : "token"} with one pass of the target` +
      `${length ? "." : ", as always without a draft."}`,
  ],
};

function shared(rule) {
  if (wordsOf(rule).overlap === "α") return "What p and q share is in full colour: that part of the guesses stands.";
  return "What p and q share, Σ min(p, q), is in full colour.";
}

/** A rule compares with what the target would have said itself, or with a threshold, or draws a number. */
function test({ token, p, q, accept, draw, accepted, own }, rule) {
  if (own != null) {
    const drawn = `With this place's random numbers the target draws ${own} itself`;
    return accepted ? `${drawn}: the same.` : `${drawn}, not ${token}.`;
  }
  const { chance, threshold } = wordsOf(rule);
  if (threshold) return `Its p ${equals(share(p))} is ${accepted ? "above" : "not above"} the threshold ${threshold}.`;
  const [limit, drawn] = compared(accept, draw);
  const tested = `It is accepted with probability ${q ? `${chance} ${equals(limit)}` : limit}.`;
  return `${tested} The number drawn is ${drawn}: ${draw < accept ? "below" : "not below"} that.`;
}

function guessed(view, row) {
  const token = view.draft_tokens[row];
  const q = view.q[row][token];
  if (q) return `q of ${token} is ${share(q)}.`;
  return `That was with the run's own settings: with these it cannot draw ${token}, for its q is 0.`;
}

/** What other settings than the run's may lead to: a guess that the draft cannot make with them. */
function impossible({ draft_tokens: drafted, drafted_as: instead, rows }, row, rule) {
  const { token, p, q } = rows[row];
  if (q) return "";
  const known = drafted.slice(0, row).every((each, i) => each === instead[i]); // it was asked the same then
  const would = known ? `: it would guess ${instead[row]}` : "";
  const common = wordsOf(rule).overlap === "α" ? " α is about guesses that it can make." : "";
  const both = p ? "" : " The target cannot say it either: p is 0, too.";
  return `With these settings the draft cannot guess ${token}, its q is 0${would}.${common}${both}`;
}

function sentences(...parts) {
  return parts.filter(Boolean).join(" ");
}

function upTo(row) {
  return row ? `Guesses 1 to ${row + 1}` : "Guess 1";
}

function passes({ draw, accept }) {
  return draw < accept;
}

/** Of a rule that tests all guesses before any is accepted. */
function together({ rows, accepted }, row) {
  const { draw, accept } = rows[row];
  const [limit, drawn] = compared(accept, draw);
  const tested = `${row ? "They pass" : "It passes"} with probability ${limit}; the number drawn is ${drawn}.`;
  if (row < rows.length - 1) return `${tested} The last test that is passed decides how many stand.`;
  const stand = ["none stands", "the first stands"][accepted] ?? `the first ${accepted} stand`;
  return `${tested} So ${stand}.`;
}

function fate({ draft_tokens: { length } }, row) {
  const rest = length - row - 1;
  if (!rest) return "";
  return `The ${rest === 1 ? "guess" : `${rest} guesses`} after it ${rest === 1 ? "is" : "are"} discarded.`;
}
