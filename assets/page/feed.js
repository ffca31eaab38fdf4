// Brings the numbered lines of a run's log: as they are written, or again at their own pace.

import { address } from "./address.js";

const ANSWER = 5000; // milliseconds that the server may take to answer at all
const PATIENCE = 20_000; // milliseconds without a sign of life until a run is given up
const FIRST_WAIT = 250; // milliseconds until it is asked again, doubled each time
const LAST_WAIT = 4000;

const GONE = "The server no longer knows this run: start it again.";
const LOST = "The connection to the server is lost: see that it runs, then start again.";

/**
 * Hand over the lines of a run, each once and in order, up to that of kind "end". Asks for the
 * rest when the connection breaks; one that cannot be mended ends in a line
 * {kind: "end", state: "failed", text} of its own.
 * @param {string} run
 * @param {number} after Number of the first line.
 * @param {function(object): void} onLine
 * @returns {{stop: function(): void}}
 */
export function follow(run, after, onLine) {
  const control = new AbortController();
  new Feed(run, after, onLine, control.signal).read();
  return { stop: () => control.abort() };
}

/** Hands over complete lines at their `at_s`, counted from now on, the lanes side by side. */
export class Pacer {
  #began = performance.now();
  #timer;
  #lines;
  #onLine;
  #speed;

  /**
   * @param {object[]} lines One without `at_s` follows the one before it in its lane, or all
   *   before it if it has no lane.
   * @param {function(object): void} onLine Not called before the constructor is done.
   * @param {{speed?: number}} [options] 2 is twice as fast as it was.
   */
  constructor(lines, onLine, { speed = 1 } = {}) {
    this.#lines = byTime(lines);
    this.#onLine = onLine;
    this.#speed = speed;
    this.#wait();
  }

  /** Whether lines are still to come. */
  get pending() {
    return this.#lines.length > 0;
  }

  stop() {
    clearTimeout(this.#timer);
    this.#lines = [];
  }

  // Seconds of the log's time.
  get #elapsed() {
    return ((performance.now() - this.#began) / 1000) * this.#speed;
  }

  #wait() {
    if (!this.#lines.length) return;
    const left = (this.#lines[0].due - this.#elapsed) / this.#speed;
    this.#timer = setTimeout(() => this.#deliver(), Math.max(0, 1000 * left));
  }

  #deliver() {
    const elapsed = this.#elapsed;
    while (this.#lines[0]?.due <= elapsed) hand(this.#lines.shift().line, this.#onLine);
    this.#wait();
  }
}

/** One run's lines, over as many connections as it takes. */
class Feed {
  constructor(run, next, onLine, signal) {
    this.path = `runs/${encodeURIComponent(run)}/events`;
    this.next = next;
    this.onLine = onLine;
    this.signal = signal; // aborts everything
    this.alive = performance.now(); // the last sign of life
    this.ended = false;
  }

  get over() {
    return this.ended || this.signal.aborted;
  }

  async read() {
    let wait = FIRST_WAIT;
    while (!this.over) {
      const before = this.alive;
      await this.#connect().catch(() => {}); // whatever broke, it is asked for again
      if (this.alive > before) wait = FIRST_WAIT;
      if (performance.now() - this.alive > PATIENCE) this.#fail(LOST);
      if (!this.over) await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(2 * wait, LAST_WAIT);
    }
  }

  // Read until the connection ends or breaks.
  async #connect() {
    const response = await this.#ask();
    if (response.status === 404) return this.#fail(GONE);
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    const opened = performance.now();
    const stream = new Lines(response.body);
    try {
      for (let lines = []; lines && !this.over; lines = await stream.read())
        lines.forEach((line) => this.#take(line));
    } finally {
      stream.close();
      // In the queue nothing may come for long: a connection that stood is a sign of life too.
      if (performance.now() - opened > LAST_WAIT) this.alive = performance.now();
    }
  }

  async #ask() {
    const url = address(`${this.path}?after=${this.next}`);
    const control = new AbortController();
    const abort = () => control.abort();
    this.signal.addEventListener("abort", abort);
    const timer = setTimeout(abort, ANSWER);
    try {
      return await fetch(url, { signal: control.signal, cache: "no-store" });
    } finally {
      clearTimeout(timer);
    }
  }

  #take(line) {
    if (this.over || line.n < this.next) return;
    if (line.n > this.next) throw new Error(`Line ${this.next} is missing.`);
    this.next++;
    this.alive = performance.now();
    this.ended = line.kind === "end";
    hand(line, this.onLine);
  }

  #fail(text) {
    if (this.over) return;
    this.ended = true;
    hand({ kind: "end", state: "failed", text }, this.onLine);
  }
}

/** The JSON lines of a stream, wherever it is cut; the rest of a broken line is dropped. */
class Lines {
  constructor(stream) {
    this.reader = stream.getReader();
    this.decoder = new TextDecoder();
    this.rest = "";
  }

  /** The lines that the next piece completes, null at the end. */
  async read() {
    const { done, value } = await this.reader.read();
    if (done) return null;
    const lines = (this.rest + this.decoder.decode(value, { stream: true })).split("\n");
    this.rest = lines.pop();
    return lines.filter(Boolean).map((line) => JSON.parse(line));
  }

  close() {
    this.reader.cancel().catch(() => {}); // of a broken stream
  }
}

// What the listener throws is its own fault, not the connection's.
function hand(line, onLine) {
  try {
    onLine(line);
  } catch (error) {
    reportError(error);
  }
}

/** [{due (seconds), line}] in the order of time. */
function byTime(lines) {
  const latest = new Map(); // due of each lane's line before
  let last = 0;
  const timed = lines.map((line) => {
    const before = line.lane === undefined ? last : (latest.get(line.lane) ?? 0);
    const due = Math.max(before, line.at_s ?? before);
    latest.set(line.lane, due);
    last = Math.max(last, due);
    return { due, line };
  });
  return timed.sort((a, b) => a.due - b.due);
}
