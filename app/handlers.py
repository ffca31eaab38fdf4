"""What the page's buttons do: start a run and name it, at once; the rest comes by its log."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np

from app.orders import Order
from app.outputs import list_outputs
from app.replay import replay
from app.runs import Run, Runs, Work
from app.speakers import Speakers
from app.speaking import live, race, render
from app.studio import Studio
from app.voices import draft_choices, offer, too_slow, voice_choices, why_not
from core.errors import ForespeakError
from core.voices.catalog import recommended_sampling

StageValue = dict[str, Any]
"""What a stage shows: run, the id of a run or None; muted, whether the browser is silent."""

LIVE_TAB = "live"
NO_RUN: StageValue = {"run": None, "muted": False}
DEFAULT_OUTPUT = -1  # stands for "whatever the system plays on": None is no value for a dropdown


class Handlers:
    """Listeners of one page. A visitor has one run at a time: a new one stops the one before."""

    def __init__(self, studio: Studio, runs: Runs, saved: dict[str, Path]):
        """saved: the traces that can be opened by name."""
        self._studio = studio
        self._runs = runs
        self._saved = saved

    def speak(
        self, request: gr.Request, speakers: bool, device: int | None, *controls: Any
    ) -> StageValue:
        """The button Speak; controls are those of `Order.from_controls`."""

        def work(run: Run) -> str:
            order = Order.from_controls(*controls)
            number = None if device in (None, DEFAULT_OUTPUT) else device
            return live(run, self._studio, order, Speakers(number) if speakers else None)

        return {"run": self._start(work, request), "muted": speakers}

    def race(self, request: gr.Request, *controls: Any) -> StageValue:
        """The button of the Race."""
        run = self._start(
            lambda run: race(run, self._studio, Order.from_controls(*controls)), request
        )
        return {"run": run, "muted": False}

    def replay_saved(self, request: gr.Request, name: str | None) -> tuple[StageValue, gr.Tabs]:
        """Open a trace that came with the program."""

        def work(run: Run) -> str:
            if name not in self._saved:
                raise ForespeakError("No saved run is chosen: choose one from the list.")
            return replay(run, self._saved[name])

        return self._show(work, request)

    def replay_file(self, request: gr.Request, path: str) -> tuple[StageValue, gr.Tabs]:
        """Open a trace that somebody uploaded."""
        return self._show(lambda run: replay(run, Path(path)), request)

    def choose(self, name: str, current: str, draft: str) -> tuple[Any, str, Any, Any, Any]:
        """A voice of the list; one that is not here leaves what was chosen before, and says how to
        get it. current, and what comes back of it: the voice that is chosen. Then the drafts that
        it has, and how it is meant to draw: temperature and top-p."""
        chosen = offer(name)
        if not chosen.here:
            gr.Warning(why_not(name), duration=None)
            return gr.update(value=current), current, gr.skip(), gr.skip(), gr.skip()
        if slow := too_slow(name, self._studio.device):
            gr.Info(slow, duration=None)
        choices = draft_choices(chosen)
        kept = draft if draft in dict(choices).values() else choices[0][1]
        sampling = recommended_sampling(name)
        drafts = gr.update(choices=choices, value=kept)
        return gr.skip(), name, drafts, sampling.temperature, sampling.top_p

    def voices(self) -> Any:
        """When the page opens: the voices that are here by now."""
        return gr.update(choices=voice_choices())

    def outputs(self) -> tuple[Any, Any]:
        """When the page opens: the loudspeakers' switch and list, of what is there now."""
        try:
            found = list_outputs()
        except ForespeakError as error:
            return gr.update(interactive=False, info=str(error)), gr.skip()
        return gr.skip(), gr.update(choices=[("default", DEFAULT_OUTPUT), *found])

    def synthesize(
        self,
        text: str,
        voice: str,
        draft: str,
        rule: str,
        gamma: str | int,
        temperature: float,
        top_p: float,
        seed: int,
        rate: float,
        tolerance: str | float | None = None,
    ) -> tuple[tuple[int, np.ndarray], dict[str, Any], dict[str, Any]]:
        """Speak a text: a WAV file, the trace of every round (with the sound), and the metrics.

        voice: its name; draft: "model", "feature", "heads", "ngram" or "none"; rule: how guesses
        are verified; gamma: tokens drafted per round, "automatic", "adaptive" or 1 to 16;
        temperature: 0 to 5; top_p: above 0, up to 1; rate: speaking rate, 0.5 to 2; tolerance: of a
        rule that is not lossless, None for its own. Times are in seconds.
        """
        try:
            order = Order.from_controls(
                text, voice, draft, rule, gamma, temperature, top_p, seed, rate, tolerance
            )
            run = self._runs.start(lambda run: render(run, self._studio, order))
            with run.listening():
                run.wait()
        except ForespeakError as error:
            raise gr.Error(str(error), print_exception=False) from error
        (lane,) = run.lanes
        trace, pcm = lane.trace(), lane.pcm()
        sound = trace.sample_rate, pcm
        return sound, asdict(trace.with_sound(pcm)), asdict(lane.metrics())

    def _show(self, work: Work, request: gr.Request) -> tuple[StageValue, gr.Tabs]:
        """Start a run, and turn to the tab that shows it."""
        return {"run": self._start(work, request), "muted": False}, gr.Tabs(selected=LIVE_TAB)

    def _start(self, work: Work, request: gr.Request) -> str:
        return self._runs.start(work, request.session_hash).id
