// The distance of a histogram from p while it grows, beside what chance alone makes of it. Both axes
// are logarithmic: chance falls along a straight line, and what is wrong turns level.

import { chanceDistance } from "./fig-math.js";
import { percent } from "./fig-parts.js";
import { curve, line, text } from "./fig-svg.js";

const HEIGHT = 175;
const [LEFT, RIGHT, ABOVE, BELOW] = [58, 8, 10, 44];
const DECADE = 80; // px that a label of the axis below needs
const DISTANCES = [0.001, 0.01, 0.1, 1];
const LEAST = 0.0005;
const BAND = 2; // times the mean distance, up and down

/**
 * @param {Experiment} experiment
 * @param {number} most Tokens at the right end.
 */
export function drawSettling({ p, history, runs, distance }, most, width) {
  const x = (count) => LEFT + (Math.log(count) / Math.log(most)) * (width - LEFT - RIGHT);
  const y = (away) => {
    const [top, bottom] = [Math.log(1), Math.log(LEAST)];
    const at = (Math.log(Math.min(1, Math.max(away, LEAST))) - bottom) / (top - bottom);
    return HEIGHT - BELOW - at * (HEIGHT - BELOW - ABOVE);
  };
  const decades = Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, i) => 10 ** i);
  const every = (width - LEFT - RIGHT) / decades.length < DECADE ? 2 : 1;
  const ends = [1, most];
  const edge = (factor) => ends.map((count) => [x(count), y(factor * chanceDistance(p, count))]);
  const points = history.map((point) => [x(point.runs), y(point.distance)]);
  if (points.length) points.push([x(runs), y(distance)]);
  const nodes = [
    DISTANCES.map((away) => [
      line(LEFT, y(away), width - RIGHT, y(away), "fig-grid"),
      text(LEFT - 8, y(away) + 5, percent(away, away < 0.01 ? 1 : 0), { anchor: "end", kind: "fig-muted" }),
    ]),
    decades.map(
      (count, i) =>
        (decades.length - 1 - i) % every === 0 &&
        text(x(count), HEIGHT - BELOW + 20, count.toLocaleString("en"), {
          anchor: ["start", "middle", "end"][(i > 0) + (i === decades.length - 1)],
          kind: "fig-muted",
        }),
    ),
    text((LEFT + width) / 2, HEIGHT - 6, "tokens so far", { anchor: "middle", kind: "fig-muted" }),
    curve([...edge(BAND), ...edge(1 / BAND).reverse()], "fig-chance"),
    points.length > 1 && curve(points, "fig-found"),
    points.length &&
      text(Math.min(x(runs) + 4, width - RIGHT), y(distance) - 8, percent(distance, 2), {
        anchor: runs > most / 9 ? "end" : "start",
        kind: "fig-value",
      }),
  ];
  return { height: HEIGHT, label: inWords(p, runs, distance), nodes };
}

function inWords(p, runs, distance) {
  if (!runs) return "Distance from p against the number of tokens: nothing counted yet.";
  const found = `Distance from p after ${runs.toLocaleString("en")} tokens: ${percent(distance, 2)}`;
  return `${found}; by chance alone about ${percent(chanceDistance(p, runs), 2)}.`;
}
