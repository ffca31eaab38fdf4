"""A headless Chromium, and two ways to a page: the real one served by Gradio, or bare modules."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.serve import pick_port, start

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--autoplay-policy=user-gesture-required",
)
MODULES = Path(__file__).parents[2] / "assets/page"
NOWHERE = "http://forespeak.test/"


@contextmanager
def served(page):
    """Serve a `Page` on a free port; its address."""
    # In a thread: Gradio would take Playwright's event loop, which runs in this one, for its own.
    with ThreadPoolExecutor(1) as pool:
        url = pool.submit(lambda: start(page, "127.0.0.1", pick_port("127.0.0.1", None))).result()
    yield url
    page.close()


@pytest.fixture(scope="session")
def browser():
    """Chromium; skips where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as runner:
        chromium = runner.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def blank(browser):
    """An empty document at NOWHERE whose scripts may import "./page/NAME.js"; no server behind it.

    At the end nothing must have been raised in it.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def answer(route):
        name = route.request.url.removeprefix(NOWHERE)
        if name.startswith("page/"):
            script = (MODULES / Path(name).name).read_text(encoding="utf-8")
            route.fulfill(body=script, content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html><body></body>", content_type="text/html")

    page.route(f"{NOWHERE}**", answer)
    page.goto(NOWHERE)
    yield page
    page.close()
    assert errors == []
