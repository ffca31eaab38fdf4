"""The figure's graphs: time per round, RTF so far, acceptance per codebook so far."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from app.cells import first_tokens
from app.figure_numbers import fixed, share
from app.figure_style import DRAFT, FAINT, INK, VERIFY, at_end, key, line, title
from core.metrics import Meter, Metrics, measure
from core.trace import Trace

MOST_NAMED = 5  # lines that have room for their names; of more the lowest and the highest have one
OUTLIER = 1.5  # times the 95th percentile: what took longer would flatten all others

Progress = list[tuple[float, Metrics]]
"""(seconds of sound, metrics up to there), once per chunk."""


def progress(trace: Trace) -> Progress:
    """The metrics as they stood whenever sound became playable, and in the end."""
    meter, found, done = Meter(trace), [], 0
    for chunk in trace.chunks:
        while done < len(trace.rounds) and trace.rounds[done].at_s <= chunk.at_s:
            meter.add_round(trace.rounds[done])
            done += 1
        meter.add_chunk(chunk)
        metrics = meter.metrics(chunk.at_s)
        found.append((metrics.audio_s, metrics))
    if found:
        found[-1] = found[-1][0], measure(trace)
    return found


def draw_rounds(axes: Axes, trace: Trace) -> None:
    """Draft and verify, stacked, each as wide as the sound that the round made."""
    if not trace.rounds:
        return
    tokens_per_s = trace.num_codebooks * trace.frame_rate
    starts = first_tokens(trace)
    edges = np.array([*starts, starts[-1] + len(trace.rounds[-1].tokens)]) / tokens_per_s
    draft = np.array([r.draft_s for r in trace.rounds]) * 1000
    total = draft + np.array([r.verify_s for r in trace.rounds]) * 1000
    axes.stairs(draft, edges, fill=True, color=DRAFT)
    axes.stairs(total, edges, baseline=draft, fill=True, color=VERIFY)
    limit = min(total.max(), OUTLIER * np.quantile(total, 0.95))
    axes.set_ylim(0, limit * 1.05)
    heading = f"time per round, ms (median {np.median(total):.1f})"
    if (beyond := total > limit).any():
        middles = (edges[:-1] + edges[1:])[beyond] / 2
        axes.plot(middles, [limit * 0.98] * len(middles), "^", color=INK, markersize=4)
        heading += f"; ▲ beyond the scale, up to {total.max():.0f}"
    title(axes, heading)
    parts = {"verify": Patch(color=VERIFY)}
    key(axes, {"draft": Patch(color=DRAFT), **parts} if trace.gamma else parts)


def draw_rtf(axes: Axes, found: Progress) -> None:
    """RTF so far, below the line at which sound is made as fast as it is heard."""
    title(axes, "RTF so far")
    times, rtf = [t for t, _ in found], [m.rtf for _, m in found]
    axes.axhline(1, color=FAINT, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.plot(times, rtf, color=INK, linewidth=1.6)
    # The first chunk is short, so the curve may come from far above.
    axes.set_ylim(0, max(1.3, 1.2 * max(rtf[len(rtf) // 4 :], default=0)))
    axes.grid(axis="y")
    at_end(axes, [(1, "real time", FAINT), *((y, fixed(y, 2), INK) for y in rtf[-1:])])


def draw_acceptance(axes: Axes, found: Progress) -> None:
    """Accepted of tested tokens, a line per codebook, named at its end."""
    title(axes, "accepted of tested so far, by codebook")
    rows = list(zip(*(m.per_codebook for _, m in found), strict=True))
    axes.set_ylim(_floor(rows), 1.02)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.grid(axis="y")
    ends = []
    for q, shares in enumerate(rows):
        values = [np.nan if share is None else share for share in shares]
        colour, dashes = line(q)
        axes.plot([t for t, _ in found], values, color=colour, linestyle=dashes, linewidth=1.6)
        if shares[-1] is not None:
            ends.append((shares[-1], f"{q}: {share(shares[-1])}", colour))
    ends.sort()
    at_end(axes, ends if len(ends) <= MOST_NAMED else [ends[0], ends[-1]])


def _floor(rows: Sequence[Sequence[float | None]]) -> float:
    """A tenth below which no rate lies once a quarter of the sound is there."""
    settled = [share for row in rows for share in row[len(row) // 4 :] if share is not None]
    return max(0.0, np.floor(min(settled, default=0.0) * 10 - 0.5) / 10)
