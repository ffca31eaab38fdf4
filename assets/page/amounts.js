// Numbers as the lessons write them.

/** A probability, with three digits that say something. */
export function share(value) {
  if (value === 0 || value === 1) return String(value);
  if (value >= 0.1) return value.toFixed(3);
  if (value >= 0.0001) return String(+value.toPrecision(3));
  return "< 0.0001";
}
