// What if: other settings for a recorded round, recomputed by the server from the recorded logits.

import { h } from "./dom.js";
import { button, slider } from "./toolbar.js";

export class WhatIf {
  /** @param {function(): void} changed called when other settings are wanted */
  constructor(changed) {
    this.changed = changed;
    this.settings = {}; // those that differ from the run's
    this.temperature = this.#slider("temperature", "Temperature", 2, 0);
    this.topP = this.#slider("top_p", "Top-p", 1, 0.05);
    this.rule = h("select", { "aria-label": "Rule", onchange: () => this.#set("rule", this.rule.value) });
    this.again = button("again", "As recorded", "Settings as recorded", () => {
      this.reset();
      this.changed();
    });
    this.element = h(
      "fieldset",
      { class: "toolbar whatif" },
      h("legend", {}, "What if?"),
      h("label", {}, "Temperature", this.temperature.input, this.temperature.output),
      h("label", {}, "Top-p", this.topP.input, this.topP.output),
      h("label", {}, "Rule", this.rule),
      this.again,
    );
  }

  /** The settings of a run, which the controls begin with. */
  begin(trace, rules) {
    this.recorded = { temperature: trace.temperature, top_p: trace.top_p, rule: trace.rule };
    this.rules = rules;
    const titles = rules.map(({ name, title, lossless }) =>
      h("option", { value: name }, lossless ? title : `${title} (not lossless)`));
    this.rule.replaceChildren(...titles);
    this.reset();
  }

  /** Back to the run's own settings. */
  reset() {
    this.settings = {};
    if (this.recorded) this.#show();
  }

  /** What a view's settings mean, in words. */
  explain({ is_recorded: recorded, same_draft: same }) {
    if (recorded) return "";
    const relaxed = this.rules.find(({ name }) => name === (this.settings.rule ?? this.recorded.rule));
    return [
      "What if: decided anew from the recorded logits; what was spoken stays as it was.",
      same ? "" : "With these settings the draft would have guessed other tokens; the recorded ones are tested.",
      relaxed.lossless ? "" : "This rule is not lossless.",
    ].filter(Boolean).join(" ");
  }

  #slider(name, label, max, min) {
    const input = slider(name, label, { max, step: 0.05, value: max }, (value) => this.#set(name, value));
    input.min = min;
    return { input, output: h("output", {}) };
  }

  #set(name, value) {
    if (value === this.recorded[name]) delete this.settings[name];
    else this.settings[name] = value;
    this.#show();
    this.changed();
  }

  #show() {
    const { temperature, top_p: topP, rule } = { ...this.recorded, ...this.settings };
    this.temperature.input.value = temperature;
    this.temperature.output.textContent = temperature.toFixed(2);
    this.topP.input.value = topP;
    this.topP.output.textContent = topP.toFixed(2);
    this.rule.value = rule;
    this.again.disabled = !Object.keys(this.settings).length;
  }
}
