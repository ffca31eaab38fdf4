// The Live tab: one run at a time, heard and seen as it is made, or replayed from a trace.

import { address } from "./address.js";
import { h } from "./dom.js";
import { Keys } from "./keys.js";
import { Pacer } from "./feed.js";
import { legend, Status } from "./parts.js";
import { Player } from "./player.js";
import { Session } from "./session.js";
import { Stage } from "./stage.js";

const STATE_MS = 500; // between looks at how far the voice is
const BLOCKED_MS = 500; // that the browser may take to let sound begin
const BLOCKED = ["Press Play: the browser wants a press before it lets anything sound.", "blocked"];
const REFUSED = "This sound cannot be played here: the browser refuses its sample rate.";
const ELSEWHERE = "The sound comes from the server's loudspeakers.";
const PLAYING = { text: "Playing…", state: "playing" };

/** Called by Gradio for the component of the Live tab. */
export function mount(element, { props, watch }) {
  const root = element.appendChild(h("div", { class: "live" }));
  new Live(root, { start: "speak", stop: "stop", props, watch });
}

class Live {
  constructor(root, page) {
    this.status = new Status();
    this.told = { text: "", state: "queued" }; // the latest status
    this.stage = new Stage(root.appendChild(h("div", {})), {
      name: "Live",
      actions: { presenter: () => this.keys.present(), help: () => this.keys.help() },
    });
    this.stage.element.prepend(this.status.element);
    this.stage.element.append(legend());
    this.stage.onchange = () => this.#showStatus();
    this.session = new Session(page, this);
    this.keys = new Keys(root, this.stage, () => this.session.stop());
    this.#greet();
  }

  pressed() {
    Player.unlock();
    this.#tell({ text: "Starting…", state: "queued" });
  }

  /** The run before stays to be seen until this one says something: it may fail at once. */
  begin({ muted = false }) {
    this.pacer?.stop();
    this.recorded = null;
    this.muted = muted;
    this.stage.toolbar.exports.withdraw();
    this.#silence();
  }

  /** A line of the log; those of a recorded run come all at once and are kept for their time. */
  take(line) {
    if (line.recorded) this.recorded = [];
    if (!this.recorded) return this.#show(line);
    this.recorded.push(line);
    if (line.kind !== "end") return;
    this.pacer = new Pacer(this.recorded, (due) => this.#show(due));
    this.#tell({ text: "Replaying a recorded run…", state: "playing" });
  }

  get busy() {
    return this.stage.playing || Boolean(this.pacer?.pending);
  }

  stopped() {
    this.pacer?.stop();
    this.#tell({ state: "stopped", text: "Stopped." });
    this.#silence();
    this.#offer();
    this.stage.announce();
  }

  lost(text) {
    this.#tell({ text, state: "failed" });
  }

  #show(line) {
    if (line.kind === "status") return this.#tell(line);
    if (line.kind === "end") return this.#end(line);
    if (line.kind === "started") {
      this.stage.reset();
      this.stage.player.muted = this.muted;
      this.shown = this.session.run;
    }
    this.stage.add(line);
    if (line.kind === "started") this.stage.announce();
  }

  // The status first: whatever the player meets, it is told how the run ended.
  #end(line) {
    this.#tell(line);
    if (line.state === "done") this.stage.player.finish();
    else this.#silence();
    this.#offer();
    this.stage.announce();
  }

  #offer() {
    if (this.stage.run.finished) this.stage.toolbar.exports.offer(this.shown, 0);
  }

  #silence() {
    this.stage.player.pause();
    this.stage.player.finish();
  }

  /** What the server says of the run; once it is done the sound has a say, too. */
  #tell({ text, state }) {
    this.told = { text, state };
    this.#showStatus();
  }

  #showStatus() {
    clearTimeout(this.timer);
    const { player, playing } = this.stage;
    const { text, state } = playing && this.told.state === "done" ? PLAYING : this.told;
    if (state === "failed") return this.status.say(text, state);
    if (player.refused) return this.status.say(`${text} ${REFUSED}`, "blocked");
    this.status.say(this.muted ? `${text} ${ELSEWHERE}` : text, state);
    if (player.blocked) this.timer = setTimeout(() => player.blocked && this.status.say(...BLOCKED), BLOCKED_MS);
  }

  async #greet() {
    let state = "loading";
    while (!this.session.run && !this.session.held && ["loading", "warming"].includes(state)) {
      try {
        const answer = await (await fetch(address("state"))).json();
        if (answer.sample_rate) Player.prepare(answer.sample_rate);
        if (this.session.run || this.session.held) return;
        state = answer.state;
        this.#tell(answer);
      } catch {
        this.lost("The server does not answer: is it still running?");
      }
      await new Promise((resolve) => setTimeout(resolve, STATE_MS));
    }
  }
}
