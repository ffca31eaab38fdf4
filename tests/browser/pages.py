"""The page as a visitor uses it: a voice that takes its time, and what is pressed and seen."""

import time

import numpy as np

from core.engine import AudioReady, Engine, Finished, Settings
from core.outlook import TRIAL
from core.sampling import Sampling
from core.sound import to_int16
from tests.fake_voice import FakeVoice, fake_engine

LONG = "\n".join(["a long text"] * 100)  # ten seconds of work, forty of sound
EVENTS = "**/events?*"  # where the log of a run is read
LIVE = "document.querySelector('.live .stage').stage"
RACE = "document.querySelector('.race').race"

# `tape()` is what players gave to their context's destination, block by block.
TAPE = """async () => {
  const { Player } = await import(new URL("forespeak/page/player.js", document.baseURI));
  const opener = new Player();
  opener.begin(22050);
  const { context } = opener.output;
  opener.close();
  const worklet = `registerProcessor("tape", class extends AudioWorkletProcessor {
    process([[samples = new Float32Array(128)]]) {
      this.port.postMessage(samples.slice());
      return true;
    }
  })`;
  const script = new Blob([worklet], { type: "text/javascript" });
  await context.audioWorklet.addModule(URL.createObjectURL(script));
  const blocks = [];
  window.tape = () => blocks.flatMap((block) => Array.from(block, (x) => Math.round(32767 * x)));
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (to, ...more) {
    if (to === context.destination) {
      const node = new AudioWorkletNode(context, "tape", { numberOfOutputs: 0 });
      node.port.onmessage = ({ data }) => blocks.push(data);
      connect.call(this, node);
    }
    return connect.call(this, to, ...more);
  };
}"""


class SlowVoice(FakeVoice):
    """Takes its time over each sentence, and counts those it began for somebody."""

    begun = 0
    pause = 0.0

    def target(self, plan):
        self.begun += plan.sentence.text != TRIAL
        time.sleep(self.pause)
        return super().target(plan)

    def engine(self):
        """An engine with this voice."""
        return Engine(self, fake_engine().device)


def visit(browser, url, **options):
    """A new tab on the page, as soon as the voice is ready."""
    page = browser.new_page(viewport={"width": 1280, "height": 720}, **options)
    page.goto(url)
    wait_for_status(page, "Ready.")
    return page


def wait_for_status(page, text, root=".live", timeout=10_000):
    page.wait_for_function(
        "([root, text]) => document.querySelector(`${root} .status`)?.textContent.startsWith(text)",
        arg=[root, text],
        timeout=timeout,
    )


def speak(page, text):
    page.fill("#text textarea", text)
    page.click("#speak")


def finish(page):
    """Wait until the run is there as a whole; its sound may still play."""
    page.wait_for_function(f"{LIVE}.run.finished && !{LIVE}.toolbar.exports.element.inert")


def wait_for_sound(page, seconds=0.2):
    page.wait_for_function(f"{LIVE}.position > {seconds}")


def held_pcm(page, stage=LIVE):
    """int16 samples that the player of a stage holds."""
    return np.array(page.evaluate(f"Array.from({stage}.player.pcm())"), np.int16)


def tape(page):
    """Records what is heard from now on: a function that gives it, int16 [samples], without the
    silence around it."""
    page.mouse.click(640, 5)
    page.evaluate(TAPE)
    return lambda: np.trim_zeros(np.array(page.evaluate("tape()"), np.int16))


def with_waits(page, pcm):
    """Samples as they must be heard: silent where the player knows to have waited."""
    rate = page.evaluate(f"{LIVE}.run.header.sample_rate")
    waits = page.evaluate(f"{LIVE}.player.underruns")
    places = [round(wait["at"] * rate) for wait in waits]
    lengths = [round(wait["seconds"] * rate) for wait in waits]
    return np.trim_zeros(np.insert(pcm, np.repeat(places, lengths).astype(int), 0))


def trace_cells(trace):
    """(token, kind) of every cell, from the rounds of a trace."""
    cells = []
    for round_ in trace.rounds:
        cells += [(token, "accepted") for token in round_.draft_tokens[: round_.accepted]]
        rejected = round_.accepted < len(round_.draft_tokens)
        last = "corrected" if rejected else "bonus" if round_.draft_tokens else "plain"
        cells.append((round_.next_token, last))
    return cells


def page_cells(page):
    cells = page.evaluate(
        f"""(({{ run }}) => Array.from({{ length: run.spoken }}, (_, n) => {{
          const {{ token, kind }} = run.cell(Math.floor(n / run.Q), n % run.Q);
          return [token, kind];
        }}))({LIVE})"""
    )
    return [tuple(cell) for cell in cells]


def synthesized(text, header, engine=None):
    """int16 samples, and the trace, of an engine (the fake one) with the settings of a run."""
    settings = Settings(
        Sampling(header["temperature"], header["top_k"], header["top_p"]),
        header["rule"],
        header["gamma"],
        header["seed"],
        header["rate"],
    )
    events = list((engine or fake_engine()).synthesize(text, settings))
    sound = np.concatenate([event.samples for event in events if isinstance(event, AudioReady)])
    (trace,) = (event.trace for event in events if isinstance(event, Finished))
    return to_int16(sound), trace


def live_header(page):
    return page.evaluate(f"{LIVE}.run.header")


def still_speaks(voice, seconds=0.6):
    """Whether the voice begins sentences; waits for what it has begun."""
    time.sleep(2 * voice.pause)
    begun = voice.begun
    time.sleep(seconds)
    return voice.begun > begun
