"""A trace, told again as it happened: the engine's events, without any engine."""

from collections.abc import Iterator
from dataclasses import replace
from heapq import merge
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import numpy as np

from app.runs import Run
from app.wire import Lane
from core.engine import (
    AudioReady,
    EarlierSaid,
    Event,
    Finished,
    RoundDone,
    SentenceStarted,
    Started,
)
from core.errors import ForespeakError
from core.sound import to_float
from core.trace import Chunk, Round, Trace

SILENT = "Replayed. This trace was saved without its sound."


def replay(run: Run, path: Path) -> str:
    """A run that tells the trace of a file, all at once; the browser takes its time over it."""
    try:
        trace = Trace.load(path)
    except ForespeakError as error:  # an uploaded file lies where its owner never put it
        raise ForespeakError(str(error).replace(str(path), path.name)) from error
    run.lanes.append(lane := Lane(0, None, recorded=True))
    for event in replay_events(trace):
        run.check()
        run.put(lane.add(event))
    return "Replayed." if trace.sound else SILENT


def replay_events(trace: Trace) -> Iterator[Event]:
    """The events in the order in which the engine gave them; without sound, pieces are empty."""
    pieces = _pieces(trace)
    begun = replace(trace, earlier=(), sentences=(), rounds=(), chunks=(), sound="", total_s=0.0)
    yield Started(begun)
    rounds, chunks = _by_sentence(trace.rounds), _by_sentence(trace.chunks)
    for index, sentence in enumerate(trace.sentences):
        yield from (EarlierSaid(said) for said in trace.earlier if said.sentence == index)
        yield SentenceStarted(index, sentence)
        # Of what ended at the same time the round comes first: it made the sound playable.
        for happened in merge(rounds.get(index, ()), chunks.get(index, ()), key=attrgetter("at_s")):
            if isinstance(happened, Round):
                yield RoundDone(happened)
            else:
                yield AudioReady(happened, next(pieces))
    yield Finished(trace)


def _by_sentence(records: tuple[Round, ...] | tuple[Chunk, ...]) -> dict[int, list]:
    key = attrgetter("sentence")
    return {index: list(group) for index, group in groupby(records, key)}


def _pieces(trace: Trace) -> Iterator[np.ndarray]:
    """The sound of each chunk, float32 [samples]."""
    pcm = trace.pcm()
    if pcm is None:
        return iter([np.empty(0, np.float32)] * len(trace.chunks))
    ends = np.cumsum([chunk.samples for chunk in trace.chunks], dtype=int)
    return iter(np.split(to_float(pcm), ends[:-1]))
