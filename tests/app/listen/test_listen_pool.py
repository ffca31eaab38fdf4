"""Files of votes from several computers, as one result."""

import pytest

from tests.app.listen.helpers import ROOT, Listener, make_test


@pytest.fixture
def file_of(client, store):
    """Makes a test's votes of one listener; the file."""

    def make(design=None, votes=5):
        listener = Listener(client, (design or make_test(store)).test).begin()
        for _ in range(votes):
            trial = listener.trial()
            listener.vote(trial["trial"], "A")
        if votes == 5:
            return listener.get("/votes.csv").text
        key = {"key": "the key"}
        return client.get(f"{ROOT}/{listener.test}/votes.csv", params=key).text

    return make


@pytest.fixture
def pool(client):
    def post(*files):
        return client.post(f"{ROOT}/pool", json={"files": files})

    return post


def test_listeners_of_one_test(file_of, store, pool):
    design = make_test(store)
    told = pool(file_of(design), file_of(design)).json()
    assert (len(told["sessions"]), told["pooled"]["of"]) == (2, 10)


def test_the_same_test_prepared_on_two_computers(file_of, pool):
    assert pool(file_of(), file_of()).json()["pooled"]["of"] == 10


def test_unfinished_sessions_are_named_and_do_not_count(file_of, pool):
    told = pool(file_of(), file_of(votes=2)).json()
    assert [row["done"] for row in told["sessions"]] == [True, False]
    assert told["pooled"]["of"] == 5


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"second": "same-seed"}, "second"),
        ({"temperature": 1.0}, "temperature"),
        ({"version": "9"}, "version"),
        ({"trials": 6}, "trials"),
    ],
)
def test_different_tests(file_of, store, pool, changes, name):
    other = file_of(make_test(store, **changes), 2)
    response = pool(file_of(), other)
    assert response.status_code == 400
    assert f"different tests ({name}: " in response.text


def test_other_texts(file_of, pool):
    other = file_of().replace("Secret text 0.", "Another text.")
    response = pool(file_of(), other)
    assert (response.status_code, "other texts" in response.text) == (400, True)


def test_the_same_session_twice(file_of, pool):
    file = file_of()
    response = pool(file, file)
    assert (response.status_code, "File 2 has session" in response.text) == (400, True)


def test_what_is_no_file_of_votes(file_of, pool):
    response = pool(file_of(), "time,price\n1,2\n")
    assert response.status_code == 400
    assert response.text.startswith("File 2: This is not a file of votes")


def test_votes_that_were_changed(file_of, pool):
    lines = file_of().splitlines(keepends=True)
    response = pool("".join(lines[:2] + lines[3:]))
    assert response.text == "File 1: Line 3 of the votes has been changed or is damaged."


@pytest.mark.parametrize("body", [{}, {"files": []}, {"files": "x"}, {"files": [1]}, [], 3])
def test_no_files(client, body):
    response = client.post(f"{ROOT}/pool", json=body)
    assert (response.status_code, response.text) == (400, "Choose the files of votes to pool.")


def test_files_without_a_vote(file_of, pool):
    header = file_of().splitlines(keepends=True)[0]
    assert pool(header).text == "There are no votes in these files."


def test_too_large(client):
    response = client.post(f"{ROOT}/pool", content=b" " * 33_000_000)
    assert response.status_code == 413
