// Words and phonemes above their frames. How many labels there are depends on the zoom, never on the
// scrolling: what is shown of a sentence is chosen once per zoom, so that nothing flickers.

const UNSPOKEN = new Set([" ", "^", "$"]);
const BEFORE = new Set(["ˈ", "ˌ"]); // stress marks belong to the phoneme after them
const AFTER = new Set(["ː", "ʲ", "ˑ", "̃", "̩"]); // and these to the one before
const PADDING = 3; // px at each end of a word
const ENOUGH = 0.6; // of the phonemes must find room, else none is shown
const TOO_SMALL = 14; // px; a sentence shorter than this gets no labels

/**
 * @typedef {{text: string, start: number, end: number}} Span In frames of its sentence.
 */

/** Remembers what was chosen for each sentence. */
export class Captions {
  #spans = new WeakMap();
  #chosen = new WeakMap();

  /**
   * The labels of a sentence at `frameWidth` px a frame, for words in `font` and phonemes in `small`.
   * @returns {{words: Span[], sounds: Span[]}} Spans whose text fits into them, or is "".
   */
  labels(context, sentence, frameWidth, font, small) {
    const key = `${frameWidth} ${font} ${sentence.frames}`;
    const last = this.#chosen.get(sentence);
    if (last?.key === key) return last;
    const { words, sounds } = this.#spansOf(sentence);
    const chosen = { key, words: [], sounds: [] };
    if (sentence.frames * frameWidth > TOO_SMALL) {
      context.font = font;
      chosen.words = gathered(context, words, frameWidth);
      context.font = small;
      const fitting = sounds.filter(({ text, start, end }) => fits(context, text, (end - start) * frameWidth));
      if (fitting.length > ENOUGH * sounds.length) chosen.sounds = fitting;
    }
    this.#chosen.set(sentence, chosen);
    return chosen;
  }

  #spansOf(sentence) {
    if (!sentence.phonemes.length) return unaligned(sentence);
    if (!this.#spans.has(sentence)) this.#spans.set(sentence, spans(sentence));
    return this.#spans.get(sentence);
  }
}

/** Of a sentence of which nobody knows when which word is spoken: one label for all of it. */
function unaligned({ text, frames }) {
  return { words: [{ text, start: 0, end: frames, whole: true }], sounds: [] };
}

/** Words and phonemes of a sentence with the frames they take. */
export function spans({ words, phonemes, durations, word_index: wordOf, frames }) {
  const scale = frames / durations.reduce((sum, duration) => sum + duration, 0);
  const spoken = words.map((text) => ({ text, start: Infinity, end: 0 }));
  const sounds = [];
  let time = 0;
  let mark = null; // a stress mark that waits for its phoneme
  phonemes.forEach((text, i) => {
    const [start, end] = [time, (time += durations[i] * scale)];
    const word = spoken[wordOf[i]];
    if (word) [word.start, word.end] = [Math.min(word.start, start), end];
    if (UNSPOKEN.has(text)) return;
    if (BEFORE.has(text)) {
      mark = { text, start, end };
    } else if (AFTER.has(text) && sounds.length) {
      const last = sounds.at(-1);
      [last.text, last.end] = [last.text + text, end];
    } else {
      sounds.push({ text: (mark?.text ?? "") + text, start: mark?.start ?? start, end });
      mark = null;
    }
  });
  return { words: spoken.filter((word) => word.end), sounds };
}

/** Words where they fit; where not, several in one label; where not even that, their beginning. */
function gathered(context, words, frameWidth) {
  const labels = [];
  let label = null;
  for (const word of words) {
    label = label
      ? { text: `${label.text} ${word.text}`, start: label.start, end: word.end }
      : { ...word };
    if (!fits(context, label.text, room(label, frameWidth))) continue;
    labels.push(label);
    label = null;
  }
  if (label) labels.push({ ...label, text: shortened(context, label.text, room(label, frameWidth)) });
  return labels;
}

function shortened(context, text, width) {
  let length = Math.min(text.length, Math.floor(width / 4));
  while (length > 1 && !fits(context, `${text.slice(0, length)}…`, width)) length -= 1;
  return length > 1 ? `${text.slice(0, length)}…` : "";
}

function room(span, frameWidth) {
  return (span.end - span.start) * frameWidth - 2 * PADDING;
}

function fits(context, text, width) {
  return width > 0 && context.measureText(text).width <= width;
}
