// What is left of p where q is taken away: what is redrawn from after a rejection.

import { h } from "./dom.js";
import { columns, stack } from "./fig-columns.js";
import { alphaOf, missing, normalise } from "./fig-math.js";
import { PAIR } from "./fig-options.js";
import { Pair } from "./fig-pair.js";
import { named, names, percent, says, table } from "./fig-parts.js";
import { Drawing, text } from "./fig-svg.js";

const HEIGHT = 230;

const residual = (p, q) => normalise(missing(p, q)) ?? p.map(() => 0);

export const OPTIONS = PAIR;

/** @param {{p?: number[], q?: number[]}} options */
export function mount(element, options) {
  named(element, "The residual distribution");
  const said = says();
  const numbers = h("div", { class: "fig-tables" });
  const changed = () => {
    redrawn.redraw();
    numbers.replaceChildren(rowsOf(pair));
    said.textContent = inWords(pair);
  };
  const pair = new Pair(options, "difference", changed);
  const redrawn = new Drawing((width) => draw(pair, width));
  element.append(
    h(
      "div",
      { class: "fig-two" },
      pair.element,
      h("div", {}, h("p", { class: "fig-title" }, "Redrawn from: the residual"), redrawn.element, said),
    ),
    numbers,
  );
  changed();
}

function draw({ p, q }, width) {
  const left = residual(p, q);
  const nodes = columns({ width, height: HEIGHT, symbols: names(p), top: 1 }, (i, place) => [
    stack(place, { accepted: 0, redrawn: left[i], p: null }),
    text(place.left + place.width / 2, place.y(left[i]) - 5, percent(left[i], 1), {
      anchor: "middle",
      kind: "fig-value",
    }),
  ]);
  const say = names(p).map((name, i) => `${name} ${percent(left[i], 1)}`);
  return { height: HEIGHT, label: `The residual: ${say.join(", ")}.`, nodes };
}

function rowsOf({ p, q }) {
  const [lack, excess, left] = [missing(p, q), missing(q, p), residual(p, q)];
  const shares = (i) => [lack[i], excess[i], left[i]].map((value) => percent(value, 1));
  const head = ["", "missing: max(0, p − q)", "refused: max(0, q − p)", "residual"];
  return table(
    "Each symbol",
    head,
    names(p).map((name, i) => [name, ...shares(i)]),
  );
}

function inWords({ p, q }) {
  const refused = 1 - alphaOf(p, q);
  if (refused < 1e-9) return "q is p: nothing is refused, nothing is missing, and no guess is ever rejected.";
  const share = percent(refused, 1);
  const both = `Refused in all: ${share} of the guesses. Missing in all: ${share} as well.`;
  return `${both} What was refused is given out again, exactly where p has more than q.`;
}
