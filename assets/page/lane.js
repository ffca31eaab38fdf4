// A lane of the race: a stage, a big clock and how far it is.

import { h } from "./dom.js";
import { Pacer } from "./feed.js";
import { Stage } from "./stage.js";
import { Exports } from "./toolbar.js";

const MEASURING_MS = 200; // between drawings while the machine is the engine's

/** Measured first, silently; then raced, as often as wanted. */
export class Lane {
  constructor(name, number) {
    this.name = name;
    this.number = number;
    this.clock = h("output", { class: "time", "aria-live": "off" });
    this.progress = h("progress", { max: 1, value: 0, "aria-label": `${name}: tokens spoken` });
    this.count = h("span", { class: "count" });
    this.exports = new Exports();
    const stage = h("div", {});
    this.element = h(
      "section",
      { class: "lane", "aria-label": name },
      h("header", {}, h("h3", {}, name), this.clock, this.progress, this.count, this.exports.element),
      stage,
    );
    this.stage = new Stage(stage, { name });
    this.reset();
  }

  reset() {
    this.halt();
    this.lines = [];
    this.wall = 0; // seconds it took
    this.tokens = 0;
    this.exports.withdraw();
    this.stage.reset();
    this.#show(0);
  }

  /** A line as it is measured: seen, not heard. */
  measure(line) {
    this.lines.push(line);
    this.stage.add(line, true);
    const { run } = this.stage;
    if (line.kind === "started") {
      this.stage.pause = MEASURING_MS;
      this.stage.follow({ playing: () => !run.finished, position: () => run.audioSeconds });
    }
    if (line.kind === "finished") this.wall = line.metrics.wall_s;
    this.tokens = line.kind === "finished" ? line.metrics.tokens : run.open ? 0 : run.frames * run.Q;
    this.#show(line.metrics?.wall_s ?? line.at_s ?? 0);
  }

  /** Everything once more, at `speed`; slower than it was, it is silent. */
  race(speed) {
    this.stage.reset();
    const silent = speed < 1;
    this.seconds = 0;
    if (silent) this.stage.follow(playback(this.stage.run, () => this.seconds));
    this.pacer = new Pacer(this.lines, (line) => this.stage.add(line, silent), { speed });
  }

  /** Show the common clock; whether something still moves. */
  tick(seconds) {
    this.seconds = seconds;
    this.#show(Math.min(seconds, this.wall));
    return seconds < this.wall || this.stage.playing;
  }

  /** All at once, to be gone through by hand. */
  rest() {
    if (!this.stage.run.finished || this.stage.clock) this.#fill();
    this.#show(this.wall);
  }

  /** Close what is open over it; whether there was anything. */
  dismiss() {
    const read = this.stage.dismiss();
    return this.exports.close() || read;
  }

  halt() {
    this.pacer?.stop();
    this.stage.player.pause();
  }

  #fill() {
    this.stage.reset();
    this.lines.forEach((line) => this.stage.add(line));
    this.stage.player.pause();
  }

  #show(seconds) {
    this.clock.textContent = `${seconds.toFixed(2)} s`;
    const { emitted } = this.stage.run;
    this.progress.max = this.tokens || 1;
    if (this.tokens || !emitted) this.progress.value = emitted;
    else this.progress.removeAttribute("value"); // nobody knows yet how many there will be
    this.count.textContent = emitted || this.tokens ? told(emitted, this.tokens) : "";
  }
}

function told(emitted, tokens) {
  return tokens ? `${emitted} of ${tokens} tokens` : `${emitted} tokens so far`;
}

/**
 * Where a listener would be at a time of the run: sound begins with the first chunk, and waits
 * wherever the next one is not there yet.
 */
function playback(run, now) {
  return {
    position() {
      let [heard, free] = [0, 0];
      for (const { at_s, samples } of run.samples) {
        const begins = Math.max(free, at_s);
        const length = samples / run.header.sample_rate;
        if (now() < begins + length) return heard + Math.max(0, now() - begins);
        heard += length;
        free = begins + length;
      }
      return heard;
    },
    playing() {
      return !run.finished || this.position() < run.audioSeconds;
    },
  };
}
