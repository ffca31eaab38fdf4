// One lane on the page: its run, its sound, and what is drawn of both, on one time axis.

import { Gestures } from "./gestures.js";
import { Graphs } from "./graphs.js";
import { Grid } from "./grid.js";
import { h } from "./dom.js";
import { Inspect } from "./inspect.js";
import { Numbers, summary } from "./numbers.js";
import { onTheme } from "./parts.js";
import { Player } from "./player.js";
import { Run } from "./run.js";
import { decode } from "./sound.js";
import { Toolbar } from "./toolbar.js";
import { View } from "./view.js";

const NUMBERS_MS = 100; // between changes of numbers: faster cannot be read
const RECEIVING_MS = 80; // between drawings while the engine needs the processor, too: 12 a second
const SAMPLE_S = 0.05; // of sound between two samples of what is buffered

/** A run in sound and pictures. `element.stage` is the stage, for the keyboard and for tests. */
export class Stage {
  /**
   * @param {HTMLElement} element an empty element that becomes the stage
   * @param {{name: string, actions?: {presenter: Function, help: Function}}} options
   *   name: what the stage shows, in words; actions: of the toolbar; no toolbar without them
   */
  constructor(element, { name, actions = null }) {
    this.element = element;
    element.stage = this;
    element.classList.add("stage");
    const [grid, graphs] = ["tokens", "graphs"].map((what) => ({ role: "img", "aria-label": `${name}: ${what}` }));
    this.gridCanvas = h("canvas", { class: "grid", ...grid });
    this.graphsCanvas = h("canvas", { class: "graphs", ...graphs });
    this.board = h("div", { class: "board", tabindex: 0, role: "group", "aria-label": name });
    this.board.append(this.gridCanvas, this.graphsCanvas);
    this.numbersElement = h("div", { class: "numbers" });
    this.summary = h("div", { class: "summary", "aria-live": "polite" });
    this.toolbar = actions && new Toolbar(this.#toolbarActions(actions));
    element.append(this.numbersElement, this.board);
    if (this.toolbar) element.append(this.toolbar.element);
    element.append(this.summary);

    this.grid = new Grid(this.gridCanvas);
    this.graphs = new Graphs(this.graphsCanvas);
    this.numbers = new Numbers(this.numbersElement);
    this.inspect = new Inspect(this.board);
    this.player = new Player();
    this.onchange = () => {}; // told whenever the sound starts, waits, pauses or ends
    this.player.onchange = () => {
      this.onchange();
      this.invalidate();
    };
    this.gestures = new Gestures(this);
    this.#observe();
    this.view = new View();
    this.drawn = this.shown = 0; // when, in milliseconds
    this.reset();
  }

  /** Forget the run; the sound goes silent. */
  reset() {
    this.player.close();
    this.run = new Run();
    this.view.left = 0; // the zoom stays
    this.buffered = [];
    this.clock = null;
    this.pause = RECEIVING_MS; // milliseconds between drawings while lines come
    this.highlight = null;
    this.inspect.hide();
    this.toolbar?.exports.withdraw();
    this.invalidate();
  }

  /** Take a line of a run's log; its sound is heard as soon as it is there, unless `silent`. */
  add(line, silent = false) {
    this.run.add(line);
    if (!silent) this.#hear(line);
    this.invalidate();
  }

  /**
   * A clock of its own in place of the player's: where nothing is heard.
   * @param {null | {position: () => number, playing: () => boolean}} clock
   */
  follow(clock) {
    this.clock = clock;
    this.invalidate();
  }

  /** Seconds of sound heard. */
  get position() {
    return this.clock ? this.clock.position() : this.player.position();
  }

  /** Seconds of sound that can be heard. */
  get duration() {
    return this.player.duration;
  }

  get playing() {
    return this.clock ? this.clock.playing() : ["playing", "waiting"].includes(this.player.state);
  }

  toggle() {
    if (this.playing && !this.player.blocked) this.player.pause();
    else if (this.duration) this.player.play();
    this.invalidate();
  }

  /** What has ended stays silent until `toggle`. keep: the view stays where it is. */
  seek(seconds, keep = false) {
    if (this.clock) return;
    if (this.player.state === "ended") this.player.pause();
    this.player.seek(Math.min(Math.max(0, seconds), this.duration));
    this.sought ||= !keep;
    this.invalidate();
  }

  /** Move the playhead by frames of the codec. */
  step(frames) {
    this.seek(this.position + frames * this.run.secondsPerFrame);
  }

  /** Close what is open over it; whether there was anything. */
  dismiss() {
    const read = !this.inspect.element.hidden;
    this.gestures.point(null);
    return this.toolbar?.exports.close() || read;
  }

  zoom(factor, x = this.board.clientWidth / 2) {
    this.view.zoom(factor, x);
    this.invalidate();
  }

  fit() {
    this.view.fit(this.planned, this.board.clientWidth);
    this.invalidate();
  }

  /** Seconds of sound that are planned so far. */
  get planned() {
    return this.run.frames * this.run.secondsPerFrame;
  }

  /** Say for those who do not see the page how things stand. */
  announce() {
    this.summary.textContent = summary(this.run);
  }

  /** Draw soon; drawing goes on by itself only while the playhead moves. */
  invalidate() {
    if (this.due) return;
    const draw = () => (this.due = requestAnimationFrame((now) => this.#draw(now)));
    const wait = this.run.header && !this.run.finished ? this.drawn + this.pause - performance.now() : 0;
    if (wait > 0) this.due = setTimeout(draw, wait);
    else draw();
  }

  #hear(line) {
    if (line.kind === "started") {
      this.player.begin(line.trace.sample_rate);
    } else if (line.kind === "audio") {
      this.player.add(samples(line));
    } else if (line.kind === "finished") {
      this.player.finish();
    }
  }

  #draw(now) {
    this.due = 0;
    this.drawn = now;
    const width = this.board.clientWidth;
    if (!width) return; // in a hidden tab; the observer of the size draws when it is shown
    const playhead = this.position;
    this.#sample(playhead);
    this.#follow(playhead, width);
    this.grid.draw(this.run, this.view, playhead, this.highlight);
    this.graphs.draw(this.run, this.view, playhead, {
      buffered: this.buffered,
      underruns: this.player.underruns,
    });
    if (this.playing) this.invalidate();
    if (this.playing && now - this.shown < NUMBERS_MS) return;
    this.shown = now;
    this.numbers.show(this.run);
    this.toolbar?.show({
      playing: this.playing,
      position: playhead,
      duration: this.duration,
      step: this.run.header ? this.run.secondsPerFrame : 0.01,
    });
  }

  // Only with the playhead: whoever zooms or drags wants to see what is there.
  #follow(playhead, width) {
    const moving = this.playing && !this.gestures.dragging;
    if (moving || this.sought) this.view.follow(playhead, this.planned, width);
    this.sought = false;
  }

  #sample(playhead) {
    const last = this.buffered.at(-1);
    if (this.playing && (!last || playhead >= last.t + SAMPLE_S)) {
      this.buffered.push({ t: playhead, ahead: this.run.audioSeconds - playhead });
    }
  }

  #toolbarActions(actions) {
    return {
      ...actions,
      toggle: () => this.toggle(),
      seek: (seconds) => this.seek(seconds),
      level: (level) => (this.player.gain = level),
      zoom: (factor) => this.zoom(factor),
      fit: () => this.fit(),
    };
  }

  #observe() {
    const redraw = () => this.invalidate();
    new ResizeObserver(redraw).observe(this.board);
    onTheme(redraw);
  }
}

/** The sound of an audio line; silence of its length where a trace kept none. */
function samples({ pcm, samples: length }) {
  return pcm ? decode(pcm) : new Int16Array(length);
}
