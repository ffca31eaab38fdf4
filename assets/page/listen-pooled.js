// For who prepared a test: who has answered so far, and what all complete sessions say together.

import { h } from "./dom.js";
import { askAgain, inWords, Lost, place } from "./listen-ask.js";
import { linkTo } from "./listen-links.js";
import { Outcome, Table } from "./listen-result.js";
import { percent } from "./listen-words.js";
import { Status } from "./parts.js";

const REFRESH = 5000; // milliseconds between looks
const FILES = {
  "votes.csv": "All answers (CSV)",
  "figure.png": "Figure (PNG)",
  "figure.svg": "Figure (SVG)",
};

export class Pooled {
  /** @param {string} key what says that its holder may look */
  constructor(root, test, key) {
    Object.assign(this, { test, key });
    this.status = new Status();
    this.screen = h("div", { class: "screen" });
    root.append(this.status.element, this.screen);
  }

  /** Show the results, and again whenever they have changed; until the server refuses. */
  async follow() {
    this.status.say("Loading the results…", "loading");
    for (let mark = null; ; ) {
      try {
        const news = await askAgain(this.#file("results"), mark);
        if (news) this.#show(news.answer);
        if (news) mark = news.mark;
        this.#tell(this.told, "playing");
      } catch (error) {
        this.#tell(inWords(error), "failed");
        if (!(error instanceof Lost)) return;
      }
      await new Promise((resolve) => setTimeout(resolve, REFRESH));
    }
  }

  // Said anew only when it changes: screen readers read it aloud.
  #tell(text, state) {
    if (text !== this.status.element.textContent) this.status.say(text, state);
  }

  #show(results) {
    const done = results.sessions.filter((session) => session.done).length;
    this.told = `${done} complete, ${results.sessions.length - done} under way. This page follows them.`;
    this.results ??= this.#layOut(results);
    this.results.show(results);
  }

  #layOut({ lan }) {
    const files = Object.entries(FILES).map(([file, text]) => h("a", { href: this.#file(file), download: "" }, text));
    const results = new Together(files);
    this.screen.replaceChildren(results.element, linkTo("For listeners", { listen: this.test }, lan));
    return results;
  }

  #file(name) {
    const url = place(this.test, name);
    url.searchParams.set("key", this.key);
    return url;
  }
}

/** What several sessions say together, and each of them. */
export class Together {
  /** @param {HTMLElement[]} files links to them */
  constructor(files = []) {
    this.outcome = new Outcome("All sessions together", files);
    this.sessions = new Table("Sessions", ["Session", "Trials", "Answers", "Share"]);
    this.element = this.outcome.element;
    this.element.append(this.sessions.element);
  }

  /** @param {object} results as the server sends them */
  show({ sessions, pooled, figure }) {
    this.outcome.show({ ...pooled, figure });
    this.sessions.show(sessions.map(row));
  }
}

// Of who has not finished only how far they are.
function row({ done, counts, right, of, ties, votes, trials }, number) {
  const name = `Session ${number + 1}`;
  if (!done) return [name, `${votes} of ${trials}`, "–", "–"];
  const answers = `${right} of ${of}${ties ? `, ${ties} ties` : ""}`;
  return [name, counts ? "complete" : "complete, not counted", answers, of ? percent(right / of) : "–"];
}
