// Numbers as the Listen tab writes them.

/** A probability up to this is significant. */
export const LEVEL = 0.05;

/** A share from 0 to 1 as a whole percentage. */
export function percent(share) {
  return `${Math.round(100 * share)}%`;
}

/** A share that must not look smaller than it is. */
export function percentUp(share) {
  return `${Math.ceil(100 * share - 1e-9)}%`;
}

/** A probability, never rounded to nothing nor across the level. */
export function probability(p) {
  if (p < 0.001) return "< 0.001";
  if (p >= 0.1) return p.toFixed(2);
  let digits = 3;
  while (Number(p.toFixed(digits)) <= LEVEL !== p <= LEVEL) digits++;
  return p.toFixed(digits);
}

/** A and B; A, B and X. */
export function list(names) {
  const last = names.at(-1);
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${last}` : last;
}

/** What so many answers can show; in words, for a share of 80% power. */
export function reach({ kind, trials, detects }) {
  if (!detects) return `${trials} answers are too few to show anything.`;
  const who = `someone who ${kind === "abx" ? "is right" : "prefers the same way"} ${percentUp(detects)} of the time`;
  return `What ${trials} answers can show: ${who} is found out in 8 of 10 such tests.`;
}
