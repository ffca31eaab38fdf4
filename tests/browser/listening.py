"""Hears what leaves a player in the page, sample by sample, against the context's clock."""

from base64 import b64decode, b64encode

import numpy as np

TOOLS = """async () => {
  const { Player } = await import("./page/player.js");
  const worklet = `registerProcessor("tap", class extends AudioWorkletProcessor {
    process([[samples = new Float32Array(128)]]) {
      this.port.postMessage({ frame: currentFrame, samples: samples.slice() });
      return true;
    }
  })`;
  const url = URL.createObjectURL(new Blob([worklet], { type: "text/javascript" }));
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  const until = async (test) => {
    for (const begun = performance.now(); !test(); await sleep(5))
      if (performance.now() - begun > 10_000) throw new Error(`in vain: ${test}`);
  };
  async function tap(player, onblock = () => {}) {
    const { context } = player.output;
    await context.audioWorklet.addModule(url);
    const node = new AudioWorkletNode(context, "tap", { numberOfOutputs: 0 });
    const blocks = [];
    node.port.onmessage = ({ data }) => { blocks.push(data); onblock(data); };
    player.output.connect(node);
    return {
      // Floats from a place of the context's clock on. Now and then a worklet is told the frame
      // of the block before, and on a busy computer it misses blocks.
      async read(at, count) {
        await until(() => blocks.length && blocks.at(-1).frame > at + count + 128);
        const first = blocks[0].frame;
        const all = new Float32Array(blocks.at(-1).frame - first + 256);
        blocks.reduce((expected, { frame, samples }) => {
          const place = Math.max(frame, expected);
          all.set(samples, place - first);
          return place + 128;
        }, first);
        return all.slice(at - first, at - first + count);
      },
    };
  }
  // A sound that is nowhere silent.
  const pcm = (seconds, rate = 22050) => Int16Array.from(
    { length: seconds * rate }, (_, i) => 1 + (i * 7919) % 32000);
  // Where what was heard differs from int16 samples first, -1 if nowhere.
  const differ = (heard, pcm) => heard.findIndex((x, i) => x !== Math.fround(pcm[i] / 32767));
  const pack = (array) => {
    let bytes = "";
    for (const byte of new Uint8Array(array.buffer)) bytes += String.fromCharCode(byte);
    return btoa(bytes);
  };
  const unpack = (text) => new Int16Array(
    Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  window.tools = { Player, tap, sleep, until, pcm, differ, pack, unpack };
}"""


def clicked(page):
    """Give an empty page `tools`, and click it; its `evaluate`."""
    page.evaluate(TOOLS)
    page.mouse.click(9, 9)
    return page.evaluate


def pack(pcm):
    """As the log's lines have it; a list of numbers would take Playwright seconds."""
    return b64encode(pcm.astype("<i2").tobytes()).decode()


def unpack(text, dtype):
    return np.frombuffer(b64decode(text), dtype)
