"""Runs that speak: one version of a text for the Live tab, two for the Race."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np

from app.orders import Order
from app.runs import Run
from app.sinks import Sink, pass_on
from app.speakers import Speakers
from app.spelling import SPELLED_SHORT, spelled
from app.studio import Measured, Ready, Studio, measure_baseline
from app.wire import Lane, Line
from core.engine import Settings
from core.trace import first_difference

SILENT = "Every sentence ended at once: try another seed."


def render(run: Run, studio: Studio, order: Order) -> str:
    """Speak once, for a program."""
    with studio.use(order.voice, run.status, run.check) as ready:
        outlook = studio.outlook(order.voice, order.draft, order.rule)
        speak(run, ready, order.text, order.settings(outlook.gamma, outlook))
    return "Done."


def live(run: Run, studio: Studio, order: Order, speakers: Speakers | None = None) -> str:
    """Speak once; with speakers on this computer's, too. The model is free before they end."""
    if speakers is None:
        return done(order, _speak_and_compare(run, studio, order))
    with speakers:
        # A thread that ends when all is said: `Runs.start` tells why it must not wait for the ear.
        with ThreadPoolExecutor(1) as pool:
            lane = pool.submit(_speak_and_compare, run, studio, order, speakers).result()
        run.status("Playing on this computer's speakers…", "playing")
        while not speakers.wait(0.1):
            run.check()
    return done(order, lane)


def done(order: Order, lane: Lane) -> str:
    """The last line of a run, with what else there is to say."""
    if lane.silent:
        return f"Done. {SILENT}"
    return f"Done. {SPELLED_SHORT}" if spelled(order.text) else "Done."


def race(run: Run, studio: Studio, order: Order) -> str:
    """Speak twice, without a draft and with one, each alone on the machine; then compare."""
    with studio.use(order.voice, run.status, run.check) as ready:
        run.status("Racing: the baseline speaks…", "speaking")
        plain = speak(run, ready, order.text, order.baseline())
        ready = studio.renew(order.voice, plain.metrics().tokens_per_s)
        run.status("Racing: speculative decoding speaks…", "speaking")
        outlook = studio.outlook(order.voice, order.draft, order.rule)
        fast = speak(run, ready, order.text, order.drafted(outlook.gamma, outlook))
        studio.learn(order.voice, fast.trace())
    run.put(verdict(plain, fast))
    return "Done."


def _speak_and_compare(
    run: Run, studio: Studio, order: Order, speakers: Speakers | None = None
) -> Lane:
    """Speak, then time the baseline: what it was when the page started says little if this
    computer was busy then, or is now."""
    with studio.use(order.voice, run.status, run.check) as ready:
        run.status("Speaking…", "speaking")
        outlook = studio.outlook(order.voice, order.draft, order.rule)
        settings = order.settings(outlook.gamma, outlook)
        lane = speak(run, ready, order.text, settings, [speakers] if speakers else [])
        if speakers:
            speakers.complete()
        spoken = lane.metrics().tokens_per_s
        if not settings.gamma:
            studio.renew(order.voice, spoken)
            return lane
        baseline = measure_baseline(ready.engine, order.baseline(), run.check)
        run.put(lane.compare(baseline))
        # A γ that changed on the way is no γ whose speed-up this could be.
        fixed = None if settings.adapts else Measured(settings.gamma, spoken / baseline)
        studio.renew(order.voice, baseline, fixed)
        studio.learn(order.voice, lane.trace())
        return lane


def speak(
    run: Run, ready: Ready, text: str, settings: Settings, sinks: Sequence[Sink] = ()
) -> Lane:
    """One lane of a run, from the text to its last sample."""
    lane = Lane(len(run.lanes), ready.baseline_tokens_per_s)
    run.lanes.append(lane)
    # Closed at once when the run is stopped: that frees what the engine holds for it.
    with closing(ready.engine.synthesize(text, settings)) as events:
        for event in events:
            run.check()
            run.put(lane.add(event))
            pass_on(event, sinks)
    return lane


def verdict(plain: Lane, fast: Lane) -> Line:
    """The last line but one of a race: pairs are baseline, speculative; of a lane without sound,
    times that count from or to it are null."""
    lanes = plain, fast
    both = [lane.metrics() for lane in lanes]
    return {
        "kind": "verdict",
        "speedup": both[1].tokens_per_s / both[0].tokens_per_s,
        "silent": [lane.silent for lane in lanes],
        "ttfa_s": [None if lane.silent else lane.metrics().ttfa_s for lane in lanes],
        "rtf": [None if lane.silent else lane.metrics().rtf for lane in lanes],
        "wall_s": [metrics.wall_s for metrics in both],
        "identical": bool(np.array_equal(plain.pcm(), fast.pcm())),
        "first_difference": first_difference(plain.trace(), fast.trace()),
    }
