// A hundred thousand rounds of one guess each, as the rule says, counted by how each token came out.

import { symbolAt } from "./fig-dice.js";
import { distance } from "./fig-math.js";

const KEPT_PER_TENFOLD = 40; // points of the curve: evenly spread where the axis is logarithmic

export class Experiment {
  /** Tokens that came out. */
  runs = 0;
  /** The distance from p as it went on: [{runs, distance}]. */
  history = [];
  #next = 1;

  /**
   * @param {number[]} p What the target says.
   * @param {number[]} q What the draft says.
   * @param {AcceptRule} rule
   * @param {function(): number} random Numbers in [0, 1).
   */
  constructor(p, q, rule, random) {
    Object.assign(this, { p, q, rule, random });
    this.chances = rule.accept(p, q);
    this.redraw = rule.redraw(p, q);
    this.accepted = p.map(() => 0);
    this.redrawn = p.map(() => 0);
  }

  /** Let so many more tokens come out. */
  run(count) {
    for (let i = 0; i < count; i += 1) {
      this.#one();
      this.runs += 1;
      if (this.runs >= this.#next) this.#note();
    }
  }

  /** Shares of all tokens, by symbol and the way they came out. */
  shares() {
    const share = (count) => count / Math.max(1, this.runs);
    const [accepted, redrawn] = [this.accepted.map(share), this.redrawn.map(share)];
    return { accepted, redrawn, out: accepted.map((value, i) => value + redrawn[i]) };
  }

  /** How far what came out is from p. */
  get distance() {
    return distance(this.shares().out, this.p);
  }

  #one() {
    const drafted = symbolAt(this.q, this.random());
    if (this.random() < this.chances[drafted]) this.accepted[drafted] += 1;
    else this.redrawn[symbolAt(this.redraw, this.random())] += 1;
  }

  #note() {
    this.history.push({ runs: this.runs, distance: this.distance });
    this.#next = Math.max(this.runs + 1, Math.ceil(this.runs * 10 ** (1 / KEPT_PER_TENFOLD)));
  }
}
