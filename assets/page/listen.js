// The Listen tab: a test is prepared, taken, or its result looked at; the page's address says which.

import { h } from "./dom.js";
import { Listener } from "./listen-session.js";
import { Pooled } from "./listen-pooled.js";
import { Prepare } from "./listen-prepare.js";

/** Called by Gradio for the component of the Listen tab. */
export function mount(element, { props, watch }) {
  const root = element.appendChild(h("div", { class: "listen" }));
  const asked = new URLSearchParams(location.search);
  const [test, key] = [asked.get("listen"), asked.get("key")];
  if (!test) new Prepare(root, { start: "prepare", stop: "stop-prepare", props, watch });
  else if (key) new Pooled(root, test, key).follow();
  else new Listener(root, test).run();
}
