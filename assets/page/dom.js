// Elements without markup: text only ever becomes a text node.

/**
 * An element. Attributes: a function under "onNAME" listens to NAME; true is an empty attribute;
 * false, null and undefined are left out. Children: nodes, texts, arrays of them; null and false
 * are left out.
 * @param {string} tag
 * @param {?Object<string, *>} attributes
 * @param {...*} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

function set(element, name, value) {
  if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
  else if (value === true) element.setAttribute(name, "");
  else if (value != null && value !== false) element.setAttribute(name, value);
}
