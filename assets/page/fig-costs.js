// Sliders for what the speed-up depends on, and what this machine measured.

import { h } from "./dom.js";
import { button, slider } from "./fig-parts.js";

const EXAMPLE = { alpha: 0.88, gamma: 6, c: 0.11, slope: 0.055 };
export const LONGEST = 16; // the greatest γ

const SLIDERS = {
  alpha: {
    label: "α, a guess is accepted",
    min: 0,
    max: 0.99,
    step: 0.01,
    words: (value) => value.toFixed(2),
  },
  gamma: { label: "γ, guesses per round", min: 1, max: LONGEST, step: 1, words: String },
  c: {
    label: "c, cost of a guess",
    min: 0,
    max: 1.2,
    step: 0.01,
    words: (value) => `${value.toFixed(2)} passes`,
  },
  slope: {
    label: "v, each further token in a pass",
    min: 0,
    max: 1,
    step: 0.005,
    words: (value) => `+${value.toFixed(3)} passes`,
  },
};

export class CostSliders {
  /** What this machine measured, as {alpha, gamma, c, slope}; null before it has. */
  machine = null;
  #sliders = {};

  /**
   * @param {object} options alpha, gamma, c and slope to begin with.
   * @param {function(): void} changed After `costs` was changed.
   */
  constructor(options, changed) {
    this.changed = changed;
    this.start = { ...EXAMPLE };
    for (const name of Object.keys(SLIDERS)) {
      if (name in options) this.start[name] = within(name, options[name]);
    }
    this.costs = { ...this.start };
    const rows = Object.entries(SLIDERS).map(([name, about]) => {
      const moved = (value) => this.set({ [name]: value });
      this.#sliders[name] = slider({ ...about, value: this.costs[name], changed: moved });
      return this.#sliders[name].element;
    });
    this.ofMachine = button("This machine's numbers", () => this.set(this.machine));
    this.ofMachine.disabled = true;
    this.ofMachine.title = "There once this machine's own voice has been loaded";
    const over = button("Start over", () => this.set(this.start));
    this.element = h(
      "div",
      { class: "fig-costs" },
      rows,
      h("div", { class: "fig-buttons" }, this.ofMachine, over),
    );
  }

  /** @param {Partial<Costs>} some */
  set(some) {
    Object.assign(this.costs, some);
    for (const [name, { set }] of Object.entries(this.#sliders)) {
      if (name in some) set(this.costs[name]);
    }
    this.changed();
  }

  /** Asks the lesson for what this machine measured. */
  async follow(lesson) {
    const measured = await lesson.machine();
    if (!measured?.gamma) return;
    const { alpha, gamma, c, v } = measured;
    this.machine = { alpha, gamma, c, slope: (v[gamma] - 1) / gamma };
    this.ofMachine.disabled = false;
    this.ofMachine.title = "";
    this.changed();
  }
}

function within(name, value) {
  const { min, max } = SLIDERS[name];
  if (!(value >= min && value <= max)) throw new Error(`${name} must be from ${min} to ${max}.`);
  return value;
}
