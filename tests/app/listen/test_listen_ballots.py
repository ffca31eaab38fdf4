"""Votes as lines of a file: written once, read again, torn lines dropped, changes noticed."""

import csv
import io
from dataclasses import replace

import pytest

from app.listen.ballots import Ballot, Start, Vote, head_of
from app.listen.votes_csv import (
    COLUMNS,
    append,
    from_csv,
    from_saved,
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
        Vote(
            n,
            4 - n,
            ODD_TEXT,
            7,
            "1.wav",
            "2.wav",
            n == 3,
            "baseline",
            "lossless",
            "lossless",
            "AB"[n % 2],
            "A 1.0",
            "now",
        )
        for n in range(5)
    )
    return Ballot(head_of(design, Start("somebody", "then"), "one", "0f"), tuple(votes))


def test_what_was_written_is_read(ballot):
    assert from_csv(to_csv([ballot])) == [ballot]
    assert from_csv("\ufeff" + to_csv([ballot]).replace("\n", "\r\n")) == [ballot]


def test_spreadsheets_find_everything(ballot):
    rows = list(csv.DictReader(io.StringIO(to_csv([ballot]))))
    assert [r["correct"] for r in rows] == ["0", "1", "0", "1", "0"]
    needed = "test session version voice kind first second temperature top_p gamma rate trials seed"
    needed += " trial text item a b x choice correct heard_s at listener begun same"
    needed += " first_title second_title first_clip second_clip"
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
    ("trials", "1000000000"),
    ("item", "3"),
    ("item", "5"),
    ("correct", "1"),
    ("correct", ""),
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
    with pytest.raises(ForespeakError, match="damaged"):
        from_csv("".join([*lines[:2], *lines[3:]]))
    with pytest.raises(ForespeakError, match="session one twice"):
        from_csv("".join([*lines[:3], *lines[2:]]))


def test_files_that_were_joined(ballot):
    text = to_csv([ballot])
    with pytest.raises(ForespeakError, match="several files in one"):
        from_csv(text + text)
    with pytest.raises(ForespeakError, match="session one twice"):
        from_csv(text + text.split("\n", 1)[1])


def test_a_file_that_was_saved_while_it_was_written(ballot):
    text = to_csv([ballot])
    lines = text.splitlines(keepends=True)
    kept = len("".join(lines[:-1]))
    for end in range(kept + 1, len(text) - 1):
        assert from_saved(text[:end])[0].votes == ballot.votes[:4]
    assert from_saved(text[:-1]) == [ballot]  # an editor may take the last line's end away


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "'", "'="])
def test_no_spreadsheet_takes_a_text_for_a_formula(ballot, start):
    text = f"{start}1+1"
    odd = Ballot(ballot.head, tuple(replace(vote, text=text) for vote in ballot.votes))
    assert from_csv(to_csv([odd])) == [odd]
    assert next(csv.DictReader(io.StringIO(to_csv([odd]), newline="")))["text"] == f"'{text}"
