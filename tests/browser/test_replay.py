"""A saved run on the page: with its sound and without any model."""

from dataclasses import replace

import numpy as np
import pytest

from app.page import build_page
from app.studio import Studio
from core.errors import ForespeakError
from tests.browser.conftest import served
from tests.browser.pages import LIVE, finish, held_pcm, synthesized, wait_for_sound, wait_for_status

pytestmark = pytest.mark.browser
TEXT = "hello there"
HEADER = {
    "temperature": 0.8,
    "top_k": 0,
    "top_p": 1.0,
    "rule": "lossless",
    "gamma": 3,
    "seed": 5,
    "rate": 1,
}


def no_voice(_):
    raise ForespeakError("There is no voice here.")


@pytest.fixture(scope="module")
def pcm_and_trace():
    pcm, trace = synthesized(TEXT, HEADER)
    half = [replace(chunk, at_s=0.5 + chunk.at_s) for chunk in trace.chunks[1:]]
    return pcm, replace(trace, chunks=(trace.chunks[0], *half), total_s=0.5 + trace.total_s)


@pytest.fixture(scope="module")
def url(tmp_path_factory, pcm_and_trace):
    folder = tmp_path_factory.mktemp("traces")
    pcm, trace = pcm_and_trace
    trace.with_sound(pcm).save(folder / "a-good-one.json")
    trace.save(folder / "without-sound.json")
    with served(build_page(Studio(no_voice), "joe", folder)) as address:
        yield address


@pytest.fixture
def page(browser, url):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(url)
    page.wait_for_selector(".live .status")
    page.click("#examples > button, #examples .label-wrap")
    yield page
    page.close()


def test_a_trace_is_told_again_as_it_happened(page, pcm_and_trace):
    pcm, trace = pcm_and_trace
    page.click("#open-saved")
    wait_for_sound(page, 0.01)
    assert not page.evaluate(f"{LIVE}.run.finished")
    finish(page)
    np.testing.assert_array_equal(held_pcm(page), pcm)
    assert page.evaluate(f"{LIVE}.run.spoken") == sum(len(each.tokens) for each in trace.rounds)
    assert page.evaluate(f"{LIVE}.player.underruns.length") >= 1
    wait_for_status(page, "Replayed.")
    page.click(".live .play")
    wait_for_status(page, "Playing")


def test_a_trace_without_sound_moves_its_playhead(page):
    page.click("#saved input")
    page.get_by_role("option", name="without sound").click()
    page.click("#open-saved")
    wait_for_sound(page, 0.1)
    assert not held_pcm(page).any()
    wait_for_status(page, "Replayed. This trace was saved without its sound.")


def test_speak_says_that_there_is_no_voice(page):
    page.fill("#text textarea", TEXT)
    page.click("#speak")
    wait_for_status(page, "There is no voice here.")
    page.click("#open-saved")
    finish(page)
