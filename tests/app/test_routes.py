"""The page's own routes."""

import json
import socket
import threading
import wave
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app import runs as runs_module
from app.orders import AUTOMATIC, DRAFT, Order
from app.routes import build_routes
from app.runs import Runs
from app.speaking import live, race
from app.studio import Studio
from app.wire import Lane
from core.engine import Started
from core.errors import ForespeakError
from core.trace import Trace
from tests.app.conftest import finished, wait_until
from tests.core.traces import EXAMPLE
from tests.fake_voice import engine_pcm, fake_engine

TEXT = "hello there\nand more"


@pytest.fixture(scope="module")
def runs():
    return Runs()


@pytest.fixture
def scripts(tmp_path):
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "live.js").write_text("// äöü")
    (tmp_path / "secret.js").write_text("secret")
    return folder


@pytest.fixture
def client(studio, runs, scripts):
    return TestClient(Starlette(routes=build_routes(studio, "joe", runs, scripts)))


def start(runs, studio, work=live, rule="lossless", gamma=4):
    order = Order.from_controls(TEXT, "joe", DRAFT, rule, gamma, 0.8, 1, 3, 1)
    return runs.start(lambda run: work(run, studio, order))


@pytest.fixture(scope="module")
def run(runs, studio):
    run = start(runs, studio)
    finished(run)
    return run


class TestEvents:
    def test_all_lines_come_and_the_stream_ends(self, client, run):
        response = client.get(f"/forespeak/runs/{run.id}/events")
        assert response.content == b"".join(run.lines(0))
        assert json.loads(response.content.splitlines()[-1])["kind"] == "end"

    def test_what_could_hold_the_stream_back_is_told_not_to(self, client, run):
        address = f"/forespeak/runs/{run.id}/events"
        response = client.get(address, headers={"Accept-Encoding": "gzip, br"})
        assert response.headers["content-type"] == "application/x-ndjson"
        assert response.headers["x-accel-buffering"] == "no"
        assert "no-cache" in response.headers["cache-control"]
        assert "content-encoding" not in response.headers

    def test_a_lost_connection_goes_on_where_it_was(self, client, run):
        response = client.get(f"/forespeak/runs/{run.id}/events?after=5")
        assert response.content == b"".join(run.lines(5))

    @pytest.mark.parametrize("after", ["-1", "x", "", "²"])
    def test_what_is_no_number_is_refused(self, client, run, after):
        response = client.get(f"/forespeak/runs/{run.id}/events", params={"after": after})
        assert response.status_code == 400

    def test_an_unknown_run(self, client):
        assert client.get("/forespeak/runs/nothing/events").status_code == 404


@contextmanager
def served(routes):
    """A real server: only there do connections break."""
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def test_lines_are_sent_as_they_come_and_a_dropped_listener_is_noticed(
    studio, scripts, monkeypatch
):
    monkeypatch.setattr(runs_module, "PATIENCE", 0.3)
    runs, more = Runs(), threading.Event()

    def work(run):
        run.status("first", "speaking")
        while not more.wait(0.01):
            run.check()
        run.status("second", "speaking")
        while True:
            run.check()
            threading.Event().wait(0.01)

    with served(build_routes(studio, "joe", runs, scripts)) as address:
        run = runs.start(work)
        with socket.create_connection(address, timeout=5) as connection:
            request = f"GET /forespeak/runs/{run.id}/events HTTP/1.1\r\nHost: x\r\n\r\n"
            connection.sendall(request.encode())
            received = connection.makefile("rb")
            assert any(b"first" in line for line in received)
            threading.Event().wait(0.5)
            assert not run.ended  # longer than the patience: it is being listened to
            more.set()
            assert any(b"second" in line for line in received)
            received.close()
        wait_until(lambda: run.ended)
        assert json.loads(run.lines(0)[-1])["state"] == "stopped"


class TestStop:
    def test_it_stops_the_run(self, client, runs):
        def work(run):
            while True:
                run.check()
                threading.Event().wait(0.005)

        run = runs.start(work)
        assert client.post(f"/forespeak/runs/{run.id}/stop").status_code == 204
        assert finished(run)[-1]["state"] == "stopped"

    def test_an_unknown_run(self, client):
        assert client.post("/forespeak/runs/nothing/stop").status_code == 404

    def test_a_link_cannot(self, client, run):
        assert client.get(f"/forespeak/runs/{run.id}/stop").status_code == 405


class TestExports:
    def get(self, client, run, name, lane=0):
        return client.get(f"/forespeak/runs/{run.id}/{lane}/{name}")

    def test_wav(self, client, run):
        response = self.get(client, run, "speech.wav")
        with wave.open(BytesIO(response.content)) as file:
            assert file.getparams()[:3] == (1, 2, 22050)
            pcm = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        np.testing.assert_array_equal(pcm, engine_pcm(TEXT, seed=3))
        name = 'attachment; filename="forespeak-lossless-seed3.wav"'
        assert response.headers["content-disposition"] == name

    def test_the_trace_can_be_loaded_and_holds_the_sound(self, client, run, tmp_path):
        path = tmp_path / "t.json"
        path.write_bytes(self.get(client, run, "trace.json").content)
        trace = Trace.load(path)
        np.testing.assert_array_equal(trace.pcm(), engine_pcm(TEXT, seed=3))
        assert len(trace.rounds) == len(run.lanes[0].trace().rounds)

    def test_csv(self, client, run):
        response = self.get(client, run, "rounds.csv")
        rows = response.text.splitlines()
        assert len(rows) == 1 + len(run.lanes[0].trace().rounds)
        assert response.headers["content-type"].startswith("text/csv")

    @pytest.mark.parametrize(
        ("name", "start", "media_type"),
        [("figure.png", b"\x89PNG", "image/png"), ("figure.svg", b"<?xml", "image/svg+xml")],
    )
    def test_figures(self, client, run, name, start, media_type):
        pytest.importorskip("matplotlib")
        response = self.get(client, run, name)
        assert response.content.startswith(start)
        assert response.headers["content-type"].startswith(media_type)

    def test_each_lane_of_a_race_has_its_own(self, client, runs, studio):
        run = start(runs, studio, race, "same-seed", AUTOMATIC)
        finished(run)
        names = [
            self.get(client, run, "trace.json", lane).headers["content-disposition"]
            for lane in (0, 1)
        ]
        assert ["baseline" in name for name in names] == [True, False]

    def test_a_run_that_was_stopped_gives_what_there_was(self, client, runs, studio):
        def work(run):
            live(run, studio, Order.from_controls(TEXT, "joe", DRAFT, "lossless", 4, 0.8, 1, 3, 1))
            raise ForespeakError("Enough.")

        run = runs.start(work)
        finished(run)
        assert self.get(client, run, "speech.wav").status_code == 200

    def test_words_of_a_foreign_trace_do_not_become_a_header(self, client, runs):
        def work(run):
            run.lanes.append(Lane(0, None))
            foreign = replace(EXAMPLE, rule='a"\r\nX-Evil: é/../b', rounds=(), chunks=())
            run.lanes[0].add(Started(foreign))
            return "Done."

        run = runs.start(work)
        finished(run)
        response = self.get(client, run, "speech.wav")
        assert 'filename="forespeak-a-vilb-seed-5.wav"' in response.headers["content-disposition"]
        assert "x-evil" not in response.headers

    @pytest.mark.parametrize(
        ("lane", "name"),
        [(1, "speech.wav"), (-1, "speech.wav"), ("x", "speech.wav"), (0, "secret.txt")],
    )
    def test_nothing_else_is_there(self, client, run, lane, name):
        response = self.get(client, run, name, lane)
        assert (response.status_code, response.text) == (404, "There is no such file.")

    def test_a_run_without_sound_has_nothing(self, client, runs, studio):
        run = runs.start(lambda run: live(run, studio, None))
        finished(run)
        assert self.get(client, run, "speech.wav").status_code == 404


class TestState:
    def test_of_a_voice_that_loads(self, runs, scripts):
        routes = build_routes(Studio(lambda _: fake_engine()), "joe", runs, scripts)
        client = TestClient(Starlette(routes=routes))
        assert client.get("/forespeak/state").json() == {
            "state": "loading",
            "text": "Loading the voice…",
            "sample_rate": None,
            "baseline_tokens_per_s": None,
        }

    def test_of_a_voice_that_is_ready(self, client, studio):
        ready = studio.ready("joe")
        state = client.get("/forespeak/state").json()
        assert state["state"] == "ready"
        assert state["baseline_tokens_per_s"] == ready.baseline_tokens_per_s
        assert state["sample_rate"] == ready.engine.voice.codec.sample_rate


class TestScripts:
    def test_they_are_served_as_javascript(self, client):
        response = client.get("/forespeak/page/live.js")
        assert response.text == "// äöü"
        assert response.headers["content-type"].startswith("text/javascript")
        assert response.headers["cache-control"] == "no-cache"

    @pytest.mark.parametrize(
        "name", ["other.js", "..%2fsecret.js", "%2e%2e%2fsecret.js", "../secret.js", ""]
    )
    def test_nothing_else_is(self, client, name):
        response = client.get(f"/forespeak/page/{name}")
        assert response.status_code == 404
        assert "secret" not in response.text

    def test_they_are_read_once(self, client, scripts):
        (scripts / "late.js").write_text("late")
        assert client.get("/forespeak/page/late.js").status_code == 404
