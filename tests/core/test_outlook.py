"""What drafting yields and costs, from real rounds: on a clock that only models move."""

import pytest

import core.decode
from core.drafters import DraftModel
from core.engine import Settings
from core.errors import ForespeakError
from core.outlook import LONGEST, TRIALS, measure_outlook
from core.sampling import Sampling
from core.speedup import Costs, best_window
from core.verify import RULES
from core.voices.base import Plan
from tests.fake_voice import EndingVoice, fake_engine


@pytest.mark.parametrize(("alpha", "c", "gamma"), [(0.9, 0.05, 8), (0.5, 0.15, 2), (0.1, 0.5, 1)])
def test_the_best_gamma_is_that_of_the_best_predicted_speedup(
    monkeypatch, timed_engine, alpha: float, c: float, gamma: int
):
    """With passes that cost the same however wide they are, as on a large GPU."""
    assert best_window(alpha, Costs.steady(c, (1.0,) * (LONGEST + 1))) == gamma
    monkeypatch.setattr("core.outlook.mean_acceptance", lambda *_: alpha)
    assert (
        measure_outlook(timed_engine(target=(1, 0), draft=(c, 0)), Settings(gamma=4)).gamma == gamma
    )


def test_nothing_is_gained_where_every_token_of_a_pass_costs_alike(timed_engine):
    """Then the least window is the best; and γ 0, from which somebody comes, is no answer."""
    assert measure_outlook(timed_engine(target=(0, 1), draft=(1, 0)), Settings(gamma=0)).gamma == 1


@pytest.mark.parametrize("start", [0.0, 0.6])
def test_costs_are_those_of_rounds_as_they_are_in_use(monkeypatch, timed_engine, start: float):
    """What a proposal takes beside its steps would be next to nothing, spread over the widest
    window: short ones would look cheap."""
    propose = DraftModel.propose

    def slow(self, *given):
        core.decode.perf_counter.now += start
        return propose(self, *given)

    engine = timed_engine(target=(0.5, 0.5), draft=(0.1, 0))
    monkeypatch.setattr(DraftModel, "propose", slow)
    costs = measure_outlook(engine, Settings()).costs
    assert costs.v == pytest.approx([(1 + width) / 2 for width in range(1, LONGEST + 2)])
    drafted = [start + 0.1 * gamma for gamma in range(1, LONGEST + 1)]
    assert costs.draft == pytest.approx([0, *drafted])
    assert costs.c == pytest.approx(0.1 + start / LONGEST)


def test_proposals_that_are_shorter_than_asked_for_do_not_make_wide_passes_look_cheap(timed_engine):
    """Prompt lookup finds what it finds; most of what follows a match is shorter than γ."""
    engine = timed_engine(target=(0.5, 0.5), draft=(0, 0))
    costs = measure_outlook(engine, Settings(draft="ngram")).costs
    assert costs.v == pytest.approx([(1 + width) / 2 for width in range(1, LONGEST + 2)])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_the_best_gamma_of_a_real_clock_is_one_that_can_be_chosen(rule: str, temperature: float):
    settings = Settings(Sampling(temperature), rule)
    assert 1 <= measure_outlook(fake_engine(), settings).gamma <= LONGEST


class Shy(EndingVoice):
    """Says next to nothing, the first few times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    def plan(self, sentence: str, rate: float) -> Plan:
        self.left -= 1
        return super().plan("nothing" if self.left >= 0 else sentence, rate)


def test_another_seed_is_tried_where_the_trial_ended_at_once():
    """A voice that draws its end now and then must not fail to load; one that always does, must."""
    voice = Shy(TRIALS - 1)
    assert measure_outlook(fake_engine(voice), Settings(seed=3)).gamma >= 1
    assert voice.left == -1
    with pytest.raises(ForespeakError, match="too few"):
        measure_outlook(fake_engine(Shy(TRIALS)), Settings(seed=3))
