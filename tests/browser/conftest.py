"""A headless Chromium, and two ways to a page: the real one served by Gradio, or bare modules."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.page import build_page
from app.serve import start
from app.studio import Studio
from tests.browser.pages import SlowVoice, wait_for_status
from tests.ports import free_port

# The first one draws no window of its own around each page: a third of the work.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--autoplay-policy=document-user-activation-required",  # as people's browsers have it
)
MODULES = Path(__file__).parents[2] / "assets/page"
NOWHERE = "https://forespeak.test/"  # worklets are only given to secure origins


def find_chromium():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def served(page):
    """Serve a `Page` on a free port; its address."""
    yield in_a_thread(lambda: start(page, "127.0.0.1", free_port()))
    page.close()


def in_a_thread(begin):
    """What `begin` returns. Gradio would take the event loop of this thread, which is Playwright's,
    for its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(begin).result()


@pytest.fixture(scope="session")
def browser():
    """Chromium; skips where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = find_chromium()
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


@pytest.fixture(scope="session")
def voice():
    """The fake voice behind `url`, once it is ready: from then on it takes its time."""
    return SlowVoice()


@pytest.fixture(scope="session")
def tests_folder(tmp_path_factory):
    """Where `url` keeps its listening tests."""
    return tmp_path_factory.mktemp("tests")


@pytest.fixture(scope="session")
def url(voice, tests_folder):
    """The whole page with the fake voice; one server for all tests that want it."""
    studio = Studio(lambda _: voice.engine())
    studio.ready("joe")
    voice.pause = 0.1
    with served(build_page(studio, "joe", tests=tests_folder)) as address:
        yield address


@pytest.fixture
def page(browser, url):
    """The page, ready; at the end it must have raised nothing and asked no other server."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    foreign, errors = [], []
    page.on("request", lambda r: r.url.startswith(("http", "ws")) and foreign.append(r.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    wait_for_status(page, "Ready.")
    yield page
    page.close()
    assert [address for address in foreign if not address.startswith(url)] == []
    assert errors == []
