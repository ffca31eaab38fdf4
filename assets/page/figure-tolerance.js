// A tolerance β: what it gains in acceptance, and how far it takes the result from the target.

import { h } from "./dom.js";
import { columns, stack } from "./fig-columns.js";
import { distance, outcome, roundCost, tokensPerRound, tolerant } from "./fig-math.js";
import { COSTS, number, PAIR } from "./fig-options.js";
import { distributions } from "./fig-pair.js";
import { named, names, percent, says, slider, table } from "./fig-parts.js";
import { plot } from "./fig-plot.js";
import { curve, Drawing, s, text } from "./fig-svg.js";

const HEIGHT = 260;
const HEADROOM = 1.12;
const STEPS = 100;
const EXACT = "β is 0: every bar ends at p, and the result is the target's.";
const EXAMPLE = { gamma: 6, c: 0.11, slope: 0.055 };

const { gamma, c, slope } = COSTS;
export const OPTIONS = { ...PAIR, beta: number(0, 1), gamma, c, slope };

/** @param {{p?: number[], q?: number[], beta?: number, gamma?: number, c?: number, slope?: number}}
 *   options */
export function mount(element, options) {
  new Tolerance(element, options);
}

class Tolerance {
  constructor(element, options) {
    Object.assign(this, distributions(options));
    this.beta = options.beta ?? 0;
    this.costs = { ...EXAMPLE, ...options };
    this.bars = new Drawing((width) => this.#drawBars(width));
    this.trade = new Drawing((width) => this.#drawTrade(width));
    this.said = says();
    this.numbers = h("div", { class: "fig-tables" });
    const beta = slider({
      label: "β, the tolerance",
      ...{ min: 0, max: 1, step: 0.01, value: this.beta },
      words: (value) => (value === 0 ? "0, exact" : value.toFixed(2)),
      changed: (value) => {
        this.beta = value;
        this.#show();
      },
    });
    named(element, "A tolerance, its gain and its cost");
    element.append(
      h(
        "p",
        { class: "fig-formula" },
        "Accept with min(1, p/q + β); after a rejection draw from the residual.",
      ),
      beta.element,
      h(
        "div",
        { class: "fig-two" },
        h("div", {}, h("p", { class: "fig-title" }, "What comes out, beside p"), this.bars.element),
        h(
          "div",
          {},
          h("p", { class: "fig-title" }, "The speed-up for every β, and its price"),
          this.trade.element,
        ),
      ),
      this.said,
      this.numbers,
    );
    this.#show();
  }

  #at(beta) {
    const shares = outcome(this.p, this.q, tolerant(beta));
    const tokens = tokensPerRound(shares.rate, this.costs.gamma);
    return { ...shares, tokens, gain: tokens / roundCost(this.costs), away: distance(shares.out, this.p) };
  }

  #show() {
    this.bars.redraw();
    this.trade.redraw();
    const [exact, now] = [this.#at(0), this.#at(this.beta)];
    const row = (name, write) => [name, write(exact), write(now)];
    this.numbers.replaceChildren(
      table(
        "What it gains and what it costs",
        ["", "β = 0", `β = ${this.beta.toFixed(2)}`],
        [
          row("guesses accepted", ({ rate }) => percent(rate, 1)),
          row(`tokens per round, γ ${this.costs.gamma}`, ({ tokens }) => tokens.toFixed(2)),
          row("predicted speed-up", ({ gain }) => `${gain.toFixed(2)}×`),
          row("distance from the target", ({ away }) => percent(away, 1)),
        ],
      ),
    );
    this.said.textContent = this.beta === 0 ? EXACT : relaxed(now.rate - exact.rate, now.away);
  }

  #drawBars(width) {
    const { p, q } = this;
    const { accepted, redrawn, out } = this.#at(this.beta);
    const top = HEADROOM * Math.max(...p, ...q);
    const symbols = names(p);
    const nodes = columns({ width, height: HEIGHT, symbols, top }, (i, place) => [
      stack(place, { accepted: accepted[i], redrawn: redrawn[i], p: p[i] }),
      text(place.left + place.width / 2, place.y(Math.max(out[i], p[i])) - 7, percent(out[i], 1), {
        anchor: "middle",
        kind: "fig-value",
      }),
    ]);
    const say = symbols.map((name, i) => `${name} ${percent(out[i], 1)}, p ${percent(p[i], 1)}`);
    return { height: HEIGHT, label: `What comes out: ${say.join("; ")}.`, nodes };
  }

  #drawTrade(width) {
    const all = Array.from({ length: STEPS + 1 }, (_, i) => this.#at(i / STEPS));
    const now = this.#at(this.beta);
    const far = Math.max(0.05, Math.ceil(20 * all.at(-1).away) / 20);
    const fastest = Math.ceil(all.at(-1).gain + 0.2);
    const speeds = Array.from({ length: fastest + 1 }, (_, i) => i);
    const axes = plot({
      width,
      height: HEIGHT,
      x: {
        label: "distance from the target",
        from: 0,
        to: far,
        ticks: [0, far / 2, far],
        words: (value) => percent(value, 1),
      },
      y: { label: "predicted speed-up", from: 0, to: fastest, ticks: speeds, words: (value) => `${value}×` },
    });
    const point = ({ away, gain }) => [axes.x(away), axes.y(gain)];
    const [cx, cy] = point(now);
    const speed = `${now.gain.toFixed(2)}×`;
    return {
      height: HEIGHT,
      label: `Predicted speed-up over the distance from the target; here ${speed} and ${percent(now.away, 1)}.`,
      nodes: [
        axes.nodes,
        curve(all.map(point), "fig-found"),
        s("circle", { cx, cy, r: 8, class: "fig-here" }),
        text(cx, cy + 26, `β ${this.beta.toFixed(2)}`, {
          anchor: this.beta < 0.15 ? "start" : this.beta > 0.8 ? "end" : "middle",
          kind: "fig-value",
        }),
      ],
    };
  }
}

function relaxed(more, away) {
  const [guesses, tokens] = [more, away].map((share) => (100 * share).toFixed(1));
  const gained = `Of 100 tested places in ${guesses} more the guess stands`;
  return `${gained}, and in ${tokens} the token comes out otherwise than the target's would. Not lossless.`;
}
