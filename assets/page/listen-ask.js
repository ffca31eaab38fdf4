// Asks the server about listening tests: JSON in and out, again where no answer came.

import { address } from "./session.js";

const ANSWER = 30_000; // milliseconds that an answer may take: clips are large, networks slow
const FIRST_WAIT = 400; // milliseconds until it is asked again, doubled each time
const LAST_WAIT = 4000;
const SILENT = "The server does not answer.";
const AGAIN = "It is asked again until it does: leave this page open.";

/** An answer that says no; its message is the server's and can be shown as it is. */
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** The server had trouble, in its own words: it may do better when asked again. */
class Troubled extends Error {}

/** The address of something about tests: for links and downloads. */
export function place(...parts) {
  return address(["listen", ...parts.map(encodeURIComponent)].join("/"));
}

/**
 * Ask once: GET, or POST where there is a body.
 * @param {URL} url
 * @param {object} [body]
 * @returns {Promise<object>} Rejects with Refused, or with another error where no answer came.
 */
export async function ask(url, body) {
  const post = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const response = await fetch(url, {
    ...(body && post),
    signal: AbortSignal.timeout(ANSWER),
    cache: "no-store",
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  throw response.status < 500 ? new Refused(text, response.status) : new Troubled(text);
}

/**
 * Ask until there is an answer. The server must not mind to be asked twice: an answer may be lost.
 * @param {function(string): void} lost Told in words whenever none came.
 */
export async function insist(url, body, lost) {
  for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LAST_WAIT)) {
    try {
      return await ask(url, body);
    } catch (error) {
      if (error instanceof Refused) throw error;
      lost(error instanceof Troubled ? `${error.message} ${AGAIN}` : `${SILENT} ${AGAIN}`);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
