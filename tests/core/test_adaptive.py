"""Windows that adapt: to the best γ, per codebook, without wavering; to none where none pays."""

from collections.abc import Callable
from functools import partial
from itertools import groupby, pairwise

import numpy as np
import pytest

from core.adaptive import Adaptive, Fixed
from core.speedup import Costs, Outlook
from core.trace import Round

V = tuple(1 + 0.12 * n for n in range(9))
CHEAP = Costs.steady(0.08, V)
DEAR = Costs.steady(0.5, tuple(1 + 0.3 * n for n in range(9)))


def round_of(position: int, drafted: int, accepted: int) -> Round:
    half = (0.5,) * drafted
    return Round(position, (1,) * drafted, half, half, accepted, 0, 0.5, (), 0.0, 0.0)


class Speech:
    """Rounds whose guesses are accepted with α of their codebook; nothing else decides."""

    def __init__(self, window: Adaptive | Fixed, seed: int = 0):
        self.window = window
        self.gammas: list[tuple[int, int]] = []  # (codebook of the first token, γ)
        self._rng = np.random.default_rng(seed)
        self._position = 0

    def go_on(self, alphas: tuple[float, ...], tokens: int, costs: Costs = CHEAP) -> float:
        """Tokens per unit of cost over at least so many tokens."""
        begun, spent = self._position, 0.0
        while self._position < begun + tokens:
            position, gamma = self._position, self.window.gamma(self._position)
            accepted = 0
            while (
                accepted < gamma
                and self._rng.random() < alphas[(position + accepted) % len(alphas)]
            ):
                accepted += 1
            self.window.learn(round_of(position, gamma, accepted))
            self.gammas.append((position % len(alphas), gamma))
            self._position += accepted + 1
            spent += costs.of_round(gamma)
        return (self._position - begun) / spent


ALIKE = {alpha: (alpha,) * 4 for alpha in (0.3, 0.6, 0.8, 0.9)}
UNLIKE = {"first hard": (0.35, 0.85, 0.9, 0.9), "last hard": (0.9, 0.9, 0.85, 0.35)}


@pytest.mark.parametrize("believed", [0.5, 0.85])
@pytest.mark.parametrize("name", [*ALIKE, *UNLIKE])
def test_it_is_as_fast_as_the_best_fixed_window(name: str | float, believed: float) -> None:
    """Whatever it believed at first; on uneven codebooks it may even be faster."""
    alphas = (ALIKE | UNLIKE)[name]
    fixed = max(Speech(Fixed(gamma)).go_on(alphas, 20_000) for gamma in range(9))
    adaptive = Speech(Adaptive(Outlook(believed, CHEAP), 4)).go_on(alphas, 20_000)
    assert adaptive > 0.97 * fixed


@pytest.mark.parametrize("alpha", [0.8, 0.9])
def test_chance_in_a_short_sentence_does_not_choose_windows(alpha: float) -> None:
    """Most texts are over before α of each codebook is known better than it was beforehand."""

    def speed(window: Callable[[], Adaptive | Fixed]) -> float:
        return np.mean([Speech(window(), n).go_on((alpha,) * 4, 150) for n in range(150)])

    fixed = max(speed(partial(Fixed, gamma)) for gamma in range(9))
    assert speed(lambda: Adaptive(Outlook(alpha, CHEAP), 4)) > 0.99 * fixed


def test_uneven_codebooks_get_windows_of_their_own() -> None:
    """One window for all could not tell a round that meets the hard codebook at once."""
    fixed = max(Speech(Fixed(gamma)).go_on(UNLIKE["last hard"], 40_000) for gamma in range(9))
    speech = Speech(Adaptive(Outlook(0.8, CHEAP), 4))
    assert speech.go_on(UNLIKE["last hard"], 40_000) > 1.01 * fixed


@pytest.mark.parametrize("alpha", [0.3, 0.6, 0.8, 0.9, 1.0])
def test_a_constant_alpha_is_no_reason_to_waver(alpha: float) -> None:
    """Without hysteresis noise moves γ to and fro, and each move costs a graph or a cache miss."""
    speech = Speech(Adaptive(Outlook(alpha, CHEAP), 4))
    speech.go_on((alpha,) * 4, 8000)
    for codebook in range(4):
        gammas = [gamma for phase, gamma in speech.gammas if phase == codebook]
        switches = sum(one != other for one, other in pairwise(gammas))
        assert switches < len(gammas) / 20


@pytest.mark.parametrize(("alpha", "c"), [(0.95, 1.5), (1.0, 2.0), (0.95, 0.85), (0.8, 0.65)])
def test_a_guess_that_is_right_but_dear_is_left_alone(alpha: float, c: float) -> None:
    """A probe that is accepted is no reason to probe on and on."""
    costs = Costs.steady(c, V)
    speech = Speech(Adaptive(Outlook(alpha, costs), 4))
    speech.go_on((alpha,) * 4, 2000, costs)
    best = max(Speech(Fixed(gamma)).go_on((alpha,) * 4, 8000, costs) for gamma in range(9))
    assert speech.go_on((alpha,) * 4, 8000, costs) > 0.97 * best


def test_what_could_never_pay_is_not_even_probed() -> None:
    costs = Costs.steady(1.5, V)
    speech = Speech(Adaptive(Outlook(0.5, costs), 4))
    speech.go_on((1.0,) * 4, 2000, costs)
    speech.gammas.clear()
    speech.go_on((1.0,) * 4, 4000, costs)
    assert {gamma for _, gamma in speech.gammas} == {0}


def test_probes_come_in_short_series() -> None:
    """However right they are: one guess may cost more than it yields even so."""
    costs = Costs.steady(0.85, V)
    speech = Speech(Adaptive(Outlook(0.3, costs), 1))
    speech.go_on((1.0,), 2 * Adaptive.PATIENCE, costs)
    series = [len(list(run)) for gamma, run in groupby(speech.gammas) if gamma[1]]
    assert series == [Adaptive.PROBE + 1]


def test_where_nothing_pays_it_stops_but_for_probes() -> None:
    """Guesses that are dear and mostly wrong: what is left is the baseline, nearly."""
    speech = Speech(Adaptive(Outlook(0.7, DEAR), 4))
    speech.go_on((0.1,) * 4, 2000, DEAR)
    speech.gammas.clear()
    assert speech.go_on((0.1,) * 4, 8000, DEAR) > 0.97
    drafted = [gamma for _, gamma in speech.gammas]
    assert set(drafted) == {0, 1}
    assert 0 < sum(drafted) < 1.3 * 4 * len(drafted) / Adaptive.PATIENCE


def test_it_comes_back_when_guesses_are_good_again() -> None:
    """Switched off for good, one hard sentence would spoil the rest of a long text."""
    costs = Costs.steady(0.3, V)
    speech = Speech(Adaptive(Outlook(0.7, costs), 4))
    speech.go_on((0.05,) * 4, 4000, costs)
    assert [gamma for _, gamma in speech.gammas[-10:]].count(0) >= 8
    speech.go_on((0.95,) * 4, 6000, costs)
    assert min(gamma for _, gamma in speech.gammas[-50:]) >= 3


def test_rows_after_a_rejection_say_nothing() -> None:
    """Counted as failures they would shrink every window: the counts are censored, not bad."""
    window = Adaptive(Outlook(0.9, CHEAP), 4)
    for position in range(0, 4000, 4):
        window.learn(round_of(position, 8, 3))  # always the last codebook fails
    assert window.gamma(0) == 3
    assert window.gamma(1) == 2
    assert window.gamma(3) == 0


def test_it_never_exceeds_what_the_costs_span() -> None:
    """A γ without a cost could not be weighed, and the trace has no room for it."""
    window = Adaptive(Outlook(0.99, CHEAP).within(3), 4)
    for position in range(0, 400, 4):
        window.learn(round_of(position, 3, 3))
        assert window.gamma(position) <= 3
