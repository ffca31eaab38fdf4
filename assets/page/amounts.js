// Numbers as the lessons write them.

const DIGITS = 3; // that say something
const MOST_DIGITS = 15;

/** A probability; what is neither 0 nor 1 is never rounded to it. */
export function share(value, digits = DIGITS) {
  const least = 10 ** -(digits + 1);
  if (value === 0 || value === 1) return String(value);
  if (value > 1 - least) return `> ${(1 - least).toFixed(digits + 1)}`;
  if (value >= 1 - 5 * least) return value.toFixed(digits + 1);
  if (value >= 0.1) return value.toFixed(digits);
  if (value >= least) return String(+value.toPrecision(digits));
  return `< ${least.toFixed(digits + 1)}`;
}

/** The same after its name: "= 0.412", or "< 0.0001". */
export function equals(text) {
  return /^[<>]/.test(text) ? text : `= ${text}`;
}

/** Two numbers that are compared, with as many digits as it takes to tell them apart. */
export function compared(one, other, write = share, digits = DIGITS) {
  const texts = [one, other].map((value) => write(value, digits));
  if (one === other || texts[0] !== texts[1] || digits > MOST_DIGITS) return texts;
  return compared(one, other, write, digits + 1);
}

/** What a token of a step is called: its number, or what it means. */
export function named(token, { end }) {
  return token === end ? "“end”" : token;
}
