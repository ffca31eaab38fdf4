// Where speculative decoding is slower than the baseline: α across, c upwards.

import { CostSliders, LONGEST } from "./fig-costs.js";
import { bestGamma, speedup, tokensPerRound } from "./fig-math.js";
import { COSTS } from "./fig-options.js";
import { Labels } from "./fig-labels.js";
import { named, says } from "./fig-parts.js";
import { plot } from "./fig-plot.js";
import { curve, diamond, disc, Drawing, hatched, s, text } from "./fig-svg.js";

const HEIGHT = 320;
const MOST = { alpha: 1, c: 1.2 };
const GAINS = [1.5, 2, 3, 4];
const STEPS = 100;

export const OPTIONS = COSTS;

/** @param {{alpha?: number, gamma?: number, c?: number, slope?: number}} options */
export async function mount(element, options, lesson) {
  named(element, "Where drafting pays");
  const said = says();
  const changed = () => {
    drawing.redraw();
    said.textContent = inWords(sliders.costs);
  };
  const sliders = new CostSliders(options, changed);
  const drawing = new Drawing((width) => draw(sliders, width));
  followPointer(drawing.element, sliders);
  element.append(drawing.element, sliders.element, said);
  changed();
  await sliders.follow(lesson);
}

function draw({ costs, machine }, width) {
  const axes = axesOf(width);
  const faster = border(axes, costs, 1);
  return {
    height: HEIGHT,
    label: `Where the speed-up is above 1, by α and c. ${inWords(costs)}`,
    nodes: [
      slower(axes, faster),
      axes.nodes,
      GAINS.map((value) => contour(axes, costs, value)),
      curve(faster, "fig-found"),
      text(axes.x(0) + 10, axes.y(MOST.c) + 24, "slower than the baseline", { kind: "fig-strong fig-halo" }),
      drawMarks(axes, costs, machine, width),
    ],
  };
}

function axesOf(width) {
  const words = (value) => value.toFixed(1);
  return plot({
    width,
    height: HEIGHT,
    x: { label: "α, a guess is accepted", from: 0, to: MOST.alpha, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], words },
    y: { label: "c, cost of a guess in passes", from: 0, to: MOST.c, ticks: [0, 0.3, 0.6, 0.9, 1.2], words },
  });
}

/** The points in which the speed-up has a value: where c = (E / value - v(γ + 1)) / γ. */
function border(axes, { gamma, slope }, value) {
  const points = [];
  for (let step = 0; step <= STEPS; step += 1) {
    const alpha = step / STEPS;
    const c = (tokensPerRound(alpha, gamma) / value - 1 - gamma * slope) / gamma;
    points.push([axes.x(alpha), axes.y(Math.min(Math.max(c, 0), MOST.c))]);
  }
  return points;
}

function contour(axes, costs, value) {
  const floor = axes.y(0);
  const points = border(axes, costs, value).filter(([, y]) => y < floor - 0.5);
  if (points.length < 2) return null;
  const [x, y] = points.at(-1);
  return [curve(points, "fig-other"), text(x + 6, y + 4, `${value}×`, { kind: "fig-muted" })];
}

/** All of it hatched, and the region below the border cleared again. */
function slower(axes, faster) {
  const [left, right, bottom, top] = [axes.x(0), axes.x(MOST.alpha), axes.y(0), axes.y(MOST.c)];
  const area = [...faster, [right, bottom], [left, bottom]];
  const points = area.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  return [
    hatched(left, top, right - left, bottom - top, "fig-rejected"),
    s("polygon", { points, class: "fig-ground" }),
  ];
}

/** What the sliders say, and this machine. */
function drawMarks(axes, costs, machine, width) {
  const labels = new Labels(width, HEIGHT);
  const at = ({ alpha, c }) => [axes.x(alpha), axes.y(Math.min(c, MOST.c))];
  const here = at(costs);
  const there = machine && at(machine);
  labels.avoid(...here);
  if (machine) labels.avoid(...there);
  return [
    machine && diamond(...there, "fig-machine"),
    disc(...here, "fig-here"),
    labels.name(...here, `${speedup(costs).toFixed(2)}×`),
    machine && labels.name(...there, "this machine"),
  ];
}

// With the mouse only: a finger scrolls, and has the sliders.
function followPointer(svg, sliders) {
  let held = false;
  const pull = ({ clientX, clientY }) => {
    const { left, top, width } = svg.getBoundingClientRect();
    const [alpha, c] = axesOf(width).value(clientX - left, clientY - top);
    const round = (value, most) => Math.round(100 * Math.min(Math.max(value, 0), most)) / 100;
    sliders.set({ alpha: round(alpha, 0.99), c: round(c, MOST.c) });
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") return;
    svg.setPointerCapture(event.pointerId);
    held = true;
    pull(event);
  });
  svg.addEventListener("pointermove", (event) => held && pull(event));
  svg.addEventListener("lostpointercapture", () => (held = false));
}

function inWords(costs) {
  const gain = speedup(costs);
  const best = bestGamma(costs, LONGEST);
  const now = `With γ ${costs.gamma}: ${gain.toFixed(2)}×, ${gain < 1 ? "slower" : "faster"} than the baseline.`;
  if (!best) return `${now} Here no γ pays: a guess costs as much as it brings, or more.`;
  return `${now} The best γ here is ${best}: ${speedup({ ...costs, gamma: best }).toFixed(2)}×.`;
}
