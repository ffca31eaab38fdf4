// A canvas that draws itself anew when its width or the theme changes, and has a name.

import { h } from "./dom.js";
import { onTheme } from "./parts.js";
import { Surface } from "./surface.js";

export class Picture {
  /**
   * @param {function(Surface): void} draw clears the surface and draws; not called without width
   * @param {string} [kind] class of the canvas: the style sheet gives it height and size of type
   */
  constructor(draw, kind = "picture") {
    this.draw = draw;
    this.element = h("canvas", { class: kind, role: "img" });
    this.surface = new Surface(this.element);
    new ResizeObserver(() => this.redraw()).observe(this.element);
    onTheme(() => this.redraw());
  }

  /** Name it for those who do not see it, and draw. */
  show(label) {
    this.element.setAttribute("aria-label", label);
    this.redraw();
  }

  redraw() {
    if (this.surface.style().width) this.draw(this.surface);
  }
}
