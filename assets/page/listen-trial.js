// One trial on the page: clips to switch between, what was heard of each, and the answers.

import { h } from "./dom.js";
import { isFree } from "./keys.js";
import { BlindPlayer } from "./listen-player.js";
import { list } from "./listen-words.js";
import { Track } from "./listen-track.js";
import { claim, onOtherClaim } from "./session.js";
import { decode } from "./sound.js";
import { button, showPlaying, slider } from "./toolbar.js";

const STEP = 1; // seconds that an arrow key moves
const BLOCKED_MS = 700; // that the browser may take to let sound begin
const BLOCKED = "Press Play: the browser wants a press before it lets anything sound.";
const REFUSED = "This sound cannot be played here: the browser refuses its sample rate.";
const READY = "Answer when you are ready. You can listen on as long as you like.";

/** The screen of a session's trials, one after another. Its keys work while it has the focus. */
export class Trial {
  /**
   * @param {{question: string, labels: string[], answers: {choice: string, title: string}[],
   *   least_heard_s: number}} about the test
   */
  constructor({ question, labels, answers, least_heard_s: least }) {
    this.least = least;
    this.player = new BlindPlayer();
    this.player.onchange = () => this.#changed();
    this.answer = null; // what to call with a vote; null while none is wanted
    this.tracks = Object.fromEntries(labels.map((name) => [name, new Track(name, () => this.#choose(name))]));
    this.answers = answers.map(({ choice, title }, n) => this.#answerButton(choice, title, n + 1));
    this.element = this.#layOut(question);
    this.element.addEventListener("keydown", (event) => this.#press(event));
    onOtherClaim(this, () => this.player.pause());
    window.addEventListener("pagehide", () => this.player.pause());
  }

  /**
   * Show a trial and wait for the answer.
   * @param {object} given as the server sends it
   * @param {Status} status
   * @returns {Promise<Vote>}
   */
  take(given, status) {
    this.status = status;
    this.number = given.trial;
    this.title.textContent = `Trial ${given.trial + 1} of ${given.trials}`;
    this.progress.max = given.trials;
    this.progress.value = given.trial;
    const clips = Object.keys(this.tracks).map((name) => [name, decode(given.clips[name])]);
    return new Promise((resolve) => {
      this.answer = resolve;
      this.#load(Object.fromEntries(clips), given.sample_rate);
      this.title.focus({ preventScroll: true });
    });
  }

  #load(clips, sampleRate) {
    try {
      this.player.load(clips, sampleRate, this.least);
    } catch {
      this.status.say(REFUSED, "failed");
    }
  }

  #layOut(question) {
    this.title = h("h2", { tabindex: -1 });
    this.progress = h("progress", { "aria-label": "Trials answered" });
    this.play = button("play", "", "", () => this.#toggle());
    this.seek = slider("seek", "Position", { max: 0, step: 0.1, value: 0 }, (to) => this.#seek(to));
    this.clock = h("output", { class: "clock", "aria-live": "off" });
    const tracks = Object.values(this.tracks).map(({ element }) => element);
    return h(
      "section",
      { class: "trial", tabindex: -1 },
      h("header", {}, this.title, this.progress),
      h("p", { class: "question" }, question),
      h("div", { class: "clips", role: "group", "aria-label": "Clips" }, tracks),
      h(
        "div",
        { class: "toolbar", role: "group", "aria-label": "Player" },
        this.play,
        button("restart", "|◀\uFE0E", "From the start", () => this.#seek(0)),
        this.seek,
        this.clock,
      ),
      h("div", { class: "answers", role: "group", "aria-label": "Your answer" }, this.answers),
      keysHint(Object.keys(this.tracks), this.answers.length),
    );
  }

  #answerButton(choice, text, key) {
    const label = [text, h("kbd", { "aria-hidden": "true" }, key)];
    return h(
      "button",
      { type: "button", disabled: true, "aria-keyshortcuts": key, onclick: () => this.#vote(choice) },
      label,
    );
  }

  #choose(name) {
    claim(this);
    this.player.choose(name);
  }

  #toggle() {
    claim(this);
    this.player.toggle();
  }

  #seek(to) {
    this.player.seek(to);
  }

  #vote(choice) {
    if (!this.ready) return;
    const { answer } = this;
    this.answer = null;
    this.player.pause();
    this.#changed();
    const heard = Object.entries(this.player.heard).map(([name, { seconds }]) => [name, seconds]);
    answer({ trial: this.number, choice, heard: Object.fromEntries(heard) });
  }

  /** Whether the listener may answer. */
  get ready() {
    return Boolean(this.answer) && this.#missing().length === 0;
  }

  #missing() {
    return Object.keys(this.tracks).filter((name) => !this.player.heard[name]?.enough);
  }

  #press(event) {
    if (!isFree(event, this.element)) return;
    const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    const { player } = this;
    const actions = {
      " ": () => this.#toggle(),
      ArrowLeft: () => this.#seek(player.position - STEP),
      ArrowRight: () => this.#seek(player.position + STEP),
      Home: () => this.#seek(0),
      ...Object.fromEntries(Object.keys(this.tracks).map((name) => [name, () => this.#choose(name)])),
      ...Object.fromEntries(this.answers.map((made, n) => [n + 1, () => made.click()])),
    };
    if (!actions[key]) return;
    event.preventDefault();
    if (!event.repeat || key.startsWith("Arrow")) actions[key]();
  }

  #changed() {
    showPlaying(this.play, this.player.playing);
    this.#draw();
    clearTimeout(this.timer);
    if (!this.player.playing) return;
    this.timer = setTimeout(() => this.player.blocked && this.status.say(BLOCKED, "blocked"), BLOCKED_MS);
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.#follow());
  }

  #follow() {
    this.player.credit();
    this.#draw();
    if (this.player.playing) this.frame = requestAnimationFrame(() => this.#follow());
  }

  #draw() {
    const { player } = this;
    const { position, duration } = player;
    for (const [name, track] of Object.entries(this.tracks)) {
      track.show(player.heard[name], position, name === player.chosen, player.playing);
    }
    this.seek.max = duration;
    this.seek.value = position;
    this.seek.setAttribute("aria-valuetext", `${position.toFixed(1)} of ${duration.toFixed(1)} s`);
    this.clock.textContent = `${position.toFixed(1)} s / ${duration.toFixed(1)} s`;
    for (const made of this.answers) made.disabled = !this.ready;
    this.#advise();
  }

  // Said anew only when it changes: screen readers read it aloud.
  #advise() {
    if (!this.answer || this.player.blocked) return;
    const missing = this.#missing();
    const text = missing.length
      ? `Listen before you answer: at least ${this.least} s of ${list(missing)}${missing.length < Object.keys(this.tracks).length ? " is missing" : ""}.`
      : READY;
    if (text !== this.status.element.textContent) this.status.say(text, missing.length ? "playing" : "done");
  }
}

function keysHint(clips, answers) {
  const keys = [
    [clips.join(" "), "listen"],
    ["Space", "play or pause"],
    ["← →", "one second"],
    ["Home", "start"],
    [`1 to ${answers}`, "answer"],
  ];
  return h(
    "p",
    { class: "hint keys" },
    keys.map(([key, does]) => h("span", {}, h("kbd", {}, key), ` ${does}`)),
  );
}
