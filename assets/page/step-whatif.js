// What if: other settings for a recorded round, recomputed by the server from the recorded logits.

import { h } from "./dom.js";
import { button, slider } from "./toolbar.js";

const AS_IT_WAS = "All is as it was recorded. Change something, and this round is decided anew.";

export class WhatIf {
  /** @param {function(): void} changed called when other settings are wanted */
  constructor(changed) {
    this.changed = changed;
    this.settings = {}; // those that differ from the run's
    this.temperature = this.#slider("temperature", "Temperature", 2, 0);
    this.topP = this.#slider("top_p", "Top-p", 1, 0.05);
    this.rules = h("select", { "aria-label": "Rule", onchange: () => this.#choose(this.rules.value) });
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
      h("label", {}, "Rule", this.rules),
      this.tolerant,
      this.again,
      this.note,
    );
  }

  /** The settings of a run, which the controls begin with. */
  begin(trace, rules) {
    const { temperature, top_p, rule, tolerance } = trace;
    this.recorded = { temperature, top_p, rule, tolerance };
    this.known = new Map(rules.map((each) => [each.name, each]));
    const titles = rules.map(({ name, title, lossless }) =>
      h("option", { value: name }, lossless ? title : `${title} (not lossless)`));
    this.rules.replaceChildren(...titles);
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

  /** Say what it means that a view has these settings. */
  explain({ is_recorded: recorded, same_draft: same }) {
    const parts = [
      "Decided anew from the recorded logits.",
      same ? "" : "The draft would have guessed other tokens: the recorded ones are tested.",
      this.known.get(this.rule).lossless ? "" : "This rule is not lossless.",
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
    if (value === this.recorded[name]) delete this.settings[name];
    else this.settings[name] = value;
    this.#show();
    this.changed();
  }

  #show() {
    const { temperature, top_p: topP } = { ...this.recorded, ...this.settings };
    this.temperature.input.value = temperature;
    this.temperature.output.textContent = temperature.toFixed(2);
    this.topP.input.value = topP;
    this.topP.output.textContent = topP.toFixed(2);
    this.rules.value = this.rule;
    this.#showTolerance();
    this.again.disabled = !Object.keys(this.settings).length;
  }

  #showTolerance() {
    const tolerance = this.known.get(this.rule).tolerance;
    this.tolerant.hidden = !tolerance;
    if (!tolerance) return;
    const { letter, value: usual, least, most } = tolerance;
    const recorded = this.rule === this.recorded.rule ? this.recorded.tolerance : null;
    const value = this.settings.tolerance ?? recorded ?? usual;
    Object.assign(this.tolerance.input, { min: least, max: most, step: (most - least) / 100, value });
    this.letter.textContent = `Tolerance, ${letter}`;
    this.tolerance.output.textContent = value.toFixed(2);
  }
}
