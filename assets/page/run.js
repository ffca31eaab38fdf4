// What is known of one lane of a run, from the lines of its log. No DOM, no clock, no metrics of
// its own: Python measures, the page draws.

/**
 * @typedef {object} Rejected What the draft had proposed where the target said something else.
 * @property {number} token
 * @property {number} p Probability under the target.
 * @property {number} q Probability under the draft.
 * @property {?number} draw The uniform number of the accept test; null for rules that draw none.
 */

/**
 * @typedef {object} Cell One emitted token.
 * @property {"accepted"|"corrected"|"bonus"|"plain"} kind plain: nothing had been drafted.
 * @property {number} token
 * @property {number} p Probability under the target.
 * @property {?number} q Probability under the draft; null where the draft did not propose it.
 * @property {?number} draw The uniform number of the accept test, null where none was drawn.
 * @property {number} round Index in `Run.rounds`.
 * @property {number} row Place in the round.
 * @property {?Rejected} rejected Set on corrected cells.
 */

/**
 * @typedef {Cell & {frame: number}} End The token that ended a sentence: no cell of the grid, but a
 *   mark in front of this frame (over the whole run).
 */

/** One lane of a run: feed it the lane's lines in order, read everything else. */
export class Run {
  header = null; // of the trace
  how = ""; // who guessed, in words
  baseline = null; // tokens per second of the plain baseline on that machine
  earlier = null; // the latest stage before codec tokens: {stage, tokens, passes, ...}; null without one
  sentences = []; // [{...sentence, firstFrame}], firstFrame counts over the whole run; of one that
  // ends itself, frames are those that it has so far
  ends = []; // of sentences that ended themselves: see End
  rounds = []; // [{...round, firstToken (over the whole run), index}]
  samples = []; // chunks: [{start (sample, over the whole run), samples, at_s, metrics}]
  metrics = null; // the latest
  finished = false;
  #cells = [];
  #heard = 0; // samples in all chunks

  /** Tokens in the grid so far, over all sentences. */
  get spoken() {
    return this.#cells.length;
  }

  /** Tokens emitted so far: those, and the ends of sentences. */
  get emitted() {
    return this.#cells.length + this.ends.length;
  }

  /** Frames that are known to come, over all sentences. */
  get frames() {
    const last = this.sentences.at(-1);
    return last ? last.firstFrame + last.frames : 0;
  }

  /** Whether nobody knows how long the sentence under way will be. */
  get open() {
    return Boolean(this.sentences.at(-1)?.bound) && !this.finished;
  }

  /** Number of codebooks. */
  get Q() {
    return this.header?.num_codebooks ?? 0;
  }

  get secondsPerFrame() {
    return this.header ? 1 / this.header.frame_rate : 0;
  }

  /** Seconds of sound received. */
  get audioSeconds() {
    return this.header ? this.#heard / this.header.sample_rate : 0;
  }

  /**
   * @param {number} frame Over the whole run.
   * @param {number} q Codebook.
   * @returns {?Cell} null if pending.
   */
  cell(frame, q) {
    return this.#cells[frame * this.Q + q] ?? null;
  }

  /** Take a line of the log; kinds that belong to no lane are passed over. */
  add(line) {
    switch (line.kind) {
      case "started":
        this.header = line.trace;
        this.how = line.how ?? "";
        this.baseline = line.baseline_tokens_per_s ?? null;
        break;
      case "earlier":
        this.earlier = record(line);
        break;
      case "sentence":
        this.#addSentence(record(line));
        break;
      case "round":
        this.#addRound(record(line));
        break;
      case "audio":
        this.#addChunk(line);
        break;
      case "finished":
        this.metrics = line.metrics;
        this.finished = true;
        break;
      case "baseline": // timed right after the run
        this.baseline = line.tokens_per_s;
        break;
    }
  }

  // bound: how many frames a sentence that ends itself may have, until it has.
  #addSentence({ ends_itself: open, ...sentence }) {
    const { frames } = this; // before it is one of them
    const planned = open ? { frames: 0, bound: sentence.frames } : {};
    this.sentences.push({ ...sentence, ...planned, firstFrame: frames });
  }

  #addRound(round) {
    const index = this.rounds.length;
    const sentence = this.sentences[round.sentence];
    const firstToken = sentence.firstFrame * this.Q + round.position;
    const cells = cellsOf(round, index);
    const ended = round.next_token === this.header.codebook_size;
    const end = ended ? cells.pop() : null;
    this.rounds.push({ ...round, firstToken, index, ended });
    cells.forEach((cell, row) => (this.#cells[firstToken + row] = cell));
    if (sentence.bound) this.#grow(sentence, round.position + cells.length, ended);
    if (end) this.ends.push({ ...end, frame: (firstToken + cells.length) / this.Q });
  }

  #grow(sentence, tokens, ended) {
    sentence.frames = Math.ceil(tokens / this.Q);
    if (ended || sentence.frames === sentence.bound) sentence.bound = null;
  }

  // The sound itself is the player's.
  #addChunk({ samples, at_s, metrics }) {
    this.samples.push({ start: this.#heard, samples, at_s, metrics });
    this.#heard += samples;
    this.metrics = metrics;
  }
}

/** A line without what makes it a line. */
function record(line) {
  const fields = { ...line };
  for (const name of ["n", "kind", "lane"]) delete fields[name];
  return fields;
}

/** The cells that a round emitted, row by row. */
function cellsOf(round, index) {
  const { accepted, draft_tokens } = round;
  const cells = draft_tokens
    .slice(0, accepted)
    .map((_, row) => ({ kind: "accepted", ...drafted(round, row), round: index, row, rejected: null }));
  const { next_token: token, next_prob: p } = round;
  const rejected = accepted < draft_tokens.length ? drafted(round, accepted) : null;
  const kind = rejected ? "corrected" : draft_tokens.length ? "bonus" : "plain";
  cells.push({ kind, token, p, q: null, draw: null, round: index, row: accepted, rejected });
  return cells;
}

/** A drafted token and what its test saw. */
function drafted(round, row) {
  return {
    token: round.draft_tokens[row],
    p: round.target_probs[row],
    q: round.draft_probs[row],
    draw: round.draws?.[row] ?? null,
  };
}
