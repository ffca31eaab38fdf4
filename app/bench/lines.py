"""The comparison as lines for the browser, which draws what it is told."""

from collections.abc import Callable, Iterable, Sequence

from app.bench.columns import SHOWN, claim, counted, draft_title, gamma_title, letter, rule_title
from app.wire import Line
from core.bench import Spread
from core.matrix.results import Header
from core.matrix.summary import NOISE, Row, distance_of, front, wer_of
from core.verify import RULES

LOSSES = {"distance": distance_of, "wer": wer_of}


def board_line(header: Header) -> Line:
    """Once, before any row."""
    where = (
        f"{header.voice}, {header.device}, {counted(header.threads, 'thread')}, {header.machine}"
    )
    return {
        "kind": "board",
        "where": where,
        "codebooks": header.codebooks,
        "columns": [{"key": c.key, "title": c.title, "hint": c.hint} for c in SHOWN],
        "rules": [
            {"name": rule.name, "title": rule.title, "lossless": rule.lossless}
            for rule in RULES.values()
        ],
    }


def rows_line(changed: Iterable[Row], rows: Sequence[Row]) -> Line:
    """changed: those of `rows` that are new; the fronts are of all."""
    return {
        "kind": "rows",
        "rows": [_row(row) for row in changed],
        "fronts": {name: _fronts(rows, loss) for name, loss in LOSSES.items()},
    }


def _fronts(rows: Sequence[Row], loss: Callable[[Row], float | None]) -> list[str]:
    """Names of the cells on the front of any temperature, from the least loss on."""
    temperatures = sorted({row.cell.temperature for row in rows})
    return [
        row.cell.name
        for temperature in temperatures
        for row in front([r for r in rows if r.cell.temperature == temperature], loss)
    ]


def _row(row: Row) -> Line:
    cell = row.cell
    return {
        "name": cell.name,
        "draft": draft_title(cell),
        "letter": letter(cell),
        "rule": cell.rule,
        "rule_title": rule_title(cell),
        "lossless": cell.lossless,
        "claim": claim(cell),
        "baseline": cell.is_baseline,
        "gamma": gamma_title(cell),
        "temperature": cell.temperature,
        "sentences": row.sentences,
        "numbers": {c.key: c.numbers(row) for c in SHOWN},
        "texts": {c.key: c.text(row) for c in SHOWN},
        "exact": row.distance.median <= NOISE,
        "per_codebook": [_triple(spread) for spread in row.per_codebook],
    }


def _triple(spread: Spread | None) -> tuple[float, float, float] | None:
    return spread and (spread.median, spread.q1, spread.q3)
