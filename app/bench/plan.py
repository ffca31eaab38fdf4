"""What somebody wants compared, checked before anything slow begins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from app import __version__
from app.orders import Order
from core import bench_sentences
from core.drafters import DRAFTS
from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.matrix.cells import Cell, grid
from core.matrix.results import Header
from core.verify import RULES
from core.voices.catalog import find_voice

MOST = len(bench_sentences.SENTENCES)


@dataclass(frozen=True)
class Plan:
    """sentences: how many. settings: what all cells share. judged: whether WER and DNSMOS are
    wanted. results: the file; None for one that goes by what the measurements depend on. fresh:
    do not go on with what is there."""

    voice: str
    drafts: tuple[str, ...]
    rules: tuple[str, ...]
    gammas: tuple[int | str, ...]
    temperatures: tuple[float, ...]
    sentences: int
    settings: Settings
    judged: bool = True
    results: Path | None = None
    fresh: bool = False

    def __post_init__(self) -> None:
        find_voice(self.voice)
        if not 1 <= self.sentences <= MOST:
            raise ForespeakError(f"Choose 1 to {MOST} sentences.")
        for temperature in self.temperatures:
            replace(self.settings.sampling, temperature=temperature)
        grid(self.drafts, self.rules, self.gammas, self.temperatures)

    @classmethod
    def from_controls(
        cls,
        drafts: Sequence[str] | None,
        rules: Sequence[str] | None,
        gammas: Sequence[int | str] | None,
        sentences: float | None,
        judged: bool,
        fresh: bool,
        *settings: Any,
    ) -> "Plan":
        """From the tab's form and the shared settings, of which draft, rule, γ and tolerance do
        not matter. Raises where something is missing or out of range."""
        if not isinstance(sentences, (int, float)) or sentences != int(sentences):
            raise ForespeakError(f"Choose 1 to {MOST} sentences.")
        order = Order.from_controls("", *settings)
        return cls(
            order.voice,
            tuple(drafts or ()),
            tuple(rules or ()),
            tuple(gammas or ()),
            (order.sampling.temperature,),
            int(sentences),
            Settings(order.sampling, seed=order.seed, rate=order.rate),
            bool(judged),
            None,
            bool(fresh),
        )

    @classmethod
    def from_command(
        cls,
        voice: str,
        drafts: str | None,
        rules: str | None,
        gammas: str,
        sentences: int,
        settings: Settings,
        judged: bool,
        results: Path | None,
    ) -> "Plan":
        """From the command's options: names with commas between; None is all there are."""
        return cls(
            voice,
            _names(drafts, DRAFTS),
            _names(rules, RULES),
            _names(gammas),
            (settings.sampling.temperature,),
            sentences,
            # Draft and rule are the cells'.
            Settings(settings.sampling, seed=settings.seed, rate=settings.rate),
            judged,
            results,
        )

    def cells(self, offered: Sequence[str]) -> list[Cell]:
        """offered: the drafts that the voice has; who asked for all drafts asked for those."""
        everything = self.drafts == tuple(DRAFTS)
        drafts = [name for name in self.drafts if name in offered or not everything]
        return grid(drafts, self.rules, self.gammas, self.temperatures, offered)

    def header(self, engine: Engine) -> Header:
        return Header.of(engine, self.settings, bench_sentences.SENTENCES, __version__)

    def path(self, header: Header) -> Path:
        """Where the results are kept. What is there is set aside if it must be measured anew."""
        path = self.results or default_folder() / f"{header.mark}.jsonl"
        if self.fresh and path.exists():
            stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
            path.rename(path.with_name(f"{path.stem}-until-{stamp}{path.suffix}"))
        return path


def _names(given: str | None, everything: Iterable[str] = ()) -> tuple[str, ...]:
    if given is None:
        return tuple(everything)
    return tuple(name.strip() for name in given.split(",") if name.strip())


def default_folder() -> Path:
    """Where results are kept unless another file is named."""
    return user_data_path("forespeak", appauthor=False) / "bench"
