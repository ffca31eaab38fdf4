// Where the server is that gave us the page.

/** The page's own address, without a name and password that somebody typed into it: no request may
 * carry those, and no link should hand them on. */
export function here() {
  return location.origin + location.pathname;
}

/** An address of the server. */
export function address(path) {
  return new URL(`forespeak/${path}`, here());
}
