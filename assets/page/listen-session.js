// One listener takes a test: an introduction, the trials, the result. Whatever breaks meanwhile, the
// session goes on where the server says that it stands.

import { h } from "./dom.js";
import { insist, place, Refused } from "./listen-ask.js";
import { outcome } from "./listen-result.js";
import { Store } from "./listen-store.js";
import { Trial } from "./listen-trial.js";
import { reach } from "./listen-words.js";
import { Status } from "./parts.js";

const UNKNOWN = 404;

export class Listener {
  /**
   * @param {HTMLElement} root
   * @param {string} test its id
   */
  constructor(root, test) {
    this.root = root;
    this.test = test;
    this.store = new Store(test);
    this.status = new Status();
    this.screen = h("div", { class: "screen" });
    root.append(this.status.element, this.screen);
  }

  /** Take the test, from wherever the listener left it. */
  async run() {
    try {
      this.status.say("Loading the test…", "loading");
      this.about = await this.#insist(place(this.test));
      let standing = await this.#resume();
      while (!standing.done) standing = await this.#trial();
      await this.#finish();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#fail(error);
    }
  }

  async #resume() {
    if (!this.store.session) return this.#greet();
    try {
      return await this.#standing();
    } catch (error) {
      if (error.status !== UNKNOWN) throw error;
      this.store.forget();
      return this.#greet("The server no longer knows the answers that were begun here: please start again.");
    }
  }

  async #standing() {
    if (this.store.vote) return this.#send(this.store.vote);
    return this.#insist(this.#session());
  }

  /** Deliver a vote that is kept here until the server confirms it. */
  async #send(vote) {
    try {
      return await this.#insist(this.#session("votes"), vote);
    } catch (error) {
      if (error.status === UNKNOWN) throw error;
      this.status.say(error.message, "failed"); // a vote that does not fit: the trial is asked anew
      return this.#insist(this.#session());
    } finally {
      this.store.owe(null);
    }
  }

  /** Explain, and wait until the listener begins a session; where it stands. */
  async #greet(note = "") {
    const start = h("button", { type: "button", class: "begin" }, "Start the test");
    this.#show(introduction(this.about, start));
    this.status.say(note, note && "stopped");
    start.focus();
    await new Promise((resolve) => start.addEventListener("click", resolve, { once: true }));
    start.disabled = true;
    const { session } = await this.#insist(place(this.test, "sessions"), {});
    this.store.begin(session);
    return this.#standing();
  }

  async #trial() {
    this.trial ??= new Trial(this.about);
    const given = await this.#insist(this.#session("trial"));
    if (!this.trial.element.isConnected) this.#show(this.trial.element);
    const vote = await this.trial.take(given, this.status);
    this.store.owe(vote);
    this.status.say("Saving your answer…", "queued");
    return this.#send(vote);
  }

  async #finish() {
    this.status.say("Working out the result…", "loading");
    const result = await this.#insist(this.#session("result"));
    const again = h("button", { type: "button", onclick: () => this.#again() }, "Take it again");
    const votes = h("a", { href: this.#session("votes.csv"), download: "" }, "Your answers (CSV)");
    this.#show(outcome(result, "Your result", [votes, again]));
    this.status.say("Done: all your answers are saved.", "done");
    this.screen.querySelector("h2").focus();
  }

  #again() {
    this.store.forget();
    location.reload();
  }

  #fail({ message, status }) {
    if (status === UNKNOWN) this.store.forget();
    const retry = h("button", { type: "button", onclick: () => location.reload() }, "Try again");
    this.#show(h("p", {}, retry));
    this.status.say(message, "failed");
  }

  #show(...content) {
    this.screen.replaceChildren(...content);
  }

  #session(...parts) {
    return place("sessions", this.store.session, ...parts);
  }

  #insist(url, body) {
    return insist(url, body, (text) => this.status.say(text, "queued"));
  }
}

const EXPLAINED = {
  abx: "In each trial A and B are made in two different ways, and X is one of the two. Say which one it is, even when you have to guess.",
  ab: "In each trial A and B say the same text, made in two different ways. Say which one you prefer, or that you have no preference.",
};

function introduction(about, start) {
  return h(
    "section",
    { class: "introduction" },
    h("h2", {}, about.question),
    h("p", {}, EXPLAINED[about.kind]),
    h(
      "ul",
      {},
      h("li", {}, `${about.trials} short trials, at your own pace. The number was fixed beforehand.`),
      h("li", {}, "Use headphones if you can, and set a comfortable level."),
      h("li", {}, "Which is which is told after the last answer, not before."),
      h("li", {}, "Every answer is saved at once: you can close this page and go on later."),
    ),
    h("p", { class: "hint" }, reach(about)),
    start,
  );
}
