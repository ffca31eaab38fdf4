// The keyboard: one tab's stage, its help, and presenter mode. Quiet while somebody types.

import { h } from "./dom.js";
import { ZOOM_STEP } from "./toolbar.js";

const KEYS = [
  ["Space", "Play or pause"],
  ["← →", "One frame back or on; with Shift one second"],
  ["Home End", "To the beginning or the end"],
  ["+ −", "Zoom in or out"],
  ["F", "Fit the whole run"],
  ["P", "Presenter mode: only tokens, graphs and numbers"],
  ["Esc", "Close what is open, leave presenter mode, or stop"],
  ["Enter ↑ ↓", "Read the token under the playhead, when the tokens have the focus"],
  ["?", "This help"],
];
const PRESENTER = "presenter";
const TYPING = "textarea, select, [contenteditable]:not([contenteditable=false]), [role=listbox], " +
  "[role=combobox], input:not([type=range], [type=checkbox], [type=radio], [type=button])";
// Elements that have a use of their own for a key.
const OWN = {
  " ": "button, summary, a[href], input, label, [role=button], [role=tab], [role=option]",
  Enter: "*",
  ArrowLeft: "input, [role=tab], [role=slider]",
  ArrowRight: "input, [role=tab], [role=slider]",
  Home: "input, [role=tab], [role=slider]",
  End: "input, [role=tab], [role=slider]",
};

/**
 * Whether a pressed key is for `root` to use: it is in the visible tab, nobody types, and the
 * element in focus has no use of its own for it.
 */
export function isFree(event, root) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (!root.checkVisibility() || event.target.closest(TYPING)) return false;
  return !(event.key in OWN && event.target.matches(OWN[event.key]));
}

/** Turns keys into actions of `stage`, as long as `root` is in the visible tab. */
export class Keys {
  /**
   * @param {HTMLElement} root holds the stage, and from now on the help
   * @param {object} stage has seek, step, dismiss, position and duration, and may have toggle,
   *   zoom and fit
   * @param {() => void} stop what Esc does where nothing is open
   * @param {string[][]} help keys and what they do
   */
  constructor(root, stage, stop, help = KEYS) {
    this.root = root;
    this.stage = stage;
    this.stop = stop;
    this.dialog = root.appendChild(helpDialog(help));
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  help() {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }

  /** Enter or leave presenter mode. */
  present() {
    const on = document.body.classList.toggle(PRESENTER);
    document.querySelectorAll("button.presenter").forEach((made) => made.setAttribute("aria-pressed", on));
    if (on) this.covered = around(this.root);
    this.covered.forEach((element) => (element.inert = on));
  }

  #press(event) {
    if (!isFree(event, this.root)) return;
    const action = this.#action(event);
    if (!action || (this.dialog.open && event.key !== "?")) return;
    event.preventDefault();
    action();
  }

  #action({ key, shiftKey }) {
    const { stage } = this;
    const move = (sign) =>
      shiftKey ? stage.seek(stage.position + sign) : stage.step(sign);
    const actions = {
      " ": stage.toggle && (() => stage.toggle()),
      ArrowLeft: () => move(-1),
      ArrowRight: () => move(1),
      Home: () => stage.seek(0),
      End: () => stage.seek(stage.duration),
      "+": stage.zoom && (() => stage.zoom(ZOOM_STEP)),
      "=": stage.zoom && (() => stage.zoom(ZOOM_STEP)),
      "-": stage.zoom && (() => stage.zoom(1 / ZOOM_STEP)),
      f: stage.fit && (() => stage.fit()),
      p: () => this.present(),
      "?": () => this.help(),
      Escape: () => this.#escape(),
    };
    return actions[key.length === 1 ? key.toLowerCase() : key];
  }

  #escape() {
    if (this.stage.dismiss()) return;
    if (document.body.classList.contains(PRESENTER)) this.present();
    else this.stop();
  }
}

/** All that is neither in `element` nor holds it, and can be used. */
export function around(element) {
  const found = [];
  for (let inner = element; inner !== document.body; inner = inner.parentElement) {
    found.push(...[...inner.parentElement.children].filter((other) => other !== inner && !other.inert));
  }
  return found;
}

function helpDialog(help) {
  const rows = help.map(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)]);
  const close = h("button", { type: "button" }, "Close");
  const dialog = h("dialog", { class: "keys", "aria-label": "Keys" }, h("h2", {}, "Keys"));
  dialog.append(h("dl", {}, ...rows.flat()), close);
  close.addEventListener("click", () => dialog.close());
  return dialog;
}
