// What this browser remembers of a test that is being taken: the session, and a vote that the server
// may not have yet. Nothing else is kept, and nothing that tells which clip is which.

const PREFIX = "forespeak-listen-";

/** @typedef {{trial: number, choice: string, heard: Object<string, number>}} Vote */

export class Store {
  #name;
  #kept;

  constructor(test) {
    this.#name = PREFIX + test;
    this.#kept = read(this.#name);
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

  forget() {
    this.#kept = {};
    attempt(() => localStorage.removeItem(this.#name));
  }

  #keep(kept) {
    this.#kept = kept;
    attempt(() => localStorage.setItem(this.#name, JSON.stringify(kept)));
  }
}

function read(name) {
  return attempt(() => JSON.parse(localStorage.getItem(name))) ?? {};
}

// Browsers may refuse all storage: a reload then begins anew, and nothing else changes.
function attempt(access) {
  try {
    return access();
  } catch {
    return null;
  }
}
