// Axes for two numbers.

import { line, text } from "./fig-svg.js";

const [LEFT, RIGHT, ABOVE, BELOW] = [46, 44, 24, 46];

/**
 * @typedef {{label: string, from: number, to: number, ticks: number[], words: function(number): string}} Axis
 * @param {{width: number, height: number, x: Axis, y: Axis}} frame
 * @returns {{x: function(number): number, y: function(number): number, nodes: Array, value:
 *   function(number, number): number[]}} Numbers to px; the axes drawn; px to numbers.
 */
export function plot({ width, height, x, y }) {
  const [right, bottom] = [width - RIGHT, height - BELOW];
  const across = (value) => LEFT + ((value - x.from) / (x.to - x.from)) * (right - LEFT);
  const up = (value) => bottom - ((value - y.from) / (y.to - y.from)) * (bottom - ABOVE);
  const nodes = [
    y.ticks.map((value) => [
      line(LEFT, up(value), right, up(value), "fig-grid"),
      text(LEFT - 8, up(value) + 5, y.words(value), { anchor: "end", kind: "fig-muted" }),
    ]),
    x.ticks.map((value) =>
      text(across(value), bottom + 20, x.words(value), { anchor: "middle", kind: "fig-muted" }),
    ),
    text((LEFT + right) / 2, height - 6, x.label, { anchor: "middle", kind: "fig-strong" }),
    text(2, 14, y.label, { kind: "fig-strong" }),
  ];
  const value = (px, py) => [
    x.from + ((px - LEFT) / (right - LEFT)) * (x.to - x.from),
    y.from + ((bottom - py) / (bottom - ABOVE)) * (y.to - y.from),
  ];
  return { x: across, y: up, nodes, value };
}
