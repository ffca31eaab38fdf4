"""The page in a real browser and through its API, with the fake voice."""

import json
import time
import wave

import numpy as np
import pytest

from app.page import build_page
from app.studio import Studio
from core.engine import Engine
from tests.browser.conftest import served
from tests.fake_voice import FakeVoice, engine_pcm, fake_engine

pytestmark = pytest.mark.browser
SOUND = "**/component_server**"  # where the player asks for sound
HOSTILE = "<img src=x onerror='window.hacked = 1'> ${window.hacked = 2} {{hacked}} C:\\users"


class SlowVoice(FakeVoice):
    """Takes its time over each sentence, and counts those it began."""

    begun = 0

    def target(self, plan):
        self.begun += 1
        time.sleep(0.1)
        return super().target(plan)


@pytest.fixture(scope="module")
def voice():
    return SlowVoice()


@pytest.fixture(scope="module")
def url(voice):
    with served(build_page(Studio(lambda: Engine(voice, fake_engine().device)))) as address:
        yield address


@pytest.fixture
def page(browser, url):
    """The page, ready; at the end it must have raised nothing and asked no other server."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    foreign, errors = [], []
    page.on("request", lambda r: r.url.startswith(("http", "ws")) and foreign.append(r.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    page.wait_for_selector("#player [data-kind=ready]")
    yield page
    page.close()
    assert [address for address in foreign if not address.startswith(url)] == []
    assert errors == []


def speak(page, text):
    page.fill("textarea", text)
    page.click("#speak")


def finish(page):
    page.wait_for_function("document.querySelector('#player .status').textContent == 'Done.'")
    page.wait_for_function("!document.querySelector('#player .again').disabled")


def player_pcm(page):
    """int16 samples that the player holds."""
    find = "[...document.querySelectorAll('#player *')].find((e) => e.player).player"
    return np.array(page.evaluate(f"Array.from({find}.pcm())"), np.int16)


class TestPage:
    def test_the_player_gets_the_engines_samples_and_plays_them(self, page):
        speak(page, "hello there\nand then some more")
        finish(page)
        np.testing.assert_array_equal(
            player_pcm(page), engine_pcm("hello there\nand then some more")
        )
        assert "Acceptance length" in page.inner_text("#metrics")
        page.wait_for_function("document.querySelector('#player .heard').value > 0.5")

    def test_sound_begins_before_synthesis_ends(self, page):
        speak(page, "\n".join(["a long text"] * 40))
        page.wait_for_function("document.querySelector('#player .heard').value > 0.2")
        assert page.inner_text("#player .status").startswith("Speaking")
        page.click("#stop")

    def test_stop_ends_the_run_and_the_sound_and_the_next_press_works(self, page, voice):
        speak(page, "\n".join(["a long text"] * 100))
        page.wait_for_function("document.querySelector('#player .heard').value > 0.2")
        page.click("#stop")
        page.wait_for_function(
            "document.querySelector('#player .status').textContent == 'Stopped.'"
        )
        time.sleep(0.5)
        begun = voice.begun
        time.sleep(1)
        assert voice.begun == begun
        assert page.inner_text("#player .status") == "Stopped."
        speak(page, "hello")
        finish(page)
        np.testing.assert_array_equal(player_pcm(page), engine_pcm("hello"))

    def test_sound_that_comes_after_stop_is_not_played(self, page):
        held = []
        page.route(SOUND, lambda route: held.append(route))
        speak(page, "\n".join(["a long text"] * 100))
        while not held:
            page.wait_for_timeout(50)
        page.click("#stop")
        page.wait_for_function(
            "document.querySelector('#player .status').textContent == 'Stopped.'"
        )
        for route in held:
            route.continue_()
        page.wait_for_timeout(500)
        assert len(player_pcm(page)) == 0
        assert page.inner_text("#player .clock") == "0.0 s"

    def test_a_request_that_fails_is_repeated(self, page):
        failed = []

        def fail_once(route):
            if failed:
                route.continue_()
            else:
                failed.append(route)
                route.abort()

        page.route(SOUND, fail_once)
        speak(page, "hello")
        finish(page)
        np.testing.assert_array_equal(player_pcm(page), engine_pcm("hello"))
        assert failed

    def test_a_second_press_does_not_queue_a_second_run(self, page, voice):
        begun = voice.begun
        page.fill("textarea", "one\ntwo\nthree\nfour\nfive")
        # Not page.click, which would wait until the button can be pressed again.
        for _ in range(5):
            page.evaluate("document.querySelector('#speak').click()")
        finish(page)
        time.sleep(0.5)
        assert voice.begun == begun + 5

    def test_a_closed_tab_ends_its_run(self, browser, url, voice):
        tab = browser.new_page()
        tab.goto(url)
        tab.wait_for_selector("#player [data-kind=ready]")
        speak(tab, "\n".join(["a long text"] * 100))
        tab.wait_for_function("document.querySelector('#player .heard').value > 0.1")
        tab.close()
        time.sleep(1)
        begun = voice.begun
        time.sleep(1)
        assert voice.begun == begun

    def test_text_never_becomes_markup(self, page):
        speak(page, HOSTILE)
        finish(page)
        assert page.evaluate("window.hacked") is None
        speak(page, "...")
        page.wait_for_selector("#player [data-kind=error]")
        assert "nothing to say" in page.inner_text("#player .status")

    def test_counts_characters(self, page):
        page.fill("textarea", "ab🙂")
        page.wait_for_function("document.querySelector('#count').innerText == '3 characters'")

    def test_saves_a_wav_file(self, page, tmp_path):
        speak(page, "hello")
        finish(page)
        with page.expect_download() as download:
            page.click("#player .save")
        download.value.save_as(tmp_path / "x.wav")
        assert read_wav(tmp_path / "x.wav") == (22050, engine_pcm("hello").tolist())

    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize(("width", "height"), [(1280, 720), (400, 800)])
    def test_nothing_sticks_out(self, browser, url, theme, width, height):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(f"{url}?__theme={theme}")
        page.wait_for_selector("#player [data-kind=ready]")
        speak(page, "hello")
        finish(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()


def read_wav(path):
    with wave.open(str(path)) as file:
        frames = file.readframes(file.getnframes())
        return file.getframerate(), np.frombuffer(frames, "<i2").tolist()


class TestApi:
    @pytest.fixture(scope="class")
    def client(self, url):
        return pytest.importorskip("gradio_client").Client(url, verbose=False)

    def test_text_in_sound_and_metrics_out(self, client):
        wav, metrics = client.predict("hello there", seed=3, api_name="/speak")
        expected = engine_pcm("hello there", seed=3)
        assert read_wav(wav) == (22050, expected.tolist())
        assert metrics["audio_s"] == pytest.approx(len(expected) / 22050)
        assert json.dumps(metrics)

    def test_errors_are_told(self, client):
        with pytest.raises(Exception, match="nothing to say"):
            client.predict("", api_name="/speak")

    def test_it_is_the_only_endpoint_and_documented(self, client):
        endpoints = client.view_api(return_format="dict")["named_endpoints"]
        assert set(endpoints) == {"/speak"}
        names = [p["parameter_name"] for p in endpoints["/speak"]["parameters"]]
        assert names == ["text", "gamma", "temperature", "rule", "seed", "rate"]
