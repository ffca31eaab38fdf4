// The speed-up that α, γ, c and v predict, over γ.

import { CostSliders, LONGEST } from "./fig-costs.js";
import { bestGamma, passCost, roundCost, speedup, tokensPerRound } from "./fig-math.js";
import { COSTS } from "./fig-options.js";
import { apart, Labels } from "./fig-labels.js";
import { named, says } from "./fig-parts.js";
import { plot } from "./fig-plot.js";
import { box, curve, diamond, disc, Drawing, line, s, text } from "./fig-svg.js";

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
  const ends = OTHERS.map((alpha) => points(over(alpha)).at(-1));
  const heights = apart(ends.map(([, y]) => y));
  const marks = [
    { kind: "fig-here", gamma: costs.gamma, value: speedup(costs), words: `${speedup(costs).toFixed(2)}×` },
    machine && { kind: "fig-machine", gamma: machine.gamma, value: speedup(machine), words: "predicted here" },
    run && { kind: "fig-run", gamma: Math.min(run.gamma, LONGEST), value: run.speedup, words: "measured" },
  ];
  return {
    height: HEIGHT,
    label: `Speed-up over γ. ${inWords({ costs, machine, run })}`,
    nodes: [
      axes.nodes,
      line(axes.x(0), axes.y(1), axes.x(LONGEST), axes.y(1), "fig-one"),
      OTHERS.map((alpha, i) => [
        curve(points(over(alpha)), "fig-other"),
        text(ends[i][0] + 4, heights[i] + 4, `α ${alpha}`, { kind: "fig-muted" }),
      ]),
      curve(points(mine), "fig-found"),
      points(mine).map(([cx, cy], gamma) => gamma > 0 && s("circle", { cx, cy, r: 3, class: "fig-dot" })),
      drawMarks(axes, marks.filter(Boolean), width),
    ],
  };
}

/** Points and their names. */
function drawMarks(axes, marks, width) {
  const labels = new Labels(width, HEIGHT);
  const placed = marks.map((mark) => ({ ...mark, x: axes.x(mark.gamma), y: axes.y(mark.value) }));
  placed.forEach(({ x, y }) => labels.avoid(x, y));
  const shapes = {
    "fig-here": disc,
    "fig-machine": diamond,
    "fig-run": (x, y, kind) => box(x - 7, y - 7, 14, 14, kind),
  };
  return placed.map(({ kind, x, y, words }) => [shapes[kind](x, y, kind), labels.name(x, y, words)]);
}

/** γ · c + v = the cost of a round, in numbers. */
function costOf(costs) {
  const parts = [costs.gamma * costs.c, passCost(costs), roundCost(costs)];
  const [drafts, pass, all] = parts.map((passes) => passes.toFixed(2));
  return `γ · c + v = ${drafts} + ${pass} = ${all}`;
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
    `A round emits ${tokens} tokens on average. It costs ${costOf(costs)} passes:`,
    `${gain.toFixed(2)}×, ${than}.`,
    best ? `The best γ here is ${best}: ${speedup({ ...costs, gamma: best }).toFixed(2)}×.` : "No γ makes this faster.",
  ];
  if (machine) {
    const { alpha, gamma, c, slope } = machine;
    const [a, guess, further] = [alpha, c, slope].map((value) => value.toFixed(2));
    words.push(`This machine measured α ${a}, c ${guess} and d ${further};`);
    words.push(`with its γ ${gamma} that predicts ${speedup(machine).toFixed(2)}×.`);
  }
  if (run) words.push(`Its latest run, with γ ${run.gamma}, was measured at ${run.speedup.toFixed(2)}×.`);
  return words.join(" ");
}
