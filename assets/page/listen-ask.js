// Asks the server about listening tests: JSON in and out, again where no answer came.

import { address } from "./address.js";

const ANSWER = 30_000; // milliseconds that an answer may take: clips are large, networks slow
const FIRST_WAIT = 400; // milliseconds until it is asked again, doubled each time
const LAST_WAIT = 4000;
const UNCHANGED = 304;
const AGAIN = "It is asked again until it does: leave this page open.";

/** An answer that says no; its message is the server's and can be shown as it is. */
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** No answer, or one that tells of trouble: the server may do better when asked again. */
export class Lost extends Error {
  constructor(message = "The server does not answer.") {
    super(message);
  }
}

/** The address of something about tests: for links and downloads. */
export function place(...parts) {
  return address(["listen", ...parts.map(encodeURIComponent)].join("/"));
}

/** What to say of anything that was thrown. */
export function inWords(error) {
  if (error instanceof Refused || error instanceof Lost) return error.message;
  console.error(error);
  return `This page does not work as it should (${error.message}): load it again.`;
}

/**
 * Ask once: GET, or POST where there is a body.
 * @param {URL} url
 * @param {object} [body]
 * @returns {Promise<object>} Rejects with Refused or Lost.
 */
export async function ask(url, body) {
  const post = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  return (await request(url, body && post)).answer;
}

/**
 * Ask for what may have changed.
 * @param {?string} mark of the answer that is known already
 * @returns {Promise<?{answer: object, mark: ?string}>} null where that one still holds
 */
export async function askAgain(url, mark) {
  const { answer, status, headers } = await request(url, mark && { headers: { "If-None-Match": mark } });
  return status === UNCHANGED ? null : { answer, mark: headers.get("ETag") };
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
      if (!(error instanceof Lost)) throw error;
      lost(`${error.message} ${AGAIN}`);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function request(url, options) {
  const { text, response } = await fetched(url, options);
  const { ok, status, headers } = response;
  if (status >= 500) throw new Lost(text);
  if (!ok && status !== UNCHANGED) throw new Refused(text, status);
  return { answer: ok ? parsed(text) : null, status, headers };
}

async function fetched(url, options) {
  try {
    const signal = AbortSignal.timeout(ANSWER);
    const response = await fetch(url, { ...options, signal, cache: "no-store" });
    return { response, text: await response.text() };
  } catch {
    throw new Lost();
  }
}

// Something between the server and here may answer in its place.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Lost();
  }
}
