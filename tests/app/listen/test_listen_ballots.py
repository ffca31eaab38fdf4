"""Votes as lines of a file: written once, read again, torn lines dropped, changes noticed."""

import csv
import io

import pytest

from app.listen.ballots import (
    COLUMNS,
    Ballot,
    Vote,
    append,
    from_csv,
    head_of,
    header,
    row,
    to_csv,
    whole_lines,
)
from core.errors import ForespeakError
from tests.app.listen.helpers import make_test

ODD_TEXT = 'She said "no", and =left; ünïcode 漢'


@pytest.fixture
def ballot(store):
    design = make_test(store)
    votes = (
        Vote(n, 4 - n, ODD_TEXT, 7, "baseline", "lossless", "lossless", "AB"[n % 2], "A 1.0", "now")
        for n in range(5)
    )
    return Ballot(head_of(design, "one", "0f"), tuple(votes))


def test_what_was_written_is_read(ballot):
    assert from_csv(to_csv([ballot])) == [ballot]
    assert from_csv("\ufeff" + to_csv([ballot]).replace("\n", "\r\n")) == [ballot]


def test_spreadsheets_find_everything(ballot):
    rows = list(csv.DictReader(io.StringIO(to_csv([ballot]))))
    assert [r["correct"] for r in rows] == ["0", "1", "0", "1", "0"]
    needed = "test session version voice kind first second temperature top_p gamma rate trials seed"
    needed += " trial text item a b x choice correct heard_s at"
    assert set(needed.split()) <= set(rows[0])


def test_a_torn_line_makes_room_for_the_next(ballot, tmp_path):
    path = tmp_path / "votes.csv"
    lines = [row(ballot.head, vote) for vote in ballot.votes]
    for torn in range(len(lines[1])):
        path.write_bytes(header() + lines[0] + lines[1][:torn])
        assert from_csv(whole_lines(path.read_bytes()).decode())[0].votes == ballot.votes[:1]
        append(path, lines[1])
        assert path.read_bytes() == header() + lines[0] + lines[1]


CHANGES = [
    ("choice", "none"),
    ("choice", "C"),
    ("trial", "1"),
    ("trial", "x"),
    ("x", "draft-alone"),
    ("x", ""),
    ("b", "baseline"),
    ("kind", "abc"),
    ("trials", "0"),
    ("temperature", "hot"),
]


@pytest.mark.parametrize(("column", "value"), CHANGES)
def test_a_changed_line_is_refused(ballot, column, value):
    rows = list(csv.reader(io.StringIO(to_csv([ballot]))))
    rows[1][COLUMNS.index(column)] = value
    changed = io.StringIO()
    csv.writer(changed).writerows(rows)
    with pytest.raises(ForespeakError, match=r"Line [23] of the votes"):
        from_csv(changed.getvalue())


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "{}", "\x00", to_csv([])[1:]])
def test_what_is_no_file_of_votes(text):
    with pytest.raises(ForespeakError, match=r"not a file of votes|damaged"):
        from_csv(text)


def test_a_row_is_missing_or_there_twice(ballot):
    lines = to_csv([ballot]).splitlines(keepends=True)
    for changed in ([*lines[:2], *lines[3:]], [*lines[:3], *lines[2:]]):
        with pytest.raises(ForespeakError, match="damaged"):
            from_csv("".join(changed))
