"""The page with the real voice: what it makes is what is heard and shown."""

import numpy as np
import pytest

from app.page import build_page
from app.studio import Studio
from core.engine import Engine
from core.metrics import measure
from core.trace import Trace
from tests.browser.conftest import served
from tests.browser.pages import (
    RACE,
    finish,
    held_pcm,
    live_header,
    page_cells,
    speak,
    synthesized,
    tape,
    trace_cells,
    visit,
    wait_for_status,
    with_waits,
)

pytestmark = [pytest.mark.browser, pytest.mark.voice]
TEXT = "Dr. Smith paid $3.12. A large model checks the guesses."
PATIENCE = 60_000  # milliseconds: a busy computer may take long over a few seconds of speech


@pytest.fixture(scope="module")
def engine():
    return Engine.load()


@pytest.fixture(scope="module")
def page(browser, engine):
    studio = Studio(lambda _: engine)
    studio.ready("joe")
    with served(build_page(studio, "joe")) as url:
        tab = visit(browser, url)
        tab.set_default_timeout(PATIENCE)
        yield tab
        tab.close()


def exported_trace(page, folder):
    page.click(".live .exports summary")
    with page.expect_download() as download:
        page.click("text=Trace (JSON)")
    download.value.save_as(folder / "trace.json")
    return Trace.load(folder / "trace.json")


def test_sound_grid_and_numbers_are_those_of_the_engine_and_its_trace(page, engine, tmp_path):
    heard = tape(page)
    speak(page, TEXT)
    finish(page)
    trace = exported_trace(page, tmp_path)
    pcm, again = synthesized(TEXT, live_header(page), engine)
    np.testing.assert_array_equal(held_pcm(page), pcm)
    np.testing.assert_array_equal(trace.pcm(), pcm)
    assert page_cells(page) == trace_cells(trace) == trace_cells(again)
    metrics = measure(trace)
    shown = page.inner_text(".live .numbers")
    for number in (
        f"{metrics.ttfa_s * 1000:.0f} ms" if metrics.ttfa_s < 1 else f"{metrics.ttfa_s:.2f} s",
        f"{metrics.rtf:.2f}",
        f"{metrics.acceptance_length:.2f}",
        f"{metrics.acceptance_rate * 100:.0f} %",
    ):
        assert number in shown
    wait_for_status(page, "Done.", timeout=PATIENCE)
    np.testing.assert_array_equal(heard(), with_waits(page, pcm))


def test_under_the_same_seed_both_lanes_of_a_race_sound_alike(page):
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Rule").click()
    page.get_by_role("option", name="Gumbel match").click()
    page.get_by_role("tab", name="Race").click()
    page.fill("#text textarea", "A large model checks.")
    page.click(".start button#race")
    page.wait_for_function(f"{RACE}.racing")
    wait_for_status(page, "Done.", ".race >", PATIENCE)
    assert "identical, sample by sample" in page.inner_text(".verdict")
