"""What the page does on each event: engine events in, component values out."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from html import escape
from traceback import print_exception
from typing import Any

import gradio as gr
import numpy as np

from app.report import describe_run, metric_rows
from app.sounds import Sounds
from app.studio import Studio
from core.engine import AudioReady, Finished, SentenceStarted, Settings, Started
from core.errors import ForespeakError
from core.metrics import measure
from core.sampling import Sampling
from core.sound import to_int16
from core.trace import Trace

LOADING = "Loading the voice…"
PlayerValue = dict[str, Any]
"""What assets/player.js shows: status and its kind; run, pieces, sample_rate (Hz), ended."""


class Handlers:
    """Listeners of one page."""

    def __init__(self, studio: Studio, sounds: Sounds):
        self._studio = studio
        self._sounds = sounds

    def greet(self) -> Iterator[tuple[PlayerValue, Any]]:
        """When the page opens: load the voice, say when it is ready, and let Speak be pressed.

        Not earlier: the greeting would end the run of a hasty press.
        """
        yield status(LOADING, "busy"), gr.skip()
        try:
            rate = self._studio.engine().voice.codec.sample_rate
        except Exception as error:
            greeting = status(explain(error), "error")
        else:
            greeting = status("Ready.", "ready", sample_rate=rate)
        yield greeting, gr.update(interactive=True)

    def speak(
        self, text: str, gamma: int, temperature: float, rule: str, seed: int, rate: float
    ) -> Iterator[tuple[PlayerValue, Any]]:
        """The button Speak: the player's value as sound arrives, and the metrics at the end."""
        yield status("Speaking…" if self._studio.is_loaded else LOADING, "busy"), gr.skip()
        try:
            yield from self._speak(text, settings(gamma, temperature, rule, seed, rate))
        except Exception as error:
            yield status(explain(error), "error"), gr.skip()

    def stop(self) -> PlayerValue:
        """The button Stop; the listener's `cancels` has closed the run itself."""
        return status("Stopped.", "ready")

    def synthesize(
        self, text: str, gamma: int, temperature: float, rule: str, seed: int, rate: float
    ) -> tuple[tuple[int, np.ndarray], dict[str, Any]]:
        """Speak a text: the sound as a WAV file, and the run's metrics (times in seconds).

        gamma: tokens drafted per round, 0 for the plain baseline; temperature: 0 to 5;
        rule: lossless or same-seed; rate: speaking rate, 0.5 to 2.
        """
        try:
            chosen = settings(gamma, temperature, rule, seed, rate)
            events = list(self._studio.engine().synthesize(text, chosen))
        except ForespeakError as error:
            raise gr.Error(str(error)) from error
        sound = [event.samples for event in events if isinstance(event, AudioReady)]
        trace = events[-1].trace
        return (trace.sample_rate, to_int16(np.concatenate(sound))), asdict(measure(trace))

    def _speak(self, text: str, chosen: Settings) -> Iterator[tuple[PlayerValue, Any]]:
        engine = self._studio.engine()
        shown: PlayerValue = {"run": self._sounds.begin(), "pieces": 0, "ended": False}
        with closing(engine.synthesize(text, chosen)) as events:
            for event in events:
                match event:
                    case Started(trace=trace):
                        shown |= {"sample_rate": trace.sample_rate}
                    case SentenceStarted(index=index):
                        shown |= status(f"Speaking: sentence {index + 1}", "busy")
                    case AudioReady(samples=samples):
                        self._sounds.add(shown["run"], to_int16(samples))
                        shown |= {"pieces": shown["pieces"] + 1}
                        yield dict(shown), gr.skip()
                    case Finished(trace=trace):
                        shown |= status("Done.", "ready", ended=True)
                        yield dict(shown), metrics_html(trace)


def settings(gamma: int, temperature: float, rule: str, seed: int, rate: float) -> Settings:
    """The engine's settings from the page's controls; an emptied number field is an error."""
    if None in (gamma, temperature, seed, rate):
        raise ForespeakError("A setting is empty: fill in every number.")
    return Settings(Sampling(temperature), rule, int(gamma), int(seed), rate)


def explain(error: Exception) -> str:
    """What the page says of an error; a fault of the program goes to the terminal, too."""
    if isinstance(error, ForespeakError):
        return str(error)
    print_exception(error)
    return f"Something went wrong ({type(error).__name__}): the terminal has the details."


def status(text: str, kind: str, **more: Any) -> PlayerValue:
    """A player value; kind is busy, ready or error. The page shows the text as text."""
    return {"status": text, "kind": kind, **more}


def metrics_html(trace: Trace) -> str:
    """The metrics as a table. It holds numbers and fixed words only, never the user's text."""
    rows = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in metric_rows(trace)
    )
    return f"<table><caption>{escape(describe_run(trace))}</caption>{rows}</table>"
