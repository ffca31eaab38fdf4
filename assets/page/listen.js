// The Listen tab: a test is prepared, taken, or its result looked at; the page's address says which.

import { h } from "./dom.js";
import { Listener } from "./listen-session.js";
import { Pooled } from "./listen-pooled.js";
import { Prepare } from "./listen-prepare.js";

const TEST = /^[\w-]+$/; // what a test may be called
const NO_TEST = "This link leads to no test. Ask for the whole link, or prepare a test here.";

/** Called by Gradio for the component of the Listen tab. */
export function mount(element, { props, watch }) {
  const root = element.appendChild(h("div", { class: "listen" }));
  const asked = new URLSearchParams(location.search);
  const [test, key] = [asked.get("listen"), asked.get("key")];
  const found = TEST.test(test ?? "");
  document.body.classList.toggle("listener", found); // hides what is not for listeners
  if (found && key) new Pooled(root, test, key).follow();
  else if (found) new Listener(root, test).run();
  else {
    const note = test === null ? "" : NO_TEST;
    new Prepare(root, { start: "prepare", stop: "stop-prepare", props, watch, silent: true }, note);
  }
}
