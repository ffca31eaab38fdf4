"""Forespeak beside Hugging Face transformers: the same weights, machine and run.

Run it on a quiet machine, from the repository's root, after
`pip install -r requirements-peers.txt`: python -m tests.peers -o peers.json
Nothing here is asserted: times belong in a table, not in a test.
"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track
from transformers.utils import logging

from app.files import check_writable
from core.bench import SENTENCES
from core.drafters import DRAFTS
from core.engine import Engine
from core.errors import ForespeakError
from core.files import write_text
from core.lm.decoder import Decoder, load_decoder
from core.voices.base import ASSETS
from tests.peers.compare import as_json, measure, summarize
from tests.peers.model import Peer
from tests.peers.table import tables
from tests.peers.ways import Forespeak, Way, transformers_ways

BASELINE = "Forespeak, baseline"
TEMPERATURES = (0.0, 0.8)
WIDTH = 140  # of the tables, also through a pipe


def compare(
    sentences: Annotated[
        int, typer.Option(min=1, max=len(SENTENCES), help="How many sentences.")
    ] = 6,
    gamma: Annotated[
        int, typer.Option(min=1, max=16, help="γ, Forespeak's and transformers'.")
    ] = 6,
    draft: Annotated[
        list[str],
        typer.Option(help="What Forespeak drafts with (repeat for several); model is the peers'."),
    ] = ["model"],  # noqa: B006  typer copies it
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write all that was found to this file.")
    ] = None,
) -> None:
    """Compare Forespeak with transformers' generate and assisted generation."""
    if output:
        check_writable(output)
    logging.set_verbosity_error()  # `generate` warns of what it does itself with an assistant
    console = Console(stderr=True)
    with console.status("Loading the models"):
        engine = Engine.load("joe", "cpu")
        ways: dict[str, Way] = {BASELINE: Forespeak(engine, 0)}
        speculative = {f"Forespeak, {DRAFTS[name].lower()}": name for name in draft}
        ways |= {way: Forespeak(engine, gamma, name) for way, name in speculative.items()}
        for packed in (False, True):
            pair = load_pair(engine)
            ways |= transformers_ways(*pair, gamma, packed)
        plans = [engine.voice.plan(text, 1.0) for text in SENTENCES[:sentences]]
        judge = Peer(load_pair(engine)[0])
    steps = measure(ways, plans, engine.voice.codec.num_codebooks, TEMPERATURES)
    total = len(ways) * len(plans) * len(TEMPERATURES)
    samples = list(track(steps, "Measuring", total, console=console, transient=True))
    rows = summarize(samples, BASELINE, list(speculative), plans, judge)
    for table in tables(rows, sentences):
        Console(width=max(console.width, WIDTH)).print(table)
    if output:
        write_text(output, json.dumps(as_json(rows, samples, plans, gamma), indent=2) + "\n")


def load_pair(engine: Engine) -> tuple[Decoder, Decoder]:
    """The embedded voice's target and draft."""
    codebooks = engine.voice.codec.codebooks.cpu()
    return tuple(
        load_decoder(ASSETS / "joe" / f"{name}.safetensors", codebooks)
        for name in ("target", "draft")
    )


if __name__ == "__main__":
    try:
        typer.run(compare)
    except ForespeakError as error:
        sys.exit(f"forespeak: {error}")
