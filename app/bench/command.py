"""The command `bench --matrix`: progress, tables, files; Ctrl-C keeps what was measured."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from app.bench.columns import draft_title, rule_title
from app.bench.files import figure, rows_of, to_csv, to_json
from app.bench.plan import Plan
from app.bench.running import compare, in_words
from app.bench.table import tables
from app.files import check_writable
from app.studio import load_engine
from core.engine import Engine
from core.errors import ForespeakError
from core.files import cannot_write
from core.matrix.cells import Cell
from core.matrix.results import Results

INTERRUPTED = 130  # what a shell expects of a command that Ctrl-C ended


def check_outputs(json: Path | None, csv: Path | None, picture: Path | None) -> None:
    """Raise ForespeakError now for what could not be written in the end."""
    if picture and picture.suffix not in (".png", ".svg"):
        raise ForespeakError(f"{picture} is neither PNG nor SVG: end it in .png or .svg.")
    for path in filter(None, (json, csv, picture)):
        check_writable(path)


def compare_and_report(
    plan: Plan, device: str, json: Path | None, csv: Path | None, picture: Path | None
) -> int:
    """Load the voice, measure, print; the exit code."""
    console = Console(stderr=True)
    with console.status("Loading the voice"):
        engine = load_engine(plan.voice, device)
    results, whole = _measure(engine, plan, console)
    if results is None or not results.samples:
        return INTERRUPTED
    wide = Console() if sys.stdout.isatty() else Console(width=220)  # a file has room
    for table in tables(results.header, rows_of(results)):
        wide.print(table)
    for path, make in ((json, to_json), (csv, to_csv), (picture, _picture(picture))):
        if path:
            _write(path, make(results))
            print(f"Wrote {path}", file=sys.stderr)
    return 0 if whole else INTERRUPTED


def _measure(engine: Engine, plan: Plan, console: Console) -> tuple[Results | None, bool]:
    """What there is in the end, and whether that is everything."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    results = None
    try:
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("Measuring")
            for now in compare(engine, plan, nullcontext):
                results = now.results
                words = f"{_name(now.cell)} {in_words(now.left_s)}"
                bar.update(task, completed=now.done, total=now.of, description=words)
    except KeyboardInterrupt:
        print("Stopped. What was measured is kept: the same command goes on.", file=sys.stderr)
        return results, False
    return results, True


def _name(cell: Cell | None) -> str:
    if cell is None:
        return "Done"
    return draft_title(cell) + ("" if cell.is_baseline else f", {rule_title(cell)}")


def _picture(path: Path | None) -> Callable[[Results], bytes]:
    return figure(path.suffix.removeprefix(".") if path else "")


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise cannot_write(path, error) from error
