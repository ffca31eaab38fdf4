// What is said of each accept rule beside its title: how it comes to the chance of acceptance, and
// what a rejected place is drawn from.

const RESIDUAL = {
  excess: true, // what is drawn from is what p has above q
  headline: "What the draft says too seldom is left.",
  reason:
    "In full colour: what p has above q. In yellow: this alone, scaled up to 1. It is called the residual. " +
    "The place is drawn again from it",
};
const OTHER = {
  excess: false,
  headline: "The place is drawn again.",
  reason: "In yellow: what this rule draws from",
};

const RULES = {
  lossless: {
    chance: "min(1, p/q)",
    overlap: "α",
    ...RESIDUAL,
    so: ", which makes up exactly for what the draft says too often.",
  },
  block: {
    chance: "chance of the guesses up to here",
    together: true,
    ...OTHER,
    so: ": the residual, after what the guesses before used up.",
  },
  "same-seed": { draws: "shared", ...OTHER, so: "." },
  ssd: { chance: "min(1, p/q + β)", ...RESIDUAL, so: ". That no longer makes up for what β let through." },
  vadusa: { chance: "1 − (1 − p)^τ", ...OTHER, so: ": p without the rejected token." },
  pcg: {
    chance: "mean of min(1, P/Q) over the token's groups",
    ...OTHER,
    so: ": p, as far as its groups of sounds are missing.",
  },
  typical: {
    threshold: "min(ε, √ε · exp(−H)), which is lower the less sure the target is (H, the entropy of p)",
    ...OTHER,
    so: ": p itself.",
  },
};
const USUAL = { chance: "chance", overlap: "Σ min(p, q)", draws: "own", ...OTHER, so: "." };

/**
 * @param {string} name of the rule
 * @returns {{chance: string, threshold: string|undefined, together: boolean|undefined, overlap: string,
 *   draws: "own"|"shared", excess: boolean, headline: string, reason: string, so: string}} chance: of
 *   acceptance; threshold: what p has to be above, where nothing is left to chance; together: all
 *   guesses are tested before any is accepted; overlap: what Σ min(p, q) is called (α is the chance of
 *   acceptance, so it is that of one rule only); draws: whether guesses are drawn with random numbers
 *   of their own, or with those of the target
 */
export function wordsOf(name) {
  return { ...USUAL, ...RULES[name] };
}
