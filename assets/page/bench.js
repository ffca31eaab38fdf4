// The Bench tab: every draft with every rule, as the pairs come in or from a file of results.

import { address } from "./address.js";
import { Board } from "./bench-board.js";
import { h } from "./dom.js";
import { Status } from "./parts.js";
import { Session } from "./session.js";

const STOPPED = "Stopped. Every pair so far is kept: Compare goes on where this ended.";

/** Called by Gradio for the component of the Bench tab. */
export function mount(element, { props, watch }) {
  const root = element.appendChild(h("div", { class: "bench" }));
  new Bench(root, { start: "bench", stop: "stop-bench", props, watch, silent: true });
}

class Bench {
  constructor(root, page) {
    root.bench = this; // for tests
    this.status = new Status();
    this.progress = h("progress", { hidden: true, "aria-label": "Pairs measured" });
    this.board = new Board();
    root.append(this.status.element, this.progress, this.board.element);
    this.status.say("Every way speaks each sentence right beside the baseline. Keep this page open meanwhile.", "stopped");
    this.session = new Session(page, this);
  }

  busy = false; // there is nothing to stop once the run has ended

  pressed() {
    this.status.say("Starting…", "queued");
  }

  /** What was shown before stays until this run has something to show: it may fail at once. */
  begin() {}

  take(line) {
    if (line.kind === "board") this.board.begin(line, (file) => address(`bench/${this.session.run}/${file}`));
    if (line.kind === "rows") this.board.add(line);
    if (line.kind === "progress") Object.assign(this.progress, { max: line.of, value: line.done });
    if (line.kind === "progress" || line.kind === "end") this.progress.hidden = line.kind === "end";
    if (line.text) this.status.say(line.text, line.state ?? "playing");
  }

  stopped() {
    this.progress.hidden = true;
    this.status.say(STOPPED, "stopped");
  }

  lost(text) {
    this.progress.hidden = true;
    this.status.say(text, "failed");
  }
}
