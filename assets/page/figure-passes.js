// A recorded run as passes on a time axis: the baseline's, one token each, and the rounds of
// speculative decoding. Widths are the seconds that were measured.

import { h } from "./dom.js";
import { oneOf, RECORDING, whole } from "./fig-options.js";
import { animate, button, calm, named, says, slider } from "./fig-parts.js";
import { box, Drawing, line, s, text } from "./fig-svg.js";

const TOKENS = 24; // of the baseline, that the time axis has room for
const SLOWER = 30; // times, when played
const ROOMY = 560; // px, from which titles say more
const [LEFT, RIGHT, AXIS] = [4, 12, 34];
const [TITLE, PASS, TOKEN, GAP] = [24, 26, 9, 2];

export const OPTIONS = {
  show: oneOf("baseline", "both"),
  baseline: RECORDING,
  recording: RECORDING,
  tokens: whole(1, 1000),
};

/**
 * @param {{recording?: string, baseline?: string, tokens?: number, show?: "baseline"|"both"}} options
 *   baseline: a recording with γ 0 of the same sentence; recording: one with a draft.
 */
export async function mount(element, options, lesson) {
  const { recording = "example", baseline = "example-baseline", tokens = TOKENS, show = "both" } = options;
  const wanted = show === "baseline" ? [baseline] : [baseline, recording];
  const runs = await Promise.all(wanted.map((id) => lesson.recording(id)));
  new Passes(
    element,
    runs.map(({ trace }) => lane(trace)),
    tokens,
  );
}

/** A run as passes: {title, rate, passes: [{from, drafted, to, kinds}]}, times in seconds. */
function lane({ gamma, adaptive, rounds, num_codebooks: Q, frame_rate: frameRate }) {
  let at = 0;
  const passes = rounds.map((round) => {
    const from = at;
    const drafted = gamma ? from + round.draft_s : from;
    at = drafted + round.verify_s;
    const accepted = Array(round.accepted).fill("accepted");
    const drafts = round.draft_tokens.length;
    const last = !drafts ? "plain" : round.accepted < drafts ? "corrected" : "bonus";
    return { from, drafted, to: at, kinds: [...accepted, last] };
  });
  return { ...titled(gamma, adaptive), passes, tokensPerSecond: Q * frameRate, most: gamma + 1 };
}

function titled(gamma, adaptive) {
  if (!gamma) return { short: "Baseline", more: ": one target pass for each token" };
  const more = ": a draft, then one target pass";
  if (adaptive) return { short: "Speculative, adaptive γ", more: `, up to ${gamma}${more}` };
  return { short: `Speculative, γ ${gamma}`, more };
}

class Passes {
  #playing = false;

  constructor(element, lanes, tokens) {
    this.element = element;
    this.lanes = lanes;
    this.end = lanes[0].passes[Math.min(tokens, lanes[0].passes.length) - 1].to;
    this.now = this.end;
    this.drawing = new Drawing((width) => this.#draw(width));
    this.said = says();
    this.play = button("", () => (this.#playing ? this.#stop() : this.#start()));
    this.time = slider({
      label: "time",
      ...{ min: 0, max: 1, step: 0.005, value: 1 },
      words: (share) => `${(1000 * share * this.end).toFixed(0)} ms`,
      changed: (share) => {
        this.#stop();
        this.#moveTo(share * this.end);
      },
    });
    named(element, "Passes over time");
    element.append(
      key(lanes),
      this.drawing.element,
      h("div", { class: "fig-buttons" }, this.play, this.time.element),
      this.said,
    );
    this.#stop();
  }

  #start() {
    this.#playing = true;
    this.play.textContent = "Pause";
    let before = null;
    if (this.now >= this.end) this.#moveTo(0);
    animate(this.element, (now) => {
      if (!this.#playing) return false;
      const passed = before === null ? 0 : (now - before) / 1000 / SLOWER;
      before = now;
      // A page that was out of sight goes on where it was.
      this.#moveTo(calm() ? this.end : this.now + Math.min(passed, 0.1 / SLOWER));
      if (this.now >= this.end) this.#stop();
      return this.#playing;
    });
  }

  #stop() {
    this.#playing = false;
    this.play.textContent = `Play, ${SLOWER} times slower`;
    this.said.textContent = this.#inWords();
  }

  #moveTo(seconds) {
    this.now = Math.min(seconds, this.end);
    this.time.set(this.now / this.end);
    this.drawing.redraw();
    if (!this.#playing) this.said.textContent = this.#inWords();
  }

  #inWords() {
    const [plain, fast] = this.lanes.map((each) => ({ ...each, ...upTo(each, this.now) }));
    const ms = `${(1000 * this.now).toFixed(0)} ms`;
    if (fast) return `After ${ms}: ${of(plain)} by the baseline, ${of(fast)} with a draft.`;
    const sound = (1000 * plain.tokens) / plain.tokensPerSecond;
    return `After ${ms}: ${of(plain)}, which is ${sound.toFixed(0)} ms of sound.`;
  }

  #draw(width) {
    const x = (seconds) => LEFT + (seconds / this.end) * (width - LEFT - RIGHT);
    let top = 0;
    const nodes = this.lanes.map((each) => {
      const begin = top;
      top += heightOf(each) + 18;
      return this.#drawLane(each, begin, x, width);
    });
    nodes.push(
      line(x(this.now), 4, x(this.now), top, "fig-needle"),
      ticks(1000 * this.end, width - LEFT - RIGHT).map((ms) => [
        line(x(ms / 1000), top, x(ms / 1000), top + 6, "fig-grid"),
        text(x(ms / 1000), top + 22, `${ms} ms`, {
          anchor: ms ? "middle" : "start",
          kind: "fig-muted",
        }),
      ]),
    );
    return { height: top + AXIS, label: `Passes over time. ${this.#inWords()}`, nodes };
  }

  #drawLane(each, top, x, width) {
    const { tokens } = upTo(each, this.now);
    const floor = top + heightOf(each);
    const upper = floor - PASS;
    const shown = each.passes.filter(({ from }) => from < Math.min(this.now, this.end));
    const until = (seconds) => x(Math.min(seconds, this.now));
    return [
      text(LEFT, top + 16, width > ROOMY ? each.short + each.more : each.short, { kind: "fig-strong" }),
      text(width - RIGHT - 8, top + 16, `${tokens} tokens`, { anchor: "end", kind: "fig-strong" }),
      shown.map(({ from, drafted, to, kinds }) => [
        box(x(from), upper + PASS / 4, until(drafted) - x(from), (PASS * 3) / 4, "fig-draft"),
        box(x(drafted) + 0.5, upper, until(to) - x(drafted) - 1, PASS, "fig-pass"),
        to <= this.now && kinds.map((kind, i) => token(x(to), upper - 5 - i * (TOKEN + GAP), kind)),
      ]),
    ];
  }
}

const of = ({ passes, tokens }) => `${tokens} tokens from ${passes} target passes`;

function upTo({ passes }, seconds) {
  const done = passes.filter(({ to }) => to <= seconds + 1e-9);
  return { passes: done.length, tokens: done.reduce((sum, { kinds }) => sum + kinds.length, 0) };
}

const heightOf = ({ most }) => TITLE + most * (TOKEN + GAP) + 8 + PASS;

/** A token over the end of its pass: the grid's colours, and shapes that differ too. */
function token(right, bottom, kind) {
  const [x, y, middle] = [right - TOKEN - 1, bottom - TOKEN, TOKEN / 2];
  if (kind === "accepted") return box(x, y, TOKEN, TOKEN, "fig-accepted");
  if (kind === "bonus") {
    const d = `M${x + middle},${y}L${x + TOKEN},${y + middle}L${x + middle},${y + TOKEN}L${x},${y + middle}Z`;
    return s("path", { d, class: "fig-bonus" });
  }
  if (kind === "corrected")
    return s("circle", { cx: x + middle, cy: y + middle, r: middle - 1, class: "fig-corrected" });
  return s("rect", { x: x + 0.5, y: y + 1.5, width: TOKEN - 1, height: TOKEN - 3, class: "fig-plain" });
}

function ticks(ms, width) {
  const step = [10, 20, 25, 50, 100, 200, 500].find((each) => (each / ms) * width > 64) ?? 1000;
  const last = Math.floor(ms * (1 - 20 / width)); // its words have to fit
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => i * step);
}

function key(lanes) {
  const entries = [["fig-pass", "target pass"]];
  if (lanes.length === 1) entries.push(["fig-plain", "token"]);
  else {
    entries.push(["fig-draft", "draft"], ["fig-plain", "baseline's token"], ["fig-accepted", "accepted"]);
    entries.push(["fig-corrected", "corrected"], ["fig-bonus", "bonus"]);
  }
  return h(
    "p",
    { class: "fig-key" },
    entries.map(([kind, words]) => h("span", { class: kind }, words)),
  );
}
