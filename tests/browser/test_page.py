"""The Live tab in a real browser, with the fake voice."""

import time
import wave

import numpy as np
import pytest

from tests.browser.pages import (
    EVENTS,
    LIVE,
    LONG,
    finish,
    held_pcm,
    live_header,
    page_cells,
    speak,
    still_speaks,
    synthesized,
    tape,
    trace_cells,
    wait_for_sound,
    wait_for_status,
    with_waits,
)

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror='window.hacked = 1'> ${window.hacked = 2} {{hacked}} C:\\users"


class TestSpeaking:
    def test_what_is_heard_and_shown_is_what_the_engine_made(self, page):
        heard = tape(page)
        text = "hello there and then some more"
        speak(page, text)
        finish(page)
        pcm, trace = synthesized(text, live_header(page))
        np.testing.assert_array_equal(held_pcm(page), pcm)
        assert page_cells(page) == trace_cells(trace)
        wait_for_status(page, "Done.")
        np.testing.assert_array_equal(heard(), with_waits(page, pcm))

    def test_numbers_are_those_of_the_log(self, page):
        speak(page, "hello there")
        finish(page)
        metrics = page.evaluate(f"{LIVE}.run.metrics")
        wait_for_status(page, "Done.")
        shown = page.inner_text(".live .numbers")
        assert f"{metrics['acceptance_length']:.2f}" in shown
        assert f"{metrics['rtf']:.2f}" in shown
        assert f"{metrics['ttfa_s'] * 1000:.0f} ms" in shown
        assert "lossless" in shown

    def test_sound_begins_before_synthesis_ends(self, page):
        speak(page, LONG)
        wait_for_sound(page)
        assert not page.evaluate(f"{LIVE}.run.finished")
        assert page.inner_text(".live .status").startswith("Speaking")
        page.click("#stop")

    def test_play_pause_seek_and_level(self, page):
        speak(page, "hello there and then some more of this")
        finish(page)
        page.click(".live .play")
        page.wait_for_function(f"{LIVE}.player.state === 'paused'")
        page.evaluate(f"{LIVE}.seek(0.5)")
        page.wait_for_function("document.querySelector('.live .clock').textContent[2] === '5'")
        page.locator(".live .level").fill("0.25")
        assert page.evaluate(f"{LIVE}.player.gain") == 0.25
        page.click(".live .play")
        wait_for_status(page, "Done.")
        page.click(".live .play")
        wait_for_status(page, "Playing")
        assert page.evaluate(f"{LIVE}.position") < 0.5

    def test_files_of_the_run(self, page, tmp_path):
        speak(page, "hello")
        finish(page)
        page.click(".live .exports summary")
        with page.expect_download() as download:
            page.click("text=Sound (WAV)")
        download.value.save_as(tmp_path / "x.wav")
        with wave.open(str(tmp_path / "x.wav")) as file:
            saved = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        np.testing.assert_array_equal(saved, held_pcm(page))
        speak(page, LONG)
        page.wait_for_function(f"{LIVE}.toolbar.exports.element.inert")
        page.click("#stop")


class TestRunsEnd:
    def test_stop_ends_the_run_and_the_sound_and_the_next_press_works(self, page, voice):
        speak(page, LONG)
        wait_for_sound(page)
        page.click("#stop")
        wait_for_status(page, "Stopped.")
        assert not still_speaks(voice)
        assert page.evaluate(f"{LIVE}.player.state") != "playing"
        speak(page, "hello")
        finish(page)
        pcm, _ = synthesized("hello", live_header(page))
        np.testing.assert_array_equal(held_pcm(page), pcm)

    def test_what_comes_after_stop_is_neither_heard_nor_shown(self, page):
        held = []
        page.route(EVENTS, lambda route: held.append(route))
        speak(page, LONG)
        while not held:
            page.wait_for_timeout(20)
        page.click("#stop")
        wait_for_status(page, "Stopped.")
        for route in held:
            route.continue_()
        page.wait_for_timeout(300)
        assert len(held_pcm(page)) == 0
        assert page.evaluate(f"{LIVE}.run.header") is None
        assert page.inner_text(".live .status") == "Stopped."

    def test_a_stop_before_the_run_is_known_stops_it(self, page, voice):
        page.fill("#text textarea", LONG)
        page.evaluate("for (const id of ['speak', 'stop']) document.getElementById(id).click()")
        page.wait_for_function("!document.querySelector('#speak').disabled")
        assert not still_speaks(voice)
        assert page.evaluate(f"{LIVE}.run.header") is None

    def test_a_reload_stops_the_run(self, page, voice):
        speak(page, LONG)
        wait_for_sound(page)
        page.reload()
        wait_for_status(page, "Ready.")
        assert not still_speaks(voice)
        assert page.is_enabled("#speak")

    def test_a_second_press_does_not_queue_a_second_run(self, page, voice):
        begun = voice.begun
        calls = []
        page.on("request", lambda r: r.method == "POST" and calls.append(r.url))
        page.fill("#text textarea", "one\ntwo\nthree\nfour\nfive")
        # Not page.click, which would wait until the button can be pressed again.
        press = "document.querySelector('#speak').click();"
        page.evaluate(3 * press)
        page.evaluate(press)
        finish(page)
        assert len(calls) == 1
        assert page.is_enabled("#speak")
        assert not still_speaks(voice)
        assert voice.begun == begun + 5

    def test_what_fails_at_once_leaves_the_run_before_as_it_was(self, page):
        speak(page, "hello there")
        finish(page)
        cells, pcm = page_cells(page), held_pcm(page)
        speak(page, "...")
        wait_for_status(page, "There is nothing to say")
        assert page_cells(page) == cells
        np.testing.assert_array_equal(held_pcm(page), pcm)
        finish(page)  # it can still be saved

    def test_a_failure_is_shown_and_the_next_press_works(self, page):
        speak(page, "hello\nfail")
        wait_for_status(page, "The fake voice failed")
        assert page.get_attribute(".live .status", "data-state") == "failed"
        speak(page, "hello")
        finish(page)
        wait_for_status(page, "Done.")


class TestNetwork:
    def test_a_lost_connection_is_taken_up_where_it_broke(self, page):
        asked = []

        def cut(route):
            asked.append(route.request.url)
            if len(asked) > 1:
                return route.continue_()
            whole = route.fetch().text()
            return route.fulfill(body=whole[: len(whole) // 2], content_type="application/x-ndjson")

        page.route(EVENTS, cut)
        speak(page, "hello there and then some more")
        finish(page)
        pcm, trace = synthesized("hello there and then some more", live_header(page))
        np.testing.assert_array_equal(held_pcm(page), pcm)
        assert page_cells(page) == trace_cells(trace)
        assert len(asked) == 2
        assert not asked[1].endswith("after=0")

    def test_text_never_becomes_markup(self, page):
        speak(page, HOSTILE)
        finish(page)
        assert page.evaluate("window.hacked") is None
        assert page.evaluate(f"{LIVE}.run.sentences[0].text") == HOSTILE
        page.hover(".live canvas.grid", position={"x": 300, "y": 90})
        assert page.evaluate("window.hacked") is None


class TestLooks:
    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize(("width", "height"), [(1280, 720), (400, 800)])
    def test_nothing_sticks_out(self, browser, url, theme, width, height):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(f"{url}?__theme={theme}")
        wait_for_status(page, "Ready.")
        speak(page, "hello there")
        finish(page)
        wide = "document.documentElement.scrollWidth"
        assert page.evaluate(wide) <= width
        page.get_by_role("tab", name="Race").click()
        page.wait_for_selector(".race .lanes")
        assert page.evaluate(wide) <= width
        page.close()

    def test_a_token_is_read_where_it_is_pointed_at(self, page):
        speak(page, "hello there")
        finish(page)
        wait_for_status(page, "Done.")
        page.evaluate(f"{LIVE}.fit()")
        page.wait_for_timeout(100)
        box = page.locator(".live canvas.grid").bounding_box()
        x, y = box["width"] / 2, box["height"] - 20
        page.mouse.move(box["x"] + x, box["y"] + y)
        page.wait_for_selector(".live .inspect:visible")
        place = page.evaluate(f"{LIVE}.grid.at({x}, {y})")
        assert f"frame {place['frame']}" in page.inner_text(".live .inspect")

    def test_a_drag_moves_the_playhead(self, page):
        speak(page, "hello there and then some more")
        finish(page)
        wait_for_status(page, "Done.")
        page.evaluate(f"{LIVE}.fit()")
        page.wait_for_timeout(100)
        graphs = page.locator(".live canvas.graphs")
        graphs.scroll_into_view_if_needed()
        box = graphs.bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(middle[0] + 100, middle[1])
        page.mouse.down()
        page.mouse.move(*middle, steps=4)
        page.mouse.up()
        wanted = page.evaluate(f"{LIVE}.view.timeAt({box['width'] / 2})")
        assert page.evaluate(f"{LIVE}.position") == pytest.approx(wanted, abs=0.01)

    def test_drawing_stops_when_nothing_moves(self, page):
        speak(page, "hello")
        finish(page)
        wait_for_status(page, "Done.")
        time.sleep(0.3)
        assert page.evaluate(f"{LIVE}.due") == 0
