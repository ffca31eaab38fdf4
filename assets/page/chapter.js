// One chapter: its text as the server made it, and its figures, which are modules of their own.

import { h } from "./dom.js";
import { check } from "./fig-options.js";

export class Chapter {
  /**
   * @param {{name: string, title: string, blocks: object[]}} content
   * @param {Lesson} lesson what figures may ask
   */
  constructor({ name, title, blocks }, lesson) {
    this.title = title;
    this.figures = [];
    this.lesson = lesson;
    this.element = h("article", { class: "chapter", id: `chapter-${name}`, tabindex: "-1", "aria-label": title });
    this.element.append(h("h2", {}, title), ...blocks.map((block) => this.#block(block)));
  }

  /** Whatever comes after the text. */
  end(element) {
    this.element.append(element);
  }

  /** Brings its figures, at the first call; resolves when they stand. */
  open() {
    this.opened ??= Promise.all(this.figures.map((figure) => bring(figure, this.lesson)));
    return this.opened;
  }

  // The text is the chapter's own file, rendered without raw HTML: nothing that a visitor wrote.
  #block({ html, figure, options }) {
    if (!figure) {
      const text = h("div", { class: "words" });
      text.innerHTML = html;
      return text;
    }
    const element = h("figure", { class: `figure ${figure}` });
    this.figures.push({ element, name: figure, options });
    return element;
  }
}

/** figure-NAME.js exports OPTIONS and mount(element, options, lesson), which may take its time. */
async function bring({ element, name, options }, lesson) {
  try {
    const { mount, OPTIONS } = await import(`./figure-${name}.js`);
    check(options, OPTIONS);
    await mount(element, options, lesson);
  } catch (error) {
    element.replaceChildren(h("p", { class: "fault" }, `The figure “${name}” cannot be shown: ${error.message}`));
  }
}
