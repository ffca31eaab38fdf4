// A sentence from its first codebook alone, from two, and so on: seen as tokens, and heard.

import { h } from "./dom.js";
import { RECORDING } from "./fig-options.js";
import { animate, button, choice, named, says } from "./fig-parts.js";
import { box, Drawing, line, text } from "./fig-svg.js";
import { ask } from "./lesson.js";
import { claim, onOtherClaim } from "./session.js";
import { createContext, latency } from "./sound.js";

const ROW = 30;
const [GUTTER, NARROW, ABOVE] = [108, 24, 24];
const ROOM_FOR_NUMBERS = 19; // px
const FADE = 0.01; // seconds between one sound and another
const SPOKEN = "example"; // the recording whose sounds there are
const OTHER_SOUND = ` The sound is not of this sentence, but of the recording “${SPOKEN}”.`;
const SOUND = (count) => `codebooks-${count}.flac`;

export const OPTIONS = { recording: RECORDING };

/** @param {{recording?: string}} options recording: the run whose tokens are shown. */
export async function mount(element, { recording = SPOKEN }, lesson) {
  const { trace } = await lesson.recording(recording);
  new Codebooks(element, trace, recording === SPOKEN ? "" : OTHER_SOUND, lesson);
}

class Codebooks {
  #context = null;
  #gains = [];
  #sources = [];
  #begun = 0;

  /** aside: what has to be said of the sound. */
  constructor(element, trace, aside, lesson) {
    Object.assign(this, { element, trace, aside, lesson });
    this.Q = trace.num_codebooks;
    this.tokens = trace.rounds.flatMap(({ draft_tokens: drafted, accepted, next_token: next }) => [
      ...drafted.slice(0, accepted),
      next,
    ]);
    this.frames = Math.ceil(this.tokens.length / this.Q);
    this.seconds = this.frames / trace.frame_rate;
    this.count = 1;
    this.drawing = new Drawing((width) => this.#draw(width));
    this.fault = h("p", { class: "fault", role: "alert" });
    this.said = says();
    this.play = button("▶\uFE0E Play", () => (this.#sources.length ? this.#stop() : this.#start()));
    const counts = Array.from({ length: this.Q }, (_, i) => ({ value: `${i + 1}`, label: `${i + 1}` }));
    named(element, "A sentence by its codebooks");
    element.append(
      h(
        "div",
        { class: "fig-buttons" },
        choice("Codebooks", counts, (count) => this.#choose(Number(count))),
        this.play,
      ),
      this.fault,
      this.drawing.element,
      this.said,
    );
    onOtherClaim(this, () => this.#stop());
    this.#choose(1);
  }

  /** Switches at once, also in the middle of the sound. */
  #choose(count) {
    this.count = count;
    this.#gains.forEach((gain, i) =>
      gain.gain.setTargetAtTime(i + 1 === count ? 1 : 0, this.#context.currentTime, FADE / 3),
    );
    this.drawing.redraw();
    const rate = (this.trace.frame_rate * count).toFixed(0);
    const [{ text: sentence }] = this.trace.sentences;
    this.said.textContent = `${count} of ${this.Q} codebooks: ${rate} tokens a second. “${sentence}”${this.aside}`;
  }

  async #start() {
    claim(this);
    this.fault.textContent = "";
    this.play.disabled = true;
    try {
      await this.#load();
      this.#sound();
    } catch (error) {
      this.fault.textContent = error.message;
    }
    this.play.disabled = false;
  }

  async #load() {
    this.#context ??= createContext(this.trace.sample_rate);
    this.#context.resume(); // in the press itself, or browsers stay silent
    this.sounds ??= await Promise.all(
      Array.from({ length: this.Q }, async (_, i) => {
        const bytes = await (await ask(this.lesson.sound(SOUND(i + 1)))).arrayBuffer();
        return this.#context.decodeAudioData(bytes);
      }),
    );
  }

  // All at once, one of them loud: so that switching keeps the place.
  #sound() {
    const context = this.#context;
    this.#gains = this.sounds.map((_, i) => new GainNode(context, { gain: i + 1 === this.count ? 1 : 0 }));
    this.#begun = context.currentTime + FADE;
    this.#sources = this.sounds.map((buffer, i) => {
      const source = new AudioBufferSourceNode(context, { buffer });
      source.connect(this.#gains[i]).connect(context.destination);
      source.start(this.#begun);
      return source;
    });
    this.#sources[0].onended = () => this.#stop();
    this.play.textContent = "■\uFE0E Stop";
    animate(this.element, () => {
      this.drawing.redraw();
      return this.#sources.length > 0;
    });
  }

  #stop() {
    for (const source of this.#sources) {
      source.onended = null;
      source.stop();
      source.disconnect();
    }
    this.#sources = [];
    this.#gains = [];
    this.play.textContent = "▶\uFE0E Play";
    this.drawing.redraw();
  }

  /** Seconds of the sound that were heard; null while it is silent. */
  #position() {
    if (!this.#sources.length) return null;
    return Math.max(0, this.#context.currentTime - this.#begun - latency(this.#context));
  }

  #draw(width) {
    const gutter = width < 700 ? NARROW : GUTTER;
    const cell = (width - gutter) / this.frames;
    const at = this.#position();
    const x = gutter + (at === null ? 0 : Math.min(1, at / this.seconds) * (width - gutter));
    const bottom = ABOVE + this.Q * ROW;
    const nodes = [
      text(gutter, 16, `${this.frames} frames of ${(1000 / this.trace.frame_rate).toFixed(0)} ms`, {
        kind: "fig-muted",
      }),
      Array.from({ length: this.Q }, (_, q) => this.#row(q, gutter, cell)),
      at !== null && line(x, ABOVE - 4, x, bottom + 4, "fig-needle"),
    ];
    const label = `Tokens of ${this.frames} frames in ${this.Q} rows, one for each codebook; ${this.count} in use.`;
    return { height: bottom + 8, label, nodes };
  }

  #row(q, gutter, cell) {
    const used = q < this.count;
    const top = ABOVE + q * ROW;
    const name = gutter === GUTTER ? `codebook ${q}` : `${q}`;
    const cells = Array.from({ length: this.frames }, (_, frame) => {
      const token = this.tokens[frame * this.Q + q];
      const x = gutter + frame * cell;
      return token === undefined
        ? null
        : [
            box(x + 0.5, top + 2, Math.max(1, cell - 1), ROW - 4, used ? "fig-accepted" : "fig-empty"),
            cell >= ROOM_FOR_NUMBERS &&
              text(x + cell / 2, top + 20, String(token), {
                anchor: "middle",
                kind: used ? "fig-on fig-small" : "fig-muted fig-small",
              }),
          ];
    });
    return [
      text(gutter - 8, top + 20, name, { anchor: "end", kind: used ? "fig-strong" : "fig-muted" }),
      cells,
    ];
  }
}
