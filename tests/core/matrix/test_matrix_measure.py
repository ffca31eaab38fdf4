"""One sentence in one cell: over toy models, with a judge who listens."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from core.engine import Engine, Settings
from core.matrix.cells import Cell, grid
from core.matrix.measure import Measurer, Watching
from core.metrics import measure
from core.verify import RULES
from tests.fake_voice import fake_engine

TEXT = "a sentence that is long enough"


@dataclass
class Listening:
    """A judge that hears one wrong word, and counts how often it was asked."""

    asked: list[np.ndarray] = field(default_factory=list)

    def hear(self, waveform, text, sample_rate):
        assert (text, sample_rate) == (TEXT, 22050)
        self.asked.append(waveform)
        return type("Heard", (), {"errors": 1, "words": 6, "ovrl": 3.0})


@pytest.mark.parametrize("rule", RULES)
def test_lossless_rules_are_at_no_distance_from_the_target(rule):
    _, cell = grid(["model"], [rule], [3], [0.8])
    sample = Measurer(fake_engine(), Settings()).measure(cell, 0, TEXT)
    assert (sample.distance < 1e-12) is RULES[rule].lossless
    assert sample.measured.acceptance_length > 1 == sample.baseline.acceptance_length
    assert 0 < sample.alpha <= 1
    assert sample.predicted > 0
    assert sample.opinion is None


def test_both_ways_are_those_of_an_engine_that_nobody_watches():
    _, cell = grid(["model"], ["block"], [3], [0.5])
    sample = Measurer(fake_engine(), Settings(seed=4)).measure(cell, 0, TEXT)
    settings = Settings(rule="block", gamma=3, seed=4)
    plain = measure(fake_engine().trace(TEXT, settings))
    assert sample.measured.tokens == plain.tokens
    sampling = type(settings.sampling)(0.5)
    alone = fake_engine().trace(TEXT, Settings(sampling, "block", 3, 4))
    assert sample.measured.acceptance_length == measure(alone).acceptance_length


def test_what_a_rule_saw_is_kept_round_by_round():
    engine = Watching(fake_engine())
    trace = engine.trace(TEXT, Settings(gamma=3))
    assert [r.draft_tokens for r in engine.verified] == [r.draft_tokens for r in trace.rounds]
    assert [r.accepted for r in engine.verified] == [r.accepted for r in trace.rounds]
    assert [r.position for r in engine.verified] == [r.position for r in trace.rounds]


def test_a_sound_is_judged_once():
    """The baseline beside every cell is the same sound, and so is what same-seed gives."""
    judge = Listening()
    measurer = Measurer(fake_engine(), Settings(), judge)
    _, lossless, same = grid(["model"], ["lossless", "same-seed"], [3], [0.8])
    for cell in (lossless, same):
        sample = measurer.measure(cell, 0, TEXT)
        assert (sample.opinion.errors, sample.baseline_opinion.words) == (1, 6)
    sounds = {waveform.tobytes() for waveform in judge.asked}
    assert len(judge.asked) == len(sounds)


def test_a_baseline_is_measured_against_itself():
    sample = Measurer(fake_engine(), Settings()).measure(Cell("none", "lossless", 0, 0.8), 1, TEXT)
    assert sample.distance == 0
    assert sample.alpha is sample.c is sample.predicted is None
    assert sample.measured.tokens == sample.baseline.tokens


def test_the_order_alternates(monkeypatch):
    spoken = []
    speak = Engine.synthesize

    def noted(self, text, settings):
        spoken.append((text, settings.gamma))
        return speak(self, text, settings)

    monkeypatch.setattr(Engine, "synthesize", noted)
    _, cell = grid(["model"], ["lossless"], [3], [0.8])
    measurer = Measurer(fake_engine(), Settings())
    for number in (0, 1):
        measurer.measure(cell, number, TEXT)
    assert [gamma for text, gamma in spoken if text == TEXT] == [0, 3, 3, 0]
    assert len(spoken) == 5  # one to warm up


def test_an_adaptive_window_is_predicted_by_the_best_fixed_one(monkeypatch):
    monkeypatch.setattr("core.matrix.measure.LONGEST", 4)
    monkeypatch.setattr("core.outlook.LONGEST", 4)
    _, cell = grid(["model"], ["lossless"], ["adaptive"], [0.8])
    sample = Measurer(fake_engine(), Settings()).measure(cell, 0, TEXT)
    assert sample.predicted > 0
    assert len(sample.measured.per_position) == 4


def test_repetition_predicts_nothing():
    _, cell = grid(["ngram"], ["lossless"], [3], [0.8])
    assert Measurer(fake_engine(), Settings()).measure(cell, 0, TEXT).predicted is None


def test_a_run_that_nobody_wants_any_more_ends_at_once():
    def check():
        raise KeyboardInterrupt

    _, cell = grid(["model"], ["lossless"], [3], [0.8])
    with pytest.raises(KeyboardInterrupt):
        Measurer(fake_engine(), Settings(), check=check).measure(cell, 0, TEXT)
