// The speed-up that α, γ, c and v predict, over γ.

import { CostSliders, LONGEST } from "./fig-costs.js";
import { bestGamma, roundCost, speedup, tokensPerRound } from "./fig-math.js";
import { COSTS } from "./fig-options.js";
import { named, says } from "./fig-parts.js";
import { plot } from "./fig-plot.js";
import { box, curve, Drawing, line, s, text } from "./fig-svg.js";

const HEIGHT = 300;
const OTHERS = [0.5, 0.7, 0.8, 0.9]; // α of the pale curves
const TOPS = [2, 3, 4, 6, 8, 12, 20];
const WINDOWS = Array.from({ length: LONGEST + 1 }, (_, gamma) => gamma);

export const OPTIONS = COSTS;

/** @param {{alpha?: number, gamma?: number, c?: number, slope?: number}} options */
export async function mount(element, options, lesson) {
  named(element, "Predicted speed-up");
  const said = says();
  const changed = () => {
    drawing.redraw();
    said.textContent = inWords(sliders);
  };
  const sliders = new CostSliders(options, changed);
  const drawing = new Drawing((width) => draw(sliders, width));
  element.append(drawing.element, sliders.element, said);
  changed();
  await sliders.follow(lesson);
}

function draw({ costs, machine, run }, width) {
  const over = (alpha) => WINDOWS.map((gamma) => speedup({ ...costs, alpha, gamma }));
  const mine = over(costs.alpha);
  const known = [machine && speedup(machine), run?.speedup].filter(Boolean);
  const highest = Math.max(...mine, ...known, ...over(OTHERS.at(-1)));
  const top = TOPS.find((value) => value >= 1.08 * highest) ?? TOPS.at(-1);
  const axes = plot({
    width,
    height: HEIGHT,
    x: {
      label: "γ, guesses per round",
      from: 0,
      to: LONGEST,
      ticks: [0, 2, 4, 6, 8, 10, 12, 14, 16],
      words: String,
    },
    y: { label: "speed-up", from: 0, to: top, ticks: scale(top), words: (value) => `${value}×` },
  });
  const points = (values) => values.map((value, gamma) => [axes.x(gamma), axes.y(value)]);
  const last = (values) => points(values).at(-1);
  return {
    height: HEIGHT,
    label: `Speed-up over γ. ${inWords({ costs, machine, run })}`,
    nodes: [
      axes.nodes,
      line(axes.x(0), axes.y(1), axes.x(LONGEST), axes.y(1), "fig-one"),
      OTHERS.map((alpha) => [
        curve(points(over(alpha)), "fig-other"),
        text(last(over(alpha))[0] + 4, last(over(alpha))[1] + 4, `α ${alpha}`, { kind: "fig-muted" }),
      ]),
      curve(points(mine), "fig-found"),
      points(mine).map(([cx, cy], gamma) => gamma > 0 && s("circle", { cx, cy, r: 3, class: "fig-dot" })),
      mark(axes, costs.gamma, speedup(costs), `${speedup(costs).toFixed(2)}×`, "fig-here"),
      machine && mark(axes, machine.gamma, speedup(machine), "predicted here", "fig-machine"),
      run && mark(axes, Math.min(run.gamma, LONGEST), run.speedup, "measured", "fig-run"),
    ],
  };
}

/** A point with its name, on the side where it stays in the picture. */
function mark(axes, gamma, value, words, kind) {
  const [x, y] = [axes.x(gamma), axes.y(value)];
  const shape = {
    "fig-here": () => s("circle", { cx: x, cy: y, r: 8, class: kind }),
    "fig-machine": () => s("path", { d: `M${x},${y - 9}L${x + 9},${y}L${x},${y + 9}L${x - 9},${y}Z`, class: kind }),
    "fig-run": () => box(x - 7, y - 7, 14, 14, kind),
  }[kind]();
  // The prediction's name stands beside it: what was measured is often just below.
  if (kind === "fig-machine") {
    const [at, anchor] = gamma > LONGEST / 2 ? [x - 14, "end"] : [x + 14, "start"];
    return [shape, text(at, y + 5, words, { anchor, kind: "fig-value" })];
  }
  const anchor = gamma > LONGEST - 3 ? "end" : gamma < 2 ? "start" : "middle";
  return [shape, text(x, kind === "fig-here" ? y - 14 : y + 26, words, { anchor, kind: "fig-value" })];
}

function scale(top) {
  const step = top <= 4 ? 1 : top / 4;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step);
}

function inWords({ costs, machine, run }) {
  const tokens = tokensPerRound(costs.alpha, costs.gamma).toFixed(2);
  const gain = speedup(costs);
  const than = `${gain < 1 ? "slower" : "faster"} than the baseline`;
  const best = bestGamma(costs, LONGEST);
  const words = [
    `A round emits ${tokens} tokens on average and costs ${roundCost(costs).toFixed(2)} passes:`,
    `${gain.toFixed(2)}×, ${than}.`,
    best ? `The best γ here is ${best}: ${speedup({ ...costs, gamma: best }).toFixed(2)}×.` : "No γ makes this faster.",
  ];
  if (machine) {
    const { alpha, gamma, c } = machine;
    words.push(`This machine measured α ${alpha.toFixed(2)} and c ${c.toFixed(2)};`);
    words.push(`with its γ ${gamma} that predicts ${speedup(machine).toFixed(2)}×.`);
  }
  if (run) words.push(`Its latest run, with γ ${run.gamma}, was measured at ${run.speedup.toFixed(2)}×.`);
  return words.join(" ");
}
