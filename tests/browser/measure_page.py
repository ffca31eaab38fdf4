"""What the page costs and how fast it answers, with the real voice: prints a table.

Run it on a quiet machine, from the repository's root: python -m tests.browser.measure_page
Nothing here is asserted: times belong in a table, not in a test.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

from app.page import build_page
from app.studio import Ready, Studio
from core.engine import Engine, Settings, leave_a_core
from core.metrics import measure
from tests.browser.conftest import FLAGS, find_chromium, served

SHORT = "A small model guesses ahead, and a large one checks the guesses."
PARAGRAPH = " ".join(
    (
        "The kettle was already singing when she came downstairs.",
        "Rain is expected in the north, followed by a cold and windy night.",
        "Turn left after the bridge, then take the second road on the right.",
        "She sells her own honey, and the bees never seem to mind.",
        "Nobody could remember who had locked the garden gate.",
        "The committee will publish its report on the ninth of November.",
        "Why does the moon look larger when it is close to the horizon?",
        "The train now standing at platform four is the slow service to the coast.",
    )
)  # about 30 s
PRESSES = 10
RUNS = 10
PAIRS = 10
SAMPLE_RATE = 22050
BEGUN = "document.querySelector('.live .stage').stage.run !== window.before"
STAGE = "document.querySelector('.live .stage').stage"

# The wall time from the press until the audio clock says that the first sample has sounded.
FIRST_SOUND = """() => new Promise((done) => {
  const stage = document.querySelector(".live .stage").stage;
  const begun = performance.now();
  window.before = stage.run;
  document.querySelector("#speak").click();
  const look = setInterval(() => {
    if (stage.run !== window.before && stage.position > 0) {
      clearInterval(look);
      done(performance.now() - begun);
    }
  }, 1);
})"""

# Frames drawn, and how far the drawn playhead is from the sample that the audio graph renders.
# The worklet knows nothing of the player: it counts samples from the first that is not zero.
WATCH = """async () => {
  const stage = document.querySelector(".live .stage").stage;
  const watched = (window.watched = { frames: [], errors: [] });
  const draw = stage.grid.draw.bind(stage.grid);
  let heard = null;
  stage.grid.draw = (run, view, playhead, highlight) => {
    const begun = performance.now();
    draw(run, view, playhead, highlight);
    if (!stage.playing) return;
    watched.frames.push(begun);
    const { context } = stage.player.output;
    const latency = context.outputLatency || context.baseLatency;
    if (!heard) return;
    const truth = heard.sound + context.currentTime - heard.at - latency;
    watched.errors.push(playhead - truth);
  };
  const code = `registerProcessor("count", class extends AudioWorkletProcessor {
    process([[input]]) {
      if (!input) return true;
      if (this.count === undefined) {
        const first = input.findIndex((sample) => sample !== 0);
        if (first < 0) return true;
        this.count = -first;
      }
      this.port.postMessage({ sound: this.count / sampleRate, at: currentTime });
      this.count += input.length;
      return true;
    }
  })`;
  const { context } = stage.player.output;
  const module = new Blob([code], { type: "text/javascript" });
  await context.audioWorklet.addModule(URL.createObjectURL(module));
  window.count = () => {
    heard = null;
    const node = new AudioWorkletNode(context, "count", { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }) => (heard = data);
    stage.player.output.connect(node);
  };
}"""


def main() -> None:
    leave_a_core()
    studio = Studio(lambda voice: Engine.load(voice))
    in_thread(lambda: studio.ready("joe"))
    rows: list[tuple[str, str]] = []
    with served(build_page(studio, "joe")) as url, sync_playwright() as runner:
        chromium = runner.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = chromium.new_page(viewport={"width": 1280, "height": 720})
        page.goto(url)
        page.wait_for_selector(".live .board")
        page.wait_for_timeout(2000)
        for measurement in (
            first_sounds,
            playing,
            memory,
            partial(cost, ready=studio.ready("joe")),
        ):
            rows += measurement(page)
            print(*rows, sep="\n", flush=True)
        chromium.close()
    table = Table("what", "measured")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def first_sounds(page: Page) -> list[tuple[str, str]]:
    speak(page, SHORT)
    times = []
    for _ in range(PRESSES):
        times.append(page.evaluate(FIRST_SOUND))
        ended(page)
    return [("press to first sound, ms", spread(times, 0))]


def playing(page: Page) -> list[tuple[str, str]]:
    """Two clips: half a minute with the playhead checked, then a minute."""
    page.evaluate(WATCH)
    rows = []
    for text in (PARAGRAPH, f"{PARAGRAPH} {PARAGRAPH}"):
        page.fill("#text textarea", text)
        page.evaluate("Object.assign(window.watched, { frames: [], errors: [] })")
        press(page)
        page.wait_for_function(f"{BEGUN} && {STAGE}.player.output")
        page.evaluate("window.count()")
        ended(page)
        heard_out(page)
        watched = page.evaluate("window.watched")
        segments = page.evaluate(f"{STAGE}.player.segments")
        seconds = page.evaluate(f"{STAGE}.duration")
        late = page.evaluate(f"{STAGE}.player.underruns.length")
        joins = [
            1000 * (after["at"] - before["at"] - before["samples"]) / SAMPLE_RATE
            for before, after in pairwise(segments)
        ]
        intervals = np.diff(watched["frames"])
        errors = 1000 * np.abs(watched["errors"])
        name = f"{seconds:.0f} s clip"
        rows += [
            (f"{name}: frames per second", f"{1000 / intervals.mean():.1f}"),
            (f"{name}: 95% of frames within, ms", f"{np.quantile(intervals, 0.95):.0f}"),
            (f"{name}: largest gap or overlap, ms", f"{max(map(abs, joins), default=0):.3f}"),
            (f"{name}: underruns", f"{late}"),
            (f"{name}: playhead off by at most, ms", f"{errors.max():.0f}"),
            (f"{name}: playhead off, median, ms", f"{np.median(errors):.0f}"),
        ]
    return rows


def memory(page: Page) -> list[tuple[str, str]]:
    session = page.context.new_cdp_session(page)
    sizes = []
    for _ in range(RUNS):
        speak(page, SHORT)
        session.send("HeapProfiler.collectGarbage")
        sizes.append(session.send("Runtime.getHeapUsage")["usedSize"] / 1e6)
    text = f"{sizes[0]:.1f} after the first, {median(sizes[1:]):.1f} median, {sizes[-1]:.1f} last"
    return [(f"script memory over {RUNS} runs, MB", text)]


def cost(page: Page, ready: Ready) -> list[tuple[str, str]]:
    """Tokens per second with the page showing the run, over those without, pair by pair."""
    ratios = []
    for index in range(PAIRS):
        ways = [lambda: alone(ready), lambda: shown(page)]
        with_page_first = index % 2 == 1
        first, second = (way() for way in (ways[::-1] if with_page_first else ways))
        ratios.append(first / second if with_page_first else second / first)
    return [("tokens per second with the page / without", spread(ratios, 3))]


def in_thread(work: Callable[[], Any]) -> Any:
    """In a thread of its own, as the page does it; `Runs.start` says why."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def alone(ready: Ready) -> float:
    settings = Settings(gamma=ready.gamma)
    trace = in_thread(lambda: ready.engine.trace(SHORT, settings))
    return measure(trace).tokens_per_s


def shown(page: Page) -> float:
    speak(page, SHORT)
    return page.evaluate(f"{STAGE}.run.metrics.tokens_per_s")


def speak(page: Page, text: str) -> None:
    page.fill("#text textarea", text)
    press(page)
    ended(page)
    heard_out(page)


def press(page: Page) -> None:
    page.evaluate(f"window.before = {STAGE}.run")
    page.click("#speak")


def ended(page: Page) -> None:
    page.wait_for_function(f"{BEGUN} && {STAGE}.run.finished", timeout=180_000)


def heard_out(page: Page) -> None:
    page.wait_for_function(f"{STAGE}.player.state == 'ended'", timeout=180_000)


def spread(values: list[float], digits: int) -> str:
    q1, middle, q3 = np.quantile(values, (0.25, 0.5, 0.75))
    return f"{middle:.{digits}f} ({q1:.{digits}f} to {q3:.{digits}f}; n {len(values)})"


if __name__ == "__main__":
    main()
