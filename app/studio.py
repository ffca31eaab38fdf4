"""Engines that are ready to be heard, and who may use them when."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from statistics import median

from app.faults import explain
from app.turns import Turns
from core.costs import mean_acceptance
from core.engine import Engine, RoundDone, Settings, Started
from core.errors import ForespeakError
from core.metrics import Meter
from core.outlook import TRIAL, measure_outlook
from core.speedup import Outlook
from core.trace import Trace

WARM_UP = "Hi."
TIMES_MEASURED = 3
MEASURED = Settings()  # with which α, c and v are measured

LOADING = "Loading the voice…"
WARMING = "Warming up, and measuring this computer…"
READY = "Ready."


def load_engine(voice: str, device: str, settings: Settings | None = None) -> Engine:
    """The voice, warm. Raises ForespeakError where it cannot be loaded."""
    engine = Engine.load(voice, device)
    warm_up(engine, settings or Settings())
    return engine


def warm_up(engine: Engine, settings: Settings) -> None:
    """The first sound is slow (caches, kernels, text tools that load late): nobody should hear it
    or time it."""
    engine.trace(WARM_UP, settings)


@dataclass(frozen=True)
class State:
    """How far a voice is: loading, warming, ready or failed; text is for the page.

    sample_rate (Hz) and baseline_tokens_per_s, measured on this computer: once it is ready.
    """

    state: str
    text: str
    sample_rate: int | None = None
    baseline_tokens_per_s: float | None = None


@dataclass(frozen=True)
class Measured:
    """A run with a draft, against the baseline as it was right after it."""

    gamma: int
    speedup: float


@dataclass(frozen=True)
class Ready:
    """A warm voice, and what was measured of it on this computer.

    outlooks: of each draft that was measured, under the rule MEASURED has; the first is the one
    that everything begins with. measured: the latest run that was compared; None if there was none
    yet. alphas: of drafts under other rules, as their latest runs showed.
    """

    engine: Engine
    baseline_tokens_per_s: float
    outlooks: Mapping[str, Outlook]
    measured: Measured | None = None
    alphas: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def outlook(self) -> Outlook:
        """Of the draft that everything begins with."""
        return next(iter(self.outlooks.values()))

    @property
    def gamma(self) -> int:
        """The automatic γ."""
        return self.outlook.gamma

    def outlook_of(self, draft: str, rule: str) -> Outlook:
        """What a draft that was measured yields and costs under a rule, as far as is known."""
        outlook = self.outlooks[draft]
        return replace(outlook, alpha=self.alphas.get((draft, rule), outlook.alpha))


class Studio:
    """All voices of the page, each loaded once, when it is first needed.

    There is one processor: who uses a voice waits for their turn. A load that failed is tried
    again by the next who asks.
    """

    def __init__(self, load: Callable[[str], Engine], device: str = "auto"):
        """load: gives the engine of a voice's name; it need not be warm. device: where it is."""
        self.device = device
        self._load = load
        self._turns = Turns()
        self._loading = threading.Lock()
        self._ready: dict[str, Ready] = {}
        self._states: dict[str, State] = {}  # of voices that are not ready

    def state(self, voice: str) -> State:
        """How far a voice is; answers at once."""
        ready = self.found(voice)
        if ready is None:
            return self._states.get(voice, State("loading", LOADING))
        rate = ready.engine.voice.codec.sample_rate
        return State("ready", READY, rate, ready.baseline_tokens_per_s)

    def found(self, voice: str) -> Ready | None:
        """The voice if it is ready; answers at once."""
        return self._ready.get(voice)

    def ready(self, voice: str) -> Ready:
        """The voice, loaded if need be. Raises ForespeakError where that fails."""
        with self._loading:
            if voice not in self._ready:
                self._ready[voice] = self._prepare(voice)
            return self._ready[voice]

    def renew(
        self, voice: str, baseline_tokens_per_s: float, measured: Measured | None = None
    ) -> Ready:
        """Take a newer measurement of the baseline: a computer is not always equally fast.

        measured: the run that was compared with it, if one was.
        """
        with self._loading:
            ready = self._ready[voice]
            ready = replace(
                ready,
                baseline_tokens_per_s=baseline_tokens_per_s,
                measured=measured or ready.measured,
            )
            self._ready[voice] = ready
            return ready

    def outlook(self, voice: str, draft: str, rule: str) -> Outlook:
        """Of a voice that is in use; a draft is measured when it is first asked for."""
        ready = self.ready(voice)
        if draft not in ready.outlooks:
            outlook = measure_outlook(ready.engine, replace(MEASURED, draft=draft))
            with self._loading:
                ready = self._ready[voice]
                ready = replace(ready, outlooks={**ready.outlooks, draft: outlook})
                self._ready[voice] = ready
        return ready.outlook_of(draft, rule)

    def learn(self, voice: str, trace: Trace) -> None:
        """Take note of how much of a run was accepted, if its rule is not the one measured."""
        if trace.rule == MEASURED.rule or not any(round_.tested for round_ in trace.rounds):
            return
        with self._loading:
            ready = self._ready[voice]
            alphas = {
                **ready.alphas,
                (trace.draft, trace.rule): mean_acceptance(trace.rounds, trace.rule),
            }
            self._ready[voice] = replace(ready, alphas=alphas)

    @contextmanager
    def use(
        self,
        voice: str,
        tell: Callable[[str, str], None] = lambda *_: None,
        check: Callable[[], None] = lambda: None,
    ) -> Iterator[Ready]:
        """The voice, for nobody else inside.

        tell: told what is waited for, as a text and its state (queued, loading); check: called
        now and then meanwhile; what it raises ends the waiting.
        """

        def queued(ahead: int) -> None:
            tell(f"{ordinal(ahead + 1)} in the queue", "queued")

        with self._turns.turn(queued, check):
            if voice not in self._ready:
                tell(LOADING, "loading")
            ready = self.ready(voice)
            check()
            yield ready

    def _prepare(self, voice: str) -> Ready:
        try:
            self._states[voice] = State("loading", LOADING)
            engine = self._load(voice)
            self._states[voice] = State("warming", WARMING)
            first = replace(MEASURED, draft=engine.voice.drafts[0])
            warm_up(engine, first)
            plain = replace(first, gamma=0)
            baseline = median(measure_baseline(engine, plain) for _ in range(TIMES_MEASURED))
            return Ready(engine, baseline, {first.draft: measure_outlook(engine, first)})
        except Exception as error:
            self._states[voice] = State("failed", text := explain(error))
            raise ForespeakError(text) from error


def measure_baseline(
    engine: Engine, plain: Settings, check: Callable[[], None] = lambda: None
) -> float:
    """Tokens per second without a draft, on this computer and as it is now; takes a second.

    check: called now and then; what it raises ends the measurement.
    """
    meter = None
    with closing(engine.synthesize(TRIAL, plain)) as events:
        for event in events:
            check()
            if isinstance(event, Started):
                meter = Meter(event.trace)
            elif isinstance(event, RoundDone):
                meter.add_round(event.round)
    return meter.metrics(0.0).tokens_per_s


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …"""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
