"""Results as words and as a figure."""

import re

import pytest

from app.listen.ballots import shared_head
from app.listen.design import AB, ABX
from app.listen.figure import render
from app.listen.verdict import ANSWERS, PAIRS, VOTES, Count
from app.listen.verdict import judge as judge_unit
from app.listen.words import Pairs, left_out, percentage, probability, tell, tell_pooled
from tests.app.listen.helpers import make_test


@pytest.fixture
def head(store):
    """Makes what the sessions of a test have in common."""
    return lambda kind=ABX, **changes: shared_head(make_test(store, kind, 6, **changes))


def judge(kind, count, unit=None):
    return judge_unit(kind, count, unit or (ANSWERS if kind == ABX else VOTES))


def told(head, kind, *count, same=0, unit=None):
    """All sentences, the finding first."""
    of = sum(count[1:])
    found = tell(judge(kind, Count(*count), unit), head, Pairs(same, of))
    return " ".join((found.finding, *found.words))


class TestWords:
    def test_significant(self, head):
        found = tell(judge(ABX, Count(12, 16)), head(), Pairs(0, 16))
        assert found.finding.startswith(
            "Significant: guessing alone does so well or better in 3.8%"
        )
        assert "can be told apart" in found.finding
        assert found.significant
        words = " ".join(found.words)
        assert "12 of 16 answers are right" in words
        assert "with 95% confidence between 48% and 93%" in words
        assert "looks to both sides" in words

    def test_not_significant_is_never_identical(self, head):
        words = told(head(), ABX, 9, 16)
        assert words.startswith("Not significant")
        assert "does not show that the two are identical" in words
        assert "a true share of 81% is found at least 80% of the time" in words

    def test_preference(self, head):
        words = told(head(AB), AB, 1, 12, 4)
        assert "1 vote for Baseline, 11 for Speculative sampling (lossless), and 4" in words
        assert "Speculative sampling (lossless) is preferred" in words
        assert "The true share of votes for Baseline is with 95% confidence" in words
        assert "does not show that the two are equally good" in told(head(AB), AB, 6, 12)

    def test_pooled_preferences_are_told_by_pairs(self, head):
        verdict = judge(AB, Count(9, 14, 2), PAIRS)
        words = " ".join(tell_pooled(verdict, head(AB), Pairs(0, 16), 20).words)
        assert "Most listeners prefer Baseline in 9 pairs of clips" in words
        assert "2 without a majority" in words
        assert "Each pair of clips counts once" in words

    def test_pooled_answers_say_whom_the_interval_describes(self, head):
        verdict = judge(ABX, Count(30, 48))
        words = " ".join(tell_pooled(verdict, head(), Pairs(0, 16), 3).words)
        assert "these listeners and clips" in words

    def test_too_few(self, head):
        assert "cannot be significant" in told(head(AB), AB, 2, 3, 3)

    def test_nobody_preferred_either(self, head):
        words = told(head(AB), AB, 0, 0, 6)
        assert words.startswith("Nobody preferred either")
        assert "share" not in words

    @pytest.mark.parametrize("second", ["lossless", "ssd", "draft-alone", "codec-ceiling"])
    def test_clips_that_differ_are_two_takes(self, head, second):
        assert "different takes" in told(head(second=second), ABX, 16, 16)
        assert "different takes" not in told(head(AB, second=second), AB, 16, 16)

    @pytest.mark.parametrize("kind", [ABX, AB])
    @pytest.mark.parametrize("right", [0, 8, 16])
    def test_of_equal_clips_nothing_is_found(self, head, kind, right):
        found = tell(judge(kind, Count(right, 16)), head(kind), Pairs(16, 16))
        assert "same, sample for sample" in found.finding
        assert "ignificant" not in found.finding
        assert (found.words, found.significant) == ((), False)

    def test_some_equal_clips_are_counted(self, head):
        assert "In 3 of 16 pairs the two clips are the same" in told(head(), ABX, 8, 16, same=3)
        assert "sample for sample" not in told(head(), ABX, 8, 16)

    def test_fewer_right_than_by_chance(self, head):
        assert "swapped" in told(head(), ABX, 2, 16)
        assert "swapped" not in told(head(), ABX, 6, 16)

    def test_sessions_that_do_not_count(self):
        assert list(left_out("late", [])) == []
        assert list(left_out("late", [2, 5])) == [
            "Not counted, because late: Session 2, Session 5."
        ]
        (many,) = left_out("late", range(30))
        assert many.endswith("Session 9 and 20 more.")

    @pytest.mark.parametrize(
        ("p", "text"), [(0.03841, "3.8%"), (1.0, "100.0%"), (1e-9, "less than 0.1%")]
    )
    def test_probabilities(self, p, text):
        assert percentage(p) == text

    @pytest.mark.parametrize("p", [0.0501, 0.0504, 0.050001, 0.0499, 0.04999])
    def test_no_probability_is_rounded_across_the_level(self, p):
        assert (float(percentage(p)[:-1]) <= 5) == (p <= 0.05)
        assert (float(probability(p)[4:]) <= 0.05) == (p <= 0.05)


class TestFigure:
    def texts(self, svg):
        return re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode())

    def test_it_says_what_was_found(self, head):
        verdicts = {"session 1": judge(ABX, Count(5, 6)), "all": judge(ABX, Count(17, 24))}
        texts = self.texts(render(head(), verdicts, "svg"))
        assert "Baseline against Speculative sampling (lossless)" in texts
        assert "17 of 24 right · p = 0.032" in texts
        assert {"session 1", "all", "83%", "71%", "17"} <= set(texts)

    def test_many_sessions_have_no_names(self, head):
        verdicts = {f"session {n}": judge(AB, Count(3, 6)) for n in range(40)}
        texts = self.texts(render(head(AB), verdicts | {"all": judge(AB, Count(120, 240))}, "svg"))
        assert "all" in texts
        assert "session 3" not in texts

    def test_before_anybody_has_finished(self, head):
        texts = self.texts(render(head(AB), {"all": judge(AB, Count(0, 0))}, "svg"))
        assert "0 of 0 for Baseline · p = 1.000" in texts

    def test_many_votes_are_few_things_to_draw(self, head):
        """It is drawn again whenever somebody looks at new results."""
        verdicts = {f"session {n}": judge(ABX, Count(50, 100)) for n in range(200)}
        few = render(head(), {"all": judge(ABX, Count(10_000, 20_000))}, "svg")
        many = render(head(), verdicts | {"all": judge(ABX, Count(10_000, 20_000))}, "svg")
        assert few.count(b"<path") < 100
        assert many.count(b"<path") < few.count(b"<path") + 250

    def test_png(self, head):
        content = render(head(), {"all": judge(ABX, Count(6, 6))}, "png")
        assert content.startswith(b"\x89PNG")

    def test_equal_results_give_equal_files(self, head):
        one = head()
        verdicts = {"all": judge(ABX, Count(6, 6))}
        assert render(one, verdicts, "svg") == render(one, verdicts, "svg")
