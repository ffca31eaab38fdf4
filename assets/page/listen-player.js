// Plays the clips of a trial side by side, one of them heard: switching keeps the place to the sample.

import { Heard } from "./listen-heard.js";
import { bufferOf, createContext, latency, resume, timeOf } from "./sound.js";

const FADE = 0.008; // seconds, where sound begins, ends and changes: shorter ones click
const LEAD = 0.03; // seconds between the press and the sound

/** Clips of equal length, one position for all of them. Positions are in seconds. */
export class BlindPlayer {
  /** Called when it starts, stops, or another clip is chosen. */
  onchange = () => {};
  /** @type {Object<string, Heard>} */
  heard = {};
  /** The name of the clip that is heard, or would be. */
  chosen = null;
  duration = 0;

  #context = null;
  #rate = 0; // of the clips; the context's own may differ
  #buffers = {};
  #voices = {}; // name -> {source, gain} while it plays
  #from = 0; // the position at which it will begin, or began
  #at = 0; // when that was, by the context's clock
  #credited = 0; // the position up to which `heard` is told

  /**
   * @param {Object<string, Int16Array>} clips of equal length
   * @param {number} least seconds of each that are enough
   */
  load(clips, sampleRate, least) {
    this.pause();
    this.#clear(); // whatever fails from here on, the clips before are gone
    if (sampleRate !== this.#rate) {
      this.#context?.close();
      this.#context = createContext(sampleRate);
      this.output = new GainNode(this.#context);
      this.output.connect(this.#context.destination);
      this.#rate = sampleRate;
    }
    const names = Object.keys(clips);
    this.#buffers = Object.fromEntries(
      names.map((name) => [name, bufferOf(this.#context, clips[name], sampleRate)]),
    );
    this.duration = clips[names[0]].length / sampleRate;
    this.heard = Object.fromEntries(names.map((name) => [name, new Heard(this.duration, least)]));
    this.chosen = names[0];
    this.onchange();
  }

  #clear() {
    Object.assign(this, { heard: {}, chosen: null, duration: 0 });
    this.#buffers = {};
    this.#from = 0;
  }

  get playing() {
    return this.chosen in this.#voices;
  }

  /** Whether the browser wants a gesture before anything can be heard. */
  get blocked() {
    return this.playing && this.#context.state !== "running";
  }

  /** Where the ear is. */
  get position() {
    if (!this.playing) return this.#from;
    const sounded = this.#context.currentTime - latency(this.#context) - this.#at;
    return Math.min(this.#from + Math.max(sounded, 0), this.duration);
  }

  /** Hear this clip from now on, at the place where the others are. */
  choose(name) {
    if (!this.heard[name]) return;
    this.credit();
    this.chosen = name;
    if (this.playing) for (const each in this.#voices) this.#fade(each, each === name ? 1 : 0);
    else this.play();
    this.onchange();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** From where it is; from the start where all was played. To be called in a user's gesture. */
  play() {
    if (this.playing || !this.duration) return;
    resume(this.#context);
    if (this.#from >= this.duration) this.#from = 0;
    this.#start();
    this.onchange();
  }

  pause() {
    if (!this.playing) return;
    this.credit();
    this.#stop(this.#credited); // the clock may go on between two looks
    this.onchange();
  }

  seek(seconds) {
    if (!this.duration) return;
    const { playing } = this;
    this.credit();
    this.#stop(Math.min(Math.max(seconds, 0), this.duration));
    if (playing && this.#from < this.duration) this.#start();
    this.onchange();
  }

  /** Count what was heard since the last time. */
  credit() {
    if (!this.playing) return;
    const { position } = this;
    this.heard[this.chosen].add(this.#credited, position);
    this.#credited = position;
  }

  #start() {
    const { sampleRate, currentTime, baseLatency } = this.#context;
    const begin = Math.round((currentTime + baseLatency + LEAD) * sampleRate);
    const offset = Math.round(this.#from * this.#rate);
    this.#at = timeOf(begin, sampleRate);
    this.#from = this.#credited = offset / this.#rate;
    for (const [name, buffer] of Object.entries(this.#buffers)) {
      const source = new AudioBufferSourceNode(this.#context, { buffer });
      // At the very beginning a clip fades in by itself.
      const gain = new GainNode(this.#context, { gain: name === this.chosen && !offset ? 1 : 0 });
      source.connect(gain).connect(this.output);
      source.start(this.#at, timeOf(offset, this.#rate));
      this.#voices[name] = { source, gain: gain.gain };
    }
    if (offset) this.#fadeIn(this.#voices[this.chosen].gain);
    this.#voices[this.chosen].source.onended = () => this.#end();
  }

  #fadeIn(gain) {
    gain.setValueAtTime(0, this.#at);
    gain.linearRampToValueAtTime(1, this.#at + FADE);
  }

  #end() {
    this.heard[this.chosen].add(this.#credited, this.duration);
    this.#stop(this.duration);
    this.onchange();
  }

  #stop(position) {
    const end = (this.#context?.currentTime ?? 0) + FADE;
    for (const name in this.#voices) {
      const { source } = this.#voices[name];
      source.onended = null;
      this.#fade(name, 0);
      source.stop(end);
    }
    this.#voices = {};
    this.#from = position;
  }

  #fade(name, level) {
    const { gain } = this.#voices[name];
    const now = this.#context.currentTime;
    gain.cancelScheduledValues(now);
    gain.setValueAtTime(gain.value, now);
    gain.linearRampToValueAtTime(level, now + FADE);
  }
}
