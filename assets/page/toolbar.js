// What can be pressed under a stage, and what it shows. Every press is an action of the stage.

import { address } from "./address.js";
import { h } from "./dom.js";

const PLAY = "▶\uFE0E"; // U+FE0E: as text, not as a picture
const PAUSE = "❚❚";
const EXPORTS = {
  "speech.wav": "Sound (WAV)",
  "trace.json": "Trace (JSON)",
  "rounds.csv": "Rounds (CSV)",
  "figure.png": "Figure (PNG)",
  "figure.svg": "Figure (SVG)",
};

/** A button that calls `press`; `label` is its name for those who do not see it. */
export function button(name, text, label, press) {
  const made = h("button", { type: "button", class: name, "aria-label": label, title: label }, text);
  made.addEventListener("click", press);
  return made;
}

/** A slider that calls `move` with its value. */
export function slider(name, label, { max, step, value }, move) {
  const made = h("input", { type: "range", class: name, min: 0, max, step, "aria-label": label });
  made.value = value;
  made.addEventListener("input", () => move(made.valueAsNumber));
  return made;
}

/** Downloads of a finished run; nothing can be chosen before `offer`. */
export class Exports {
  constructor() {
    this.links = Object.entries(EXPORTS).map(([file, text]) => [file, h("a", { download: "" }, text)]);
    this.element = h(
      "details",
      { class: "exports" },
      h("summary", { title: "Save what was said" }, "Save"),
      h("div", {}, ...this.links.map(([, link]) => link)),
    );
    this.element.addEventListener("click", (event) => {
      if (event.target.closest("a")) this.element.open = false;
    });
    this.withdraw();
  }

  /** The files of one lane of a run. */
  offer(run, lane) {
    for (const [file, link] of this.links) {
      link.href = address(`runs/${run}/${lane}/${file}`);
    }
    this.element.inert = false;
  }

  /** Close the list; whether it was open. */
  close() {
    const { open } = this.element;
    if (this.element.contains(document.activeElement)) this.element.firstChild.focus();
    this.element.open = false;
    return open;
  }

  withdraw() {
    this.close();
    this.element.inert = true;
  }
}

/** Play, seek, level, zoom, and the rest; `actions` says what each does. */
export class Toolbar {
  constructor(actions) {
    this.play = button("play", PLAY, "Play", actions.toggle);
    this.seek = slider("seek", "Position", { max: 0, step: 0.01, value: 0 }, actions.seek);
    this.clock = h("output", { class: "clock", "aria-live": "off" });
    this.level = slider("level", "Level", { max: 1, step: 0.05, value: 1 }, actions.level);
    this.exports = new Exports();
    this.element = h(
      "div",
      { class: "toolbar", role: "group", "aria-label": "Player" },
      this.play,
      this.seek,
      this.clock,
      h("label", { class: "volume", title: "Level" }, "Level", this.level),
      button("zoom-out", "−", "Zoom out", () => actions.zoom(1 / ZOOM_STEP)),
      button("fit", "Fit", "Fit the whole run", actions.fit),
      button("zoom-in", "+", "Zoom in", () => actions.zoom(ZOOM_STEP)),
      this.exports.element,
      button("presenter", "Present", "Presenter mode", actions.presenter),
      button("help", "?", "Keys", actions.help),
    );
    this.show({ playing: false, position: 0, duration: 0, step: 0.01 });
  }

  /** Times in seconds; step: what one press of an arrow key moves. */
  show({ playing, position, duration, step }) {
    showPlaying(this.play, playing);
    this.play.disabled = !duration;
    this.seek.disabled = !duration;
    this.seek.max = duration;
    this.seek.step = step;
    this.seek.value = position;
    this.seek.setAttribute("aria-valuetext", `${position.toFixed(1)} of ${duration.toFixed(1)} s`);
    this.clock.textContent = `${position.toFixed(1)} s / ${duration.toFixed(1)} s`;
  }
}

/** How much one press of a zoom button enlarges. */
export const ZOOM_STEP = 1.5;

/** What a play button offers. */
export function showPlaying(made, playing) {
  const label = playing ? "Pause" : "Play";
  if (made.getAttribute("aria-label") === label) return;
  made.textContent = playing ? PAUSE : PLAY;
  made.title = label;
  made.setAttribute("aria-label", label);
}
