// Step mode: a recorded run, one action at a time, forward and back; and what if.

import { spans } from "./captions.js";
import { h } from "./dom.js";
import { actionsOf, placeOf } from "./step-actions.js";
import { Hearing } from "./step-hearing.js";
import { StepView } from "./step-view.js";
import { WhatIf } from "./step-whatif.js";
import { button, slider } from "./toolbar.js";

const NOTHING = "Write a sentence above and press “Record my sentence”: it is spoken once, then stepped through.";

export class StepMode {
  constructor(lesson) {
    this.lesson = lesson;
    this.title = "Step mode";
    this.round = 0;
    this.action = 0;
    this.ids = [];
    this.trace = null; // of the recording that is shown
    this.view = null;
    this.asked = 0; // views asked for: only the latest counts
    this.waiting = false; // for the latest
    this.sentence = h("p", { class: "sentence" });
    this.fault = h("p", { class: "fault", role: "alert" });
    this.hint = h("p", { class: "hint" }, NOTHING);
    this.whatIf = new WhatIf(() => this.#look());
    this.hearing = new Hearing(lesson);
    this.picture = new StepView(this.hearing.element);
    this.recordings = h("select", { "aria-label": "Recorded run", onchange: () => this.choose(this.recordings.value) });
    this.element = h("section", { class: "steps", tabindex: "-1", "aria-label": "Step mode" });
    this.element.steps = this; // for tests
    this.element.append(
      this.#tools(),
      this.fault,
      this.hint,
      this.sentence,
      this.picture.element,
    );
    this.#show();
  }

  /** Recorded runs that can be chosen. */
  offer(ids) {
    this.ids = [...new Set([...this.ids, ...ids])];
  }

  /** A run and the round to begin at. */
  async choose(id, round = 0) {
    this.offer([id]);
    this.id = id;
    this.round = round;
    this.action = 0;
    this.trace = this.view = null;
    this.whatIf.reset();
    await this.#load();
  }

  /** Called when the tab turns to the step mode. */
  open() {
    if (!this.id && this.ids.length) return this.choose(this.ids[0]);
    return Promise.resolve();
  }

  get rounds() {
    return this.trace?.rounds.length ?? 1;
  }

  /** One action on (1) or back (−1), over the ends of rounds. */
  step(sign) {
    if (!this.view || this.waiting) return; // a key that is held must not leave rounds out
    const wanted = this.action + sign;
    if (wanted >= 0 && wanted < this.actions.length) {
      this.action = wanted;
      this.#show();
    } else if (this.round + sign >= 0 && this.round + sign < this.rounds) {
      this.round += sign;
      this.#look(sign > 0 ? "first" : "last");
    }
  }

  /** To the beginning of a round. */
  turn(round) {
    if (!this.trace) return;
    this.round = Math.max(0, Math.min(this.rounds - 1, round));
    this.#look("first");
  }

  async #load() {
    const { id } = this;
    try {
      const { trace, rules } = await this.lesson.recording(id);
      if (id !== this.id) return;
      this.trace = trace;
      this.whatIf.begin(trace, rules);
      await this.#nameRecordings();
      await this.#look("first");
    } catch (error) {
      this.fault.textContent = error.message;
    }
  }

  async #nameRecordings() {
    const known = await Promise.allSettled(this.ids.map((id) => this.lesson.recording(id)));
    this.ids = this.ids.filter((_, i) => known[i].value); // others may have made room
    const texts = known.filter(({ value }) => value).map(({ value }) => value.trace.sentences[0].text);
    this.recordings.replaceChildren(...this.ids.map((id, i) => h("option", { value: id }, texts[i])));
    this.recordings.value = this.id;
  }

  /** The view of the round with the settings that are wanted; at the first or last action, or as near as can be to the one shown. */
  async #look(where) {
    const asked = ++this.asked;
    const before = this.actions?.[this.action];
    this.waiting = true;
    try {
      const view = await this.lesson.step(this.id, this.round, this.whatIf.settings);
      if (asked !== this.asked) return;
      this.view = { ...view, first_only: this.whatIf.drawsOtherwise };
      this.actions = actionsOf(this.view);
      if (where === "first") this.action = 0;
      else if (where === "last") this.action = this.actions.length - 1;
      else this.action = placeOf(before, this.actions);
      this.fault.textContent = "";
    } catch (error) {
      if (asked !== this.asked) return;
      this.fault.textContent = error.message;
    }
    this.waiting = false;
    this.#show();
  }

  #show() {
    const { view } = this;
    this.element.classList.toggle("empty", !view);
    this.#showTools();
    if (!view) return;
    this.whatIf.explain(view);
    this.picture.show(view, this.action, this.whatIf.rule);
    this.#showSentence();
    this.hearing.show(this.id, view, this.actions[this.action]);
  }

  /** The sentence, with the word that the action's place belongs to. */
  #showSentence() {
    const [sentence] = this.trace.sentences;
    const { row } = this.actions[this.action];
    const middle = Math.floor((this.view.position + row) / this.trace.num_codebooks) + 0.5;
    const isSpoken = ({ start, end }) => middle >= start && middle < end;
    this.sentence.replaceChildren(...markedWord(sentence.text, spans(sentence).words, isSpoken));
  }

  #tools() {
    this.previous = button("back", "‹ Back", "One action back", () => this.step(-1));
    this.next = button("on", "Next ›", "One action on", () => this.step(1));
    this.where = h("output", { class: "where", "aria-live": "off" });
    this.scrub = slider("round", "Round", { max: 0, step: 1, value: 0 }, (round) => this.turn(round));
    return h(
      "div",
      { class: "toolbar", role: "group", "aria-label": "Steps" },
      this.previous,
      this.next,
      this.where,
      this.scrub,
      this.recordings,
    );
  }

  #showTools() {
    const { view, round, rounds, action } = this;
    this.previous.disabled = !view || (round === 0 && action === 0);
    this.next.disabled = !view || (round === rounds - 1 && action === this.actions.length - 1);
    this.scrub.disabled = !view;
    this.scrub.max = rounds - 1;
    this.scrub.value = round;
    this.recordings.hidden = this.ids.length < 2;
    this.scrub.setAttribute("aria-valuetext", `Round ${round + 1} of ${rounds}`);
    this.where.textContent = view
      ? `Round ${round + 1} of ${rounds}, action ${action + 1} of ${this.actions.length}`
      : "";
  }
}

/** The text; the word that is spoken is marked. Words stand in the text one after the other. */
function markedWord(text, words, isSpoken) {
  let at = 0;
  for (const word of words) {
    const start = Math.max(at, text.indexOf(word.text, at));
    at = start + word.text.length;
    if (isSpoken(word)) return [text.slice(0, start), h("mark", {}, text.slice(start, at)), text.slice(at)];
  }
  return [text];
}
