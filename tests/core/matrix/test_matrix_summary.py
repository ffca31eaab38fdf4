"""What samples say together, and who is on the Pareto front."""

import pytest

from core.bench import Spread
from core.matrix.cells import Cell
from core.matrix.results import Opinion
from core.matrix.summary import distance_of, front, summarize, wer_of, word_error_rate
from tests.core.matrix.samples import BASELINE, EXACT, RELAXED, sample


def test_medians_and_quartiles_are_over_the_sentences():
    row = summarize(EXACT, [sample(EXACT, n, speedup) for n, speedup in enumerate((1, 2, 3))])
    assert row.sentences == 3
    assert row.speedup == Spread(2, 1.5, 2.5)
    assert row.measured_over_predicted.median == pytest.approx(0.9)
    assert row.per_codebook == (Spread(0.5, 0.5, 0.5),) * 2
    assert row.wer is row.dnsmos is row.divergences is None


def test_a_baseline_predicts_nothing_and_has_no_draft():
    row = summarize(BASELINE, [sample(BASELINE, speedup=1.0)])
    assert row.alpha is row.c is row.predicted is row.acceptance_rate is None
    assert row.per_codebook == (None, None)


def test_wrong_words_are_counted_over_all_texts_and_against_the_baseline():
    row = summarize(EXACT, [sample(EXACT, 0, errors=2), sample(EXACT, 1, errors=4)])
    assert row.wer.value == pytest.approx(0.3)
    assert row.wer.low == pytest.approx(0.2)
    assert row.wer.high == pytest.approx(0.4)
    assert row.wer_change.value == pytest.approx(0.2)
    assert row.dnsmos_change.median == pytest.approx(-0.1)


def test_a_long_text_weighs_more_than_a_short_one():
    rate = word_error_rate([Opinion(0, 30, 3.0), Opinion(5, 10, 3.0)])
    assert rate.value == pytest.approx(5 / 40)
    assert word_error_rate([]) is None


def rows(*found):
    """(speed-up, distance, wrong words) of as many cells."""
    cells = [Cell("model", "ssd", 4, 0.8, tolerance / 20) for tolerance in range(len(found))]
    return [
        summarize(cell, [sample(cell, 0, speedup, distance, errors)])
        for cell, (speedup, distance, errors) in zip(cells, found, strict=True)
    ]


def test_the_front_has_whom_nobody_beats():
    slow, fast, beaten, wild = rows((2, 0.0, 1), (3, 0.1, 2), (2.5, 0.2, 0), (4, 0.3, 5))
    assert front([wild, beaten, fast, slow], distance_of) == [slow, fast, wild]
    assert front([wild, beaten, fast, slow], wer_of) == [beaten, fast, wild]


def test_rounding_is_no_distance_and_equals_are_both_on_the_front():
    one, two, three = rows((2, 3e-8, None), (2, 0.0, None), (1.9, 1e-8, None))
    assert front([one, two, three], distance_of) == [one, two]
    assert front([one, two, three], wer_of) == []


def test_only_same_seed_promises_the_baselines_tokens():
    cell = Cell("model", "same-seed", 4, 0.8)
    assert summarize(cell, [sample(cell)]).divergences == 0
    assert summarize(RELAXED, [sample(RELAXED)]).divergences is None
