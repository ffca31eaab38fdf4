"""The long run, pair after pair; it can be stopped at any time, and goes on where it ended."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from app.bench.plan import Plan
from core.engine import Engine
from core.matrix.cells import Cell, todo
from core.matrix.measure import Measurer, load_judge
from core.matrix.results import Kept, kept
from core.matrix.results import Sample as Measured

Turn = Callable[[], AbstractContextManager[object]]
"""Gives the engine to nobody else inside."""


@dataclass(frozen=True)
class Progress:
    """sample: the latest, None before the first. left_s: what the rest may take, None before
    anything is known of that; cell: what comes next, None at the end."""

    results: Kept
    sample: Measured | None
    done: int
    of: int
    left_s: float | None
    cell: Cell | None


def compare(
    engine: Engine, plan: Plan, turn: Turn, check: Callable[[], None] = lambda: None
) -> Iterator[Progress]:
    """Measure what is not there yet: tells of each pair, and once before the first.

    turn: taken for each pair, so that whoever else wants the voice gets it in between. check:
    called again and again; what it raises ends the run, and all complete pairs are kept.
    """
    cells, header = plan.cells(engine.voice.drafts), plan.header(engine)
    judge = load_judge() if plan.judged else None
    with kept(plan.path(header), header) as results:
        missing = list(todo(cells, plan.sentences, results.done(judge is not None)))
        measurer = Measurer(engine, plan.settings, judge, check)
        of, begun = len(cells) * plan.sentences, time.monotonic()
        sample = None
        for number, (cell, sentence) in enumerate(missing):
            left = (time.monotonic() - begun) / number * (len(missing) - number) if number else None
            yield Progress(results, sample, of - len(missing) + number, of, left, cell)
            with turn():
                sample = measurer.measure(cell, sentence, header.sentences[sentence])
            results.add(sample)
        yield Progress(results, sample, of, of, 0.0, None)


def in_words(seconds: float | None) -> str:
    """How long that is, roughly."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    return f"about {round(seconds / 60)} min left"
