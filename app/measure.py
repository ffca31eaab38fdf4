"""The command `bench`: progress while it measures, a table, and JSON if asked for."""

import json
from pathlib import Path

from rich.console import Console
from rich.progress import track

from app.files import cannot_write
from app.report import bench_table
from core.bench import SENTENCES, measure_pairs, summarize
from core.engine import Engine, Settings


def bench_and_report(
    settings: Settings, voice: str, device: str, runs: int, json_path: Path | None
) -> None:
    """Load the voice, measure, print the medians."""
    console = Console(stderr=True)
    with console.status("Loading the voice"):
        engine = Engine.load(voice, device)
    pairs = measure_pairs(engine, settings, runs)
    total = runs * len(SENTENCES)
    pairs = list(track(pairs, "Measuring", total, console=console, transient=True))
    report = summarize(engine, settings, pairs)
    Console().print(bench_table(report))
    if json_path:
        try:
            json_path.write_text(json.dumps(report.to_dict(), indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise cannot_write(json_path, error) from error
