// What if: other settings for a recorded round, recomputed by the server from the recorded logits.

import { h } from "./dom.js";
import { wordsOf } from "./step-rules.js";
import { button, slider } from "./toolbar.js";

const HOTTEST = 2; // that there is usually reason to try
const AS_IT_WAS = "All is as it was recorded. Change something, and this round is decided anew.";
const OTHER_GUESSES =
  "The draft would have drawn from this other q, too, and guessed other tokens: the recorded ones are tested.";
const COLD = "At temperature 0 each model gives its likeliest entry all the probability";
const COLD_AND_EXACT = "a guess stands only if it is the target's likeliest";

export class WhatIf {
  /** @param {function(): void} changed called when other settings are wanted */
  constructor(changed) {
    this.changed = changed;
    this.settings = {}; // those that differ from the run's
    this.temperature = this.#slider("temperature", "Temperature", HOTTEST, 0);
    this.topP = this.#slider("top_p", "Top-p", 1, 0.05);
    this.rules = h("select", { "aria-label": "Rule", onchange: () => this.#choose(this.rules.value) });
    this.claim = h("output", { class: "claim" });
    this.tolerance = this.#slider("tolerance", "Tolerance", 1, 0);
    this.letter = h("span", {});
    this.tolerant = h("label", {}, this.letter, this.tolerance.output, this.tolerance.input);
    this.note = h("p", { class: "note", role: "status" });
    this.again = button("again", "As recorded", "Settings as recorded", () => {
      this.reset();
      this.changed();
    });
    this.element = h(
      "fieldset",
      { class: "toolbar whatif" },
      h("legend", {}, "What if?"),
      h("label", {}, "Temperature", this.temperature.output, this.temperature.input),
      h("label", {}, "Top-p", this.topP.output, this.topP.input),
      h("label", {}, "Rule", this.claim, this.rules),
      this.tolerant,
      this.again,
      this.note,
    );
  }

  /** The settings of a run, which the controls begin with. */
  begin(trace, rules) {
    const { temperature, top_p, rule, tolerance } = trace;
    this.recorded = { temperature, top_p, rule, tolerance };
    this.temperature.input.max = Math.max(HOTTEST, temperature);
    this.known = new Map(rules.map((each) => [each.name, each]));
    this.rules.replaceChildren(group("Lossless", rules.filter(({ lossless }) => lossless)));
    this.rules.append(group("Not lossless", rules.filter(({ lossless }) => !lossless)));
    this.reset();
  }

  /** Back to the run's own settings. */
  reset() {
    this.settings = {};
    if (this.recorded) this.#show();
  }

  /** Name of the rule that is shown. */
  get rule() {
    return this.settings.rule ?? this.recorded.rule;
  }

  /** Whether the rule draws guesses in another way than those of the run were drawn. */
  get drawsOtherwise() {
    return wordsOf(this.rule).draws !== wordsOf(this.recorded.rule).draws;
  }

  /** Say what it means that a view has these settings. */
  explain({ is_recorded: recorded, same_draft: same, draft_tokens: drafted, drafted_as: instead }) {
    const { lossless } = this.known.get(this.rule);
    const cold = lossless ? `${COLD}: ${COLD_AND_EXACT}.` : `${COLD}.`;
    const parts = [
      "Decided anew from the recorded logits.",
      this.settings.temperature === 0 && cold,
      this.drawsOtherwise && drafted.length ? drawnOtherwise(drafted[0], instead[0]) : same ? "" : OTHER_GUESSES,
      lossless ? "" : "This rule is not lossless.",
    ];
    this.note.textContent = recorded ? AS_IT_WAS : parts.filter(Boolean).join(" ");
    this.note.dataset.changed = !recorded;
  }

  #slider(name, label, max, min) {
    const input = slider(name, label, { max, step: 0.05, value: max }, (value) => this.#set(name, value));
    input.min = min;
    return { input, output: h("output", {}) };
  }

  /** A tolerance belongs to one rule. */
  #choose(rule) {
    delete this.settings.tolerance;
    this.#set("rule", rule);
  }

  #set(name, value) {
    if (value === this.#recordedValue(name)) delete this.settings[name];
    else this.settings[name] = value;
    this.#show();
    this.changed();
  }

  // The run's tolerance is another number where the rule is another.
  #recordedValue(name) {
    return name === "tolerance" && this.rule !== this.recorded.rule ? null : this.recorded[name];
  }

  #show() {
    const { temperature, top_p: topP } = { ...this.recorded, ...this.settings };
    this.temperature.input.value = temperature;
    this.temperature.output.textContent = temperature.toFixed(2);
    this.topP.input.value = topP;
    this.topP.output.textContent = topP.toFixed(2);
    this.rules.value = this.rule;
    this.claim.textContent = this.known.get(this.rule).lossless ? "lossless" : "not lossless";
    this.#showTolerance();
    this.again.disabled = !Object.keys(this.settings).length;
  }

  #showTolerance() {
    const tolerance = this.known.get(this.rule).tolerance;
    this.tolerant.hidden = !tolerance;
    if (!tolerance) return;
    const { letter, value: usual, least, most, step } = tolerance;
    const value = this.settings.tolerance ?? this.#recordedValue("tolerance") ?? usual;
    Object.assign(this.tolerance.input, { min: least, max: most, step, value });
    this.letter.textContent = `Tolerance, ${letter}`;
    this.tolerance.output.textContent = Number.isInteger(step) ? value : value.toFixed(2);
  }
}

/** Rules that share a claim: it stands above them, where the width of the list cannot cut it off. */
function group(label, rules) {
  return h("optgroup", { label }, rules.map(({ name, title }) => h("option", { value: name }, title)));
}

function drawnOtherwise(recorded, instead) {
  return (
    "This rule draws its guesses in another way than the run did: whether the recorded ones stand says nothing " +
    "of how often this rule accepts. So only the first place is shown. There it would have guessed " +
    `${instead === recorded ? `${recorded}, too` : `${instead}, not ${recorded}`}.`
  );
}
