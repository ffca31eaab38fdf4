// Drawings as SVG: sharp at any size and in print. Their colours are those of the style sheet.

const SPACE = "http://www.w3.org/2000/svg";
const UNSEEN = 640; // px, the width of what is drawn before it shows
const HATCH = 6; // px between the lines of a hatched box

/**
 * An SVG element; see `h` of dom.js.
 * @param {string} tag
 * @param {Object<string, string|number>} attributes
 * @param {...*} children Nodes, texts, arrays of them; null and false are left out.
 */
export function s(tag, attributes, ...children) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...present(children));
  return element;
}

const present = (nodes) => nodes.flat(Infinity).filter((node) => node != null && node !== false);

/** A drawing that is as wide as its place, and is drawn anew when that changes. */
export class Drawing {
  #draw;
  #width = 0;

  /** @param {function(number): {height: number, label: string, nodes: Array}} draw For a width in px:
   *   what is there, and what it shows in words. */
  constructor(draw) {
    this.#draw = draw;
    this.element = s("svg", { role: "img", class: "fig-drawing" });
    new ResizeObserver(([{ contentRect }]) => this.#fit(contentRect.width)).observe(this.element);
    this.redraw();
  }

  get width() {
    return this.#width || UNSEEN;
  }

  redraw() {
    const { height, label, nodes } = this.#draw(this.width);
    this.element.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.element.setAttribute("aria-label", label);
    this.element.style.aspectRatio = `${this.width} / ${height}`;
    this.element.replaceChildren(...present(nodes));
  }

  #fit(width) {
    if (width === 0 || Math.abs(width - this.#width) < 0.5) return;
    this.#width = width;
    this.redraw();
  }
}

/** A text; `anchor` is start, middle or end. */
export function text(x, y, words, { anchor = "start", kind = "" } = {}) {
  return s("text", { x, y, "text-anchor": anchor, class: kind }, words);
}

export function line(x1, y1, x2, y2, kind) {
  return s("line", { x1, y1, x2, y2, class: kind });
}

/** A box; nothing where it has no height. */
export function box(x, y, width, height, kind) {
  return height > 0 && width > 0 ? s("rect", { x, y, width, height, class: kind }) : null;
}

/** A box with slanted lines: two kinds of box differ without their colours. */
export function hatched(x, y, width, height, kind) {
  if (!(height > 0 && width > 0)) return null;
  let d = "";
  for (let at = HATCH / 2; at < width + height; at += HATCH) {
    const [left, right] = [Math.max(0, at - height), Math.min(width, at)];
    d += `M${x + left},${y + at - left}L${x + right},${y + at - right}`;
  }
  return [box(x, y, width, height, `${kind} fig-pale`), s("path", { d, class: `${kind} fig-hatch` })];
}

/** Points: how something is marked in a plot. */
export function disc(cx, cy, kind) {
  return s("circle", { cx, cy, r: 8, class: kind });
}

export function diamond(x, y, kind) {
  return s("path", { d: `M${x},${y - 9}L${x + 9},${y}L${x},${y + 9}L${x - 9},${y}Z`, class: kind });
}

/** A line through points. */
export function curve(points, kind) {
  const d = points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
  return s("path", { d, class: `fig-curve ${kind}` });
}
