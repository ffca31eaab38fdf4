"""Listening tests over their routes: from the link to the pooled result."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from filelock import FileLock
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.listen import routes, sessions
from app.listen.design import AB
from app.listen.store import Store
from tests.app.listen.helpers import ROOT, Listener, by_ear, decoded, make_test, prefers

FORM = {
    "least_heard_s": 1.0,
    "labels": ["A", "B", "X"],
    "answers": [{"choice": "A", "title": "X is A"}, {"choice": "B", "title": "X is B"}],
}


@pytest.fixture
def design(store):
    return make_test(store)


@pytest.fixture
def listener(client, design):
    return Listener(client, design.test).begin()


def pooled(client, design, key=None, what="results"):
    return client.get(f"{ROOT}/{design.test}/{what}", params={"key": key or design.key})


class TestTaking:
    def test_what_is_known_beforehand(self, client, design):
        told = client.get(f"{ROOT}/{design.test}").json()
        assert told == {
            "test": design.test,
            "kind": "abx",
            "trials": 5,
            "question": "Which of A and B is X?",
            "detects": 0.96,
            **FORM,
        }

    def test_what_may_be_answered_in_ab(self, client, store):
        told = client.get(f"{ROOT}/{make_test(store, AB, 6).test}").json()
        assert told["labels"] == ["A", "B"]
        assert [answer["choice"] for answer in told["answers"]] == ["A", "B", "none"]

    def test_a_trial_has_its_clips(self, listener):
        trial = listener.trial()
        assert (trial["trial"], trial["trials"], trial["samples"]) == (0, 5, 1600)
        clips = {label: decoded(text) for label, text in trial["clips"].items()}
        assert all(len(clip) == 1600 for clip in clips.values())
        assert np.abs(clips["A"] - clips["B"].astype(int)).max() > 1000

    def test_who_hears_the_difference_is_always_right(self, listener):
        result = listener.take(by_ear).get("/result").json()
        assert (result["right"], result["of"], result["p"]) == (5, 5, 1 / 32)
        assert [row["trial"] for row in result["rows"]] == list(range(5))
        assert all(row["correct"] and row["x"] in (row["a"], row["b"]) for row in result["rows"])
        assert result["figure"].startswith("<?xml")
        assert result["pair"]["second"]["name"] == "lossless"

    def test_a_preference(self, client, store):
        design = make_test(store, AB, 7, "lossless", "baseline")
        listener = Listener(client, design.test).begin()
        assert set(listener.trial()["clips"]) == {"A", "B"}
        listener.vote(0, "none")
        result = listener.take(prefers("baseline")).get("/result").json()
        assert (result["right"], result["of"], result["ties"]) == (0, 6, 1)
        assert "Baseline is preferred." in result["finding"]
        assert result["significant"]
        assert {row["choice"] for row in result["rows"]} <= {"A", "B", "none"}
        assert all(row["x"] is row["correct"] is None for row in result["rows"])

    def test_after_the_last_vote_there_is_no_trial(self, listener):
        listener.take(by_ear)
        assert listener.get().json() | {"test": 0} == {
            "test": 0,
            "kind": "abx",
            "trial": None,
            "trials": 5,
            "done": True,
            **FORM,
        }
        assert listener.get("/trial").status_code == 409
        assert listener.vote(5, "A").status_code == 409


class TestVotes:
    def test_a_second_vote_changes_nothing(self, listener):
        listener.vote(0, "A")
        again = listener.vote(0, "B")
        assert (again.status_code, again.json()["trial"]) == (200, 1)
        for number in range(1, 5):
            listener.vote(number, "B")
        choices = [row["choice"] for row in listener.get("/result").json()["rows"]]
        assert choices == ["A", "B", "B", "B", "B"]

    def test_two_at_once_are_one(self, listener, store, design, monkeypatch):
        append, meeting = sessions.append, threading.Barrier(2, timeout=0.5)

        def slow(path, line):
            try:
                meeting.wait()  # both are here only if nobody waits for the other
            except threading.BrokenBarrierError:
                append(path, line)

        monkeypatch.setattr(sessions, "append", slow)
        threads = [threading.Thread(target=listener.vote, args=(0, c)) for c in "AB"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (ballot,) = store.ballots(design)
        assert len(ballot.votes) == 1

    @pytest.mark.parametrize(
        ("number", "choice", "heard", "status"),
        [
            (1, "A", None, 409),
            (-1, "A", None, 400),
            ("0", "A", None, 400),
            (None, "A", None, 400),
            (False, "A", None, 400),
            (0, "none", None, 400),
            (0, "X", None, 400),
            (0, ["A"], None, 400),
            (0, "A", {"A": 1.0, "B": 1.0}, 400),
            (0, "A", {"A": 1.0, "B": 0.1, "X": 1.0}, 400),
            (0, "A", {"A": 1.0, "B": "1.0", "X": 1.0}, 400),
            (0, "A", {"A": True, "B": True, "X": True}, 400),
            (0, "A", {"A": 1.0, "B": 10**400, "X": 1.0}, 400),
            (0, "A", ["A"], 400),
        ],
    )
    def test_what_is_no_vote(self, listener, number, choice, heard, status):
        response = listener.vote(number, choice, heard)
        assert response.status_code == status
        assert response.text.endswith((".", "?"))
        assert listener.get().json()["trial"] == 0

    def test_a_short_clip_must_be_heard_to_its_end(self, listener):
        """It takes 0.2 s, and a second cannot be heard of it."""
        assert listener.vote(0, "A", dict.fromkeys("ABX", 0.1)).status_code == 400
        assert listener.vote(0, "A", dict.fromkeys("ABX", 0.2)).status_code == 200

    @pytest.mark.parametrize("body", ["", "no json", "[]", "[" * 100_000, "NaN"])
    def test_what_is_no_json(self, client, listener, body):
        response = client.post(f"{ROOT}/sessions/{listener.session}/votes", content=body)
        assert response.status_code in (400, 413)

    def test_a_full_disk_is_told_and_the_vote_can_come_again(self, listener, monkeypatch):
        def full(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as context:
            context.setattr(sessions, "append", full)
            response = listener.vote(0, "A")
        assert (response.status_code, "No space left" in response.text) == (503, True)
        assert listener.vote(0, "A").json()["trial"] == 1


class TestBeginning:
    def test_who_asks_again_gets_the_same_session(self, client, design):
        one = Listener(client, design.test).begin(listener="somebody")
        one.vote(0, "A")
        again = Listener(client, design.test).begin(listener="somebody")
        assert again.session == one.session
        assert Listener(client, design.test).begin(listener="another-one").session != one.session

    def test_who_has_finished_gets_a_new_one(self, client, design):
        one = Listener(client, design.test).begin(listener="somebody").take(by_ear)
        assert one.begin(listener="somebody").get().json()["trial"] == 0

    def test_a_new_one_on_demand(self, client, design):
        one = Listener(client, design.test).begin(listener="somebody").session
        other = Listener(client, design.test).begin(listener="somebody", new=True).session
        assert one != other

    def test_without_a_name_each_is_another(self, client, design):
        sessions = {Listener(client, design.test).begin().session for _ in range(3)}
        assert len(sessions) == 3

    def test_many_at_once_are_one(self, client, design):
        with ThreadPoolExecutor(8) as pool:
            begun = pool.map(
                lambda _: Listener(client, design.test).begin(listener="somebody").session, range(8)
            )
        assert len(set(begun)) == 1

    @pytest.mark.parametrize(
        "name", ["short", "x" * 65, "=1+1+1+1", 12345678, ["somebody"], "\ud800" * 8]
    )
    def test_what_is_no_name(self, client, design, name):
        body = json.dumps({"listener": name})
        response = client.post(f"{ROOT}/{design.test}/sessions", content=body)
        assert (response.status_code, "8 to 64" in response.text) == (400, True)


def test_two_servers_over_one_folder_write_one_vote(store, design, monkeypatch):
    """Each with a store of its own: what holds between them must be in the folder."""
    stores = store, Store(store.folder(""))
    token = store.start(design.test, "somebody", new=False)
    append, meeting = sessions.append, threading.Barrier(2, timeout=0.5)

    def slow(path, line):
        try:
            meeting.wait()  # both are here only if nobody waits for the other
        except threading.BrokenBarrierError:
            append(path, line)

    monkeypatch.setattr(sessions, "append", slow)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda s: s.session(token).vote(0, "A", dict.fromkeys("ABX", 1.0)), stores))
    assert len(store.session(token).ballot().votes) == 1


def test_a_folder_that_another_holds(client, store, design, listener, monkeypatch):
    monkeypatch.setattr(sessions, "PATIENCE_S", 0.05)
    with FileLock(store.folder(design.test) / "lock"):
        response = listener.vote(0, "A")
    assert (response.status_code, "another server" in response.text) == (503, True)
    assert client.get(f"{ROOT}/sessions/{listener.session}").json()["trial"] == 0


class TestUnknown:
    @pytest.mark.parametrize("test", ["0" * 16, "nothing", "..", "%2e%2e", "0" * 15 + "/"])
    def test_tests(self, client, design, test):  # noqa: ARG002 - there is another one
        response = client.get(f"{ROOT}/{test}")
        assert response.status_code == 404
        assert client.post(f"{ROOT}/{test}/sessions").status_code == 404

    @pytest.mark.parametrize("session", ["{test}-{none}", "{none}-{none}", "x", "{test}"])
    def test_sessions(self, client, design, session):
        token = session.format(test=design.test, none="0" * 16)
        for what in ("", "/trial", "/result", "/votes.csv"):
            assert client.get(f"{ROOT}/sessions/{token}{what}").status_code == 404

    def test_a_damaged_test_is_told(self, client, store, design):
        (store.folder(design.test) / "test.json").write_text("{}")
        assert "damaged" in client.get(f"{ROOT}/{design.test}").text


class TestFacilitator:
    @pytest.mark.parametrize("what", ["results", "votes.csv", "figure.svg", "figure.png"])
    def test_only_with_the_key(self, client, design, what):
        assert pooled(client, design, "another", what).status_code == 403
        assert pooled(client, design, "é", what).status_code == 403
        assert pooled(client, design, None, what).status_code == 200

    def test_nobody_has_finished(self, client, design, listener):
        listener.vote(0, "A")
        told = pooled(client, design).json()
        assert told["pooled"]["of"] == 0
        assert told["pooled"]["finding"].startswith("Nobody has finished the test yet")
        assert told["pooled"]["words"] == ["Not counted, because not finished: Session 1."]
        (row,) = told["sessions"]
        assert (row["done"], row["votes"], row["right"]) == (False, 1, None)

    def test_finished_sessions_are_pooled(self, client, design, listener):
        listener.take(by_ear)
        Listener(client, design.test).begin().take(lambda _: "A")
        Listener(client, design.test).begin().vote(0, "A")
        told = pooled(client, design).json()
        rights = [row["right"] for row in told["sessions"]]
        assert rights[0] == 5
        assert rights[2] is None
        assert told["pooled"]["right"] == 5 + rights[1]
        assert told["pooled"]["of"] == 10
        assert "Not counted, because not finished: Session 3." in told["pooled"]["words"]
        assert [row["counts"] for row in told["sessions"]] == [True, True, False]

    def test_all_votes_can_be_saved_and_pooled_again(self, client, design, listener):
        listener.take(by_ear)
        Listener(client, design.test).begin().vote(0, "A")
        response = pooled(client, design, None, "votes.csv")
        assert response.text.count("\n") == 1 + 5 + 1
        assert response.headers["content-disposition"].endswith(f'votes-{design.test}.csv"')
        again = client.post(f"{ROOT}/pool", json={"files": [response.text]}).json()
        assert again["pooled"] == pooled(client, design).json()["pooled"]

    def test_listeners_are_numbered_as_they_began(self, client, design):
        listeners = [Listener(client, design.test).begin() for _ in range(6)]
        for listener in listeners:
            listener.vote(0, "A")
        listeners[0].vote(1, "A")
        told = [row["session"] for row in pooled(client, design).json()["sessions"]]
        assert told == [listener.session for listener in listeners]

    @pytest.mark.parametrize("content", [b"", b"\xff\n", b"a,b\n1,2\n", b"changed"])
    def test_a_damaged_file_is_named_and_the_others_count(self, client, store, design, content):
        for _ in range(2):
            Listener(client, design.test).begin().take(by_ear)
        path = store.folder(design.test) / f"votes-{store.ballots(design)[0].head.session}.csv"
        path.write_bytes(
            content or path.read_bytes().replace(b",A,", b",Q,").replace(b",B,", b",Q,")
        )
        told = pooled(client, design).json()
        assert told["pooled"]["of"] == 5
        (words,) = (words for words in told["pooled"]["words"] if path.name in words)
        assert words.startswith("Session 1 does not count.")
        assert [row["done"] for row in told["sessions"]] == [False, True]
        assert pooled(client, design, None, "votes.csv").text.count("\n") == 1 + 5
        assert client.get(f"{ROOT}/sessions/{told['sessions'][0]['session']}").status_code == 400

    def test_the_first_session_that_a_listener_finished_counts(self, client, design):
        names = ["listener-one", "listener-two", "listener-one", None]
        for name in names:
            Listener(client, design.test).begin(listener=name).take(by_ear)
        told = pooled(client, design).json()
        assert [row["counts"] for row in told["sessions"]] == [True, True, False, True]
        assert told["pooled"]["of"] == 15
        left_out = "Not counted, because the same listener had finished before: Session 3."
        assert left_out in told["pooled"]["words"]
        assert {"session 1", "session 2", "session 4"} <= set(
            re.findall(r">([^<]*)<", told["figure"])
        )
        again = client.post(
            f"{ROOT}/pool", json={"files": [pooled(client, design, None, "votes.csv").text]}
        ).json()
        assert again["pooled"] == told["pooled"]

    def test_nothing_is_worked_out_while_nothing_changes(
        self, client, design, listener, monkeypatch
    ):
        listener.vote(0, "A")
        first = pooled(client, design)
        url, params = f"{ROOT}/{design.test}/results", {"key": design.key}
        with monkeypatch.context() as context:
            context.setattr(routes, "pooled_result", None)
            headers = {"If-None-Match": first.headers["etag"]}
            again = client.get(url, params=params, headers=headers)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        listener.vote(1, "A")
        changed = client.get(url, params=params, headers=headers)
        assert changed.json()["sessions"][0]["votes"] == 2

    def test_the_address_for_others_is_told(self, store, design):
        client = TestClient(Starlette(routes=routes.build_routes(store, "http://192.0.2.7/")))
        assert pooled(client, design).json()["lan"] == "http://192.0.2.7/"

    def test_an_unknown_figure(self, client, design):
        assert pooled(client, design, None, "figure.exe").status_code == 404
