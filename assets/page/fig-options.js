// What a chapter may ask of a figure. Each figure has one table of its options: {name: kind}.

/** @typedef {{says: string, fits: function(*): boolean, least?: number, most?: number}} Kind */

/** @returns {Kind} */
export function number(least, most) {
  const fits = (value) => typeof value === "number" && value >= least && value <= most;
  return { says: `a number from ${least} to ${most}`, fits, least, most };
}

/** @returns {Kind} */
export function whole(least, most) {
  const fits = (value) => Number.isInteger(value) && value >= least && value <= most;
  return { says: `a whole number from ${least} to ${most}`, fits, least, most };
}

/** @returns {Kind} */
export function oneOf(...values) {
  return { says: `one of ${values.join(", ")}`, fits: (value) => values.includes(value) };
}

/** The name of a recording. @type {Kind} */
export const RECORDING = { says: "the name of a recording", fits: (value) => typeof value === "string" };

/** p and q; what else they have to be, `distributions` checks. @type {Object<string, Kind>} */
const SHARES = {
  says: "a list of numbers, such as [0.5, 0.3, 0.2]",
  fits: (value) => Array.isArray(value) && value.every((each) => typeof each === "number"),
};
export const PAIR = { p: SHARES, q: SHARES };

/** @type {Kind} */
export const SEED = whole(0, 2 ** 31 - 1);

/** What the speed-up depends on. @type {Object<string, Kind>} */
export const COSTS = { alpha: number(0, 0.99), gamma: whole(1, 16), c: number(0, 1.2), slope: number(0, 1) };

/** Throws, in words, where options are not what the table has. */
export function check(options, table) {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(table, name)) {
      throw new Error(`it has no option “${name}”, only ${Object.keys(table).join(", ")}.`);
    }
    if (!table[name].fits(value)) throw new Error(`${name} must be ${table[name].says}.`);
  }
}
