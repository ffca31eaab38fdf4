// min(1, p/q): a guess is tested with a drawn number.

import { h } from "./dom.js";
import { dice, symbolAt } from "./fig-dice.js";
import { acceptRatios, alphaOf, overlaps } from "./fig-math.js";
import { PAIR, SEED } from "./fig-options.js";
import { Pair } from "./fig-pair.js";
import { button, named, names, percent, says, table } from "./fig-parts.js";
import { box, Drawing, hatched, line, text } from "./fig-svg.js";

const HEIGHT = 92;
const BAR = { top: 34, height: 30 };
const MANY = 100;

export const OPTIONS = { ...PAIR, seed: SEED };

/** @param {{p?: number[], q?: number[], seed?: number}} options */
export function mount(element, options) {
  new Accept(element, options);
}

class Accept {
  #last = null; // {drafted, u}: what was drawn last
  #tests = 0;
  #accepted = 0;

  constructor(element, options) {
    this.pair = new Pair(options, "overlap", () => this.#changed());
    this.random = dice(options.seed ?? 1);
    this.number = new Drawing((width) => this.#drawNumber(width));
    this.numbers = h("div", { class: "fig-tables" });
    this.said = says();
    named(element, "The accept test on a few symbols");
    element.append(
      this.pair.element,
      h(
        "div",
        { class: "fig-buttons" },
        button("Draft a token and test it", () => this.#draw(1)),
        button(`Test ${MANY} more`, () => this.#draw(MANY)),
      ),
      this.number.element,
      this.said,
      this.numbers,
    );
    this.#changed();
  }

  #changed() {
    this.#last = null;
    this.#tests = this.#accepted = 0;
    this.#show();
  }

  #draw(count) {
    const { p, q } = this.pair;
    const ratios = acceptRatios(p, q);
    for (let i = 0; i < count; i += 1) {
      const drafted = symbolAt(q, this.random());
      this.#last = { drafted, u: this.random() };
      this.#tests += 1;
      if (this.#last.u < ratios[drafted]) this.#accepted += 1;
    }
    this.#show();
  }

  #show() {
    const { p, q } = this.pair;
    const ratios = acceptRatios(p, q);
    const rows = names(p).map((name, i) => [
      name,
      ...[p[i], q[i]].map((value) => percent(value, 1)),
      ratios[i].toFixed(2),
      percent(overlaps(p, q)[i], 1),
    ]);
    this.numbers.replaceChildren(
      table("Each symbol", ["", "p", "q", "min(1, p/q)", "drafted and accepted"], rows),
    );
    this.number.redraw();
    this.said.textContent = `${this.#verdict(ratios)} ${this.#tally(alphaOf(p, q))}`.trim();
  }

  #verdict(ratios) {
    if (!this.#last) return "";
    const { drafted, u } = this.#last;
    const name = names(ratios)[drafted];
    const limit = ratios[drafted].toFixed(2);
    const test = u < ratios[drafted] ? `below ${limit}: accepted` : `not below ${limit}: rejected`;
    return `The draft said ${name}. The number ${u.toFixed(2)} is ${test}.`;
  }

  #tally(alpha) {
    const chance = `α, the filled area, is ${percent(alpha, 1)}: so many guesses stand.`;
    if (!this.#tests) return chance;
    return `So far ${this.#accepted} of ${this.#tests} accepted. ${chance}`;
  }

  /** The numbers from 0 to 1, those that accept, and the one that was drawn. */
  #drawNumber(width) {
    const { p, q } = this.pair;
    const at = (u) => 10 + u * (width - 20);
    const { top, height } = BAR;
    const below = top + height + 20;
    const ends = [0, 1].map((u) =>
      text(at(u), below, String(u), { anchor: u ? "end" : "start", kind: "fig-muted" }),
    );
    if (!this.#last) {
      const empty = "Draft a token to test it.";
      const words = text(width / 2, top + 20, empty, { anchor: "middle", kind: "fig-muted" });
      return {
        height: HEIGHT,
        label: empty,
        nodes: [box(at(0), top, at(1) - at(0), height, "fig-empty"), words, ends],
      };
    }
    const { drafted, u } = this.#last;
    const limit = acceptRatios(p, q)[drafted];
    const stands = u < limit;
    const split = at(limit);
    const inside = (from, to, words) =>
      to - from > 9 * words.length
        ? text((from + to) / 2, top + 20, words, {
            anchor: "middle",
            kind: words === "accept" ? "fig-on" : "",
          })
        : null;
    return {
      height: HEIGHT,
      label: `Numbers below ${limit.toFixed(2)} accept ${names(p)[drafted]}; ${u.toFixed(2)} was drawn.`,
      nodes: [
        box(at(0), top, split - at(0), height, "fig-accepted"),
        hatched(split, top, at(1) - split, height, "fig-rejected"),
        inside(at(0), split, "accept"),
        inside(split, at(1), "reject"),
        ends,
        limit > 0.08 &&
          limit < 0.92 &&
          text(split, below, `p/q = ${limit.toFixed(2)}`, { anchor: "middle", kind: "fig-strong" }),
        line(at(u), top - 8, at(u), top + height + 6, "fig-needle"),
        text(
          Math.min(Math.max(at(u), 80), width - 80),
          top - 14,
          `drawn: ${u.toFixed(2)}, ${stands ? "accepted" : "rejected"}`,
          {
            anchor: "middle",
            kind: "fig-strong",
          },
        ),
      ],
    };
  }
}
