"""What a lane of a run can be saved as."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict

from app.wav import wav_bytes
from app.wire import Lane
from core.trace import Trace


def speech_wav(lane: Lane) -> bytes:
    """The sound: 16-bit mono."""
    return wav_bytes(lane.pcm(), lane.trace().sample_rate)


def trace_json(lane: Lane) -> bytes:
    """The trace with its sound, as `Trace.save` writes it."""
    return json.dumps(asdict(lane.trace().with_sound(lane.pcm()))).encode()


def rounds_csv(lane: Lane) -> bytes:
    """A line per round."""
    from app.rounds import to_csv

    return to_csv(lane.trace()).encode()


def figure(format: str) -> Callable[[Lane], bytes]:
    """The run as a picture, png or svg."""

    def draw(lane: Lane) -> bytes:
        from app.figure import render  # matplotlib takes its time

        return render(lane.trace(), format, lane.baseline_tokens_per_s)

    return draw


EXPORTS: dict[str, tuple[str, Callable[[Lane], bytes]]] = {
    "speech.wav": ("audio/wav", speech_wav),
    "trace.json": ("application/json", trace_json),
    "rounds.csv": ("text/csv", rounds_csv),
    "figure.png": ("image/png", figure("png")),
    "figure.svg": ("image/svg+xml", figure("svg")),
}
"""name -> media type, and what makes the file's bytes."""


def file_name(trace: Trace, name: str) -> str:
    """What the browser is to call the file; a replayed trace's words cannot be trusted."""
    rule = re.sub(r"[^a-z0-9-]", "", trace.rule) if trace.gamma else "baseline"
    return f"forespeak-{rule}-seed{trace.seed}.{name.rpartition('.')[2]}"
