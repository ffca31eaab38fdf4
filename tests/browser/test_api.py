"""The page's server as programs meet it: the API, and what it keeps to itself."""

import json
import urllib.error
import urllib.request
import wave
from pathlib import Path

import numpy as np
import pytest

from core.trace import Trace
from tests.fake_voice import engine_pcm


@pytest.fixture(scope="module")
def client(url):
    return pytest.importorskip("gradio_client").Client(url, verbose=False)


def ask(address, method="GET", **headers):
    """(status, headers, body) of an answer, whatever it is."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


class TestSpeak:
    def test_text_in_sound_trace_and_metrics_out(self, client, tmp_path):
        wav, trace, metrics = client.predict("hello there", seed=3, gamma=4, api_name="/speak")
        expected = engine_pcm("hello there", seed=3)
        with wave.open(wav) as file:
            assert file.getparams()[:3] == (1, 2, 22050)
            pcm = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        np.testing.assert_array_equal(pcm, expected)
        path = tmp_path / "t.json"
        path.write_text(json.dumps(trace))
        np.testing.assert_array_equal(Trace.load(path).pcm(), expected)
        assert metrics["audio_s"] == pytest.approx(len(expected) / 22050)

    def test_everything_but_the_text_has_a_default(self, client):
        _, trace, _ = client.predict("hello", api_name="/speak")
        assert (trace["rule"], trace["seed"], trace["temperature"]) == ("lossless", 0, 0.8)
        assert trace["gamma"] > 0

    def test_every_setting_is_heard(self, client):
        _, trace, _ = client.predict(
            "hello",
            voice="joe",
            draft="model",
            rule="same-seed",
            gamma=2,
            temperature=0.5,
            top_p=0.9,
            seed=7,
            rate=1.5,
            api_name="/speak",
        )
        settings = ("rule", "gamma", "temperature", "top_p", "seed", "rate")
        assert [trace[name] for name in settings] == ["same-seed", 2, 0.5, 0.9, 7, 1.5]
        _, trace, _ = client.predict("hello", draft="none", api_name="/speak")
        assert trace["gamma"] == 0

    @pytest.mark.parametrize(
        ("wrong", "part"),
        [({"text": ""}, "nothing to say"), ({"rule": "guess"}, "guess"), ({"rate": 9}, "2")],
    )
    def test_errors_are_told(self, client, wrong, part):
        with pytest.raises(Exception, match=part):
            client.predict(**{"text": "hello"} | wrong, api_name="/speak")

    def test_it_is_the_only_endpoint_and_documented(self, client):
        endpoints = client.view_api(return_format="dict")["named_endpoints"]
        assert set(endpoints) == {"/speak"}
        names = [p["parameter_name"] for p in endpoints["/speak"]["parameters"]]
        order = ["text", "voice", "draft", "rule", "gamma", "temperature", "top_p", "seed", "rate"]
        order.append("tolerance")
        assert names == order
        assert all(p["parameter_has_default"] for p in endpoints["/speak"]["parameters"])


class TestServer:
    def test_no_file_of_the_computer_is_served(self, url):
        for path in ("/etc/passwd", __file__, str(Path(__file__).parents[2] / "assets/page.css")):
            status, _, body = ask(f"{url}gradio_api/file={path}")
            assert status in (403, 404)
            assert b"root:" not in body

    @pytest.mark.parametrize("path", ["forespeak/state", "config"])
    def test_pages_of_other_hosts_may_not_read_answers(self, url, path):
        for origin in ("http://evil.test", "null"):
            _, headers, _ = ask(url + path, Origin=origin)
            assert "access-control-allow-origin" not in headers

    def test_no_two_parts_of_the_page_share_an_id(self, url):
        parts = json.loads(ask(f"{url}config")[2])["components"]
        ids = [part["props"]["elem_id"] for part in parts if part["props"].get("elem_id")]
        assert {"speak", "stop", "race", "stop-race", "live-stage", "race-stage"} <= set(ids)
        assert len(ids) == len(set(ids))

    def test_no_path_of_the_computer_is_told(self, url):
        assert str(Path(__file__).parents[2]).encode() not in ask(f"{url}config")[2]

    def test_unknown_runs_are_not_found_behind_gradio_either(self, url):
        assert ask(f"{url}forespeak/runs/x/events")[0] == 404
        assert ask(f"{url}forespeak/runs/x/stop", "POST")[0] == 404

    def test_nothing_is_reported_to_anybody(self, url):
        config = json.loads(ask(f"{url}config")[2])
        assert config["analytics_enabled"] is False
        assert config.get("run_history") in (False, None)
