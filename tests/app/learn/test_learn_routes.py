"""What the Learn tab asks for, and what it is told when there is no such thing."""

import base64
import json
import threading
import wave
from io import BytesIO

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.learn import recordings as recordings_module
from app.learn import routes as module
from app.learn.recordings import Recordings
from app.learn.routes import build_routes
from app.page import build_page
from app.runs import Runs
from app.studio import Measured, Studio
from core.engine import Settings
from core.ideas import excerpt, was_rejected
from core.recording import record
from core.sampling import Sampling
from core.steps import view
from core.verify import RULES, find_rule
from tests.app.learn.conftest import TEXT
from tests.fake_voice import fake_engine

STEP = "/forespeak/learn/recordings/shipped/rounds/{}"


@pytest.fixture
def scripts(tmp_path):
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "figure-step.js").write_text("")
    (folder / "live.js").write_text("")
    return folder


def client_of(studio, folder, scripts) -> TestClient:
    recordings = Recordings(studio, Runs(), folder)
    return TestClient(Starlette(routes=build_routes(studio, "joe", recordings, folder, scripts)))


@pytest.fixture
def client(studio, folder, scripts):
    return client_of(studio, folder, scripts)


def get(client, path, **query):
    return client.get(f"/forespeak/learn/{path}", params=query)


def floats(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4")


class TestLessons:
    def test_all_in_order(self, client, folder):
        (folder / "02-second.md").write_text("# Second\n```figure live\n```\n")
        first, second = get(client, "lessons").json()
        blocks = [{"html": "<p>Text.</p>\n"}, {"figure": "step", "options": {}}]
        assert first == {"name": "01-first", "title": "First", "blocks": blocks}
        assert "no figure “live”: choose one of step." in second["blocks"][0]["html"]

    def test_a_chapter_that_is_being_written_shows_after_a_reload(self, client, folder):
        get(client, "lessons")
        (folder / "01-first.md").write_text("# Changed\n")
        assert get(client, "lessons").json()[0]["title"] == "Changed"


class TestMachine:
    def test_once_it_is_measured(self, folder, scripts):
        studio = Studio(lambda _: fake_engine())
        client, ready = client_of(studio, folder, scripts), studio.ready("joe")
        assert get(client, "machine").json() == {
            "alpha": ready.outlook.alpha,
            "c": ready.outlook.costs.c,
            "v": list(ready.outlook.costs.v),
            "gamma": ready.gamma,
            "tokens_per_s": ready.baseline_tokens_per_s,
            "measured": None,
        }

    def test_the_latest_run_that_was_compared(self, folder, scripts):
        studio = Studio(lambda _: fake_engine())
        studio.ready("joe")
        client = client_of(studio, folder, scripts)
        assert get(client, "machine").json()["measured"] is None
        studio.renew("joe", 100.0, Measured(4, 1.5))
        studio.renew("joe", 90.0)  # a baseline alone says nothing of it
        assert get(client, "machine").json()["measured"] == {"gamma": 4, "speedup": 1.5}

    def test_not_before(self, folder, scripts):
        client = client_of(Studio(lambda _: fake_engine()), folder, scripts)
        response = get(client, "machine")
        assert (response.status_code, "Nothing is measured yet" in response.text) == (404, True)


class TestSounds:
    def test_those_beside_the_chapters(self, client):
        response = get(client, "sounds/codebooks-1.flac")
        assert response.content == b"fLaC and so on"
        assert response.headers["content-type"] == "audio/flac"

    def test_one_that_was_put_there_later(self, client, folder):
        (folder / "later.flac").write_bytes(b"fLaC later")
        assert get(client, "sounds/later.flac").content == b"fLaC later"

    @pytest.mark.parametrize(
        "name", ["x.flac", "..%2fsecret.flac", "%2e%2e%2fsecret.flac", "01-first.md", ""]
    )
    def test_nothing_else(self, client, name):
        response = get(client, f"sounds/{name}")
        assert response.status_code == 404
        assert b"secret" not in response.content


class TestRecording:
    def test_it_is_its_trace_without_sound_and_the_rules_to_try(self, client, recording):
        told = get(client, "recordings/shipped").json()
        trace = told["trace"]
        assert (trace["gamma"], trace["seed"], trace["schema"]) == (4, 3, recording.trace.schema)
        assert trace["rounds"] == json.loads(json.dumps([vars(r) for r in recording.trace.rounds]))
        assert trace["sentences"][0]["text"] == recording.trace.sentences[0].text
        assert not trace.keys() & {"sound", "chunks"}
        assert [rule["name"] for rule in told["rules"]] == list(RULES)
        ssd = next(rule for rule in told["rules"] if rule["name"] == "ssd")
        assert ssd["lossless"] is False
        assert ssd["tolerance"] == {
            "letter": "β",
            "value": 0.2,
            "least": 0,
            "most": 1,
            "step": 0.05,
        }

    def test_one_that_is_not_there(self, client):
        response = get(client, "recordings/nowhere")
        assert (response.status_code, "no such recording" in response.text) == (404, True)

    def test_a_damaged_one(self, client):
        response = get(client, "recordings/broken")
        assert (response.status_code, "damaged" in response.text) == (400, True)


class TestStep:
    def test_as_it_was(self, client, recording):
        rule = find_rule("lossless")
        for index in (0, 5, len(recording.trace.rounds) - 1):
            told = client.get(STEP.format(index)).json()
            step = view(recording, index, recording.settings.sampling, rule)
            drafted = len(step.draft_tokens)
            p, q = floats(told["p"]).reshape(drafted + 1, 5), floats(told["q"])
            np.testing.assert_allclose(p, step.target_probs.numpy(), atol=1e-7)
            np.testing.assert_allclose(q, step.draft_probs.numpy().ravel(), atol=1e-7)
            assert told["rows"] == [vars(row) for row in step.rows]
            assert (told["round"], told["position"]) == (index, step.position)
            places = range(step.position, step.position + drafted + 1)
            assert told["codebooks"] == [place % 2 for place in places]
            assert (told["accepted"], told["next_token"]) == (step.accepted, step.next_token)
            assert told["next_prob"] == step.next_prob
            assert told["draft_tokens"] == told["drafted_as"] == list(step.draft_tokens)
            assert told["is_recorded"] is told["same_draft"] is True
            assert told["cache"] == list(step.cache)

    def test_as_it_was_under_a_tolerance_of_its_own(self, client, folder):
        settings = Settings(Sampling(0.9), "ssd", 4, 3, tolerance=0.6)
        own = record(fake_engine(), TEXT, settings)
        own.save(folder / "relaxed.safetensors")
        for index in range(len(own.trace.rounds)):
            told = get(client, f"recordings/relaxed/rounds/{index}").json()
            step = view(own, index, settings.sampling, find_rule("ssd", 0.6))
            assert told["rows"] == [vars(row) for row in step.rows]
            assert told["is_recorded"] is True

    def test_its_thread_ends_with_it(self, client, monkeypatch):
        """Or PyTorch's helpers of that thread would be in the way of whoever speaks."""
        used = []
        monkeypatch.setattr(
            module, "view", lambda *a: used.append(threading.current_thread()) or view(*a)
        )
        assert client.get(STEP.format(0)).status_code == 200
        assert not used[0].is_alive()

    def test_the_residual(self, client, recording):
        told = [client.get(STEP.format(n)).json() for n in range(len(recording.trace.rounds))]
        for step, round_ in zip(told, recording.trace.rounds, strict=True):
            assert (step["residual"] is not None) == was_rejected(round_)
            if step["residual"]:
                assert floats(step["residual"]).sum() == pytest.approx(1, abs=1e-6)

    def test_what_if(self, client, recording):
        query = {"temperature": "0.3", "top_p": "0.7", "rule": "ssd", "tolerance": "0.6"}
        told = client.get(STEP.format(4), params=query).json()
        step = view(recording, 4, Sampling(0.3, top_p=0.7), find_rule("ssd", 0.6))
        assert told["rows"] == [vars(row) for row in step.rows]
        assert told["is_recorded"] is False
        assert told["same_draft"] is (step.drafted_as == step.draft_tokens)

    def test_greedy_is_plain_json(self, client, recording):
        for index in range(len(recording.trace.rounds)):
            response = client.get(STEP.format(index), params={"temperature": "0"})
            text = response.text
            assert response.status_code == 200
            assert "NaN" not in text
            assert "Infinity" not in text

    @pytest.mark.parametrize("index", ["x", "-1", "99999", "1.5", "²", "9" * 40, "00000000014"])
    def test_a_round_that_is_not_there(self, client, recording, index):
        response = client.get(STEP.format(index))
        assert response.status_code == 404
        assert f"choose 0 to {len(recording.trace.rounds) - 1}" in response.text

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ({"temperature": "warm"}, "numbers, such as 0.8"),
            ({"temperature": ""}, "numbers, such as 0.8"),
            ({"temperature": "nan"}, "Temperature nan is out of range"),
            ({"temperature": "-1"}, "out of range"),
            ({"temperature": "inf"}, "out of range"),
            ({"top_p": "0"}, "Top-p"),
            ({"rule": "unheard-of"}, "Unknown rule 'unheard-of': choose one of"),
            ({"tolerance": "0.5"}, "has no tolerance"),
            ({"rule": "ssd", "tolerance": "7"}, "out of range"),
        ],
    )
    def test_what_cannot_be_tried_says_why(self, client, query, said):
        response = client.get(STEP.format(0), params=query)
        assert response.status_code == 400
        assert said in response.text
        assert "\n" not in response.text

    def test_of_a_recording_that_is_not_there(self, client):
        assert get(client, "recordings/nowhere/rounds/0").status_code == 404


class TestHearing:
    def heard(self, response) -> np.ndarray:
        assert response.headers["content-type"] == "audio/wav"
        with wave.open(BytesIO(response.content)) as file:
            assert file.getparams()[:3] == (1, 2, 22050)
            return np.frombuffer(file.readframes(file.getnframes()), "<i2")

    def test_both(self, client, recording):
        trace = recording.trace
        index = next(n for n, round_ in enumerate(trace.rounds) if was_rejected(round_))
        kept = self.heard(client.get(STEP.format(index) + "/kept.wav"))
        np.testing.assert_array_equal(kept, excerpt(trace, trace.rounds[index]))
        rejected = self.heard(client.get(STEP.format(index) + "/rejected.wav"))
        assert len(rejected) == len(kept)
        assert (rejected != kept).any()

    def test_who_would_wait_too_long_is_told_to_come_back(
        self, folder, scripts, recording, monkeypatch
    ):
        monkeypatch.setattr(recordings_module, "PATIENCE", 0.05)
        studio = Studio(lambda _: fake_engine())
        client = client_of(studio, folder, scripts)
        rounds = recording.trace.rounds
        index = next(n for n, round_ in enumerate(rounds) if was_rejected(round_))
        with studio.use("fake"):
            response = client.get(STEP.format(index) + "/rejected.wav")
        assert (response.status_code, "try again" in response.text) == (503, True)
        assert client.get(STEP.format(index) + "/rejected.wav").status_code == 200

    def test_where_nothing_was_rejected(self, client, recording):
        rounds = recording.trace.rounds
        index = next(n for n, round_ in enumerate(rounds) if not was_rejected(round_))
        response = client.get(STEP.format(index) + "/rejected.wav")
        assert (response.status_code, response.text) == (
            404,
            "In this round no guess was rejected.",
        )

    @pytest.mark.parametrize("path", ["0/other.wav", "99999/kept.wav", "0/kept.mp3"])
    def test_nothing_else(self, client, path):
        assert client.get(STEP.format(path)).status_code == 404


def test_the_page_has_these_routes_and_its_shipped_recording_needs_no_model():
    page = build_page(Studio(lambda _: pytest.fail("loaded")), "joe")
    client = TestClient(Starlette(routes=page.routes))
    trace = get(client, "recordings/example").json()["trace"]
    for index, round_ in enumerate(trace["rounds"]):
        path = f"recordings/example/rounds/{index}"
        assert get(client, path).json()["accepted"] == round_["accepted"]
        sounds = ["kept"] + ["rejected"] * (round_["accepted"] < len(round_["draft_tokens"]))
        assert all(get(client, f"{path}/{name}.wav").status_code == 200 for name in sounds)
    for count in range(1, 5):
        assert get(client, f"sounds/codebooks-{count}.flac").content.startswith(b"fLaC")
