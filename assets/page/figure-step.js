// The figure "step" of a chapter: one round of a recorded run, or a part of it.

import { h } from "./dom.js";
import { oneOf, RECORDING, whole } from "./fig-options.js";
import { actionsOf, SHOWS } from "./step-actions.js";
import { Hearing } from "./step-hearing.js";
import { StepView } from "./step-view.js";

export const OPTIONS = { recording: RECORDING, round: whole(0, 99_999), show: oneOf(...Object.keys(SHOWS)) };

/**
 * @param {HTMLElement} element an empty figure
 * @param {{recording?: string, round?: number, show?: "draft"|"verify"|"accept"|"residual"|"all"}} options
 * @param {Lesson} lesson
 */
export async function mount(element, { recording = "example", round = 0, show = "all" }, lesson) {
  const { trace } = await lesson.recording(recording);
  const view = await lesson.step(recording, round);
  const all = actionsOf(view);
  const shown = all.map((_, index) => index).filter((index) => SHOWS[show].includes(all[index].kind));
  if (!shown.length) throw new Error(`round ${round} of ${recording} has nothing of “${show}”.`);
  const places = placesOf(view, shown, all[shown[0]].kind);
  new StepFigure(element, { recording, view, rule: trace.rule, shown, places, lesson });
}

class StepFigure {
  constructor(element, { recording, view, rule, shown, places, lesson }) {
    Object.assign(this, { recording, view, rule, shown, places, place: 0 });
    // A picture of every action is there, for print; the page shows one.
    this.actions = shown.map(() => {
      const hearing = new Hearing(lesson);
      return { hearing, picture: new StepView(hearing.element) };
    });
    this.back = h("button", { type: "button", onclick: () => this.#move(-1) }, "‹ Back");
    this.on = h("button", { type: "button", onclick: () => this.#move(1) }, "Next ›");
    const many = this.places.length > 1;
    const open = () => lesson.open({ recording, round: view.round });
    const toStep = h("button", { type: "button", onclick: open }, "Open in step mode");
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", "A round of a recorded run");
    element.append(
      ...this.actions.map(({ picture }) => picture.element),
      h("div", { class: "toolbar" }, many && this.back, many && this.on, toStep),
    );
    this.actions.forEach((_, action) => this.#show(action));
    this.#move(0);
  }

  #move(sign) {
    this.place = Math.max(0, Math.min(this.places.length - 1, this.place + sign));
    const { action, row } = this.places[this.place];
    this.actions.forEach(({ picture }, i) => picture.element.classList.toggle("now", i === action));
    this.#show(action, row);
    this.back.disabled = this.place === 0;
    this.on.disabled = this.place === this.places.length - 1;
  }

  #show(action, row) {
    const { hearing, picture } = this.actions[action];
    picture.show(this.view, this.shown[action], this.rule, row);
    hearing.show(this.recording, this.view, picture.action);
  }
}

/** Where Back and Next lead: from action to action; through all places where one pass is about them all. */
function placesOf({ p }, shown, kind) {
  if (kind === "verify") return p.map((_, row) => ({ action: 0, row }));
  return shown.map((_, action) => ({ action }));
}
