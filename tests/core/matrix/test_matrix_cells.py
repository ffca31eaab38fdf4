"""What is compared, and in which order."""

import pytest

from core.errors import ForespeakError
from core.matrix.cells import Cell, grid, todo


def test_every_draft_meets_every_rule_and_the_baseline_comes_first():
    cells = grid(["model", "ngram"], ["lossless", "ssd"], [4, "adaptive"], [0.0, 0.8])
    assert [cell.is_baseline for cell in cells].count(True) == 2
    assert len(cells) == 2 + 2 * 2 * 2 * 2
    assert cells[0].is_baseline
    assert len({cell.name for cell in cells}) == len(cells)
    assert Cell("ngram", "ssd", None, 0.8, 0.2) in cells


def test_a_rule_may_come_with_several_tolerances():
    cells = grid(["model"], ["ssd:0.1", "ssd:0.3", "ssd"], [4], [0.8])
    assert [cell.tolerance for cell in cells[1:]] == [0.1, 0.3, 0.2]
    assert grid(["model"], ["ssd", "ssd:0.2"], [4, 4], [0.8])[1:] == cells[3:]


@pytest.mark.parametrize(
    ("chosen", "part"),
    [
        ((["model"], ["best"], [4]), "Unknown rule 'best'"),
        ((["model"], ["ssd:much"], [4]), "'much'"),
        ((["model"], ["ssd:7"], [4]), "out of range"),
        ((["model"], ["lossless:1"], [4]), "no tolerance"),
        ((["model"], ["lossless"], [17]), "γ 17"),
        ((["model"], ["lossless"], ["many"]), "γ many"),
        ((["heads"], ["lossless"], [4]), "This voice has no draft 'heads'"),
        (([], ["lossless"], [4]), "No draft"),
        ((["model"], [], [4]), "No rule"),
        ((["model"], ["lossless"], []), "No γ"),
    ],
)
def test_what_there_is_not_is_refused(chosen, part):
    with pytest.raises(ForespeakError, match=part):
        grid(*chosen, [0.8], ("model", "ngram"))


def test_all_cells_have_the_first_sentence_before_any_has_the_second():
    one, other = grid(["model"], ["lossless"], [4], [0.8])
    assert list(todo([one, other], 2, [(other, 0)])) == [(one, 0), (one, 1), (other, 1)]
