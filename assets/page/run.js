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

/** One lane of a run: feed it the lane's lines in order, read everything else. */
export class Run {
  header = null; // of the trace
  baseline = null; // tokens per second of the plain baseline on that machine
  sentences = []; // [{...sentence, firstFrame}], firstFrame counts over the whole run
  rounds = []; // [{...round, firstToken (over the whole run), index}]
  samples = []; // chunks: [{start (sample, over the whole run), samples, at_s, metrics}]
  metrics = null; // the latest
  finished = false;
  frames = 0; // planned so far
  #cells = [];
  #heard = 0; // samples in all chunks

  /** Tokens emitted so far, over all sentences. */
  get spoken() {
    return this.#cells.length;
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
        this.baseline = line.baseline_tokens_per_s ?? null;
        break;
      case "sentence":
        this.sentences.push({ ...record(line), firstFrame: this.frames });
        this.frames += line.frames;
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

  #addRound(round) {
    const index = this.rounds.length;
    const firstToken = this.sentences[round.sentence].firstFrame * this.Q + round.position;
    this.rounds.push({ ...round, firstToken, index });
    cellsOf(round, index).forEach((cell, row) => (this.#cells[firstToken + row] = cell));
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
