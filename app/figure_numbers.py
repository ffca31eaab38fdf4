"""The figure's big numbers, written as the page writes them."""

from decimal import ROUND_HALF_UP, Decimal

from core.metrics import measure
from core.trace import Trace

NONE = "–"


def big_numbers(trace: Trace, baseline_tokens_per_s: float | None) -> list[tuple[str, str]]:
    """(name, value) of what the page shows as tiles; the baseline is that of the run's computer."""
    m = measure(trace)
    known = trace.gamma and baseline_tokens_per_s
    return [
        ("TTFA", duration(m.ttfa_s) if m.audio_s else NONE),
        ("RTF", fixed(m.rtf, 2) if m.audio_s else NONE),
        ("acceptance length", fixed(m.acceptance_length, 2)),
        ("acceptance rate", share(m.acceptance_rate)),
        ("speed-up", f"{fixed(m.tokens_per_s / baseline_tokens_per_s, 2)}×" if known else NONE),
    ]


def duration(seconds: float) -> str:
    return f"{fixed(seconds * 1000, 0)} ms" if seconds < 1 else f"{fixed(seconds, 2)} s"


def share(share: float | None) -> str:
    return NONE if share is None else f"{fixed(share * 100, 0)} %"


def fixed(value: float, digits: int) -> str:
    """Halves go up, as in a browser."""
    return str(Decimal(value).quantize(Decimal(10) ** -digits, ROUND_HALF_UP))
