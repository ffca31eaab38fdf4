// A canvas drawn at the device's own resolution, and the sizes that the style sheet gives it.

import { palette } from "./colours.js";

const ROW = 40; // px, where the style sheet does not say
const NARROW = 700; // px; below it the gutter has short labels

export class Surface {
  #key;
  #style;
  #width = 0;

  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.#width = canvas.clientWidth;
    // Asking for clientWidth at every frame would make the browser lay the page out each time.
    new ResizeObserver(() => (this.#width = canvas.clientWidth)).observe(canvas);
  }

  /**
   * Sizes in px and colours: width, gutter, type (height of text), row (height of a line), fonts,
   * colours. They are read anew only after the size or a class of the body changed.
   */
  style() {
    const key = `${this.#width} ${window.innerHeight} ${document.body.className}`;
    if (key !== this.#key) {
      this.#key = key;
      this.#style = read(this.canvas, this.#width);
    }
    return this.#style;
  }

  /** Makes the canvas this high and empty; its context, whose unit is the CSS pixel. */
  clear(height) {
    const { canvas, context } = this;
    const ratio = window.devicePixelRatio;
    const [width, pixels] = [Math.round(this.#width * ratio), Math.round(height * ratio)];
    if (canvas.width !== width || canvas.height !== pixels) {
      canvas.width = width;
      canvas.height = pixels;
      canvas.style.height = `${height}px`;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.#width, height);
    return context;
  }
}

function read(canvas, width) {
  const css = getComputedStyle(canvas);
  const type = parseFloat(css.fontSize);
  const narrow = width < NARROW;
  const family = css.fontFamily;
  return {
    width,
    narrow,
    type,
    row: parseFloat(css.lineHeight) || ROW,
    gutter: Math.round(type * (narrow ? 6.4 : 14)),
    colours: palette(canvas),
    font: `${type}px ${family}`,
    bold: `600 ${type}px ${family}`,
    large: `600 ${Math.round(type * (narrow ? 1.2 : 1.6))}px ${family}`,
  };
}
