// One action of a round as a picture: the guesses, p and q as bars, and what decided.

import { named, share } from "./amounts.js";
import { Bars, largestFirst } from "./bars.js";
import { h } from "./dom.js";
import { actionsOf, statesAt, tell } from "./step-actions.js";
import { wordsOf } from "./step-rules.js";
import { acceptLine, cacheStrip, chips, key } from "./step-parts.js";

const ASK = () => h("p", { class: "ask" }, "Press a token to see its bars.");

export class StepView {
  /** @param {HTMLElement} [tools] what stands beside the words */
  constructor(tools) {
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Tokens of the round" });
    this.headline = h("p", { class: "headline" });
    this.reason = h("p", { class: "reason" });
    this.key = h("div", { class: "key" });
    this.bars = new Bars();
    this.left = new Bars(); // the residual
    this.decided = h("div", { class: "decided" });
    const words = h("div", { class: "words", "aria-live": "polite" }, this.headline, this.reason);
    const pictures = h("div", { class: "pictures" }, this.bars.element, this.left.element);
    const told = h("div", { class: "told" }, words, tools);
    this.element = h("div", { class: "step" }, this.chips, told, this.key, pictures, this.decided);
  }

  /**
   * @param {object} view as `Lesson.step` gives it
   * @param {number} index of the action among the round's
   * @param {string} rule name of the rule that decided
   * @param {number} [row] the place to look at; that of the action if left out
   */
  show(view, index, rule, row) {
    const actions = actionsOf(view);
    Object.assign(this, { view, rule, action: actions[index] });
    this.states = statesAt(view, actions, index, rule);
    const [headline, reason] = tell(view, this.action, rule);
    this.headline.textContent = headline;
    this.reason.textContent = reason;
    this.element.dataset.kind = this.action.kind;
    this.#look(row ?? this.action.row);
  }

  /** The distributions at one place of the round: that of the action, or another that is asked for. */
  #look(row) {
    const { view, action } = this;
    this.#showChips(row);
    const asked = action.kind !== "draft";
    const shown = seriesAt(view, row, asked);
    const here = row === action.row;
    const residual = here && ["residual", "corrected"].includes(action.kind) && view.residual;
    const shade = Object.keys(shown).length < 2 ? undefined : residual && wordsOf(this.rule).excess ? "excess" : "common";
    const order = largestFirst(...Object.values(shown));
    const names = [...Object.keys(shown), residual && "residual"].filter(Boolean);
    this.key.replaceChildren(...key(names, shade, view.rows[row], this.rule));
    this.bars.element.hidden = action.kind === "rollback" && here;
    this.key.hidden = this.bars.element.hidden;
    const marks = this.#marks(row, Object.keys(shown));
    const name = (entry) => `${named(entry, this.view)}`;
    this.bars.show({ series: shown, order, shade, marks, name, label: labelOf(shown, order, marks, name) });
    this.left.element.hidden = !residual;
    if (residual) this.#showResidual(order);
    this.decided.replaceChildren(...(here ? this.#decision() : []));
  }

  // They are made anew: the keyboard stays where it was.
  #showChips(row) {
    const had = [...this.chips.children].indexOf(document.activeElement);
    this.chips.replaceChildren(...chips(this.view, this.states, row, (other) => this.#look(other)), ASK());
    this.chips.children[had]?.focus();
  }

  #showResidual(order) {
    const { residual, next_token: token } = this.view;
    const drawn = this.action.kind === "corrected";
    const marks = drawn ? [{ entry: token, text: `drawn: ${named(token, this.view)}, ${share(residual[token])}` }] : [];
    const series = { residual };
    const name = (entry) => `${named(entry, this.view)}`;
    this.left.show({ series, order, marks, name, label: labelOf(series, largestFirst(residual), marks, name) });
  }

  #marks(row, names) {
    const { view, action } = this;
    const token = row < view.draft_tokens.length ? view.draft_tokens[row] : view.next_token;
    if (row === view.draft_tokens.length && this.states[row] === "open") return [];
    const values = names.map((name) => `${name} ${share(view[name][row][token])}`);
    const marks = [{ entry: token, text: `${named(token, view)}: ${values.join(", ")}` }];
    if (row === action.row && action.kind === "corrected" && view.next_token !== token) {
      marks.push({ entry: view.next_token, text: `${named(view.next_token, view)}` });
    }
    return marks;
  }

  #decision() {
    const { view, action } = this;
    if (action.kind === "test") return acceptLine(view.rows[action.row], this.rule);
    return action.kind === "rollback" ? cacheStrip(view) : [];
  }
}

/** The distributions there are at a place: the draft's, and the target's once it was asked. */
function seriesAt({ p, q }, row, asked) {
  return { ...(q[row] && { q: q[row] }), ...((asked || !q[row]) && { p: p[row] }) };
}

function labelOf(series, order, marks, name) {
  const likeliest = Object.entries(series).map(([title, values]) => {
    const tokens = order.slice(0, 3).map((entry) => `${name(entry)} ${share(values[entry])}`);
    return `${title}: ${tokens.join(", ")}`;
  });
  const marked = marks.map(({ text }) => `marked ${text}`);
  return `Probabilities of ${order.length} entries, largest first. ${[...likeliest, ...marked].join("; ")}.`;
}
