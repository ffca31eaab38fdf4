// The sounds of a round: the draft's rejected idea, and what was kept instead.

import { h } from "./dom.js";
import { HearButton } from "./hear.js";

const AFTER = ["residual", "corrected"];

export class Hearing {
  /** @param {Lesson} lesson knows where the sounds are */
  constructor(lesson) {
    this.lesson = lesson;
    this.buttons = { rejected: new HearButton("Hear the rejected idea"), kept: new HearButton("Hear what was kept") };
    const elements = Object.values(this.buttons).map(({ element }) => element);
    this.element = h("div", { class: "toolbar hearings", hidden: true }, elements);
  }

  /**
   * They are offered from a rejection on, and only of what really happened.
   * @param {string} id of the recording
   * @param {object} view of a round
   * @param {{kind: string, row: number}} action that is shown
   */
  show(id, view, { kind, row }) {
    const { round, accepted, draft_tokens: drafted, is_recorded: happened } = view;
    const rejected = accepted < drafted.length && (AFTER.includes(kind) || (kind === "test" && row === accepted));
    this.element.hidden = !(happened && rejected);
    for (const [name, button] of Object.entries(this.buttons)) button.offer(this.lesson.heard(id, round, name));
  }
}
