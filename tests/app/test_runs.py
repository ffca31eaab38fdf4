"""Runs and their logs."""

import threading

import pytest

from app import runs as module
from app.runs import Run, Runs, Stopped
from core.errors import ForespeakError
from tests.app.conftest import finished, lines_of, wait_until


def endless(run):
    while True:
        run.check()
        threading.Event().wait(0.005)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.05)


def test_lines_are_numbered_and_the_end_comes_last():
    def work(run):
        run.status("Speaking…", "speaking")
        run.put({"kind": "round", "tokens": (1, 2)})
        return "Done."

    assert finished(Runs().start(work)) == [
        {"n": 0, "kind": "status", "text": "Speaking…", "state": "speaking"},
        {"n": 1, "kind": "round", "tokens": [1, 2]},
        {"n": 2, "kind": "end", "state": "done", "text": "Done."},
    ]


def test_a_reader_goes_on_where_it_was():
    run = Run()
    for number in range(4):
        run.put({"kind": str(number)})
    assert [line["n"] for line in lines_of(run)] == [0, 1, 2, 3]
    assert run.lines(2) == run.lines(0)[2:]
    assert run.lines(9) == []


def test_writers_do_not_mix_numbers():
    run = Run()
    threads = [
        threading.Thread(target=lambda: [run.put({"kind": "x"}) for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [line["n"] for line in lines_of(run)] == list(range(800))


def test_stop_ends_the_run():
    run = Runs().start(endless)
    run.stop()
    assert finished(run)[-1] == {"n": 0, "kind": "end", "state": "stopped", "text": "Stopped."}


@pytest.mark.usefixtures("impatient")
def test_a_run_that_nobody_ever_listens_to_is_stopped():
    assert finished(Runs().start(endless))[-1]["state"] == "stopped"


@pytest.mark.usefixtures("impatient")
def test_a_run_lives_as_long_as_somebody_listens():
    run = Runs().start(endless)
    with run.listening():
        with run.listening():
            pass
        threading.Event().wait(0.2)
        assert not run.ended
    wait_until(lambda: run.ended)


def test_a_listener_may_come_back_within_the_patience():
    run = Run()
    with run.listening():
        pass
    run.check()


def test_once_abandoned_always_abandoned(monkeypatch, impatient):  # noqa: ARG001
    run = Run()
    monkeypatch.setattr(module, "PATIENCE", -1)
    with pytest.raises(Stopped):
        run.check()
    with run.listening(), pytest.raises(Stopped):
        run.check()


def test_a_failure_is_the_last_line():
    def work(_):
        raise ForespeakError("The file is damaged: restore it.")

    assert finished(Runs().start(work)) == [
        {"n": 0, "kind": "end", "state": "failed", "text": "The file is damaged: restore it."}
    ]


def test_a_fault_of_the_program_goes_to_the_terminal_too(capsys):
    (end,) = finished(Runs().start(lambda _: 1 // 0))
    assert end["state"] == "failed"
    assert "ZeroDivisionError" in end["text"]
    assert "1 // 0" in capsys.readouterr().err


def test_a_new_run_stops_its_owners_former_one_and_no_other():
    runs = Runs()
    mine, other, api = (runs.start(endless, owner) for owner in ("me", "you", None))
    again, second_api = runs.start(endless, "me"), runs.start(endless)
    wait_until(lambda: mine.ended)
    assert not any(run.ended for run in (other, api, again, second_api))
    for run in (other, api, again, second_api):
        run.stop()


def test_old_runs_make_room_but_never_those_under_way(monkeypatch):
    line = len(b'{"n":0,"kind":"end","state":"done","text":"Done."}')
    monkeypatch.setattr(module, "KEPT", 2 * line)
    runs = Runs()
    going = runs.start(endless)
    done = []
    for _ in range(4):
        done.append(runs.start(lambda _: "Done."))
        finished(done[-1])
    runs.start(lambda _: "Done.")
    assert [runs.find(run.id) is not None for run in done] == [False, False, True, True]
    assert runs.find(going.id) is going
    going.stop()


def test_ids_cannot_be_guessed_and_fit_an_address():
    ids = {Run().id for _ in range(100)}
    assert len(ids) == 100
    assert all(len(id) == 16 and id.replace("-", "").replace("_", "").isalnum() for id in ids)


def test_nobody_finds_a_run_that_is_not_there():
    assert Runs().find("nothing") is None
