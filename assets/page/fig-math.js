// What the figures compute: distributions over a few symbols, accept rules, and the speed-up formula.
// No DOM and no randomness.

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Values scaled to sum 1; null where all are zero. */
export function normalise(values) {
  const total = sum(values);
  return total > 0 ? values.map((value) => value / total) : null;
}

/** min(p, q) of each symbol: what both agree on. */
export const overlaps = (p, q) => p.map((value, i) => Math.min(value, q[i]));

/** α: the chance that a token drawn from q is accepted by the right rule. */
export const alphaOf = (p, q) => sum(overlaps(p, q));

/** min(1, p/q) of each symbol; 0 where the target cannot say it. */
export const acceptRatios = (p, q) => p.map((value, i) => ratio(value, q[i]));

function ratio(p, q) {
  if (q > p) return p / q;
  return p > 0 ? 1 : 0;
}

/** max(0, p - q) of each symbol. */
export const missing = (p, q) => p.map((value, i) => Math.max(0, value - q[i]));

/** norm(max(0, p - q)), what is redrawn from after a rejection; p itself where p equals q. */
export const residual = (p, q) => normalise(missing(p, q)) ?? p;

/** Total variation: half the summed differences. The share of tokens that has to come out otherwise. */
export const distance = (a, b) => sum(a.map((value, i) => Math.abs(value - b[i]))) / 2;

/** The mean distance from p that a histogram of n draws from p has by chance alone. */
export function chanceDistance(p, n) {
  return sum(p.map((value) => Math.sqrt((2 * value * (1 - value)) / (Math.PI * n)))) / 2;
}

/**
 * @typedef {Object} AcceptRule
 * @property {string} name
 * @property {string} title
 * @property {boolean} right Whether tokens come out as the target says them.
 * @property {function(number[], number[]): number[]} accept Of p and q: the chance that each symbol,
 *   once drafted, is accepted.
 * @property {function(number[], number[]): number[]} redraw Of p and q: what is drawn from after a
 *   rejection.
 * @property {string} says The rule in words.
 */

/** @type {AcceptRule[]} The right rule, and some that look as good. */
export const RULES = [
  {
    name: "right",
    title: "Right rule",
    right: true,
    accept: acceptRatios,
    redraw: residual,
    says: "Accept with min(1, p/q); after a rejection draw from the residual.",
  },
  {
    name: "redraw-from-p",
    title: "Wrong: redraw from p",
    right: false,
    accept: acceptRatios,
    redraw: (p) => p,
    says: "Accept with min(1, p/q); after a rejection draw from p itself.",
  },
  {
    name: "only-if-likelier",
    title: "Wrong: only if p ≥ q",
    right: false,
    accept: (p, q) => p.map((value, i) => (value > 0 && value >= q[i] ? 1 : 0)),
    redraw: residual,
    says: "Accept if p ≥ q and never otherwise; after a rejection draw from the residual.",
  },
  {
    name: "always",
    title: "Wrong: accept always",
    right: false,
    accept: (p) => p.map(() => 1),
    redraw: residual,
    says: "Accept every guess.",
  },
];

/** The rule with a tolerance: it accepts with min(1, p/q + β). Right for β = 0 only. */
export function tolerant(beta) {
  const accept = (p, q) => acceptRatios(p, q).map((value) => Math.min(1, value + beta));
  return { name: "tolerant", right: beta === 0, accept, redraw: residual };
}

/**
 * How often each symbol comes out under a rule, by the two ways in which it can.
 * @returns {{accepted: number[], redrawn: number[], out: number[], rate: number}} accepted: drafted and
 *   accepted; redrawn: drawn after a rejection; out: both; rate: the share that is accepted.
 */
export function outcome(p, q, rule) {
  const accepted = rule.accept(p, q).map((chance, i) => chance * q[i]);
  const rate = sum(accepted);
  const redrawn = rule.redraw(p, q).map((value) => (1 - rate) * value);
  return { accepted, redrawn, out: accepted.map((value, i) => value + redrawn[i]), rate };
}

/**
 * A distribution of which one value is set; the others keep their proportions.
 * @param {number[]} values Sum 1.
 */
export function withValue(values, index, value) {
  const set = Math.min(Math.max(value, 0), 1);
  const rest = sum(values) - values[index];
  const share = (other) => (rest > 0 ? other / rest : 1 / (values.length - 1));
  return values.map((other, i) => (i === index ? set : (1 - set) * share(other)));
}

/** Tokens that a round emits on average: 1 + α + ... + α^γ. */
export function tokensPerRound(alpha, gamma) {
  let tokens = 0;
  for (let i = 0; i <= gamma; i += 1) tokens += alpha ** i;
  return tokens;
}

/** @typedef {{alpha: number, gamma: number, c: number, slope: number}} Costs slope: what each further
 * token adds to a target pass, so that v = 1 + γ slope; the page calls it d. */

/** What the target's pass over γ + 1 tokens costs, in passes over one: v. */
export const passCost = ({ gamma, slope }) => 1 + gamma * slope;

/** What a round costs, in one-token target passes: γ c + v. */
export const roundCost = (costs) => costs.gamma * costs.c + passCost(costs);

/** @param {Costs} costs */
export function speedup(costs) {
  return tokensPerRound(costs.alpha, costs.gamma) / roundCost(costs);
}

/** The γ from 0 to `most` with the greatest speed-up; 0 is no drafting at all. */
export function bestGamma(costs, most) {
  let best = 0;
  for (let gamma = 1; gamma <= most; gamma += 1) {
    if (speedup({ ...costs, gamma }) > speedup({ ...costs, gamma: best })) best = gamma;
  }
  return best;
}
