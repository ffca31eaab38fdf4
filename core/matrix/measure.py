"""One sentence in one cell, beside the baseline."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from core.bench import SAME_SEED
from core.costs import mean_acceptance, measure_costs
from core.distance import Verified, path_distance
from core.engine import AudioReady, Engine, Finished, Settings
from core.matrix.cells import Cell
from core.matrix.results import Opinion, Sample
from core.metrics import measure
from core.outlook import LONGEST, measure_outlook
from core.rules.exact import Verdict
from core.sampling import Draws, Sampling
from core.speedup import Costs, Outlook, predict_speedup
from core.trace import Trace, first_difference
from core.verify import Rule

if TYPE_CHECKING:
    from core.quality import Judge

WARM_UP = "Hi."
Check = Callable[[], None]


def load_judge() -> "Judge | None":
    """Who says how well speech can be understood; None where the optional packages are missing."""
    try:
        from core.quality import Judge
    except ModuleNotFoundError:
        return None
    return Judge()


class Measurer:
    """Measures cell after cell with one voice.

    Both versions of a sentence are spoken one right after the other, in an order that
    alternates. What a draft needs to be measured at all (a warm-up; what drafting yields and
    costs, for an adaptive γ) comes before its first sentence, and is not counted.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        judge: "Judge | None" = None,
        check: Check = lambda: None,
    ):
        """settings: what all cells share (seed, rate, top-k, top-p). check: called again and
        again; what it raises ends the work."""
        self._engine = Watching(engine)
        self._settings = settings
        self._judge = judge
        self._check = check
        self._ready: dict[Cell, Settings] = {}
        self._opinions: dict[tuple[str, bytes], Opinion] = {}

    def measure(self, cell: Cell, number: int, text: str) -> Sample:
        """number: of the sentence."""
        if cell not in self._ready:
            self._ready[cell] = self._prepare(cell)
        ways = (replace(self._ready[cell], gamma=0), self._ready[cell])
        if number % 2:
            fast, plain = self._speak(text, ways[1]), self._speak(text, ways[0])
        else:
            plain, fast = self._speak(text, ways[0]), self._speak(text, ways[1])
        self._check()
        drafts = not cell.is_baseline
        costs = measure_costs(self._engine, ways[1], fast.trace) if drafts else None
        alpha = mean_acceptance(fast.trace.rounds, fast.trace.rule) if drafts else None
        rule, groups = self._engine.rule(ways[1]), self._engine.voice.codec.groups
        promised = drafts and cell.rule == SAME_SEED
        return Sample(
            cell=cell,
            sentence=number,
            baseline=measure(plain.trace),
            measured=measure(fast.trace),
            alpha=alpha,
            c=costs and costs.c,
            predicted=_predict(cell, alpha, costs),
            distance=path_distance(rule, groups, fast.rounds) if drafts else 0.0,
            divergence=first_difference(plain.trace, fast.trace) if promised else None,
            opinion=self._opinion(text, fast),
            baseline_opinion=self._opinion(text, plain),
        )

    def _prepare(self, cell: Cell) -> Settings:
        """The cell's settings, with its models warm."""
        sampling = replace(self._settings.sampling, temperature=cell.temperature)
        fixed = LONGEST if cell.gamma is None else cell.gamma
        settings = cell_settings(self._settings, cell, sampling, fixed)
        self._speak(WARM_UP, settings)
        if cell.gamma is not None:
            return settings
        outlook = measure_outlook(self._engine, settings)
        return replace(settings, gamma=outlook.widest, adaptive=outlook)

    def _speak(self, text: str, settings: Settings) -> "Spoken":
        self._engine.verified = []
        pieces, trace = [], None
        with closing(self._engine.synthesize(text, settings)) as events:
            for event in events:
                self._check()
                if isinstance(event, AudioReady):
                    pieces.append(event.samples)
                elif isinstance(event, Finished):
                    trace = event.trace
        return Spoken(trace, np.concatenate(pieces), list(self._engine.verified))

    def _opinion(self, text: str, spoken: "Spoken") -> Opinion | None:
        """Asked once of each sound: a lossless rule may give the baseline's own."""
        if self._judge is None:
            return None
        key = text, spoken.samples.tobytes()
        if key not in self._opinions:
            self._check()
            heard = self._judge.hear(spoken.samples, text, self._engine.voice.codec.sample_rate)
            self._opinions[key] = Opinion(heard.errors, heard.words, heard.ovrl)
        return self._opinions[key]


def cell_settings(shared: Settings, cell: Cell, sampling: Sampling, gamma: int) -> Settings:
    """Those of a cell's run with a fixed γ."""
    draft = shared.draft if cell.is_baseline else cell.draft
    return replace(
        shared,
        sampling=sampling,
        rule=cell.rule,
        tolerance=cell.tolerance,
        gamma=gamma,
        draft=draft,
        adaptive=None,
    )


def _predict(cell: Cell, alpha: float | None, costs: Costs | None) -> float | None:
    """For a γ that adapts, what the best fixed one would give. None for drafts that often guess
    fewer tokens than γ: the formula knows nothing of that."""
    if costs is None or cell.draft == "ngram":
        return None
    return Outlook(alpha, costs).speedup if cell.gamma is None else predict_speedup(alpha, costs)


@dataclass(frozen=True)
class Spoken:
    """samples: float32."""

    trace: Trace
    samples: np.ndarray
    rounds: list[Verified] = field(repr=False)


class Watching(Engine):
    """An engine that keeps what its rules saw, in `verified`: p and q over whole codebooks.

    Keeping them costs a round a millionth of a second; what is made of them comes afterwards.
    """

    def __init__(self, engine: Engine):
        super().__init__(engine.voice, engine.device)
        self.verified: list[Verified] = []

    def rule(self, settings: Settings) -> Rule:
        rule = super().rule(settings)
        return replace(rule, verify=partial(self._verify, rule))

    def _verify(self, rule: Rule, tokens: list[int], q: Tensor, p: Tensor, rng: Draws) -> Verdict:
        verdict = rule.verify(tokens, q, p, rng)
        self.verified.append(Verified(rng.position, tuple(tokens), q, p, verdict[0]))
        return verdict
