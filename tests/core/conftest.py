"""What several tests of the core need."""

from collections.abc import Callable

import pytest
import torch

from core.engine import Engine
from core.voices.base import Plan
from tests.core.clock import Clock
from tests.fake_voice import FakeVoice
from tests.fakes import ToyModel


@pytest.fixture
def timed_engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Engine]:
    """An engine whose passes take the given seconds, each a pair: a pass, and every row of it."""

    def build(target: tuple[float, float], draft: tuple[float, float]) -> Engine:
        clock = Clock()
        monkeypatch.setattr("core.decode.perf_counter", clock)

        class TimedVoice(FakeVoice):
            def target(self, plan: Plan) -> ToyModel:
                model = super().target(plan)
                clock.slow(model, "target", *target)
                return model

            def draft(self, plan: Plan) -> ToyModel:
                model = super().draft(plan)
                clock.slow(model, "draft", *draft)
                return model

        return Engine(TimedVoice(), torch.device("cpu"))

    return build
