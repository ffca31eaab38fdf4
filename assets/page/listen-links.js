// Links to a test, to be copied.

import { here } from "./address.js";
import { h } from "./dom.js";

const COPIED_MS = 2500;

/**
 * A link and a button that copies it.
 * @param {string} label whom it is for
 * @param {Object<string, string>} query what the address asks for
 * @param {?string} [base] the page's address for others; by default the one that it has here
 */
export function linkTo(label, query, base = null) {
  const url = new URL(base ?? here());
  url.search = new URLSearchParams(query);
  const field = h("input", { type: "text", readonly: true, value: url.href, onfocus: () => field.select() });
  const copy = h("button", { type: "button", "aria-label": `Copy the link: ${label}` }, "Copy");
  copy.addEventListener("click", async () => {
    copy.textContent = (await copied(field)) ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
  });
  return h("div", { class: "link" }, h("label", {}, h("span", {}, label), field), copy);
}

// Browsers give the clipboard to secure pages only, and a local network's are not.
async function copied(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.select();
    return false;
  }
}
