// Why the result is exactly the target's: the two ways in which a token comes out, calculated, and
// counted over a hundred thousand rounds; beside it rules that look as good and are wrong.

import { h } from "./dom.js";
import { columns, stack } from "./fig-columns.js";
import { dice } from "./fig-dice.js";
import { Experiment } from "./fig-experiment.js";
import { chanceDistance, distance, outcome, RULES } from "./fig-math.js";
import { PAIR, SEED, whole } from "./fig-options.js";
import { distributions } from "./fig-pair.js";
import { animate, button, calm, choice, named, names, percent, says, table } from "./fig-parts.js";
import { drawSettling } from "./fig-settling.js";
import { Drawing, text } from "./fig-svg.js";

const RUNS = 100_000;
const GROWTH = 0.035; // of the runs so far, at each frame: from single draws to thousands in seconds
const CALM_PIECES = 4; // where less movement is asked for
const HEIGHT = 260;
const HEADROOM = 1.12;
const ROUNDING = 1e-12;
const BEYOND_CHANCE = 4; // times the mean distance: chance alone goes there once in a thousand runs

export const OPTIONS = { ...PAIR, runs: whole(100, 1_000_000), seed: SEED };

/** @param {{p?: number[], q?: number[], runs?: number, seed?: number}} options */
export function mount(element, options) {
  new Proof(element, options);
}

class Proof {
  #rule = RULES[0];
  #running = false;

  constructor(element, options) {
    Object.assign(this, distributions(options));
    this.runs = options.runs ?? RUNS;
    this.seed = options.seed ?? 1;
    this.element = element;
    this.top = this.#room();
    this.experiment = this.#fresh();
    this.calculated = new Drawing((width) => this.#drawCalculated(width));
    this.counted = new Drawing((width) => this.#drawCounted(width));
    this.settling = new Drawing((width) => drawSettling(this.experiment, this.runs, width));
    this.countedTitle = h("p", { class: "fig-title" });
    this.numbers = h("div", { class: "fig-tables" });
    this.formula = h("p", { class: "fig-formula" });
    this.said = says();
    this.start = button("", () => (this.#running ? this.#stop() : this.#go()));
    named(element, "Accept rules, calculated and counted");
    element.append(
      h("div", { class: "fig-buttons" }, this.#choice(), this.start),
      this.formula,
      key(),
      h(
        "div",
        { class: "fig-two" },
        h("div", {}, h("p", { class: "fig-title" }, "Calculated"), this.calculated.element),
        h("div", {}, this.countedTitle, this.counted.element),
      ),
      this.said,
      h("p", { class: "fig-title" }, "Distance from p (total variation); grey: by chance alone"),
      this.settling.element,
      this.numbers,
    );
    this.#choose(this.#rule.name);
  }

  #choice() {
    const rules = RULES.map(({ name, title }) => ({ value: name, label: title }));
    return choice("Rule", rules, (name) => this.#choose(name));
  }

  /** Shows what a rule must give, and forgets what was counted under another. */
  #choose(name) {
    this.#rule = RULES.find((rule) => rule.name === name);
    this.formula.textContent = this.#rule.says;
    this.#stop();
    this.experiment = this.#fresh();
    this.#show();
  }

  #fresh() {
    return new Experiment(this.p, this.q, this.#rule, dice(this.seed));
  }

  // A finished run is followed by another with numbers of its own.
  #go() {
    if (this.experiment.runs >= this.runs) {
      this.seed += 1;
      this.experiment = this.#fresh();
    }
    this.#running = true;
    this.#label();
    this.said.textContent = "Counting…";
    animate(this.element, () => this.#advance());
  }

  #stop() {
    this.#running = false;
    this.#label();
  }

  #advance() {
    if (!this.#running) return false;
    const { runs } = this.experiment;
    const piece = calm() ? this.runs / CALM_PIECES : 1 + runs * GROWTH;
    this.experiment.run(Math.min(Math.ceil(piece), this.runs - runs));
    if (this.experiment.runs >= this.runs) this.#stop();
    this.#show();
    return this.#running;
  }

  #label() {
    this.start.textContent = this.#running ? "Pause" : `Run it ${this.runs.toLocaleString("en")} times`;
  }

  #show() {
    this.countedTitle.textContent = this.#counted();
    this.calculated.redraw();
    this.counted.redraw();
    this.settling.redraw();
    this.numbers.replaceChildren(this.#table());
    if (!this.#running) this.said.textContent = this.#verdict();
  }

  #verdict() {
    const { p, q, experiment } = this;
    if (!experiment.runs) return this.#expected(outcome(p, q, this.#rule).out);
    const chance = chanceDistance(p, experiment.runs);
    const far = experiment.distance > BEYOND_CHANCE * chance;
    const away = `${percent(experiment.distance, 2)} away from p`;
    const found = `After ${experiment.runs.toLocaleString("en")} tokens the histogram is ${away}`;
    return `${found}; chance alone makes about ${percent(chance, 2)}. ${this.#conclusion(far)}`;
  }

  // What is near p need not stay there: few tokens are near everything.
  #conclusion(far) {
    if (far) return "It settles elsewhere: this is not the target's distribution.";
    if (this.#settlesOnP()) return "Nothing but chance is left: it settles on p.";
    return "These are too few tokens to tell this rule from the right one.";
  }

  #settlesOnP() {
    return distance(outcome(this.p, this.q, this.#rule).out, this.p) < ROUNDING;
  }

  #expected(out) {
    const away = distance(out, this.p);
    if (away < ROUNDING) return "The two ways together fill every bar up to p, exactly.";
    return `The bars miss p: under this rule ${percent(away, 1)} of the tokens come out differently.`;
  }

  #table() {
    const { accepted, redrawn, out } = outcome(this.p, this.q, this.#rule);
    const counted = this.experiment.shares().out;
    const head = ["", "accepted", "+ redrawn", "= out", "p", "counted"];
    const rows = names(this.p).map((name, i) => [
      name,
      ...[accepted, redrawn, out, this.p].map((values) => percent(values[i], 1)),
      this.experiment.runs ? percent(counted[i], 2) : "–",
    ]);
    return table("How often each symbol comes out", head, rows);
  }

  #drawCalculated(width) {
    const shares = outcome(this.p, this.q, this.#rule);
    return this.#stacks(width, shares, `Calculated for ${this.#rule.title.toLowerCase()}`, 1);
  }

  #drawCounted(width) {
    return this.#stacks(width, this.experiment.shares(), this.#counted(), 2);
  }

  #counted() {
    const { runs } = this.experiment;
    return runs ? `Counted in ${runs.toLocaleString("en")} tokens` : "Nothing counted yet";
  }

  #stacks(width, { accepted, redrawn, out }, title, digits) {
    const symbols = names(this.p);
    const nodes = columns({ width, height: HEIGHT, symbols, top: this.top }, (i, place) => {
      const [middle, share] = [place.left + place.width / 2, Math.max(out[i], this.p[i])];
      const words = percent(out[i], digits);
      return [
        stack(place, { accepted: accepted[i], redrawn: redrawn[i], p: this.p[i] }),
        out[i] > 0 && text(middle, place.y(share) - 7, words, { anchor: "middle", kind: "fig-value" }),
      ];
    });
    const say = symbols.map((name, i) => `${name} ${percent(out[i], digits)}, p ${percent(this.p[i], 1)}`);
    return { height: HEIGHT, label: `${title}: ${say.join("; ")}.`, nodes };
  }

  /** A scale on which every rule's bars and p have room, so that rules can be compared. */
  #room() {
    const all = RULES.flatMap((rule) => outcome(this.p, this.q, rule).out);
    return HEADROOM * Math.max(...this.p, ...all);
  }
}

function key() {
  return h(
    "p",
    { class: "fig-key" },
    h("span", { class: "fig-accepted" }, "drafted and accepted"),
    h("span", { class: "fig-redrawn" }, "redrawn after a rejection"),
    h("span", { class: "fig-goal" }, "p, the target"),
  );
}
