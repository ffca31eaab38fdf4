"""What the tests of drawing share: a small run that has every kind of cell, and a canvas that
writes down what is drawn on it."""

import json
from typing import Any

FRAME_RATE = 20
SAMPLE_RATE = 2000
METRICS = {
    "audio_s": 0.3,
    "wall_s": 0.15,
    "rtf": 0.5,
    "ttfa_s": 0.0714,
    "underrun_s": 0.0,
    "tokens": 5,
    "tokens_per_s": 390.0,
    "acceptance_length": 2.5,
    "acceptance_rate": 0.625,
    "per_codebook": [0.75, 0.5],
    "per_position": [0.7, 0.6],
}

# `record(canvas)` makes its context write down every painting: {paint, colour, args, path, dash}.
# `desk(width)` is a fresh canvas of that width; `runOf(lines)` a Run.
HELPERS = """
const STEPS = ["moveTo", "lineTo", "rect", "roundRect"];
window.record = (canvas) => {
  const real = canvas.getContext("2d");
  const log = { paintings: [], calls: 0 };
  let path = [];
  const paint = (name, colour, args) => log.paintings.push({
    paint: name, colour, args, path: name in { fill: 1, stroke: 1 } ? path.slice() : [],
    dash: real.getLineDash(), width: real.lineWidth,
  });
  const context = new Proxy(real, {
    get(target, name) {
      const value = target[name];
      if (typeof value !== "function") return value;
      return (...args) => {
        log.calls += 1;
        if (name === "beginPath") path = [];
        else if (STEPS.includes(name)) path.push([name, ...args]);
        else if (name.startsWith("fill")) paint(name, target.fillStyle, args);
        else if (name.startsWith("stroke")) paint(name, target.strokeStyle, args);
        return value.apply(target, args);
      };
    },
    set(target, name, value) { target[name] = value; return true; },
  });
  canvas.getContext = () => context;
  return log;
};
window.desk = (width) => {
  document.body.style.margin = 0;
  const canvas = document.createElement("canvas");
  canvas.style.cssText = `display: block; width: ${width}px; font: 14px/40px sans-serif`;
  document.body.append(canvas);
  return canvas;
};
window.runOf = async (lines) => {
  const { Run } = await import("./page/run.js");
  const run = new Run();
  lines.forEach((line) => run.add(line));
  return run;
};
"""


def prepared(page):
    """The page with HELPERS."""
    page.add_script_tag(content=HELPERS)
    return page


def evaluate(page, script, argument):
    """As `page.evaluate`, which alone would take seconds over a long run."""
    wrapped = f"async (text) => JSON.stringify(await ({script})(JSON.parse(text)))"
    return json.loads(page.evaluate(wrapped, json.dumps(argument)))


def started(gamma=2, codebooks=2, **fields) -> dict[str, Any]:
    trace = {
        "num_codebooks": codebooks,
        "frame_rate": FRAME_RATE,
        "sample_rate": SAMPLE_RATE,
        "gamma": gamma,
        "lossless": True,
        "rule": "lossless",
        **fields,
    }
    return {"kind": "started", "trace": trace, "baseline_tokens_per_s": 195.0}


def sentence(frames, words=("hello", "you")) -> dict[str, Any]:
    """Each word has two phonemes, with silence before it and at the end."""
    phonemes, word_index = [], []
    for i in range(len(words)):
        phonemes += [" ", "a", "b"]
        word_index += [-1, i, i]
    return {
        "kind": "sentence",
        "index": 0,
        "text": " ".join(words),
        "words": list(words),
        "phonemes": [*phonemes, "$"],
        "word_index": [*word_index, -1],
        "durations": [frames / (len(phonemes) + 1)] * (len(phonemes) + 1),
        "frames": frames,
    }


def round_(position, drafted, accepted, next_token, sentence=0, seconds=(0.002, 0.006)):
    """p is 0.4 and q 0.5 of every drafted token; u 0.25 where accepted, 0.9 where not."""
    tested = min(accepted + 1, len(drafted))
    return {
        "kind": "round",
        "sentence": sentence,
        "position": position,
        "draft_tokens": list(drafted),
        "draft_probs": [0.5] * len(drafted),
        "target_probs": [0.4] * len(drafted),
        "draws": [0.25 if row < accepted else 0.9 for row in range(tested)],
        "accepted": accepted,
        "next_token": next_token,
        "next_prob": 0.125,
        "draft_s": seconds[0],
        "verify_s": seconds[1],
        "at_s": 0.1,
    }


def audio(samples=200, **metrics) -> dict[str, Any]:
    return {"kind": "audio", "samples": samples, "at_s": 0.1, "metrics": {**METRICS, **metrics}}


# Cells 0 to 4, codebook by codebook: accepted, accepted, bonus, corrected, plain; 7 are pending.
EVERY_KIND = [
    started(),
    sentence(frames=6),
    round_(0, [10, 11], 2, 12),
    round_(3, [13, 14], 0, 15),
    round_(4, [], 0, 16),
    audio(),
]


def long_run(seconds) -> list[dict[str, Any]]:
    """Four codebooks, sentences of 100 frames, rounds of five tokens of which the last differs."""
    lines = [started(gamma=4, codebooks=4)]
    for i in range(seconds * FRAME_RATE // 100):
        lines.append(sentence(100, words=[f"word{n}" for n in range(12)]))
        for position in range(0, 400, 5):
            accepted = 4 if position % 2 else 3
            drafted = [1, 2, 3, 4][: accepted + 1]
            lines.append(round_(position, drafted, 4 if len(drafted) == 4 else 3, 5, sentence=i))
        lines += [audio(samples=SAMPLE_RATE // 2, per_codebook=[0.9, 0.8, 0.7, 0.6])] * 10
    return lines
