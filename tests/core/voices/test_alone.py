"""The draft in its target's place."""

import torch

from core.drafters import LanguageModel
from core.engine import Engine, Settings
from core.sampling import Sampling
from core.voices.base import Plan
from tests.fake_voice import FakeVoice, fake_engine

GREEDY = Sampling(temperature=0)


class Swapped(FakeVoice):
    """The fake voice whose target speaks the draft's language."""

    def target(self, plan: Plan) -> LanguageModel:
        return self.draft(plan)


def tokens(engine: Engine, settings: Settings) -> list[int]:
    return [t for round_ in engine.trace("hello there", settings).rounds for t in round_.tokens]


def test_it_says_what_the_draft_says():
    said = tokens(fake_engine().draft_alone(), Settings(GREEDY, gamma=0))
    assert said == tokens(Engine(Swapped(), torch.device("cpu")), Settings(GREEDY, gamma=0))
    assert said != tokens(fake_engine(), Settings(GREEDY, gamma=0))


def test_a_draft_that_checks_itself_is_never_rejected():
    trace = fake_engine().draft_alone().trace("hello there", Settings(gamma=3))
    assert all(round_.accepted == len(round_.draft_tokens) for round_ in trace.rounds)


def test_its_runs_name_it():
    assert "draft alone" in fake_engine().draft_alone().trace("hello", Settings()).voice
