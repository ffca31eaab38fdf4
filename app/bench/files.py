"""The comparison as files: everything (JSON), a line per cell (CSV), a figure (PNG, SVG)."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import asdict

from app.bench.columns import COLUMNS, claim, draft_title, gamma_title, rule_title
from core.matrix.results import Results
from core.matrix.summary import Row, summarize


def rows_of(results: Results) -> list[Row]:
    return [summarize(cell, samples) for cell, samples in results.by_cell.items()]


def to_json(results: Results) -> bytes:
    """Header, what each cell comes to, and every sample; `load_results` reads it."""
    content = {
        "header": asdict(results.header),
        "cells": [asdict(row) for row in rows_of(results)],
        "samples": [asdict(sample) for sample in results.samples],
    }
    return json.dumps(content, allow_nan=False).encode() + b"\n"


def to_csv(results: Results) -> bytes:
    """A line per cell. Beside each number from where to where it spreads: the quartiles over
    sentences, of wer and wer_change the 95% interval."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    spreads = [name for c in COLUMNS for name in (c.key, f"{c.key}_low", f"{c.key}_high")]
    books = [f"accepted_of_tested_{q}" for q in range(results.header.codebooks)]
    cell = ("draft", "rule", "claim", "gamma", "temperature", "tolerance", "sentences")
    writer.writerow([*cell, *spreads, *books, "divergences"])
    for row in rows_of(results):
        writer.writerow(_values(row))
    return text.getvalue().encode()


def _values(row: Row) -> list[object]:
    cell = row.cell
    numbers = [n for c in COLUMNS for n in (c.numbers(row) or ("", "", ""))]
    return [
        draft_title(cell),
        rule_title(cell),
        claim(cell),
        gamma_title(cell),
        cell.temperature,
        "" if cell.tolerance is None else cell.tolerance,
        row.sentences,
        *numbers,
        *("" if spread is None else spread.median for spread in row.per_codebook),
        "" if row.divergences is None else row.divergences,
    ]


def figure(format: str) -> Callable[[Results], bytes]:
    """png or svg."""

    def draw(results: Results) -> bytes:
        from app.bench.figure import render  # matplotlib takes its time

        return render(results.header, rows_of(results), format)

    return draw


FILES: dict[str, tuple[str, Callable[[Results], bytes]]] = {
    "bench.json": ("application/json", to_json),
    "bench.csv": ("text/csv; charset=utf-8", to_csv),
    "bench.png": ("image/png", figure("png")),
    "bench.svg": ("image/svg+xml", figure("svg")),
}
"""name -> media type, and what makes the file's bytes."""
