// The big numbers of a run and whether it was lossless; the same in a sentence.

import { h } from "./dom.js";

const NONE = "–";
const UNKNOWN = "no baseline was saved";

const TILES = [
  {
    name: "ttfa",
    label: "TTFA",
    hint: () => "until the first sound",
    value: ({ metrics }) => (metrics.audio_s ? duration(metrics.ttfa_s) : NONE),
  },
  {
    name: "rtf",
    label: "RTF",
    hint: () => "below 1 keeps up",
    value: ({ metrics }) => (metrics.audio_s ? metrics.rtf.toFixed(2) : NONE),
  },
  {
    name: "length",
    label: "Acceptance length",
    hint: ({ earlier }) => `tokens per target pass${earlier ? `; ${before(earlier)}` : ""}`,
    value: ({ metrics }) => metrics.acceptance_length.toFixed(2),
  },
  {
    name: "rate",
    label: "Acceptance rate",
    hint: () => "accepted of drafted, tested or not",
    value: ({ metrics }) => percent(metrics.acceptance_rate),
  },
  {
    name: "speedup",
    label: "Speed-up",
    hint: ({ header, baseline }) => {
      if (header?.gamma && !baseline) return UNKNOWN;
      return `times the baseline${baseline ? `, ${Math.round(baseline)} tok/s here` : ""}`;
    },
    value: (run) => (speedup(run) ? `${speedup(run).toFixed(2)}×` : NONE),
  },
];

const BADGES = {
  none: { mark: "", text: NONE, hint: "" },
  baseline: { mark: "●", text: "baseline", hint: "no draft: one token per target pass" },
  lossless: { mark: "✓", text: "lossless", hint: "the output is distributed exactly as the target's" },
  relaxed: { mark: "⚠\uFE0E", text: "not lossless", hint: "the output is not distributed as the target's" },
};

/** Tiles and a badge; the page changes only where a text did. */
export class Numbers {
  #shown = new Map();

  /** @param {HTMLElement} element An empty element that is filled. */
  constructor(element) {
    this.tiles = TILES.map(({ name, label, hint }) => {
      const shown = {
        value: h("span", { class: "value" }, NONE),
        hint: h("span", { class: "hint" }, hint({})),
      };
      const tile = h("div", { class: `tile ${name}` }, h("span", { class: "label" }, label));
      tile.append(shown.value, shown.hint);
      return { tile, ...shown };
    });
    this.badge = h("div", { class: "badge" });
    for (const part of ["mark", "text", "hint"]) {
      this.badge.append(h("span", { class: part, "aria-hidden": part === "mark" && "true" }));
    }
    this.how = h("span", { class: "how" });
    this.badge.querySelector(".text").after(this.how);
    element.append(...this.tiles.map(({ tile }) => tile), this.badge);
    this.#showBadge("none");
  }

  /** @param {Run} run */
  show(run) {
    TILES.forEach(({ value, hint }, i) => {
      this.#write(this.tiles[i].value, run.metrics ? value(run) : NONE);
      this.#write(this.tiles[i].hint, hint(run));
      const { textContent: text } = this.tiles[i].hint;
      this.tiles[i].tile.title = text; // where there is no room for it
      this.tiles[i].tile.classList.toggle("unknown", text === UNKNOWN);
    });
    this.#showBadge(verdict(run.header));
    this.#write(this.how, run.how);
    this.how.title = run.how; // where there is no room for it
  }

  #showBadge(kind) {
    this.badge.dataset.kind = kind;
    for (const part of this.badge.children) {
      if (part !== this.how) this.#write(part, BADGES[kind][part.className]);
    }
  }

  #write(element, text) {
    if (this.#shown.get(element) === text) return;
    this.#shown.set(element, text);
    element.textContent = text;
  }
}

/** How a run stands, in a sentence for those who do not see it. */
export function summary(run) {
  if (!run.metrics && run.earlier) return `No sound yet; ${before(run.earlier)}.`;
  if (!run.metrics) return run.header ? "Speaking; no sound yet." : "";
  if (run.finished && !run.metrics.audio_s) return "Finished: nothing was said.";
  const { rtf, ttfa_s: ttfa, acceptance_length: length, acceptance_rate: rate } = run.metrics;
  const said = [
    `First sound after ${duration(ttfa)}`,
    `RTF ${rtf.toFixed(2)}, ${rtf < 1 ? "faster" : "slower"} than speech`,
    `${length.toFixed(2)} tokens per target pass`,
  ];
  if (rate != null) said.push(`${percent(rate)} of the draft's tokens accepted`);
  if (run.how) said.push(run.how);
  if (speedup(run)) said.push(`${speedup(run).toFixed(2)} times the speed of the baseline`);
  said.push(BADGES[verdict(run.header)].text);
  return `${run.finished ? "Finished" : "So far"}: ${said.join("; ")}.`;
}

/** Tokens that a sentence needs before those of its codec, so far. */
function before({ stage, tokens, passes }) {
  return `${tokens} ${stage} tokens, ${(tokens / passes).toFixed(2)} per pass`;
}

function verdict(header) {
  if (!header) return "none";
  if (!header.gamma) return "baseline";
  return header.lossless ? "lossless" : "relaxed";
}

/** Against the baseline that was measured on the machine of the run; null for the baseline itself. */
function speedup({ header, metrics, baseline }) {
  return header.gamma && baseline ? metrics.tokens_per_s / baseline : null;
}

function percent(share) {
  return share == null ? NONE : `${Math.round(share * 100)} %`;
}

function duration(seconds) {
  if (seconds == null) return NONE;
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}
