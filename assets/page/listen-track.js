// One clip of a trial: a big button, and below it what was heard of the clip.

import { h } from "./dom.js";

export class Track {
  /**
   * @param {string} name
   * @param {() => void} choose called by a press
   */
  constructor(name, choose) {
    this.button = h(
      "button",
      { type: "button", "aria-label": `Listen to ${name}`, "aria-keyshortcuts": name, onclick: choose },
      h("span", {}, name),
      h("small", { "aria-hidden": "true" }),
    );
    // A press with the pointer leaves the focus alone, so that Space goes on to play and pause.
    this.button.addEventListener("mousedown", (event) => event.preventDefault());
    this.bar = h("div", { class: "heard", role: "progressbar", "aria-label": `Heard of ${name}`, "aria-valuemin": 0 });
    this.head = this.bar.appendChild(h("i", {}));
    this.element = h("div", { class: "clip" }, this.button, this.bar);
  }

  /**
   * @param {Heard} heard
   * @param {number} position in seconds
   * @param {boolean} chosen whether this is the clip that is heard, or would be
   */
  show(heard, position, chosen, playing) {
    const { duration, seconds, enough } = heard;
    this.button.setAttribute("aria-pressed", chosen);
    this.element.dataset.enough = enough;
    const note = chosen && playing ? "playing" : enough ? "heard ✓" : "";
    this.button.lastChild.textContent = note;
    this.bar.style.backgroundImage = stripes(heard);
    this.head.style.left = `${(100 * position) / duration}%`;
    this.bar.setAttribute("aria-valuemax", duration.toFixed(1));
    this.bar.setAttribute("aria-valuenow", seconds.toFixed(1));
    this.bar.setAttribute("aria-valuetext", `${seconds.toFixed(1)} of ${duration.toFixed(1)} s`);
  }
}

// The parts that were heard in the colour of the text, the others clear.
function stripes({ parts, duration }) {
  const stops = parts.flatMap(([from, to]) => {
    const [start, end] = [from, to].map((seconds) => `${(100 * seconds) / duration}%`);
    return [`transparent ${start}`, `currentColor ${start}`, `currentColor ${end}`, `transparent ${end}`];
  });
  return stops.length ? `linear-gradient(to right, ${stops})` : "none";
}
