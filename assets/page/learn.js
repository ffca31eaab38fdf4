// The Learn tab: chapters, one at a time, and the step mode.

import { Chapter } from "./chapter.js";
import { h } from "./dom.js";
import { around, Keys } from "./keys.js";
import { Lesson } from "./lesson.js";
import { Status } from "./parts.js";
import { Session } from "./session.js";
import { StepMode } from "./step.js";
import { button } from "./toolbar.js";

// On paper. What pages break through must neither be flexible nor hide what the breaks make longer.
// Said here, for much of Gradio's page is out of reach of the style sheet.
const BREAKABLE = { display: "block", height: "auto", overflow: "visible" };
const GONE = { display: "none" };
const KEYS = [
  ["← →", "The chapter before or after; in step mode one action back or on"],
  ["Shift ← →", "In step mode the round before or after"],
  ["Home End", "The first or the last of them"],
  ["P", "Presenter mode: only the lesson"],
  ["Esc", "Leave presenter mode, or stop"],
  ["?", "This help"],
];

/** Called by Gradio for the component of the Learn tab. */
export function mount(element, { props, watch }) {
  const root = element.appendChild(h("div", { class: "learn" }));
  new Learn(root, { start: "record", stop: "stop-record", props, watch });
}

/** The keyboard sees it as a stage; the start button as the listener of its runs. */
class Learn {
  constructor(root, page) {
    root.learn = this; // for tests
    this.root = root;
    this.status = new Status();
    this.lesson = new Lesson((place) => this.#openStep(place));
    this.steps = new StepMode(this.lesson);
    this.chapters = [];
    this.current = 0;
    this.list = h("ol", {});
    this.choice = h("select", { "aria-label": "Chapter", onchange: () => this.show(this.choice.selectedIndex) });
    this.body = h("div", { class: "pages" });
    this.keys = new Keys(root, this, () => this.session.stop(), KEYS);
    const nav = h("nav", { "aria-label": "Chapters" }, this.list);
    const side = h("div", { class: "side" }, this.#pager(), nav);
    root.append(this.status.element, side, this.body, this.steps.whatIf.element);
    this.session = new Session(page, this);
    // Chapters are asked for when the tab is first looked at.
    new IntersectionObserver((seen, observer) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      this.#begin();
    }).observe(root);
    window.addEventListener("beforeprint", () => this.#bare());
    window.addEventListener("afterprint", () => this.#restore());
  }

  /** Turn to a chapter by its place; the last place is the step mode. */
  show(place) {
    this.current = clamp(place, 0, this.pages.length - 1);
    this.pages.forEach(({ element }, i) => element.classList.toggle("current", i === this.current));
    [...this.list.children].forEach(({ firstChild }, i) => {
      if (i === this.current) firstChild.setAttribute("aria-current", "page");
      else firstChild.removeAttribute("aria-current");
    });
    this.choice.selectedIndex = this.current;
    this.root.classList.toggle("stepping", this.stepping);
    this.previous.disabled = this.current === 0;
    this.next.disabled = this.current === this.pages.length - 1;
    return this.pages[this.current].open();
  }

  get pages() {
    return [...this.chapters, this.steps];
  }

  get stepping() {
    return this.pages[this.current] === this.steps;
  }

  // What the keyboard does.

  step(sign) {
    if (this.stepping) this.steps.step(sign);
    else this.show(this.current + sign);
  }

  seek(place) {
    if (this.stepping) this.steps.turn(place);
    else this.show(place);
  }

  get position() {
    return this.stepping ? this.steps.round : this.current;
  }

  get duration() {
    return this.stepping ? this.steps.rounds - 1 : this.pages.length - 1;
  }

  dismiss() {
    return false;
  }

  // What the start button's run tells.

  pressed() {
    this.status.say("Starting…", "queued");
  }

  begin() {}

  take(line) {
    if (line.kind === "recorded") this.#openStep({ recording: line.recording, round: 0 });
    else this.status.say(line.text, line.state);
  }

  get busy() {
    return false;
  }

  stopped() {
    this.status.say("Stopped.", "stopped");
  }

  lost(text) {
    this.status.say(text, "failed");
  }

  #openStep({ recording, round }) {
    this.steps.choose(recording, round);
    this.show(this.pages.length - 1);
    this.steps.element.focus();
  }

  async #begin() {
    try {
      const chapters = await this.lesson.chapters();
      this.chapters = chapters.map((content) => new Chapter(content, this.lesson));
      this.steps.offer(recordingsOf(chapters));
    } catch (error) {
      this.status.say(error.message, "failed");
    }
    this.body.append(...this.pages.map(({ element }) => element));
    this.list.append(...this.pages.map(({ title }, i) => h("li", {}, this.#entry(title, i))));
    this.choice.append(...this.pages.map(({ title }) => h("option", {}, title)));
    this.chapters.forEach((chapter, i) => chapter.end(this.#onwards(i + 1)));
    await this.show(0);
    // The others one after the other, so that printing finds all figures in their places.
    for (const chapter of this.chapters) await chapter.open();
  }

  #entry(title, place) {
    return h("button", { type: "button", onclick: () => this.show(place) }, title);
  }

  #onwards(place) {
    const turn = () => {
      this.show(place);
      this.root.scrollIntoView();
      this.pages[place].element.focus();
    };
    return h("p", { class: "onwards" }, h("button", { type: "button", onclick: turn }, `${this.pages[place].title} ›`));
  }

  #pager() {
    this.previous = button("previous", "‹", "The chapter before", () => this.show(this.current - 1));
    this.next = button("next", "›", "The chapter after", () => this.show(this.current + 1));
    return h(
      "div",
      { class: "toolbar pager", role: "group", "aria-label": "Lesson" },
      this.previous,
      this.choice,
      this.next,
      button("print", "Print", "Print all chapters", () => this.#print()),
      button("presenter", "Present", "Presenter mode", () => this.keys.present()),
      button("help", "?", "Keys", () => this.keys.help()),
    );
  }

  async #print() {
    await Promise.all(this.chapters.map((chapter) => chapter.open()));
    this.root.classList.add("paper");
    await frames(2); // figures draw themselves anew as wide as the paper
    window.print();
    this.root.classList.remove("paper");
  }

  // Only the lesson is printed, and paper is white: what is drawn follows the theme at once.
  #bare() {
    if (this.printing || !this.root.checkVisibility()) return;
    const dark = document.body.classList.contains("dark");
    const styles = [
      ...around(this.root).map((element) => styled(element, GONE)),
      ...holders(this.root).map((element) => styled(element, BREAKABLE)),
    ];
    document.body.classList.remove("dark");
    this.printing = { dark, styles };
  }

  #restore() {
    if (!this.printing) return;
    const { dark, styles } = this.printing;
    for (const { element, before } of styles) element.style.cssText = before;
    document.body.classList.toggle("dark", dark);
    this.printing = null;
  }
}

/** Sets a style above all others; the element, and its own style before. */
function styled(element, style) {
  const before = element.style.cssText;
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value, "important");
  return { element, before };
}

/** The recorded runs that chapters show. */
function recordingsOf(chapters) {
  const named = chapters.flatMap(({ blocks }) => blocks.map(({ options }) => options?.recording));
  return [...new Set(named.filter(Boolean))];
}

/** All that an element stands in. */
function holders(element) {
  const found = [];
  for (let outer = element.parentElement; outer; outer = outer.parentElement) found.push(outer);
  return found;
}

async function frames(count) {
  for (let i = 0; i < count; i++) await new Promise(requestAnimationFrame);
}

function clamp(value, least, most) {
  return Math.max(least, Math.min(value, most));
}
