"""What happens in a run, as lines for the browser; and remembered, for the exports."""

import base64
from dataclasses import fields, replace
from typing import Any

import numpy as np

from app.report import name_guessing
from core.engine import (
    AudioReady,
    EarlierSaid,
    Event,
    Finished,
    RoundDone,
    SentenceStarted,
    Started,
)
from core.metrics import Meter, Metrics
from core.sound import to_int16
from core.trace import Chunk, Earlier, Round, Sentence, Trace

Line = dict[str, Any]
"""One JSON object of a run's log, still without its number."""

EVENTS = ("earlier", "sentences", "rounds", "chunks", "sound")
"""Fields of a trace: its header is all the others."""


class Lane:
    """One version of a text, event by event. A live run has one, a race has two.

    The engine's thread waits for it: lines are built without `asdict`, which copies deeply.
    baseline_tokens_per_s: the latest that was measured on the run's computer; None if unknown.
    """

    def __init__(self, number: int, baseline_tokens_per_s: float | None, recorded: bool = False):
        self._number = number
        self.baseline_tokens_per_s = baseline_tokens_per_s
        self._recorded = recorded
        self._earlier: dict[tuple[int, str], Earlier] = {}
        self._sentences: list[Sentence] = []
        self._rounds: list[Round] = []
        self._chunks: list[Chunk] = []
        self._pieces: list[np.ndarray] = []
        self._header: Trace | None = None
        self._total_s = 0.0
        self._meter: Meter | None = None

    def add(self, event: Event) -> Line:
        """The line that tells of an event."""
        match event:
            case Started(trace=trace):
                return self._start(trace)
            case EarlierSaid(earlier=earlier):
                self._earlier[earlier.sentence, earlier.stage] = earlier
                return self._line("earlier", **vars(earlier))
            case SentenceStarted(index=index, sentence=sentence, ends_itself=ends_itself):
                self._sentences.append(sentence)
                return self._line(
                    "sentence", index=index, ends_itself=ends_itself, **vars(sentence)
                )
            case RoundDone(round=round_):
                self._rounds.append(round_)
                self._meter.add_round(round_)
                return self._line("round", **vars(round_))
            case AudioReady(chunk=chunk, samples=samples):
                return self._sound(chunk, to_int16(samples))
            case Finished(trace=trace):
                self._total_s = trace.total_s
                self._sentences = list(trace.sentences)  # those that end themselves, as they ended
                return self._line("finished", metrics=vars(self.metrics()))

    def compare(self, tokens_per_s: float) -> Line:
        """The line that tells of the baseline as it was measured after the run."""
        self.baseline_tokens_per_s = tokens_per_s
        return self._line("baseline", tokens_per_s=tokens_per_s)

    def metrics(self) -> Metrics:
        """Of what has happened so far."""
        return self._meter.metrics(self._total_s)

    def trace(self) -> Trace | None:
        """What has happened so far, without its sound; None if nothing has."""
        return self._header and replace(
            self._header,
            earlier=tuple(e for e in self._earlier.values() if e.sentence < len(self._sentences)),
            sentences=tuple(self._sentences),
            rounds=tuple(self._rounds),
            chunks=tuple(self._chunks),
            total_s=self._total_s,
        )

    def pcm(self) -> np.ndarray:
        """The sound so far, int16 [samples]."""
        return np.concatenate(self._pieces) if self._pieces else np.empty(0, np.int16)

    @property
    def silent(self) -> bool:
        """Whether nothing can be heard so far."""
        return not self._chunks

    def _start(self, trace: Trace) -> Line:
        self._header = trace
        self._meter = Meter(trace)
        header = {f.name: getattr(trace, f.name) for f in fields(trace) if f.name not in EVENTS}
        recorded = {"recorded": True} if self._recorded else {}
        baseline = {"baseline_tokens_per_s": self.baseline_tokens_per_s}
        how = name_guessing(trace)
        return self._line("started", trace=header, how=how, **baseline, **recorded)

    def _sound(self, chunk: Chunk, pcm: np.ndarray) -> Line:
        self._chunks.append(chunk)
        self._pieces.append(pcm)
        self._meter.add_chunk(chunk)
        self._total_s = chunk.at_s
        text = base64.b64encode(pcm.tobytes()).decode("ascii")
        return self._line("audio", **vars(chunk), pcm=text, metrics=vars(self.metrics()))

    def _line(self, kind: str, **content: Any) -> Line:
        return {"kind": kind, "lane": self._number, **content}
