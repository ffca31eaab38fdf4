// One listener takes a test: an introduction, the trials, the result. Whatever breaks meanwhile, the
// session goes on where the server says that it stands.

import { here } from "./address.js";
import { h } from "./dom.js";
import { insist, inWords, place } from "./listen-ask.js";
import { Outcome, trials } from "./listen-result.js";
import { Store } from "./listen-store.js";
import { Trial } from "./listen-trial.js";
import { reach } from "./listen-words.js";
import { Status } from "./parts.js";

const UNKNOWN = 404;
const UNFIT = [400, 409]; // what the server says of a vote that it will never take

export class Listener {
  /**
   * @param {HTMLElement} root
   * @param {string} test its id
   */
  constructor(root, test) {
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
      this.#fail(error);
    }
  }

  async #resume() {
    if (!this.store.session) return this.#greet();
    const standing = await this.#standing();
    return standing.done ? standing : this.#recognise(standing);
  }

  async #standing() {
    if (this.store.vote) return this.#send(this.store.vote);
    return this.#insist(this.#session());
  }

  /** Deliver a vote that is kept here until the server has said what becomes of it. */
  async #send(vote) {
    let standing = null;
    try {
      standing = await this.#insist(this.#session("votes"), vote);
    } catch (error) {
      if (!UNFIT.includes(error.status)) throw error;
      this.status.say(error.message, "failed"); // the trial is asked anew
    }
    this.store.owe(null);
    return standing ?? this.#insist(this.#session());
  }

  /** Explain, and wait until the listener begins a session; where it stands. */
  async #greet() {
    const start = press("Start the test", "begin");
    this.#show(introduction(this.about, start));
    this.status.say("");
    start.focus();
    await pressed(start);
    start.disabled = true;
    const { session } = await this.#insist(place(this.test, "sessions"), { listener: this.store.listener });
    this.store.begin(session);
    return this.#standing();
  }

  /** Ask whether who has opened the page is who began here, and may go on. */
  async #recognise(standing) {
    const own = press(`Go on with trial ${standing.trial + 1}`, "begin");
    const other = press("I am somebody else");
    const answered = `A test was begun in this browser: ${standing.trial} of ${standing.trials} trials are answered.`;
    const buttons = h("div", { class: "actions" }, own, other);
    this.#show(h("section", { class: "introduction" }, h("h2", {}, "Is it you?"), h("p", {}, answered), buttons));
    this.status.say("");
    own.focus();
    if ((await pressed(own, other)) === own) return standing;
    this.store.change();
    return this.#greet();
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
    const votes = h("a", { href: this.#session("votes.csv"), download: "" }, "Your answers (CSV)");
    const again = press("Take it again", "", () => this.#anew(() => this.store.forget()));
    const other = press("I am somebody else", "", () => this.#anew(() => this.store.change()));
    const outcome = new Outcome("Your result", [votes, again, other]);
    outcome.show(result);
    outcome.element.append(trials(result));
    this.#show(outcome.element);
    this.status.say("Done: all your answers are saved.", "done");
    outcome.title.focus();
  }

  #anew(leave) {
    leave();
    location.reload();
  }

  /** Whatever went wrong, what this browser knows of the session is kept, unless the listener gives it up. */
  #fail(error) {
    const gone = this.about && error.status === UNKNOWN;
    const ways = [
      press("Try again", "", () => location.reload()),
      gone && press("Begin a new session", "", () => this.#anew(() => this.store.forget())),
      !this.about && h("a", { href: here() }, "Prepare a test"),
    ];
    this.#show(h("div", { class: "actions" }, ways));
    this.status.say(inWords(error), "failed");
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

function press(text, kind, onclick) {
  return h("button", { type: "button", class: kind, onclick }, text);
}

/** Which of these buttons is pressed first. */
function pressed(...buttons) {
  return new Promise((resolve) => {
    for (const each of buttons) each.addEventListener("click", () => resolve(each), { once: true });
  });
}
