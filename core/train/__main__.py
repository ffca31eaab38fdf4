"""python -m core.train STAGE: rebuild the embedded voice, one resumable stage after another."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from core.engine import pick_device
from core.errors import ForespeakError
from core.voices.base import ASSETS

# Minutes on two CPU cores that gave the weights in assets.
MINUTES = {
    "data": 30,
    "codec": 20,
    "tokens": 5,
    "target": 90,
    "draft": 20,
    "fed": 150,
    "durations": 8,
    "card": 30,
}


def main() -> None:
    arguments = parse()
    try:
        run(arguments)
    except ForespeakError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def run(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    arguments.work.mkdir(parents=True, exist_ok=True)
    minutes = arguments.minutes or MINUTES[arguments.stage]
    device = pick_device(arguments.device)
    stage(arguments.stage, device)(arguments.work, arguments.assets, minutes)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m core.train", description=__doc__)
    parser.add_argument("stage", choices=MINUTES, help="in this order, each needs the ones before")
    parser.add_argument("--work", type=Path, default=Path("work"), help="data and checkpoints")
    parser.add_argument("--assets", type=Path, default=ASSETS / "joe", help="where weights go")
    parser.add_argument("--minutes", type=float, help="time budget over all resumptions")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    return parser.parse_args()


def stage(name: str, device: torch.device) -> Callable[[Path, Path, float], None]:
    """The stage's function; imported late, since each needs packages of its own."""
    if name == "data":
        from core.train.data import run

        return run  # onnxruntime, on the CPU
    if name == "codec":
        from core.train.codec import run

        return run  # small enough for the CPU
    if name == "tokens":
        from core.train.tokens import run

        return run
    if name == "target":
        from core.train.target import run
    elif name == "draft":
        from core.train.draft import run
    elif name == "fed":
        from core.train.fed import run
    elif name == "durations":
        from core.train.durations import run
    else:
        from core.train.card import run
    return partial(run, device=device)


if __name__ == "__main__":
    main()
