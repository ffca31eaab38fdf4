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
  lossless: { chance: "min(1, p/q)", ...RESIDUAL, so: ", which makes up exactly for what the draft says too often." },
  block: { chance: "chance of the guesses up to here", together: true, ...OTHER, so: ": the residual, after what the guesses before used up." },
  ssd: { chance: "min(1, p/q) + β", ...RESIDUAL, so: ". That no longer makes up for what β let through." },
  vadusa: { chance: "1 − (1 − p)^τ", ...OTHER, so: ": p without the rejected token." },
  pcg: { chance: "min(1, P/Q) of its groups", ...OTHER, so: ": p, as far as its groups of sounds are missing." },
  typical: { chance: "1 if p is above the threshold, else 0", ...OTHER, so: ": p itself." },
};
const UNKNOWN = { chance: "chance", ...OTHER, so: "." };

/**
 * @param {string} name of the rule
 * @returns {{chance: string, together: boolean|undefined, excess: boolean, headline: string,
 *   reason: string, so: string}} together: all guesses are tested before any is accepted
 */
export function wordsOf(name) {
  return RULES[name] ?? UNKNOWN;
}
