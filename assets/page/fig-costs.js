// Sliders for what the speed-up depends on, and what this machine measured.

import { h } from "./dom.js";
import { COSTS } from "./fig-options.js";
import { button, slider } from "./fig-parts.js";

const EXAMPLE = { alpha: 0.88, gamma: 6, c: 0.11, slope: 0.055 };
export const LONGEST = COSTS.gamma.most;

const SLIDERS = {
  alpha: {
    label: "α, a guess is accepted",
    step: 0.01,
    words: (value) => value.toFixed(2),
  },
  gamma: { label: "γ, guesses per round", step: 1, words: String },
  c: {
    label: "c, cost of a guess",
    step: 0.01,
    words: (value) => `${value.toFixed(2)} passes`,
  },
  slope: {
    label: "d, each further token in a pass",
    step: 0.005,
    words: (value) => `+${value.toFixed(3)} passes`,
  },
};

export class CostSliders {
  /** What this machine measured, as {alpha, gamma, c, slope}; null before it has, or if no γ pays. */
  machine = null;
  /** How much faster than the baseline its latest run was, as {gamma, speedup}; null before it was. */
  run = null;
  #sliders = {};

  /**
   * @param {object} options alpha, gamma, c and slope to begin with.
   * @param {function(): void} changed After `costs` was changed.
   */
  constructor(options, changed) {
    this.changed = changed;
    this.start = { ...EXAMPLE, ...options };
    this.costs = { ...this.start };
    const rows = Object.entries(SLIDERS).map(([name, about]) => {
      const moved = (value) => this.set({ [name]: value });
      const { least: min, most: max } = COSTS[name];
      this.#sliders[name] = slider({ ...about, min, max, value: this.costs[name], changed: moved });
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

  /** Asks the lesson for what this machine measured: now, and when they come into sight again. */
  async follow(lesson) {
    await this.#ask(lesson);
    const seen = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && this.#ask(lesson));
    seen.observe(this.element);
  }

  async #ask(lesson) {
    const known = await lesson.machine();
    if (!known) return;
    const { alpha, gamma, c, v, measured } = known;
    this.run = measured;
    this.machine = gamma ? { alpha, gamma, c, slope: (v[gamma] - 1) / gamma } : null;
    this.ofMachine.disabled = !gamma;
    this.ofMachine.title = gamma ? "" : "With what this machine measured no γ pays";
    this.changed();
  }
}
