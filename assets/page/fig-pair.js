// Two distributions side by side, p of the target and q of the draft, that can be dragged.

import { columns, pairPlaces, placeAt } from "./fig-columns.js";
import { h } from "./dom.js";
import { withValue } from "./fig-math.js";
import { button, names, percent, slider } from "./fig-parts.js";
import { box, Drawing, hatched, text } from "./fig-svg.js";

const HEIGHT = 230;
const NARROW = 44; // px of a bar, below which its value is written smaller
const MOST = 8; // symbols; further columns would be too narrow for a telephone

/** The figure's own example, where a chapter gives none. */
const EXAMPLE = { p: [0.5, 0.3, 0.2], q: [0.3, 0.2, 0.5] };

/**
 * p and q as a chapter gives them. Throws where they are no distributions over the same symbols.
 * @returns {{p: number[], q: number[]}}
 */
export function distributions({ p = EXAMPLE.p, q = EXAMPLE.q }) {
  for (const [name, values] of Object.entries({ p, q })) {
    const total = values.reduce((sum, value) => sum + value, 0);
    if (values.some((value) => !(value >= 0)) || Math.abs(total - 1) > 1e-9) {
      throw new Error(`${name} must be numbers from 0 that add up to 1.`);
    }
  }
  if (p.length !== q.length || p.length < 2 || p.length > MOST) {
    throw new Error(`p and q must have the same number of symbols, 2 to ${MOST}.`);
  }
  return { p: [...p], q: [...q] };
}

export class Pair {
  #drawing;
  #sliders = {};
  #size = null;

  /**
   * @param {object} options p and q; see `distributions`.
   * @param {"overlap"|"difference"} shade What is filled: min(p, q), or what either has more.
   * @param {function(): void} changed After p or q was changed; they are fields of this.
   */
  constructor(options, shade, changed) {
    const given = distributions(options);
    Object.assign(this, given, { shade, changed });
    this.#drawing = new Drawing((width) => this.#draw(width));
    this.#followPointer(this.#drawing.element);
    const move = ([series, value]) => this.#set(series, value);
    this.element = h(
      "div",
      { class: "fig-pair" },
      key(shade),
      this.#drawing.element,
      ["p", "q"].map((series) => this.#controls(series)),
      h(
        "div",
        { class: "fig-buttons" },
        button("Better draft", () => move(["q", nearer(this.p, this.q)])),
        button("Perfect draft", () => move(["q", [...this.p]])),
        button("Start over", () =>
          Object.entries(given).forEach(([name, value]) => move([name, [...value]])),
        ),
      ),
    );
  }

  #controls(series) {
    this.#sliders[series] = this[series].map((value, i) =>
      slider({
        label: names(this.p)[i],
        name: `${series} of ${names(this.p)[i]}`,
        ...{ min: 0, max: 100, step: 1, value: 100 * value },
        words: (share) => `${Math.round(share)} %`,
        changed: (share) => this.#set(series, withValue(this[series], i, share / 100), i),
      }),
    );
    const sliders = this.#sliders[series].map(({ element }) => element);
    return h("fieldset", { class: `fig-sliders fig-${series}` }, h("legend", {}, TITLES[series]), sliders);
  }

  #set(series, values, by = -1) {
    this[series] = values;
    this.#sliders[series].forEach(({ set }, i) => i === by || set(100 * values[i]));
    this.#drawing.redraw();
    this.changed();
  }

  #draw(width) {
    const { p, q, shade } = this;
    this.#size = { width, height: HEIGHT, symbols: names(p), top: 1 };
    const nodes = columns(this.#size, (i, place) => {
      const at = pairPlaces(place);
      return [
        bar(at.p, at.bar, place.y, p[i], q[i], "fig-p", shade),
        bar(at.q, at.bar, place.y, q[i], p[i], "fig-q", shade),
      ];
    });
    const say = names(p).map((name, i) => `${name}: p ${percent(p[i])}, q ${percent(q[i])}`);
    return { height: HEIGHT, label: `Bars of p and q. ${say.join("; ")}.`, nodes };
  }

  // With the mouse only: a finger scrolls, and has the sliders.
  #followPointer(svg) {
    let held = null;
    const at = ({ clientX, clientY }) => {
      const { left, top } = svg.getBoundingClientRect();
      return placeAt(this.#size, clientX - left, clientY - top);
    };
    svg.addEventListener("pointerdown", (event) => {
      const { index, into } = at(event);
      if (event.pointerType === "touch" || index < 0 || index >= this.p.length) return;
      svg.setPointerCapture(event.pointerId);
      held = { series: into < 0.5 ? "p" : "q", index };
      this.#pull(held, at(event).share);
    });
    svg.addEventListener("pointermove", (event) => held && this.#pull(held, at(event).share));
    svg.addEventListener("lostpointercapture", () => (held = null));
  }

  #pull({ series, index }, share) {
    this.#set(series, withValue(this[series], index, Math.round(100 * share) / 100));
  }
}

const TITLES = { p: "p, the target", q: "q, the draft" };

function key(shade) {
  const shaded = {
    overlap: ["fig-both", "full colour: both agree"],
    difference: ["fig-more", "hatched: what one has more"],
  }[shade];
  return h(
    "p",
    { class: "fig-key" },
    ["p", "q"].map((name) => h("span", { class: `fig-${name}` }, TITLES[name])),
    h("span", { class: shaded[0] }, shaded[1]),
    h("span", { class: "fig-hint" }, "Drag the bars, or use the sliders."),
  );
}

function bar(x, width, y, value, other, kind, shade) {
  const common = Math.min(value, other);
  const [full, part] = [y(0) - y(common), y(common) - y(value)];
  const lower = shade === "overlap" ? kind : `${kind} fig-pale`;
  const upper =
    shade === "overlap"
      ? box(x, y(value), width, part, `${kind} fig-pale`)
      : hatched(x, y(value), width, part, kind);
  return [
    box(x, y(common), width, full, lower),
    upper,
    text(x + width / 2, y(value) - 5, percent(value), {
      anchor: "middle",
      kind: width < NARROW ? "fig-value fig-tight" : "fig-value",
    }),
  ];
}

/** Half way from q to p. */
const nearer = (p, q) => q.map((value, i) => (value + p[i]) / 2);
