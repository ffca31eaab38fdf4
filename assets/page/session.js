// The runs that one start button begins: one at a time, followed to their end or stopped. A page has
// several such buttons, and only one of them is heard at a time.

import { address } from "./address.js";
import { follow } from "./feed.js";

const POLL = 250; // milliseconds between looks for a value that came before `watch` listened
const PATIENCE = 20_000; // milliseconds until a press is given up that no run answered
const CLAIM = "forespeak-claim"; // event: the one in its detail wants to be heard alone

/** Silence everybody else on the page: `owner` wants to be heard alone. */
export function claim(owner) {
  document.dispatchEvent(new CustomEvent(CLAIM, { detail: owner }));
}

/** Call back whenever somebody other than `owner` wants to be heard alone. */
export function onOtherClaim(owner, callback) {
  document.addEventListener(CLAIM, ({ detail }) => detail !== owner && callback());
}

/**
 * Holds the start button while a run is under way, and hands on what the run says.
 *
 * The listener is told: pressed() in the gesture itself, begin(value), take(line), stopped(),
 * lost(text). Its `busy` says whether it still has something to stop after the run's end.
 */
export class Session {
  /**
   * @param {{start: string, stop: string, props: object, watch: Function, silent?: boolean}} page
   *   ids of the buttons; Gradio's view of the component whose value names the run; whether its
   *   runs make no sound: others then neither end them nor are ended
   * @param {object} listener
   */
  constructor({ start, stop, props, watch, silent = false }, listener) {
    Object.assign(this, { start, stopId: stop, props, silent, listener });
    this.run = props.value?.run ?? null; // one from before belongs to nobody
    this.open = false; // whether the run is still under way
    this.held = false; // whether the start button is
    this.awaited = null; // the press that no run answered yet: {timer, stopped}
    document.addEventListener("click", (event) => this.#click(event), true);
    if (!silent) onOtherClaim(this, () => this.stop());
    window.addEventListener("pagehide", () => this.stop()); // Back may bring the page again as it was
    watch("value", () => this.#look());
    setInterval(() => this.#look(), POLL);
  }

  /** End the run under way and its sound, if any. */
  stop() {
    if (!this.held && !this.open && !this.listener.busy) return;
    if (this.awaited) this.awaited.stopped = true;
    else this.#release();
    this.#abandon();
    this.listener.stopped();
  }

  #click(event) {
    const id = event.target.closest?.("button")?.id;
    if (id === this.stopId) this.stop();
    if (id !== this.start) return;
    if (this.held) event.stopImmediatePropagation(); // a second press must not queue a run
    else this.#press();
  }

  #press() {
    this.#claim();
    this.held = true;
    this.awaited = { timer: setTimeout(() => this.#giveUp(), PATIENCE), stopped: false };
    setTimeout(() => this.#showHeld()); // not now: Gradio would not hear of the press
    this.listener.pressed();
  }

  #claim() {
    if (!this.silent) claim(this);
  }

  #giveUp() {
    this.awaited = null;
    this.#release();
    this.listener.lost("The server does not answer: is it still running?");
  }

  #look() {
    const value = this.props.value;
    if (!value?.run || value.run === this.run) return;
    const stopped = this.awaited?.stopped;
    clearTimeout(this.awaited?.timer);
    this.awaited = null;
    this.#abandon();
    this.run = value.run;
    this.open = true;
    if (stopped) {
      this.#abandon();
      this.#release();
    } else {
      this.#claim();
      this.listener.begin(value);
      this.feed = follow(value.run, 0, (line) => this.#take(line));
    }
  }

  #take(line) {
    if (line.kind === "end") this.open = false;
    if (line.kind === "end" || line.recorded) this.#release();
    this.listener.take(line);
  }

  // A beacon, for it is sent even while the tab closes.
  #abandon() {
    this.feed?.stop();
    if (this.open) navigator.sendBeacon(address(`runs/${this.run}/stop`));
    this.open = false;
  }

  #release() {
    this.held = false;
    this.#showHeld();
  }

  #showHeld() {
    const button = document.querySelector(`button#${this.start}`);
    if (button) button.disabled = this.held;
  }
}
