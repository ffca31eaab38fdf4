"""What the buttons of the Bench tab do."""

from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

import gradio as gr

from app.bench.files import rows_of
from app.bench.lines import board_line, rows_line
from app.bench.plan import Plan
from app.bench.running import Progress, compare, in_words
from app.runs import Run, Runs
from app.studio import Studio
from core.matrix.results import Results, load_results
from core.matrix.summary import Row, summarize

KEPT = 16  # results that can still be downloaded; they are in files anyway


class Boards:
    """Results by the run that showed them."""

    def __init__(self) -> None:
        self._found: OrderedDict[str, Results] = OrderedDict()
        self._lock = Lock()

    def keep(self, run: str, results: Results) -> None:
        with self._lock:
            self._found[run] = results
            while len(self._found) > KEPT:
                self._found.popitem(last=False)

    def find(self, run: str) -> Results | None:
        return self._found.get(run)


class BenchHandlers:
    """Listeners of one page."""

    def __init__(self, studio: Studio, runs: Runs, boards: Boards):
        self._studio = studio
        self._runs = runs
        self._boards = boards

    def start(self, request: gr.Request, *controls: Any) -> dict[str, Any]:
        """The button Compare; controls: those of `Plan.from_controls`."""

        def work(run: Run) -> str:
            return self._compare(run, Plan.from_controls(*controls))

        return self._begin(work, request)

    def open(self, request: gr.Request, path: str) -> dict[str, Any]:
        """Show a file of results; no model is needed."""

        def work(run: Run) -> str:
            results = load_results(Path(path))
            self._boards.keep(run.id, results)
            run.put(board_line(results.header))
            rows = rows_of(results)
            run.put(rows_line(rows, rows))
            count = len(results.samples)
            return f"Opened: {len(rows)} ways, {count} pairs, as they were measured."

        return self._begin(work, request)

    def _begin(self, work: Any, request: gr.Request) -> dict[str, Any]:
        # An owner of its own: whoever speaks or races on the page meanwhile does not stop it.
        return {"run": self._runs.start(work, f"bench {request.session_hash}").id}

    def _compare(self, run: Run, plan: Plan) -> str:
        with self._studio.use(plan.voice, run.status, run.check) as ready:
            engine = ready.engine

        def turn() -> Any:
            return self._studio.use(plan.voice, run.status, run.check)

        rows: dict[str, Row] = {}
        for number, progress in enumerate(compare(engine, plan, turn, run.check)):
            if number == 0:
                self._boards.keep(run.id, progress.results)
                run.put(board_line(progress.results.header))
            self._tell(run, progress, rows)
        return f"Done: {progress.of} pairs are measured, and kept on this computer."

    def _tell(self, run: Run, progress: Progress, rows: dict[str, Row]) -> None:
        """The rows that the latest pair has changed (at first all), and how far it is."""
        by_cell = progress.results.by_cell
        cells = [progress.sample.cell] if progress.sample and rows else list(by_cell)
        changed = [summarize(cell, by_cell[cell]) for cell in cells]
        rows |= {row.cell.name: row for row in changed}
        if changed:
            run.put(rows_line(changed, list(rows.values())))
        left = in_words(progress.left_s)
        text = f"Pair {min(progress.done + 1, progress.of)} of {progress.of}"
        line = {"kind": "progress", "done": progress.done, "of": progress.of}
        run.put({**line, "text": f"{text}, {left}…" if left else f"{text}…"})
