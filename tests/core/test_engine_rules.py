"""The engine with every rule, and with windows that adapt: what reaches the loop and the trace."""

from collections import Counter
from dataclasses import replace

import pytest

from core.engine import Settings
from core.errors import ForespeakError
from core.speedup import Costs, Outlook
from core.trace import Trace
from core.verify import RULES, Rule
from tests.fake_voice import fake_engine

TEXT = "hello there my friend\nand another"
OUTLOOK = Outlook(0.6, Costs.steady(0.1, (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8)))


def trace(**settings: object) -> Trace:
    return fake_engine().trace(TEXT, Settings(**settings))


def tokens_of(run: Trace) -> list[int]:
    return [token for round_ in run.rounds for token in round_.tokens]


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_every_rule_speaks_to_the_end_and_says_what_it_is(rule: Rule) -> None:
    """The badge of a run comes from its trace."""
    run = trace(rule=rule.name)
    codec = fake_engine().voice.codec
    assert len(tokens_of(run)) == sum(s.frames for s in run.sentences) * codec.num_codebooks
    assert (run.rule, run.lossless) == (rule.name, rule.lossless)
    assert run.tolerance == (rule.tolerance and rule.tolerance.value)
    assert not run.adaptive


@pytest.mark.parametrize(("rule", "loose"), [("ssd", 0.9), ("vadusa", 50), ("pcg", 2.0)])
def test_more_tolerance_accepts_more(rule: str, loose: float) -> None:
    """A tolerance that never reaches the rule, or groups that do not."""
    strict = RULES[rule].tolerance.least
    runs = [trace(rule=rule, tolerance=value, seed=5) for value in (strict, loose)]
    assert [run.tolerance for run in runs] == [strict, loose]
    assert len(runs[1].rounds) < len(runs[0].rounds)


def test_a_tolerance_that_is_none_is_refused_before_anything_is_said() -> None:
    with pytest.raises(ForespeakError, match="no tolerance"):
        Settings(rule="lossless", tolerance=0.1)
    with pytest.raises(ForespeakError, match="out of range"):
        Settings(rule="ssd", tolerance=7)


def test_adaptive_windows_change_and_the_trace_says_so() -> None:
    """Up to γ, and across sentences; a baseline has nothing to adapt."""
    long = "\n".join([TEXT] * 10)
    run = fake_engine().trace(long, Settings(adaptive=OUTLOOK, gamma=8))
    assert run.adaptive
    assert len(Counter(len(round_.draft_tokens) for round_ in run.rounds)) > 2
    narrow = trace(adaptive=OUTLOOK, gamma=2)
    assert max(len(round_.draft_tokens) for round_ in narrow.rounds) == 2
    assert not trace(adaptive=OUTLOOK, gamma=0).adaptive


def test_what_one_sentence_has_taught_the_next_one_knows() -> None:
    """Else each would begin with what was believed at first, which is wrong here."""
    wrong = replace(OUTLOOK, alpha=0.999)
    run = fake_engine().trace("\n".join([TEXT] * 10), Settings(adaptive=wrong, gamma=8))
    first = [r for r in run.rounds if r.position == 0]
    assert len(first) == 20
    assert len(first[0].draft_tokens) == 8
    assert max(len(round_.draft_tokens) for round_ in first[-5:]) < 8


def test_a_run_that_adapts_can_be_repeated() -> None:
    """Same seed, same settings: same sound. What was measured is a setting, too."""
    settings = Settings(adaptive=OUTLOOK, gamma=8, seed=3)
    engine = fake_engine()
    first = tokens_of(engine.trace(TEXT, settings))
    engine.trace(TEXT, replace(settings, seed=4))
    assert tokens_of(engine.trace(TEXT, settings)) == first


def test_same_seed_does_not_care_how_windows_are_chosen() -> None:
    baseline = tokens_of(trace(rule="same-seed", gamma=0))
    assert tokens_of(trace(rule="same-seed", adaptive=OUTLOOK, gamma=8)) == baseline
