// Short sounds by a button: one at a time, and silent as soon as anything else sounds.

import { h } from "./dom.js";
import { ask } from "./lesson.js";
import { claim, onOtherClaim } from "./session.js";

let context; // one for all sounds: a browser allows few

/** A button that plays a sound and, pressed again, stops it. What fails is said beside it. */
export class HearButton {
  /**
   * @param {string} text
   * @param {URL} [where] the sound; it may be given later, by `offer`
   */
  constructor(text, where) {
    this.text = text;
    this.button = h("button", { type: "button", class: "hear", onclick: () => this.#press() });
    this.fault = h("span", { class: "fault", role: "alert" });
    this.element = h("span", { class: "hearing" }, this.button, this.fault);
    onOtherClaim(this, () => this.stop());
    this.offer(where);
  }

  /** From now on the sound is this one. */
  offer(where) {
    if (String(where) === String(this.where)) return;
    this.stop();
    this.where = where;
    this.fault.textContent = "";
  }

  stop() {
    this.source?.stop();
    this.source = null;
    this.wanted = null;
    this.#show();
  }

  async #press() {
    if (this.wanted) return this.stop();
    claim(this);
    context ??= new AudioContext();
    context.resume(); // in the press itself, or browsers stay silent
    const wanted = (this.wanted = {});
    this.fault.textContent = "";
    this.#show();
    try {
      const bytes = await (await ask(this.where)).arrayBuffer();
      const buffer = await context.decodeAudioData(bytes);
      if (this.wanted === wanted) this.#play(buffer);
    } catch (error) {
      if (this.wanted !== wanted) return;
      this.stop();
      this.fault.textContent = error.message;
    }
  }

  #play(buffer) {
    const source = (this.source = new AudioBufferSourceNode(context, { buffer }));
    source.onended = () => this.source === source && this.stop();
    source.connect(context.destination);
    source.start();
  }

  #show() {
    const on = Boolean(this.wanted);
    this.button.textContent = `${on ? "■" : "▶"}\uFE0E ${this.text}`;
    this.button.setAttribute("aria-label", this.text);
    this.button.setAttribute("aria-pressed", on);
  }
}
