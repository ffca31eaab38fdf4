// The Race tab: baseline and speculative, measured one after the other, then replayed side by
// side on a common clock, as fast as each of them was.

import { h } from "./dom.js";
import { Keys } from "./keys.js";
import { Lane } from "./lane.js";
import { legend, Status } from "./parts.js";
import { Player } from "./player.js";
import { Session } from "./session.js";
import { button } from "./toolbar.js";
import { verdict } from "./verdict.js";

const NAMES = ["Baseline", "Speculative"];
const SLOW = 0.25;

/** Called by Gradio for the component of the Race tab. */
export function mount(element, { props, watch }) {
  const root = element.appendChild(h("div", { class: "race" }));
  return new Race(root, { start: "race", stop: "stop-race", props, watch });
}

/** Two lanes, their common clock, and what is pressed. The keyboard sees it as one stage. */
class Race {
  constructor(root, page) {
    this.root = root;
    root.race = this; // for tests
    this.status = new Status();
    this.lanes = NAMES.map((name, number) => new Lane(name, number));
    const [plain, fast] = this.lanes.map(({ stage }) => stage.graphs);
    [plain.beside, fast.beside] = [fast, plain];
    this.verdict = h("div", { class: "verdict", "aria-live": "polite" });
    const lanes = h("div", { class: "lanes" }, ...this.lanes.map((lane) => lane.element));
    root.append(this.status.element, this.verdict, lanes, this.#toolbar(), legend());
    this.session = new Session(page, this);
    this.keys = new Keys(root, this, () => this.session.stop());
    this.reset();
  }

  pressed() {
    Player.unlock();
    this.status.say("Starting…", "queued");
  }

  /** The race before stays to be seen until this one begins: it may fail at once. */
  begin() {
    this.#halt();
    this.#showTools();
  }

  reset() {
    this.#halt();
    this.result = null; // the line of the verdict
    this.verdict.replaceChildren();
    this.lanes.forEach((lane) => lane.reset());
    this.#showTools();
  }

  take(line) {
    if (line.kind === "status") this.status.say(line.text, line.state);
    else if (line.kind === "verdict") this.result = line;
    else if (line.kind === "end") this.#end(line);
    else this.#measure(line);
  }

  #measure(line) {
    if (line.kind === "started" && line.lane === 0) {
      this.reset();
      this.lanes.forEach(({ stage }) => (stage.grid.rows = line.trace.num_codebooks));
    }
    this.lanes[line.lane].measure(line);
  }

  get busy() {
    return this.racing;
  }

  stopped() {
    this.#halt();
    this.status.say("Stopped.", "stopped");
    this.#showTools();
  }

  lost(text) {
    this.status.say(text, "failed");
  }

  /** Both again from the start, on a common clock. */
  race() {
    this.#halt();
    this.verdict.replaceChildren();
    this.began = performance.now();
    this.lanes.forEach((lane) => lane.race(this.speed));
    this.#listen();
    this.status.say(this.speed < 1 ? "Replaying in slow motion, silent…" : "Replaying as measured…", "playing");
    this.#tick();
    this.#showTools();
  }

  /** Between racing and standing still. */
  toggle() {
    if (this.racing) this.#finish();
    else if (this.result) this.race();
  }

  get racing() {
    return Boolean(this.frame);
  }

  get position() {
    return this.lanes[this.heard].stage.position;
  }

  get duration() {
    return Math.max(...this.lanes.map(({ stage }) => stage.duration));
  }

  seek(seconds) {
    if (!this.racing) this.lanes.forEach(({ stage }) => stage.seek(seconds));
  }

  step(frames) {
    if (!this.racing) this.lanes.forEach(({ stage }) => stage.step(frames));
  }

  dismiss() {
    return this.lanes.map((lane) => lane.dismiss()).some(Boolean);
  }

  zoom(factor) {
    this.lanes.forEach(({ stage }) => stage.zoom(factor));
  }

  fit() {
    this.lanes.forEach(({ stage }) => stage.fit());
  }

  #end({ state, text }) {
    if (state === "done" && this.result) {
      this.lanes.forEach((lane) => lane.exports.offer(this.session.run, lane.number));
      this.race();
    } else {
      this.status.say(text, state);
    }
  }

  #tick() {
    const seconds = ((performance.now() - this.began) / 1000) * this.speed;
    const moving = this.lanes.map((lane) => lane.tick(seconds)).some(Boolean);
    if (!this.verdict.firstChild && this.lanes.every((lane) => seconds >= lane.wall)) this.#judge();
    if (moving) this.frame = requestAnimationFrame(() => this.#tick());
    else this.#finish();
  }

  #judge() {
    this.verdict.replaceChildren(...verdict(this.result, this.lanes[1].stage.run.header));
  }

  // What was said can now be gone through by hand.
  #finish() {
    this.#halt();
    this.lanes.forEach((lane) => lane.rest());
    this.#judge();
    this.status.say("Done.", "done");
    this.#showTools();
  }

  #halt() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.lanes.forEach((lane) => lane.halt());
  }

  #listen() {
    this.lanes.forEach(({ number, stage }) => (stage.player.muted = number !== this.heard));
  }

  #toolbar() {
    this.heard = 1;
    this.speed = 1;
    this.again = button("again", "Race again", "Race again", () => this.toggle());
    const hear = NAMES.map((name, number) => [`Hear ${name.toLowerCase()}`, number]);
    return h(
      "div",
      { class: "toolbar", role: "group", "aria-label": "Race" },
      this.again,
      choice("hear", "Which lane is heard", hear, this.heard, (number) => {
        this.heard = number;
        this.#listen();
      }),
      choice("speed", "Speed", [["As measured", 1], ["¼, silent", SLOW]], this.speed, (speed) => {
        this.speed = speed;
        if (this.result) this.race();
      }),
      button("presenter", "Present", "Presenter mode", () => this.keys.present()),
      button("help", "?", "Keys", () => this.keys.help()),
    );
  }

  #showTools() {
    this.again.disabled = !this.result;
    this.again.textContent = this.racing ? "To the end" : "Race again";
  }
}

/** One of few, as radio buttons; `pick` is called with the chosen value. */
function choice(name, label, entries, chosen, pick) {
  const options = entries.map(([text, value]) => {
    const input = h("input", { type: "radio", name: `race-${name}`, checked: value === chosen });
    input.addEventListener("change", () => pick(value));
    return h("label", {}, input, text);
  });
  return h("fieldset", { class: name, "aria-label": label }, ...options);
}
