"""Results as tables for the terminal, and as rows for whoever else shows them."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from core.bench import Report, Spread
from core.drafters import DRAFTS
from core.engine import Settings
from core.metrics import measure
from core.trace import Trace

NONE = "–"


def metric_rows(trace: Trace) -> list[tuple[str, str]]:
    """(name, value with its unit) of a finished run."""
    m = measure(trace)
    rows = [
        ("Audio length", f"{m.audio_s:.2f} s"),
        ("Wall time", f"{m.wall_s:.2f} s"),
        ("RTF", f"{m.rtf:.3f}"),
        ("TTFA", f"{m.ttfa_s * 1000:.0f} ms"),
        ("Underrun", f"{m.underrun_s:.2f} s"),
        ("Tokens per second", f"{m.tokens_per_s:.0f}"),
        ("Acceptance length", f"{m.acceptance_length:.2f}"),
        ("Acceptance rate", percent(m.acceptance_rate)),
    ]
    stages = dict.fromkeys(said.stage for said in trace.earlier)
    by_codebook = enumerate(m.per_codebook)
    rows += [(f"Acceptance rate, codebook {q}", percent(rate)) for q, rate in by_codebook]
    return rows + [row for stage in stages for row in _earlier_rows(trace, stage)]


def _earlier_rows(trace: Trace, stage: str) -> list[tuple[str, str]]:
    """Of all sentences' tokens of an earlier stage."""
    said = [each for each in trace.earlier if each.stage == stage]
    tokens, passes, seconds = (
        sum(getattr(each, name) for each in said) for name in ("tokens", "passes", "seconds")
    )
    return [
        (f"{stage.capitalize()} tokens per second", f"{tokens / seconds:.0f}"),
        (f"Acceptance length, {stage} tokens", f"{tokens / passes:.2f}"),
    ]


def describe_run(trace: Trace) -> str:
    """How the run was decoded, in one line."""
    if trace.gamma == 0:
        return f"baseline, {trace.rule} noise, seed {trace.seed}"
    claim = "lossless" if trace.lossless else "not lossless"
    rule = trace.rule if trace.rule == claim else f"{name_rule(trace)} ({claim})"
    return f"speculative, {name_draft(trace)}, {rule}, {name_gamma(trace)}, seed {trace.seed}"


def name_guessing(trace: Trace) -> str:
    """Who guessed how far, and by which rule unless it is the usual one; "" without a draft."""
    if trace.gamma == 0:
        return ""
    rule = [] if trace.rule == Settings().rule else [name_rule(trace)]
    return ", ".join([name_draft(trace), *rule, name_gamma(trace)])


def name_draft(trace: Trace) -> str:
    """Who guessed; a trace from elsewhere may name somebody unknown."""
    return DRAFTS.get(trace.draft, trace.draft).lower()


def name_gamma(trace: Trace) -> str:
    return f"adaptive γ up to {trace.gamma}" if trace.adaptive else f"γ {trace.gamma}"


def name_rule(run: Trace | Report) -> str:
    """Its rule, with how far it goes if it is a relaxed one."""
    return run.rule if run.tolerance is None else f"{run.rule} {run.tolerance:g}"


def say_table(trace: Trace) -> Table:
    """Metrics of one run."""
    table = _table(describe_run(trace), "", ">")
    for row in metric_rows(trace):
        table.add_row(*row)
    return table


def bench_table(report: Report) -> Table:
    """Medians, with quartiles beside."""
    title = (
        f"{DRAFTS[report.draft]}, {name_rule(report)}, γ {report.gamma}, "
        f"temperature {report.temperature:g}; {report.pairs} pairs, "
        f"{report.device}, {report.threads} threads"
    )
    table = _table(title, "", ">median", ">quartiles")
    for name, spread, digits in _bench_rows(report):
        table.add_row(name, *_spread_cells(spread, digits))
    if report.divergences is not None:
        # Under same-seed the speculative tokens should be the baseline's own.
        table.add_row("Pairs that diverged", f"{len(report.divergences)} of {report.pairs}", "")
    return table


def percent(share: float | None) -> str:
    """A share of 1; a dash where there is none."""
    return NONE if share is None else f"{share:.1%}"


def _bench_rows(report: Report) -> list[tuple[str, Spread | None, int]]:
    rows: list[tuple[str, Spread | None, int]] = [
        ("Baseline, tokens per second", report.baseline_tokens_per_s, 0),
        ("Speculative, tokens per second", report.speculative_tokens_per_s, 0),
        ("Speed-up", report.speedup, 2),
        ("Predicted speed-up", report.predicted_speedup, 2),
        ("Measured / predicted", report.measured_over_predicted, 2),
        ("α", report.alpha, 3),
        ("c", report.c, 3),
        *((f"v({width})", spread, 2) for width, spread in report.v.items()),
        ("Acceptance length", report.acceptance_length, 2),
        ("Acceptance rate", report.acceptance_rate, 3),
    ]
    by_codebook = enumerate(report.acceptance_rate_per_codebook)
    rows += [(f"Acceptance rate, codebook {q}", spread, 3) for q, spread in by_codebook]
    return [
        *rows,
        ("Baseline TTFA, ms", report.baseline_ttfa_ms, 0),
        ("Speculative TTFA, ms", report.ttfa_ms, 0),
        ("Baseline RTF", report.baseline_rtf, 3),
        ("Speculative RTF", report.rtf, 3),
    ]


def _spread_cells(spread: Spread | None, digits: int) -> Sequence[str]:
    if spread is None:
        return NONE, NONE
    return f"{spread.median:.{digits}f}", f"{spread.q1:.{digits}f} to {spread.q3:.{digits}f}"


def _table(title: str | None, *columns: str) -> Table:
    """An empty table; a column whose heading begins with ">" is aligned right."""
    headed = any(heading.strip(">") for heading in columns)
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE if headed else None,
        show_header=headed,
    )
    for heading in columns:
        justify = "right" if heading.startswith(">") else "left"
        table.add_column(heading.removeprefix(">"), justify=justify)
    return table
