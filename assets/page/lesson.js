// What the figures of the Learn tab may ask for: recorded runs, their steps, sounds, this machine.

import { address } from "./address.js";

const SILENT = "The server does not answer: is it still running?";

export class Lesson {
  #recordings = new Map();

  /** @param {function({recording: string, round: number}): void} open turns to the step mode */
  constructor(open) {
    this.open = open;
  }

  /** The chapters: [{name, title, blocks: [{html} or {figure, options}]}]. */
  async chapters() {
    return (await ask("lessons")).json();
  }

  /**
   * A recorded run: {trace, rules}. Asked for once; a failure is asked for again.
   * @param {string} id
   */
  recording(id) {
    if (!this.#recordings.has(id)) {
      const asked = ask(`recordings/${encodeURIComponent(id)}`).then((answer) => answer.json());
      this.#recordings.set(id, asked);
      asked.catch(() => this.#recordings.delete(id));
    }
    return this.#recordings.get(id);
  }

  /**
   * What happened in a round, or would have: the server's view, with p (one row more than was
   * drafted), q and residual (or null) unpacked to arrays over the codebook.
   * @param {string} id of a recording
   * @param {number} round
   * @param {{temperature?: number, top_p?: number, rule?: string}} [settings] those of the run
   *   where they are left out
   */
  async step(id, round, settings = {}) {
    const given = Object.entries(settings).filter(([, value]) => value != null);
    const path = `recordings/${encodeURIComponent(id)}/rounds/${round}?${new URLSearchParams(given)}`;
    const view = await (await ask(path)).json();
    const drafted = view.draft_tokens.length;
    const p = rows(view.p, drafted + 1);
    return { ...view, p, q: rows(view.q, drafted), residual: view.residual && floats(view.residual) };
  }

  /** What this machine measured: {alpha, c, v, gamma, tokens_per_s}; null before it has. */
  async machine() {
    const answer = await reach("machine");
    return answer.ok ? answer.json() : null;
  }

  /** The address of a sound that came with the chapters. */
  sound(name) {
    return address(`learn/sounds/${encodeURIComponent(name)}`);
  }

  /**
   * The address of what a round sounds like.
   * @param {string} id of a recording
   * @param {number} round
   * @param {"rejected"|"kept"} which the draft's rejected idea, or what the target kept
   */
  heard(id, round, which) {
    return address(`learn/recordings/${encodeURIComponent(id)}/rounds/${round}/${which}.wav`);
  }
}

/** The answer to a request for an address or a path below learn/; a failure is thrown in words. */
export async function ask(where) {
  const answer = await reach(where);
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

async function reach(where) {
  try {
    return await fetch(where instanceof URL ? where : address(`learn/${where}`));
  } catch {
    throw new Error(SILENT);
  }
}

/** Base64 of float32 numbers, cut into `count` arrays of equal length. */
function rows(text, count) {
  const all = floats(text);
  const size = all.length / (count || 1);
  return Array.from({ length: count }, (_, row) => all.subarray(row * size, (row + 1) * size));
}

function floats(text) {
  return new Float32Array(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer);
}
