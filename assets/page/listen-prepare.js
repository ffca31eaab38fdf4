// For who prepares a test: how far the clips are, then the links; and pooling of saved votes.

import { h } from "./dom.js";
import { ask, insist, inWords, place } from "./listen-ask.js";
import { linkTo } from "./listen-links.js";
import { Together } from "./listen-pooled.js";
import { reach } from "./listen-words.js";
import { Status } from "./parts.js";
import { Session } from "./session.js";

export class Prepare {
  /**
   * @param {object} page what `Session` wants
   * @param {string} note what to say first
   */
  constructor(root, page, note) {
    this.status = new Status();
    this.progress = h("progress", { hidden: true, "aria-label": "Clips made" });
    this.prepared = h("div", { class: "prepared" });
    root.append(this.status.element, this.progress, this.prepared, pooling());
    if (note) this.status.say(note, "failed");
    this.session = new Session(page, this);
  }

  busy = false; // there is nothing to stop once the run has ended

  pressed() {
    this.status.say("Starting…", "queued");
  }

  begin() {
    this.prepared.replaceChildren();
  }

  take(line) {
    if (line.kind === "prepared") this.#offer(line);
    if (line.kind === "progress") Object.assign(this.progress, { max: line.of, value: line.done });
    this.progress.hidden = line.kind !== "progress";
    if (line.text) this.status.say(line.text, line.state ?? "playing");
  }

  stopped() {
    this.progress.hidden = true;
    this.status.say("Stopped: no test was prepared.", "stopped");
  }

  lost(text) {
    this.status.say(text, "failed");
  }

  async #offer({ test, key, lan }) {
    const power = h("p", { class: "hint" });
    const links = h(
      "section",
      {},
      h("h2", {}, "Links to the test"),
      linkTo("For listeners", { listen: test }, lan),
      linkTo("For you: the results as they come in", { listen: test, key }, lan),
      h("p", {}, h("a", { class: "begin", href: `?listen=${test}`, target: "_blank", rel: "noopener" }, "Take the test here")),
      h("p", {}, "Keep your own link: it is shown only here, and whoever has it sees the results."),
      !lan && h("p", { class: "hint" }, LOCAL, h("code", {}, "launch.py --host 0.0.0.0 --password WORD")),
      power,
    );
    this.prepared.replaceChildren(links);
    const about = await insist(place(test), undefined, () => {});
    // Listeners who prefer the same take of a pair add nothing to each other.
    const more = about.kind === "abx" ? "more trials, or more listeners" : "more trials";
    power.textContent = `${reach(about)} Less needs ${more}.`;
  }
}

const LOCAL = "These links work on this computer only. For others on your network, start Forespeak with ";

/** Votes that were saved on several computers, as one result. */
function pooling() {
  const status = new Status();
  const screen = h("div", {});
  const files = h("input", { type: "file", accept: ".csv", multiple: true });
  files.addEventListener("change", async () => {
    screen.replaceChildren();
    if (!files.files.length) return;
    status.say("Reading…", "loading");
    try {
      const texts = await Promise.all([...files.files].map((file) => file.text()));
      const together = new Together();
      together.show(await ask(place("pool"), { files: texts }));
      screen.replaceChildren(together.element);
      status.say(`${texts.length} ${texts.length === 1 ? "file" : "files"} pooled.`, "done");
    } catch (error) {
      status.say(inWords(error), "failed");
    }
    files.value = ""; // so that the same files can be chosen again
  });
  return h(
    "details",
    { class: "pooling" },
    h("summary", {}, "Pool saved answers"),
    h("p", {}, "Answers (CSV) of one test, saved by listeners on several computers, become one result here."),
    h("label", {}, "Files of answers ", files),
    status.element,
    screen,
  );
}
