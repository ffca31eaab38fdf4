// Random numbers that can be repeated, and draws from distributions over a few symbols.

const STEP = 0x6d2b79f5;

/**
 * Numbers in [0, 1), always the same for the same seed (mulberry32).
 * @param {number} seed A whole number.
 * @returns {function(): number}
 */
export function dice(seed) {
  let state = scattered(seed);
  return () => {
    state = (state + STEP) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Every bit of a seed in every bit (murmur3): or neighbours would draw the same, one step apart. */
function scattered(seed) {
  let bits = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/** The symbol at quantile u; never one of probability zero. */
export function symbolAt(probabilities, u) {
  let last = 0;
  for (let i = 0; i < probabilities.length; i += 1) {
    if (probabilities[i] <= 0) continue;
    if (u < probabilities[i]) return i;
    u -= probabilities[i];
    last = i;
  }
  return last; // rounding took the total below u
}
