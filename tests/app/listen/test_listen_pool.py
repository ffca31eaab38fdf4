"""Files of votes from several computers, as one result."""

import json
import threading
import time
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from app.listen import pooling, routes
from app.listen.ballots import Ballot, Vote, shared_head
from app.listen.votes_csv import to_csv
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


def test_a_file_that_holds_several(file_of, pool):
    response = pool(file_of() + file_of())
    assert (response.status_code, "several files in one" in response.text) == (400, True)


def test_a_torn_last_line_is_dropped(file_of, store, pool):
    design = make_test(store)
    told = pool(file_of(design), file_of(design)[:-30]).json()
    assert [(row["done"], row["votes"]) for row in told["sessions"]] == [(True, 5), (False, 4)]


def test_what_no_file_can_hold(client, file_of):
    for text in ("\ud800", file_of().replace("Secret", "\ud800")):
        body = json.dumps({"files": [file_of(), text]})
        response = client.post(f"{ROOT}/pool", content=body)
        assert (response.status_code, response.text[:6]) == (400, "File 2")


def test_bounds(file_of, pool, monkeypatch):
    assert "at most 1000" in pool(*[file_of()] * 1001).text
    monkeypatch.setattr(pooling, "MOST_VOTES", 9)
    assert "more than 9 votes" in pool(file_of(), file_of()).text


def test_many_votes_take_a_short_time(store, pool):
    """Twenty thousand votes of two hundred sessions; it took minutes when each was compared with
    all others."""
    design = make_test(store, trials=100)
    head = shared_head(design)
    ways = design.first, design.second, design.first
    ballots = []
    for n in range(200):
        votes = [
            Vote(t, t, "x", 1, "1.wav", "2.wav", False, *ways, "A", "", f"{n:03}")
            for t in range(100)
        ]
        own = replace(head, session=f"s{n}", listener=f"l{n}", begun=f"{n:03}")
        ballots.append(Ballot(own, tuple(votes)))
    begun = time.process_time()
    told = pool(to_csv(ballots)).json()
    assert time.process_time() - begun < 5
    assert told["pooled"]["of"] == 20_000


def test_the_server_answers_meanwhile(store, file_of, monkeypatch):
    """Reading what was posted is left to another thread than the one that answers all."""
    threads = []
    parse = routes._parse
    monkeypatch.setattr(
        routes, "_parse", lambda data: threads.append(threading.current_thread()) or parse(data)
    )
    answers = []

    async def loop(request):
        answers.append(threading.current_thread())
        return await pool_route.endpoint(request)

    pool_route = routes.build_routes(store)[0]
    client = TestClient(Starlette(routes=[Route(pool_route.path, loop, methods=["POST"])]))
    assert client.post(f"{ROOT}/pool", json={"files": [file_of()]}).status_code == 200
    assert threads[0] != answers[0]


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
    assert (response.status_code, "32,000,000 bytes" in response.text) == (413, True)
