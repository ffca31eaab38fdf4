"""kill -9 of a real server: no vote is lost, and the session goes on."""

import multiprocessing
import socket
import sys
from contextlib import contextmanager

import httpx
import pytest

from tests.app.listen.crash_server import TORN, UNANSWERED, run
from tests.app.listen.helpers import Listener, make_test

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills with signals")


@pytest.fixture(scope="module")
def processes():
    """Real processes that start at once: forked from one that has imported everything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.app.listen.crash_server"])
    return context


@contextmanager
def served(processes, store, death=None):
    """A client of a server that is killed with SIGKILL at the end, if it still lives."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        process = processes.Process(target=run, args=(store.folder("").resolve(), listener, death))
        process.start()
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            # The kernel holds what is asked before the server is ready.
            client.timeout = 60
            try:
                yield client
            finally:
                process.kill()
                process.join()


def test_between_any_two_votes(processes, store):
    design = make_test(store)
    listener = Listener(None, design.test)
    choices = ["A", "B", "B", "A", "A"]
    for number, choice in enumerate(choices):
        with served(processes, store) as listener.client:
            if not number:
                listener.begin()
            assert listener.get().json()["trial"] == number
            assert listener.trial()["trial"] == number
            assert listener.vote(number, choice).status_code == 200
    with served(processes, store) as listener.client:
        rows = listener.get("/result").json()["rows"]
    assert [row["choice"] for row in rows] == choices


@pytest.mark.parametrize(("death", "kept"), [(TORN, 2), (UNANSWERED, 3)])
def test_while_a_vote_is_written(processes, store, death, kept):
    design = make_test(store)
    listener = Listener(None, design.test)
    with served(processes, store) as listener.client:
        listener.begin()
        for number in range(2):
            listener.vote(number, "A")
    with served(processes, store, death) as listener.client, pytest.raises(httpx.HTTPError):
        listener.vote(2, "B")
    with served(processes, store) as listener.client:
        assert listener.get().json()["trial"] == kept
        # The page asks again until it is answered: nothing is written twice, nothing is missing.
        assert listener.vote(2, "B").json()["trial"] == 3
        for number in (3, 4):
            listener.vote(number, "A")
        rows = listener.get("/result").json()["rows"]
    assert [row["choice"] for row in rows] == ["A", "A", "B", "A", "A"]
    (ballot,) = store.ballots(design)
    assert ballot.complete
