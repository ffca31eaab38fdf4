"""What the button of the Learn tab does: start a run and name it, at once."""

from typing import Any

import gradio as gr

from app.handlers import StageValue
from app.learn.recordings import Recordings
from app.orders import Order
from app.runs import Runs


class LearnHandlers:
    """Listeners of the Learn tab."""

    def __init__(self, runs: Runs, recordings: Recordings):
        self._runs = runs
        self._recordings = recordings

    def record(self, request: gr.Request, *controls: Any) -> StageValue:
        """The button Record; controls are those of `Order.from_controls`."""
        run = self._runs.start(
            lambda run: self._recordings.record(run, Order.from_controls(*controls)),
            request.session_hash,
        )
        return {"run": run.id, "muted": False}
