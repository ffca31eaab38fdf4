"""What counts say: known values, and a thousand simulated tests whose truth is known."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from app.listen.ballots import Ballot, Start, Vote, head_of, shared_head
from app.listen.design import AB, ABX
from app.listen.sessions import draw, seed_of
from app.listen.verdict import (
    ANSWERS,
    Count,
    count_pairs,
    count_votes,
    critical,
    detectable,
    judge_pooled,
    least_trials,
)
from app.listen.verdict import judge as judge_unit
from tests.app.listen.helpers import make_test

TESTS, TRIALS = 1000, 16
SIGMA = 4  # of the simulation: one such check in 16,000 fails by chance, and always or never here


def judge(kind, count):
    return judge_unit(kind, count, ANSWERS)


@pytest.mark.parametrize(
    ("of", "abx", "ab"), [(10, 9, 9), (12, 10, 10), (16, 12, 13), (20, 15, 15), (30, 20, 21)]
)
def test_the_smallest_significant_counts_of_the_tables(of, abx, ab):
    assert (critical(ABX, of), critical(AB, of)) == (abx, ab)


@pytest.mark.parametrize("kind", [ABX, AB])
@pytest.mark.parametrize("of", [1, 4, 5, 6, 17, 100])
def test_significant_from_the_critical_count_on(kind, of):
    found = [right for right in range(of // 2, of + 1) if judge(kind, Count(right, of)).significant]
    assert found == list(range(critical(kind, of) or of + 1, of + 1))


def test_p_values_by_hand():
    assert judge(ABX, Count(5, 5)).p == pytest.approx(1 / 32)
    assert judge(AB, Count(0, 6)).p == pytest.approx(2 / 64)
    assert judge(ABX, Count(0, 5)).p == 1


def test_few_trials_can_never_be_significant():
    assert (least_trials(ABX), least_trials(AB)) == (5, 6)
    assert detectable(AB, 5) is None


def test_no_votes_for_either():
    verdict = judge(AB, Count(0, 0, 7))
    assert (verdict.p, verdict.interval, verdict.detects) == (1, (0, 1), None)


@pytest.mark.parametrize("kind", [ABX, AB])
@pytest.mark.parametrize("of", [6, 16, 50])
def test_the_detectable_share_is_found_with_the_power_it_claims(kind, of):
    share, least = detectable(kind, of), critical(kind, of)
    assert binom.sf(least - 1, of, share) >= 0.8
    assert binom.sf(least - 1, of, share - 0.01) < 0.8
    assert 100 * share == pytest.approx(round(100 * share))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.7, 0.99])
@pytest.mark.parametrize("of", [5, 16, 40])
def test_the_interval_covers_the_truth_at_least_95_percent_of_the_time(share, of):
    """Exactly, over all counts."""
    intervals = (judge(ABX, Count(right, of)).interval for right in range(of + 1))
    covered = [low <= share <= high for low, high in intervals]
    assert binom.pmf(np.flatnonzero(covered), of, share).sum() >= 0.95


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    from app.listen.store import Store

    return make_test(Store(tmp_path_factory.mktemp("tests")), trials=TRIALS)


def simulated(design, share):
    """TESTS listeners who each hear X rightly in that share of their trials; their verdicts."""
    rng = np.random.default_rng(round(100 * share))
    judged = {right: judge(ABX, Count(right, TRIALS)) for right in range(TRIALS + 1)}
    return [judged[count_votes(ballot(design, f"{n}", share, rng)).right] for n in range(TESTS)]


def ballot(design, session, share, rng):
    seed = seed_of(design, session)
    votes = []
    for number, t in enumerate(draw(design, seed)):
        right = "A" if t.a == t.x else "B"
        choice = right if rng.random() < share else {"A": "B", "B": "A"}[right]
        votes.append(vote(number, t.item, (t.a, t.b, t.x), choice))
    return Ballot(head_of(design, Start("", ""), session, seed), tuple(votes))


def vote(number, item, ways, choice):
    return Vote(number, item, "text", 1, "1.wav", "2.wav", False, *ways, choice, "", "")


def margin(rate):
    return SIGMA * (rate * (1 - rate) / TESTS) ** 0.5


def covered(verdicts, share):
    return np.mean([v.interval[0] <= share <= v.interval[1] for v in verdicts])


class TestThousandSimulatedTests:
    def test_who_is_always_right_is_always_found(self, design):
        verdicts = simulated(design, 1)
        assert all(v.significant and v.count.right == TRIALS for v in verdicts)
        assert covered(verdicts, 1) == 1

    def test_who_guesses_is_rarely_found(self, design):
        verdicts = simulated(design, 0.5)
        expected = binom.sf(critical(ABX, TRIALS) - 1, TRIALS, 0.5)
        assert expected < 0.05
        found = np.mean([v.significant for v in verdicts])
        assert abs(found - expected) < margin(expected)
        assert covered(verdicts, 0.5) > 0.95 - margin(0.95)
        rights = Counter(v.count.right for v in verdicts)
        assert abs(np.average(list(rights), weights=list(rights.values())) - 8) < 0.3

    def test_who_hears_seven_in_ten_is_found_as_often_as_the_law_says(self, design):
        verdicts = simulated(design, 0.7)
        expected = binom.sf(critical(ABX, TRIALS) - 1, TRIALS, 0.7)
        found = np.mean([v.significant for v in verdicts])
        assert abs(found - expected) < margin(expected)
        assert covered(verdicts, 0.7) > 0.95 - margin(0.95)


def votes_of(design, *choices):
    """An AB ballot in which A is always the first way."""
    votes = (
        vote(n, n, (design.first, design.second, ""), choice) for n, choice in enumerate(choices)
    )
    return Ballot(shared_head(design), tuple(votes))


def test_ties_are_counted_apart(store):
    design = make_test(store, AB)
    assert count_votes(votes_of(design, "A", "none", "B", "A", "none")) == Count(2, 3, 2)
    assert Count(2, 3, 2) + Count(1, 4, 0) == Count(3, 7, 2)


def test_a_pair_of_clips_counts_once(store):
    design = make_test(store, AB)
    ballots = [votes_of(design, *choices) for choices in ("ABAn", "ABBn", "AABA")]
    ballots = [
        replace(b, votes=tuple(replace(v, choice=v.choice.replace("n", "none")) for v in b.votes))
        for b in ballots
    ]
    assert count_pairs(ballots) == Count(2, 4, 0)
    assert count_pairs(ballots[:2]) == Count(1, 2, 2)


LISTENERS, AGREE = 12, 0.9


def pooled_by_takes(design, rng):
    """Listeners who agree on which take of a pair is the nicer one, whatever made it."""
    nicer = rng.choice([design.first, design.second], TRIALS)
    ballots = []
    for n in range(LISTENERS):
        seed = seed_of(design, f"{rng.integers(1 << 60)} {n}")
        votes = []
        for number, t in enumerate(draw(design, seed)):
            liked = "A" if t.a == nicer[t.item] else "B"
            choice = liked if rng.random() < AGREE else {"A": "B", "B": "A"}[liked]
            votes.append(vote(number, t.item, (t.a, t.b, t.x), choice))
        ballots.append(Ballot(head_of(design, Start("", ""), f"{n}", seed), tuple(votes)))
    return judge_pooled(design.kind, ballots)


@pytest.mark.parametrize("kind", [ABX, AB])
def test_listeners_who_agree_on_takes_find_no_difference_between_equal_ways(store, kind):
    """Tested by votes, AB would find one in most of these tests."""
    design, rng, tests = make_test(store, kind, TRIALS), np.random.default_rng(5), 200
    found = np.mean([pooled_by_takes(design, rng).significant for _ in range(tests)])
    assert found <= 0.05 + 3 * (0.05 * 0.95 / tests) ** 0.5
