"""Ways: how the clips of a listening test can be made."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from app.orders import Order
from core.ceiling import Recorded, decode
from core.engine import AudioReady, Engine
from core.errors import ForespeakError
from core.verify import RULES, Rule

BASELINE, DRAFT_ALONE, CEILING = "baseline", "draft-alone", "codec-ceiling"
# What is not drafted draws as the same-seed rule does, so that the two give the same clip.
PLAIN_NOISE = "same-seed"


@dataclass(frozen=True)
class Way:
    """title: for the page."""

    name: str
    title: str


def all_ways() -> dict[str, Way]:
    """Every way by its name: one for each rule, and what to compare those with."""
    found = [Way(BASELINE, "Baseline")]
    for rule in RULES.values():
        found.append(Way(rule.name, _rule_title(rule)))
    found.append(Way(DRAFT_ALONE, "Draft alone"))
    found.append(Way(CEILING, "Codec ceiling (recorded speech)"))
    return {way.name: way for way in found}


def _rule_title(rule: Rule) -> str:
    """With how far it goes, if it is relaxed, and always with what that means."""
    title = rule.title
    if rule.tolerance:
        letter = rule.tolerance.letter
        title = f"{title.removesuffix(f' {letter}')}, {letter} = {rule.tolerance.value:g}"
    return f"{title} ({'lossless' if rule.lossless else 'not lossless'})"


def find_way(name: str) -> Way:
    """The way of that name."""
    ways = all_ways()
    if name not in ways:
        raise ForespeakError(f"Unknown way {name!r}: choose one of {', '.join(ways)}.")
    return ways[name]


@dataclass(frozen=True)
class Booth:
    """Where clips are spoken: an engine, how fast it may guess, and the recorded sentences.

    check: called again and again; what it raises ends the work.
    """

    engine: Engine
    gamma: int
    recorded: Mapping[str, Recorded]
    check: Callable[[], None]

    def speak(self, way: str, order: Order) -> np.ndarray:
        """The order's text and seed in a way of that name; float32 [samples]."""
        if way == CEILING:
            return decode(self.engine.voice.codec, self.recorded[order.text])
        if way in RULES:
            settings = replace(order, rule=way).drafted(self.gamma)
        else:
            settings = replace(order, rule=PLAIN_NOISE).baseline()
        engine = self.engine.draft_alone() if way == DRAFT_ALONE else self.engine
        pieces = []
        with closing(engine.synthesize(order.text, settings)) as events:
            for event in events:
                self.check()
                if isinstance(event, AudioReady):
                    pieces.append(event.samples)
        if not pieces:
            raise ForespeakError(
                f"Nothing was said of “{order.text}”: it ended at once. Choose another text or "
                "seed."
            )
        return np.concatenate(pieces)
