"""The comparison as tables for the terminal."""

from collections.abc import Sequence
from itertools import groupby

from rich import box
from rich.table import Table

from core.bench import Spread
from tests.peers.compare import Row


def tables(rows: Sequence[Row], sentences: int) -> list[Table]:
    """One per temperature; medians, with quartiles in brackets where they are of times."""
    return [
        _table(f"{_name(temperature)}, sentences: {sentences}", list(group), sentences)
        for temperature, group in groupby(rows, key=lambda row: row.temperature)
    ]


def _name(temperature: float) -> str:
    return f"Temperature {temperature:g}" if temperature else "Greedy"


def _table(title: str, rows: Sequence[Row], sentences: int) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("", no_wrap=True)
    references = list(rows[0].slower)
    lasting = [f"times as long as\n{name}" for name in references]
    for heading in ("tokens/s", "acceptance\nlength", "acceptance\nrate", *lasting):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("tokens as the\nbaseline's")
    for row in rows:
        table.add_row(
            row.way,
            _cell(row.tokens_per_s, 0),
            _middle(row.acceptance_length, 2),
            _middle(row.acceptance_rate, 2),
            *(_cell(row.slower[name], 2) for name in references),
            _agreement(row, sentences),
        )
    return table


def _cell(spread: Spread, digits: int) -> str:
    return f"{_middle(spread, digits)} ({spread.q1:.{digits}f}–{spread.q3:.{digits}f})"


def _middle(spread: Spread | None, digits: int) -> str:
    return "–" if spread is None else f"{spread.median:.{digits}f}"


def _agreement(row: Row, sentences: int) -> str:
    """Sentences that are the baseline's own; for the others, the widest gap that was crossed."""
    if row.differences is None:
        return "drawn"
    same = f"{sentences - len(row.differences)} of {sentences}"
    if not row.differences:
        return same
    widest = max(difference.gap for difference in row.differences)
    return f"{same}, logits {widest:.1g} apart"
