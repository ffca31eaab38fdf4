"""Results as words and as a figure."""

import re

import pytest

from app.listen.ballots import head_of
from app.listen.design import AB, ABX
from app.listen.figure import render
from app.listen.verdict import Count, judge
from app.listen.words import chance, sentences
from tests.app.listen.helpers import make_test


@pytest.fixture
def head(store):
    """Makes what the sessions of a test have in common."""
    return lambda kind=ABX, **changes: head_of(make_test(store, kind, 6, **changes))


def told(head, kind, *count, same=False):
    return " ".join(sentences(judge(kind, Count(*count)), head, same))


class TestWords:
    def test_significant(self, head):
        words = told(head(), ABX, 12, 16)
        assert "12 of 16 answers are right" in words
        assert "Significant: guessing alone does so well or better in 3.8% of all tests" in words
        assert "can be told apart" in words
        assert "between 48% and 93%" in words
        assert "looks to both sides" in words

    def test_not_significant_is_never_identical(self, head):
        words = told(head(), ABX, 9, 16)
        assert "Not significant" in words
        assert "does not show that the two are identical" in words
        assert "a true share of 80% is found 80% of the time" in words

    def test_preference(self, head):
        words = told(head(AB), AB, 1, 12, 4)
        assert "1 votes for Baseline, 11 for Speculative sampling (lossless), and 4" in words
        assert "Speculative sampling (lossless) is preferred" in words
        assert "does not show that the two are equally good" in told(head(AB), AB, 6, 12)

    def test_too_few(self, head):
        assert "cannot be significant" in told(head(AB), AB, 2, 3, 3)
        assert "cannot be significant" in told(head(AB), AB, 0, 0, 6)

    def test_two_exact_ways_are_two_takes(self, head):
        assert "two takes" in told(head(), ABX, 16, 16)
        assert "two takes" not in told(head(second="draft-alone"), ABX, 16, 16)

    def test_only_the_same_clips_are_called_the_same(self, head):
        assert "sample for sample" in told(head(), ABX, 8, 16, same=True)
        assert "sample for sample" not in told(head(), ABX, 8, 16)

    @pytest.mark.parametrize(
        ("p", "text"), [(0.03841, "3.8%"), (1.0, "100.0%"), (1e-9, "less than 0.1%")]
    )
    def test_probabilities(self, p, text):
        assert chance(p) == text


class TestFigure:
    def texts(self, svg):
        return re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode())

    def test_it_says_what_was_found(self, head):
        verdicts = {"listener 1": judge(ABX, Count(5, 6)), "all": judge(ABX, Count(17, 24))}
        texts = self.texts(render(head(), verdicts, "svg"))
        assert "Baseline against Speculative sampling (lossless)" in texts
        assert "17 of 24 right · p = 0.032" in texts
        assert {"listener 1", "all", "83%", "71%", "17"} <= set(texts)

    def test_many_listeners_have_no_names(self, head):
        verdicts = {f"listener {n}": judge(AB, Count(3, 6)) for n in range(40)}
        texts = self.texts(render(head(AB), verdicts | {"all": judge(AB, Count(120, 240))}, "svg"))
        assert "all" in texts
        assert "listener 3" not in texts

    def test_before_anybody_has_finished(self, head):
        texts = self.texts(render(head(AB), {"all": judge(AB, Count(0, 0))}, "svg"))
        assert "0 of 0 for Baseline · p = 1.000" in texts

    def test_png(self, head):
        content = render(head(), {"all": judge(ABX, Count(6, 6))}, "png")
        assert content.startswith(b"\x89PNG")

    def test_equal_results_give_equal_files(self, head):
        one = head()
        verdicts = {"all": judge(ABX, Count(6, 6))}
        assert render(one, verdicts, "svg") == render(one, verdicts, "svg")
