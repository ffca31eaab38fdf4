"""The rounds of a trace as a table for spreadsheets."""

import csv
import io
from collections.abc import Iterable

from app.cells import next_kind
from core.trace import Round, Trace

COLUMNS = (
    "sentence",
    "round",
    "position",
    "frame",
    "codebook",
    "drafted",
    "accepted",
    "next_kind",
    "draft_tokens",
    "next_token",
    "draft_probs",
    "target_probs",
    "next_prob",
    "draws",
    "draft_ms",
    "verify_ms",
    "at_s",
)


def to_csv(trace: Trace) -> str:
    """One row per round; lists are separated by spaces.

    round counts over the whole run; position, frame and codebook are those of the round's first
    token in its sentence; all counts begin at 0.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(n, r, trace.num_codebooks) for n, r in enumerate(trace.rounds))
    return text.getvalue()


def _row(number: int, r: Round, num_codebooks: int) -> tuple[object, ...]:
    frame, codebook = divmod(r.position, num_codebooks)
    return (
        r.sentence,
        number,
        r.position,
        frame,
        codebook,
        len(r.draft_tokens),
        r.accepted,
        next_kind(r),
        _spaced(r.draft_tokens),
        r.next_token,
        _spaced(r.draft_probs),
        _spaced(r.target_probs),
        r.next_prob,
        _spaced(r.draws),
        round(r.draft_s * 1000, 3),
        round(r.verify_s * 1000, 3),
        round(r.at_s, 6),
    )


def _spaced(values: Iterable[float]) -> str:
    return " ".join(map(str, values))
