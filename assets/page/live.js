// The Live tab: one run at a time, heard and seen as it is made, or replayed from a trace.

import { h } from "./dom.js";
import { Keys } from "./keys.js";
import { Pacer } from "./feed.js";
import { Player } from "./player.js";
import { address, Session } from "./session.js";
import { Stage } from "./stage.js";

const STATE_MS = 500; // between looks at how far the voice is

/** Called by Gradio for the component of the Live tab. */
export function mount(element, { props, watch }) {
  const root = element.appendChild(h("div", { class: "live" }));
  root.append(h("div", {}));
  new Live(root, { start: "speak", stop: "stop", props, watch });
}

class Live {
  constructor(root, page) {
    this.stage = new Stage(root.firstChild, {
      name: "Live",
      actions: { presenter: () => this.keys.present(), help: () => this.keys.help() },
    });
    this.stage.onchange = () => this.#showPlaying();
    this.session = new Session(page, this);
    this.keys = new Keys(root, this.stage, () => this.session.stop());
    this.ended = null; // the last line of the run, once shown
    this.#greet();
  }

  pressed() {
    Player.unlock();
    this.#say("Starting…", "queued");
  }

  begin({ muted = false }) {
    this.pacer?.stop();
    this.recorded = null;
    this.ended = null;
    this.stage.reset();
    this.stage.player.muted = muted;
    this.muted = muted;
  }

  /** A line of the log; those of a recorded run come all at once and are kept for their time. */
  take(line) {
    if (line.recorded) this.recorded = [];
    if (!this.recorded) return this.#show(line);
    this.recorded.push(line);
    if (line.kind !== "end") return;
    this.pacer = new Pacer(this.recorded, (due) => this.#show(due));
    this.#say("Replaying a recorded run…", "playing");
  }

  stopped() {
    this.pacer?.stop();
    this.ended = { state: "stopped", text: "Stopped." };
    this.stage.player.finish();
    this.stage.player.pause();
    this.#say(this.ended.text, this.ended.state);
    this.stage.announce();
  }

  lost(text) {
    this.#say(text, "failed");
  }

  #show(line) {
    if (line.kind === "status") return this.#say(line.text, line.state);
    if (line.kind === "end") return this.#end(line);
    this.stage.add(line);
    if (line.kind === "started") this.stage.announce();
  }

  #end(line) {
    this.ended = line;
    this.stage.player.finish();
    if (line.state === "done") this.stage.toolbar.exports.offer(this.session.run, 0);
    this.stage.announce();
    this.#showPlaying();
  }

  // Once the run is over, the status is about the sound.
  #showPlaying() {
    if (!this.ended) return;
    if (this.stage.playing && this.ended.state === "done") this.#say("Playing…", "playing");
    else this.#say(this.ended.text, this.ended.state);
  }

  #say(text, state) {
    const where = this.muted && state !== "failed" ? " The sound comes from the server's loudspeakers." : "";
    this.stage.say(text + where, state);
  }

  async #greet() {
    let state = "loading";
    while (!this.session.run && !this.session.held && ["loading", "warming"].includes(state)) {
      try {
        const answer = await (await fetch(address("state"))).json();
        if (this.session.run || this.session.held) return;
        state = answer.state;
        this.#say(answer.text, state);
      } catch {
        this.lost("The server does not answer: is it still running?");
      }
      await new Promise((resolve) => setTimeout(resolve, STATE_MS));
    }
  }
}
