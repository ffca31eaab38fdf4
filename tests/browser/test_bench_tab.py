"""The Bench tab as a visitor uses it: start, stop, go on, open a file; also with the keyboard."""

import json
from dataclasses import asdict

import pytest

from tests.browser.pages import wait_for_status
from tests.core.matrix.samples import BASELINE, EXACT, HEADER, RELAXED, sample

pytestmark = pytest.mark.browser
BENCH = ".bench"


@pytest.fixture
def tab(page, tmp_path, monkeypatch):
    """The page's Bench tab, with what the fake voice can do chosen."""
    monkeypatch.setattr("app.bench.plan.default_folder", lambda: tmp_path / "bench")
    page.get_by_role("tab", name="Bench").click()
    page.wait_for_selector(".bench .status:not(:empty)")
    return page


@pytest.fixture
def results(tmp_path):
    """A file with a front of two, and one way that somebody listened to."""
    path = tmp_path / "results.jsonl"
    samples = [
        sample(BASELINE, 0, 1.0, errors=1),
        sample(EXACT, 0, 2.0, errors=1),
        sample(RELAXED, 0, 3.0, 0.25, errors=2),
    ]
    lines = [asdict(HEADER), *map(asdict, samples)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def choose(page, path):
    """The file to open."""
    with page.expect_file_chooser() as chooser:
        page.click("#open-bench")
    chooser.value.set_files(path)


def opened(page, path):
    choose(page, path)
    wait_for_status(page, "Opened:", BENCH)


def test_a_comparison_is_stopped_and_goes_on_where_it_ended(tab):
    tab.fill("#bench-sentences input", "1")
    if tab.is_checked("#bench-judge input"):
        tab.uncheck("#bench-judge input")
    tab.click("button#bench")
    tab.wait_for_function("document.querySelector('.bench progress').value >= 3")
    assert tab.is_disabled("button#bench")
    tab.click("#stop-bench")
    wait_for_status(tab, "Stopped.", BENCH)
    assert tab.locator(".bench tbody tr").count() >= 3
    tab.click("button#bench")
    wait_for_status(tab, "Done: 15 pairs", BENCH, 60_000)
    assert tab.locator(".bench tbody tr").count() == 15
    assert tab.is_hidden(".bench progress")


def test_an_opened_file_is_shown_without_a_model(tab, results):
    opened(tab, results)
    assert tab.locator(".bench tbody tr").count() == 3
    label = tab.get_attribute(".bench-plot svg.fig-drawing", "aria-label")
    assert "3 ways" in label
    assert "Draft model, SSD tolerance, β 0.2, γ 4, not lossless, 3.00 times" in label
    assert tab.inner_text(".bench-says span").startswith(
        "Fastest lossless: Draft model, Speculative"
    )


def test_lossless_and_not_differ_in_shape_and_are_named(tab, results):
    opened(tab, results)
    marks = tab.locator(".bench-plot .bench-point")
    shapes = marks.evaluate_all(
        "all => all.map((g) => g.querySelector('circle') ? 'disc' : 'diamond')"
    )
    assert sorted(shapes) == ["diamond", "disc", "disc"]
    claims = tab.locator(".bench tbody th i:first-child").all_inner_texts()
    assert claims == ["not lossless", "lossless", "lossless"]
    tab.select_option(".bench-bars select", "ssd")
    assert "(not lossless)" in tab.get_attribute(".bench-bars svg", "aria-label")


def test_the_table_is_sorted_and_ways_are_chosen_with_the_keyboard(tab, results):
    opened(tab, results)
    speeds = ".bench tbody td[data-label='Speed-up'] b"
    assert tab.locator(speeds).all_inner_texts() == ["3.00", "2.00", "1.00"]
    tab.get_by_role("button", name="Speed-up").focus()
    tab.keyboard.press("Enter")
    assert tab.locator(speeds).all_inner_texts() == ["1.00", "2.00", "3.00"]
    assert tab.locator(".bench th[aria-sort=ascending]").inner_text().startswith("Speed-up")
    tab.locator(".bench tbody button").last.focus()
    tab.keyboard.press("Enter")
    assert "SSD" in tab.inner_text(".bench-says")
    assert tab.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"


def test_the_plot_can_be_across_wrong_words(tab, results):
    opened(tab, results)
    tab.select_option(".bench-tools select", "wer")
    label = tab.get_attribute(".bench-plot svg.fig-drawing", "aria-label")
    assert "SSD" in label
    assert "wrong words" in tab.text_content(".bench-plot svg.fig-drawing")


def test_what_was_not_measured_is_not_offered(tab, tmp_path):
    path = tmp_path / "unheard.jsonl"
    lines = [asdict(HEADER), asdict(sample(EXACT))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    opened(tab, path)
    assert tab.locator(".bench-tools option[value=wer]").is_disabled()
    assert tab.inner_text(".bench td[data-label=WER]").endswith("not measured")


def test_a_file_that_is_none_is_refused_and_nothing_shown_is_lost(tab, results, tmp_path):
    opened(tab, results)
    other = tmp_path / "other.json"
    other.write_text("{}")
    choose(tab, other)
    tab.wait_for_function("document.querySelector('.bench .status').dataset.state === 'failed'")
    assert "holds no results" in tab.inner_text(".bench .status")
    assert tab.locator(".bench tbody tr").count() == 3


def test_it_saves_what_is_shown(tab, results):
    opened(tab, results)
    with tab.expect_download() as download:
        tab.locator(".bench .actions a", has_text="CSV").click()
    assert download.value.suggested_filename == "forespeak-bench.csv"


def test_it_fits_a_telephone(tab, results):
    opened(tab, results)
    tab.set_viewport_size({"width": 390, "height": 844})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.is_visible(".bench-table .bench-choice select")
    wide = tab.evaluate("document.querySelector('.bench-scroll').scrollWidth")
    assert wide <= 390
