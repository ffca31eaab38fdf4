// What figures share besides their drawings: sliders, buttons, choices, numbers in words.

import { h } from "./dom.js";

/** A share as a percentage, with as many digits as it takes to be read. */
export function percent(share, digits = 0) {
  return `${(100 * share).toFixed(digits)} %`;
}

/** "A, B, C, ..." for the symbols of a distribution. */
export const names = (p) => p.map((_, i) => String.fromCharCode(65 + i));

/**
 * A range input with its name before it and its value, in words, after it.
 * @param {{name: string, label: string, min: number, max: number, step: number, value: number,
 *   words: function(number): string, changed: function(number): void}} options name: what assistive
 *   technology calls it, if the label alone does not say.
 * @returns {{element: HTMLElement, set: function(number): void}} set: show a value; calls nobody back.
 */
export function slider({ label, name = label, min, max, step, value, words, changed }) {
  const said = h("output", {});
  const input = h("input", { type: "range", min, max, step, "aria-label": name });
  const show = () => {
    said.textContent = words(Number(input.value));
    input.setAttribute("aria-valuetext", said.textContent);
  };
  input.addEventListener("input", () => {
    show();
    changed(Number(input.value));
  });
  input.addEventListener("keydown", keepArrows);
  const set = (next) => {
    input.value = next;
    show();
  };
  set(value);
  return { element: h("label", { class: "fig-slider" }, h("span", {}, label), input, said), set };
}

export function button(label, pressed) {
  return h("button", { type: "button", onclick: pressed }, label);
}

/**
 * Radio buttons that look like a row of buttons.
 * @param {string} name What is chosen.
 * @param {{value: string, label: string}[]} choices The first is chosen.
 * @param {function(string): void} changed
 */
export function choice(name, choices, changed) {
  const group = `fig-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const radio = ({ value, label }, i) => {
    const input = h("input", { type: "radio", name: group, value, checked: i === 0 });
    input.addEventListener("change", () => changed(value));
    input.addEventListener("keydown", keepArrows);
    return h("label", {}, input, h("span", {}, label));
  };
  return h("fieldset", { class: "fig-choice" }, h("legend", {}, name), choices.map(radio));
}

/** What a figure has found, told also to who does not see it. */
export function says(words = "") {
  return h("p", { class: "fig-says", role: "status" }, words);
}

/** Makes a figure a group with a name. */
export function named(element, label) {
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
}

/** A table of numbers. @param {string[]} head @param {string[][]} rows The first of each is its name. */
export function table(caption, head, rows) {
  const columns = head.map((name) => h("th", { scope: "col" }, name));
  const body = rows.map(([name, ...cells]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      cells.map((cell) => h("td", {}, cell)),
    ),
  );
  return h(
    "table",
    { class: "fig-table" },
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, columns)),
    h("tbody", {}, body),
  );
}

/** Calls back at every frame as long as it answers true and the element is in the page. */
export function animate(element, frame) {
  const again = (now) => {
    if (element.isConnected && frame(now)) requestAnimationFrame(again);
  };
  requestAnimationFrame(again);
}

/** Whether the visitor asked for less movement. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Arrow keys belong to the control that has the focus, not to the lesson around it.
function keepArrows(event) {
  if (event.key.startsWith("Arrow")) event.stopPropagation();
}
