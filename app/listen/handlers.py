"""What the button of the Listen tab does."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from app.listen.plan import Plan
from app.listen.preparing import prepare
from app.listen.store import Store
from app.runs import Run, Runs
from app.studio import Studio
from core.ceiling import Recorded, load_ceiling


class ListenHandlers:
    """Listeners of one page."""

    def __init__(
        self,
        studio: Studio,
        runs: Runs,
        store: Store,
        lan: str | None = None,
        ceiling: Callable[[str], tuple[Recorded, ...]] = load_ceiling,
    ):
        """lan: the page's address on the local network; ceiling: recorded sentences of a voice."""
        self._studio = studio
        self._runs = runs
        self._store = store
        self._lan = lan
        self._ceiling = ceiling

    def prepare(self, request: gr.Request, *controls: Any) -> dict[str, Any]:
        """The button Prepare; controls: kind, first, second, trials and texts, then the shared
        settings, as `Plan.from_controls` takes them."""

        def work(run: Run) -> str:
            plan = Plan.from_controls(self._ceiling, *controls)
            return prepare(run, self._studio, self._store, plan, self._lan)

        # An owner of its own: whoever speaks or races on the page meanwhile does not stop it.
        return {"run": self._runs.start(work, f"prepare {request.session_hash}").id}
