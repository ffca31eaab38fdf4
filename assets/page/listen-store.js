// What this browser remembers of who listens here, and of a test that they take: the session, and a
// vote that the server may not have yet. Nothing that tells which clip is which.

const PREFIX = "forespeak-listen-";
const LISTENER = "forespeak-listener";
const LISTENER_BYTES = 16;

/** @typedef {{trial: number, choice: string, heard: Object<string, number>}} Vote */

export class Store {
  #name;
  #kept;
  #listener;

  constructor(test) {
    this.#name = PREFIX + test;
    this.#kept = attempt(() => JSON.parse(localStorage.getItem(this.#name))) ?? {};
    this.#listener = attempt(() => localStorage.getItem(LISTENER));
  }

  /** @returns {string} Who listens here, in all tests: a random word, and nothing about them. */
  get listener() {
    if (!this.#listener) this.#meet();
    return this.#listener;
  }

  /** @returns {?string} The session that was begun here. */
  get session() {
    return this.#kept.session ?? null;
  }

  /** @returns {?Vote} A vote whose arrival the server did not confirm. */
  get vote() {
    return this.#kept.vote ?? null;
  }

  begin(session) {
    this.#keep({ session });
  }

  /** @param {?Vote} vote null once the server has it */
  owe(vote) {
    this.#keep({ session: this.session, ...(vote && { vote }) });
  }

  /** The session is over for this browser. */
  forget() {
    this.#kept = {};
    attempt(() => localStorage.removeItem(this.#name));
  }

  /** Somebody else listens here from now on. */
  change() {
    this.forget();
    this.#meet();
  }

  #meet() {
    const bytes = crypto.getRandomValues(new Uint8Array(LISTENER_BYTES));
    this.#listener = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    attempt(() => localStorage.setItem(LISTENER, this.#listener));
  }

  #keep(kept) {
    this.#kept = kept;
    attempt(() => localStorage.setItem(this.#name, JSON.stringify(kept)));
  }
}

// Browsers may refuse all storage: a reload then begins anew, and nothing else changes.
function attempt(access) {
  try {
    return access();
  } catch {
    return null;
  }
}
