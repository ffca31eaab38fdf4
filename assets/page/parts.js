// What every tab has: a line that says how things stand, and the legend of its tokens.

import { h } from "./dom.js";
import { Legend } from "./legend.js";

/** A line of text, and which state it tells of. */
export class Status {
  constructor() {
    this.element = h("p", { class: "status", role: "status" });
  }

  /** The text may be anybody's: it stays text. */
  say(text, state) {
    this.element.textContent = text;
    this.element.dataset.state = state;
  }
}

/** A legend that follows the theme. */
export function legend() {
  const element = h("div", { class: "legend" });
  const made = new Legend(element);
  onTheme(() => made.draw());
  return element;
}

/** Calls back after changes of the body's classes: Gradio's "dark", our "presenter". */
export function onTheme(changed) {
  new MutationObserver(changed).observe(document.body, { attributeFilter: ["class"] });
}
