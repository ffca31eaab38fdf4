// What the grid's colours and shapes mean; the swatches are drawn by what draws the cells.

import { drawCells, palette, REJECTED_SHARE } from "./colours.js";
import { h } from "./dom.js";

const ENTRIES = [
  { kinds: ["accepted"], text: "accepted", hint: "the draft's token stood" },
  { kinds: ["rejected", "corrected"], text: "rejected, corrected", hint: "what the draft said; what the target said" },
  { kinds: ["bonus"], text: "bonus", hint: "one more from the target after a full draft" },
  { kinds: ["plain"], text: "undrafted", hint: "from the target alone" },
  { kinds: ["pending"], text: "pending", hint: "planned, not decoded yet" },
];
const WIDTH = 16;
const HEIGHT = 30;

export class Legend {
  /** @param {HTMLElement} element An empty element that is filled. */
  constructor(element) {
    this.canvases = ENTRIES.map(() => h("canvas", { "aria-hidden": "true" }));
    element.append(
      h("ul", {}, ENTRIES.map(({ text, hint }, i) => h("li", { title: hint }, this.canvases[i], text))),
    );
    this.draw();
  }

  /** To be called again when the theme has changed. */
  draw() {
    const ratio = window.devicePixelRatio;
    this.canvases.forEach((canvas, i) => {
      canvas.width = WIDTH * ratio;
      canvas.height = HEIGHT * ratio;
      canvas.style.width = `${WIDTH}px`;
      canvas.style.height = `${HEIGHT}px`;
      const context = canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawSwatch(context, palette(canvas), ENTRIES[i].kinds);
    });
  }
}

function drawSwatch(context, colours, kinds) {
  const upper = kinds.length > 1 ? Math.round(HEIGHT * REJECTED_SHARE) : HEIGHT;
  drawCells(context, colours, kinds[0], [1, 1, WIDTH - 2, upper - 2]);
  if (kinds.length > 1) {
    drawCells(context, colours, kinds[1], [1, upper, WIDTH - 2, HEIGHT - upper - 1]);
  }
}
