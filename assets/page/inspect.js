// What happened at one token of the grid, in words and numbers.

import { compared } from "./amounts.js";
import { h } from "./dom.js";
import { spans } from "./captions.js";

const ASIDE = 48; // px between the pointer and the box: a round takes a few columns
const BELOW = 14;
const MARGIN = 8; // px that the box keeps from the window's edges
const VERDICTS = {
  accepted: "accepted",
  corrected: "corrected",
  bonus: "bonus: the target's own, after a full draft",
  plain: "the target's own; nothing was drafted",
};

export class Inspect {
  /** @param {HTMLElement} container What the places given to `show` are measured from. */
  constructor(container) {
    this.container = container;
    this.element = h("div", { class: "inspect", role: "tooltip", hidden: true });
    container.append(this.element);
  }

  /**
   * @param {Run} run
   * @param {number} frame Over the whole run.
   * @param {number} q Codebook.
   * @param {number} x Where it is pointed at, in px from the container's left edge.
   * @param {number} y The same from its top.
   * @param {?End} end Of a sentence, in place of a cell.
   */
  show(run, frame, q, x, y, end = null) {
    const rows = (end ? describeEnd(run, end) : describe(run, frame, q)).map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]);
    this.element.replaceChildren(h("dl", {}, rows));
    this.element.hidden = false;
    this.#place(x, y);
  }

  hide() {
    this.element.hidden = true;
  }

  #place(x, y) {
    const { left, top } = this.container.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const right = left + x + ASIDE + width + MARGIN > window.innerWidth;
    const below = top + y + BELOW + height + MARGIN > window.innerHeight;
    const wantedX = right ? x - ASIDE - width : x + ASIDE;
    const wantedY = below ? y - BELOW - height : y + BELOW;
    this.element.style.left = `${clamp(wantedX + left, window.innerWidth - width) - left}px`;
    this.element.style.top = `${clamp(wantedY + top, window.innerHeight - height) - top}px`;
  }
}

/**
 * What is known of a cell, as [name, text] pairs.
 * @returns {string[][]}
 */
export function describe(run, frame, q) {
  const place = `codebook ${q}, frame ${frame} (${(frame * run.secondsPerFrame).toFixed(2)} s)`;
  const cell = run.cell(frame, q);
  const rows = [["place", place], ...spokenAt(run, frame)];
  if (!cell) return [...rows, ["token", "pending: not decoded yet"]];
  return [...rows, ["token", `${cell.token}, ${VERDICTS[cell.kind]}`], ...decided(run, cell)];
}

/** The same of the token that ended a sentence. */
function describeEnd(run, end) {
  const place = `end of a sentence, at frame ${end.frame} (${(end.frame * run.secondsPerFrame).toFixed(2)} s)`;
  return [["place", place], ["token", `end, ${VERDICTS[end.kind]}`], ...decided(run, end)];
}

/** What a token was decided by, and its round. */
function decided(run, cell) {
  const rows = [];
  rows.push([cell.q == null ? "target" : "target, draft", probabilities(cell)]);
  if (cell.kind === "accepted") rows.push(["test", test(cell, "accepted", run.header)]);
  if (cell.rejected) {
    rows.push(["draft said", `${cell.rejected.token}, ${probabilities(cell.rejected)}`]);
    rows.push(["test", test(cell.rejected, "rejected", run.header)]);
  }
  return [...rows, ...roundOf(run.rounds[cell.round])];
}

function probabilities({ p, q }) {
  return q == null ? `p ${short(p)}` : `p ${short(p)}, q ${short(q)}`;
}

/** The accept test with its numbers, as far as the log has what the rule compared. */
function test({ p, q, draw }, verdict, { rule }) {
  if (rule === "same-seed") {
    const said = verdict === "accepted" ? "agreed" : "chose another";
    return `the target ${said}: ${verdict}`;
  }
  if (rule === "block") return `u ${short(draw)}, guesses are tested together: ${verdict}`;
  if (rule !== "lossless") return `u ${short(draw)}: ${verdict}`;
  const [drawn, ratio] = compared(draw, q > 0 ? Math.min(1, p / q) : 1, short, 2);
  return `u ${drawn} ${verdict === "accepted" ? "<" : "≥"} min(1, p/q) ${ratio}: ${verdict}`;
}

function roundOf(round) {
  const { index, draft_tokens: drafted, accepted, draft_s: draft, verify_s: verify } = round;
  const spent = `${ms(draft)} draft + ${ms(verify)} verify`;
  if (!drafted.length) return [["round", `${index}: ${ms(verify)} verify`]];
  const rows = [["round", `${index}: accepted ${accepted} of ${drafted.length}; ${spent}`]];
  const discarded = drafted.slice(accepted + 1);
  if (discarded.length) rows.push(["discarded", `${discarded.join(", ")} (drafted after the rejection)`]);
  return rows;
}

/** The word and the phoneme that a frame belongs to. */
function spokenAt(run, frame) {
  const inside = ({ firstFrame, frames }) => frame >= firstFrame && frame < firstFrame + frames;
  const sentence = run.sentences.find(inside);
  if (!sentence) return [];
  const middle = frame - sentence.firstFrame + 0.5;
  const { words, sounds } = spans(sentence);
  const at = (list) => list.find(({ start, end }) => middle >= start && middle < end)?.text;
  const named = [["word", at(words)], ["phoneme", at(sounds)]];
  return named.filter(([, text]) => text);
}

/** Two significant digits at least, without an exponent. */
function short(value, digits = 2) {
  return value !== 0 && value < 0.01 ? value.toPrecision(digits) : value.toFixed(digits);
}

function ms(seconds) {
  return `${(seconds * 1000).toFixed(1)} ms`;
}

function clamp(value, most) {
  return Math.max(MARGIN, Math.min(value, most - MARGIN));
}
