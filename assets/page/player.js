// Plays 16-bit mono sound that is still arriving, without gaps, and knows what was heard. No DOM.
//
// The context runs at the sound's own rate, so that pieces can be scheduled sample after sample:
// pieces resampled one by one would click where they meet.

import { bufferOf, createContext, latency, resume, timeOf } from "./sound.js";

const LEAD = 0.025; // seconds, beyond the context's own, between a wait's end and its sound
const HEAD = 0.1; // seconds of sound that must be there before it begins: the first pieces are short
const SAFE = 0.005; // the same for sound that follows sound: below it the join could be missed
const AHEAD = 2; // seconds to schedule ahead: what the page may be busy for, without many nodes
const BLOCK = 1; // seconds in one source, at most; less than AHEAD, so that two always wait

/** @typedef {"idle"|"waiting"|"playing"|"paused"|"ended"} PlayerState */

/**
 * A player of one sound at a time: `begin`, `add` pieces, `finish`. It plays from the start on as
 * sound arrives, unless paused. All positions are in seconds of sound.
 */
export class Player {
  static #contexts = new Map(); // by sample rate; they are expensive, so all players share them

  /** What was scheduled since the last play or seek, in samples: `start` of the sound, `at` of the
   * context's clock. */
  segments = [];
  /** Where the sound came too late, and the silence that this made: [{at, seconds}]. */
  underruns = [];
  /** @type {?function(PlayerState): void} */
  onchange = null;

  #context = null;
  #output = null;
  #gain;
  #muted = false;
  #rate = 1;
  #refused = false;
  #sound = new Int16Array();
  #received = 0; // samples of #sound that are there
  #finished = false; // no more will come
  #wanted = false; // play, as far as there is sound
  #from = 0; // the sample up to which sound was heard
  #next = 0; // the sample to be scheduled next
  #sources = new Set();
  #told = "idle";
  #timer = null;
  #tell = () => this.#tellState();

  constructor({ gain = 1 } = {}) {
    this.#gain = gain;
  }

  /** Get ready for sound of a rate: opening its context takes up to some tenths of a second. */
  static prepare(sampleRate) {
    Player.#open(sampleRate);
  }

  /** Let sound begin. To be called in a user's gesture (a click, a key); browsers want one. */
  static unlock() {
    Player.#contexts.forEach(resume);
  }

  static #open(sampleRate) {
    if (!Player.#contexts.has(sampleRate)) Player.#contexts.set(sampleRate, createContext(sampleRate));
    return Player.#contexts.get(sampleRate);
  }

  /** Expect a new sound, and play it from its first piece on. */
  begin(sampleRate) {
    this.#use(Player.#open(sampleRate));
    resume(this.#context);
    this.#rate = sampleRate;
    this.#sound = new Int16Array();
    this.#received = 0;
    this.#finished = false;
    this.#refused = !playable(sampleRate);
    this.#wanted = !this.#refused;
    this.underruns = [];
    this.#restart(0);
  }

  /** @param {Int16Array} piece What follows the pieces before. */
  add(piece) {
    const received = this.#received + piece.length;
    if (received > this.#sound.length) {
      const roomier = new Int16Array(2 * received);
      roomier.set(this.#sound);
      this.#sound = roomier;
    }
    this.#sound.set(piece, this.#received);
    this.#received = received;
    this.#fill();
  }

  /** No more sound will come. */
  finish() {
    this.#finished = true;
    this.#fill();
  }

  /** Go on where it was paused; from the start if all was heard. */
  play() {
    if (this.#refused) return;
    if (this.#context) resume(this.#context);
    const ended = this.state === "ended";
    if (this.#wanted && !ended) return;
    this.#wanted = true;
    this.#restart(ended ? 0 : this.#from);
  }

  pause() {
    const heard = this.#heard();
    this.#wanted = false;
    this.#restart(heard);
  }

  /** Go to a place that was received, playing on if it played. */
  seek(seconds) {
    this.#restart(Math.min(Math.max(Math.round(seconds * this.#rate), 0), this.#received));
  }

  /** Silence, for good or until `begin`; gives back everything but the shared context. */
  close() {
    this.#wanted = this.#refused = false;
    this.#sound = new Int16Array();
    this.#received = 0;
    this.#use(null);
    this.#restart(0);
  }

  /** Seconds of sound heard so far; stands still while there is nothing to hear. */
  position() {
    return this.#heard() / this.#rate;
  }

  /** Seconds received. */
  get duration() {
    return this.#received / this.#rate;
  }

  /** @returns {PlayerState} waiting: for sound, or for the browser's leave to play. */
  get state() {
    if (!this.#context) return "idle";
    const heard = this.#heard();
    if (this.#finished && heard === this.#received) return "ended";
    if (!this.#wanted) return "paused";
    return heard < this.#next && !this.blocked ? "playing" : "waiting";
  }

  /** Whether the browser wants a gesture (see `unlock`) before anything can be heard. */
  get blocked() {
    return this.#context !== null && this.#context.state !== "running";
  }

  /** Whether the browser cannot play sound of this rate at all. */
  get refused() {
    return this.#refused;
  }

  get gain() {
    return this.#gain;
  }

  set gain(gain) {
    this.#gain = gain;
    this.#setLevel();
  }

  get muted() {
    return this.#muted;
  }

  set muted(muted) {
    this.#muted = muted;
    this.#setLevel();
  }

  /** @returns {?GainNode} What is heard, for meters and captures; null while idle. */
  get output() {
    return this.#output;
  }

  /** @returns {Int16Array} All sound received. */
  pcm() {
    return this.#sound.slice(0, this.#received);
  }

  #use(context) {
    if (context === this.#context) return;
    this.#context?.removeEventListener("statechange", this.#tell);
    this.#output?.disconnect();
    this.#context = context;
    this.#output = context && new GainNode(context);
    this.#output?.connect(context.destination);
    context?.addEventListener("statechange", this.#tell);
    this.#setLevel();
  }

  // A muted player keeps playing: its clock is that of the sound.
  #setLevel() {
    if (this.#output) this.#output.gain.value = this.#muted ? 0 : this.#gain;
  }

  #restart(from) {
    for (const source of this.#sources) {
      source.onended = null;
      source.stop();
      source.disconnect();
    }
    this.#sources.clear();
    this.segments = [];
    this.#from = this.#next = from;
    this.#fill();
  }

  // Schedule what is due. Sound that the browser has to resample is scheduled as one piece.
  #fill() {
    const whole = this.#context?.sampleRate !== this.#rate;
    const begun = this.#next > 0 || this.#received >= HEAD * this.#rate;
    if (this.#wanted && (this.#finished || (begun && !whole))) {
      const block = whole ? this.#received : BLOCK * this.#rate;
      while (this.#next < this.#received && this.#end() < this.#clock(AHEAD)) this.#schedule(block);
    }
    this.#tell();
  }

  #schedule(block) {
    const start = this.#next;
    const samples = Math.min(block, this.#received - start);
    const at = this.#free(start);
    const source = this.#source(this.#sound.subarray(start, start + samples));
    source.onended = () => {
      source.disconnect();
      this.#sources.delete(source);
      this.#fill();
    };
    source.start(timeOf(at, this.#rate));
    this.#sources.add(source);
    this.segments.push({ start, samples, at });
    this.#next += samples;
  }

  // When the sample can sound, by the context's clock: right after the one before it if there is
  // still time.
  #free(start) {
    const { baseLatency } = this.#context; // what the context renders at once
    const end = this.#end();
    if (end >= this.#clock(baseLatency + SAFE)) return end;
    const at = this.#clock(baseLatency + LEAD);
    if (this.segments.length) {
      this.underruns.push({ at: start / this.#rate, seconds: (at - end) / this.#rate });
    }
    return at;
  }

  #source(pcm) {
    const buffer = bufferOf(this.#context, pcm, this.#rate);
    const source = new AudioBufferSourceNode(this.#context, { buffer });
    source.connect(this.#output);
    return source;
  }

  // The context's clock some seconds from now, in samples of the sound.
  #clock(seconds) {
    return Math.round((this.#context.currentTime + seconds) * this.#rate);
  }

  // Where by the context's clock all that is scheduled ends.
  #end() {
    const last = this.segments.at(-1);
    return last ? last.at + last.samples : -Infinity;
  }

  // The sample up to which sound was heard. Never goes back: the latency is an estimate that wavers.
  #heard() {
    if (this.segments.length) {
      const now = this.#clock(-latency(this.#context));
      const segment = this.segments.findLast(({ at }) => at <= now);
      const heard = segment ? segment.start + Math.min(now - segment.at, segment.samples) : 0;
      this.#from = Math.max(this.#from, heard);
    }
    return this.#from;
  }

  // Tell a change, and look again when what is scheduled will have been heard.
  #tellState() {
    clearTimeout(this.#timer);
    const state = this.state;
    if (state === "playing") {
      const left = this.#end() - this.#clock(-latency(this.#context));
      this.#timer = setTimeout(this.#tell, 1000 * Math.max(left / this.#rate, SAFE));
    }
    if (state === this.#told) return;
    this.#told = state;
    this.onchange?.(state);
  }
}

// Browsers bound the rate of a buffer.
function playable(sampleRate) {
  try {
    return Boolean(new AudioBuffer({ length: 1, sampleRate }));
  } catch {
    return false;
  }
}
