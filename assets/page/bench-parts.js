// What plot, bars and table of a comparison share: marks, and lists to choose from.

import { h } from "./dom.js";
import { s, text } from "./fig-svg.js";

const SIZE = 10; // px, from the middle of a mark to its end

/** A mark with its draft's letter: a disc is lossless, a diamond is not. */
export function mark(x, y, { lossless, letter }, kind = "") {
  const claim = lossless ? "bench-lossless" : "bench-relaxed";
  const shape = lossless
    ? s("circle", { cx: x, cy: y, r: SIZE })
    : s("path", { d: `M${x},${y - SIZE - 3}l${SIZE + 3},${SIZE + 3}l${-SIZE - 3},${SIZE + 3}l${-SIZE - 3},${-SIZE - 3}Z` });
  return s("g", { class: `bench-mark ${claim} ${kind}` }, shape, text(x, y + 4, letter, { anchor: "middle" }));
}

/** The same in a line of text. */
export function badge(row) {
  return s("svg", { class: "bench-badge", viewBox: "0 0 28 28", "aria-hidden": "true" }, mark(14, 14, row));
}

/** A list to choose one of; `offer` replaces what there is, and keeps what was chosen. */
export function choice(label, options, changed) {
  const list = h("select", { onchange: changed });
  const made = {
    element: h("label", { class: "bench-choice" }, `${label} `, list),
    offer(found) {
      if (Object.keys(found).join() === [...list.options].map((option) => option.value).join()) return;
      const { value } = list;
      list.replaceChildren(...Object.entries(found).map(([name, title]) => h("option", { value: name }, title)));
      if (value in found) list.value = value;
    },
    disable(name, off) {
      const option = [...list.options].find(({ value }) => value === name);
      if (!option || option.disabled === off) return;
      option.disabled = off;
      if (off && list.value === name) list.selectedIndex = 0;
    },
    get value() {
      return list.value;
    },
    set value(name) {
      list.value = name;
    },
  };
  made.offer(options);
  return made;
}

/** What a row is called. */
export function nameOf({ baseline, draft, rule_title: rule, gamma }) {
  return baseline ? "Baseline" : `${draft}, ${rule}, γ ${gamma}`;
}

/** A round step for about `count` lines from 0 to `top`. */
export function stepFor(top, count) {
  const rough = top / count || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  return unit * [1, 2, 5, 10].find((times) => times * unit >= rough);
}
