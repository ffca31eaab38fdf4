"""The command `bench`: progress while it measures, a table, and JSON if asked for."""

import json
from pathlib import Path

from rich.console import Console
from rich.progress import track

from app.report import bench_table
from app.studio import load_engine
from core import bench
from core.engine import Settings
from core.files import write_text


def bench_and_report(
    settings: Settings, voice: str, device: str, runs: int, json_path: Path | None
) -> None:
    """Load the voice, measure, print the medians."""
    console = Console(stderr=True)
    with console.status("Loading the voice"):
        engine = load_engine(voice, device, settings)
    pairs = bench.measure_pairs(engine, settings, runs)
    total = runs * len(bench.SENTENCES)
    pairs = list(track(pairs, "Measuring", total, console=console, transient=True))
    report = bench.summarize(engine, settings, pairs)
    Console().print(bench_table(report))
    if json_path:
        write_text(json_path, json.dumps(report.to_dict(), indent=2) + "\n")
