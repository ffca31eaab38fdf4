// Which parts of a clip were heard. No DOM, no clock.

const SLACK = 0.02; // seconds that may be missing: a switch can lose a few samples

/** Parts of one clip, joined where they meet. */
export class Heard {
  /** @type {number[][]} [from, to] in seconds, rising and apart */
  parts = [];

  /**
   * @param {number} duration of the clip, in seconds
   * @param {number} least seconds of it that a vote needs; of a shorter clip all
   */
  constructor(duration, least) {
    Object.assign(this, { duration, least });
  }

  add(from, to) {
    if (to <= from) return;
    const met = this.parts.filter(([start, end]) => start <= to && end >= from);
    const whole = [
      Math.min(from, ...met.map(([start]) => start)),
      Math.max(to, ...met.map(([, end]) => end)),
    ];
    const others = this.parts.filter((part) => !met.includes(part));
    this.parts = [...others, whole].sort(([a], [b]) => a - b);
  }

  /** Seconds of the clip that were heard at least once. */
  get seconds() {
    return this.parts.reduce((sum, [start, end]) => sum + end - start, 0);
  }

  /** Whether that is enough for a vote. */
  get enough() {
    return this.seconds >= Math.min(this.least, this.duration) - SLACK;
  }
}
