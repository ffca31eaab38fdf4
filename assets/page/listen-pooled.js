// For who prepared a test: who has answered so far, and what all complete sessions say together.

import { h } from "./dom.js";
import { ask, place, Refused } from "./listen-ask.js";
import { linkTo } from "./listen-links.js";
import { grid, outcome } from "./listen-result.js";
import { percent, probability } from "./listen-words.js";
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
    for (let shown = ""; ; ) {
      try {
        const results = await ask(this.#file("results"));
        const text = JSON.stringify(results);
        if (text !== shown) this.#show(results);
        shown = text;
        this.#tell(results);
      } catch (error) {
        this.status.say(error instanceof Refused ? error.message : "The server does not answer. It is asked again.", "failed");
        if (error instanceof Refused) return;
      }
      await new Promise((resolve) => setTimeout(resolve, REFRESH));
    }
  }

  #tell({ sessions }) {
    const done = sessions.filter((session) => session.done).length;
    const text = `${done} complete, ${sessions.length - done} under way. This page follows them.`;
    if (text !== this.status.element.textContent) this.status.say(text, "playing");
  }

  #show(results) {
    const files = Object.entries(FILES).map(([file, text]) => h("a", { href: this.#file(file), download: "" }, text));
    this.screen.replaceChildren(pooled(results, files), linkTo("For listeners", { listen: this.test }));
  }

  #file(name) {
    const url = place(this.test, name);
    url.searchParams.set("key", this.key);
    return url;
  }
}

/** What several sessions say together, and each of them. */
export function pooled({ sessions, pooled: result, figure }, files = []) {
  return h("section", {}, outcome({ ...result, figure }, "All listeners together", files), listeners(sessions));
}

// Numbered as in the figure, which has those who have finished.
function listeners(sessions) {
  const finished = sessions.filter(({ done }) => done).map(({ right, of, ties, p }, n) => [
    `Listener ${n + 1}`,
    "complete",
    `${right} of ${of}${ties ? `, ${ties} ties` : ""}`,
    of ? percent(right / of) : "–",
    probability(p),
  ]);
  const others = sessions.filter(({ done }) => !done).map(({ votes, trials }) => [
    "Not finished",
    `${votes} of ${trials} trials`,
    "–",
    "–",
    "–",
  ]);
  return grid("Listeners", ["Listener", "Trials", "Answers", "Share", "p"], [...finished, ...others]);
}
