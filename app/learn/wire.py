"""A recording and its steps as JSON for the page."""

import base64
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from app.wire import EVENTS
from core.recording import Recording
from core.steps import Step
from core.trace import Trace
from core.verify import RULES, Rule

SHOWN = ("sentences", "rounds")

Json = dict[str, Any]


def recording_json(recording: Recording) -> Json:
    """The trace without sound and chunks, and the rules that can be tried on it."""
    trace = recording.trace
    header = {f.name: getattr(trace, f.name) for f in fields(Trace) if f.name not in EVENTS}
    happened = {name: [asdict(one) for one in getattr(trace, name)] for name in SHOWN}
    return {"trace": header | happened, "rules": [*map(_rule, RULES.values())]}


def _rule(rule: Rule) -> Json:
    tolerance = rule.tolerance and asdict(rule.tolerance)
    return {
        "name": rule.name,
        "title": rule.title,
        "lossless": rule.lossless,
        "tolerance": tolerance,
    }


def step_json(step: Step, trace: Trace) -> Json:
    """A step of a run; distributions as float32 in base64. end: the entry that ends a sentence."""
    places = range(step.position, step.position + len(step.draft_tokens) + 1)
    return {
        "round": step.index,
        "position": step.position,
        "codebooks": [place % trace.num_codebooks for place in places],
        "end": trace.codebook_size,
        "draft_tokens": step.draft_tokens,
        "drafted_as": step.drafted_as,
        "p": _floats(step.target_probs),
        "q": _floats(step.draft_probs),
        "rows": [asdict(row) for row in step.rows],
        "accepted": step.accepted,
        "next_token": step.next_token,
        "next_prob": step.next_prob,
        "residual": None if step.residual is None else _floats(step.residual),
        "same_draft": step.drafted_as == step.draft_tokens,
        "is_recorded": step.is_recorded,
        "cache": step.cache,
    }


def _floats(values: Any) -> str:
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode("ascii")
