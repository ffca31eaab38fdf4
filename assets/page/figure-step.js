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
  new StepFigure(element, { recording, view, rule: trace.rule, shown, lesson });
}

class StepFigure {
  constructor(element, { recording, view, rule, shown, lesson }) {
    Object.assign(this, { recording, view, rule, shown, place: 0 });
    // All of them are there, for print; the page shows one.
    this.actions = shown.map(() => {
      const hearing = new Hearing(lesson);
      return { hearing, picture: new StepView(hearing.element) };
    });
    this.back = h("button", { type: "button", onclick: () => this.#move(-1) }, "‹ Back");
    this.on = h("button", { type: "button", onclick: () => this.#move(1) }, "Next ›");
    const many = shown.length > 1;
    const open = () => lesson.open({ recording, round: view.round });
    const toStep = h("button", { type: "button", onclick: open }, "Open in step mode");
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", "A round of a recorded run");
    element.append(
      ...this.actions.map(({ picture }) => picture.element),
      h("div", { class: "toolbar" }, many && this.back, many && this.on, toStep),
    );
    shown.forEach((_, place) => this.#show(place));
    this.#move(0);
  }

  #move(sign) {
    this.place = Math.max(0, Math.min(this.shown.length - 1, this.place + sign));
    this.actions.forEach(({ picture }, i) => picture.element.classList.toggle("now", i === this.place));
    this.#show(this.place);
    this.back.disabled = this.place === 0;
    this.on.disabled = this.place === this.shown.length - 1;
  }

  #show(place) {
    const { hearing, picture } = this.actions[place];
    picture.show(this.view, this.shown[place], this.rule);
    hearing.show(this.recording, this.view, picture.action);
  }
}
