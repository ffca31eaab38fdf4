"""The comparison in the terminal."""

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from app.bench.columns import (
    SHOWN,
    Column,
    claim,
    counted,
    draft_title,
    gamma_title,
    letter,
    rule_title,
)
from core.matrix.results import Header
from core.matrix.summary import Row, distance_of, front, wer_of

BESIDE = ("speedup",)  # whose spread is shown, too: all are in the files


def tables(header: Header, rows: Sequence[Row]) -> Iterator[Table]:
    """All cells, then the Pareto front; for each temperature."""
    for temperature in sorted({row.cell.temperature for row in rows}):
        mine = [row for row in rows if row.cell.temperature == temperature]
        most = max(row.sentences for row in mine)
        where = f"{header.voice}, {header.device}, {counted(header.threads, 'thread')}"
        title = f"Temperature {temperature:g}; medians over {counted(most, 'sentence')}; {where}"
        yield _table(title, sorted(mine, key=lambda row: -row.speedup.median))
        yield _front_table("Nobody is faster without being further from the target",
                           front(mine, distance_of))  # fmt: skip
        if any(row.wer for row in mine):
            yield _front_table("Nobody is faster without more wrong words", front(mine, wer_of))


def _table(title: str, rows: Iterable[Row]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for heading in ("Draft", "Rule", "", "γ"):
        table.add_column(heading)
    for column in SHOWN:
        table.add_column(column.title, justify="right")
    table.add_column("n", justify="right")
    for row in rows:
        table.add_row(*_names(row), *map(_cell, *zip(*((c, row) for c in SHOWN), strict=True)),
                      str(row.sentences))  # fmt: skip
    return table


def _cell(column: Column, row: Row) -> str:
    middle, spread = column.text(row)
    return f"{middle} ({spread})" if spread and column.key in BESIDE else middle


def _names(row: Row) -> tuple[str, str, str, str]:
    cell = row.cell
    names = f"{letter(cell)} {draft_title(cell)}", rule_title(cell), claim(cell), gamma_title(cell)
    return tuple(map(escape, names))


def _front_table(title: str, rows: Iterable[Row]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    chosen = [c for c in SHOWN if c.key in ("speedup", "distance", "wer", "dnsmos")]
    for heading in ("Draft", "Rule", "", "γ"):
        table.add_column(heading)
    for column in chosen:
        table.add_column(column.title, justify="right")
    for row in rows:
        table.add_row(*_names(row), *(_cell(column, row) for column in chosen))
    return table
