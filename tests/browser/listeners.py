"""Listening tests as people prepare and take them: what is pressed, what the server then has."""

import base64
import csv
import io
import json

import numpy as np

from app.listen.plan import Plan
from app.listen.preparing import prepare
from app.listen.store import Store
from app.runs import Run
from app.studio import Studio
from tests.browser.pages import SlowVoice

SETTINGS = ("joe", "model", "lossless", 4, 0.8, 1.0, 0, 1.0)
# `player` is what the page plays a trial with: from the first clips that it loads.
CATCH = """addEventListener("DOMContentLoaded", async () => {
  const { BlindPlayer } = await import(new URL("/forespeak/page/listen-player.js", location));
  const { load } = BlindPlayer.prototype;
  BlindPlayer.prototype.load = function (...given) {
    window.player = this;
    return load.apply(this, given);
  };
})"""
ENOUGH = "Object.values(player.heard)"
HEAR = f"""() => {{
  for (const heard of {ENOUGH}) heard.add(0, heard.duration);
  player.onchange();
}}"""
CHOICES = {"A": 0, "B": 1, "none": 2}


def prepared(folder, texts="hi\nho", trials=5, kind="abx", pair=("baseline", "lossless")):
    """A test in a folder, without the page: its design."""
    store = Store(folder)
    run = Run()
    plan = Plan.from_controls(lambda _: (), kind, *pair, trials, texts, *SETTINGS)
    studio = Studio(lambda _: SlowVoice().engine())
    with run.listening():
        prepare(run, studio, store, plan, None)
    (line,) = (line for line in map(json.loads, run.lines(0)) if line["kind"] == "prepared")
    return store.design(line["test"])


def go_to_test(page, url, test):
    """A page at the link of a test; `player` will be there."""
    page.add_init_script(CATCH)
    page.goto(f"{url}?listen={test}")


def session_of(store, design, listener):
    """A session that somebody has begun elsewhere."""
    return store.session(store.start(design.test, listener, False))


def open_test(page, url, test):
    """The introduction of a test."""
    go_to_test(page, url, test)
    page.wait_for_selector(".introduction .begin")


def go_on(page):
    """Say that it is the same listener as before."""
    page.click("text=Go on with trial")


def begin(page, url, test):
    """The first trial of a new session."""
    open_test(page, url, test)
    page.click(".begin")
    wait_for_trial(page, 1)


def wait_for_trial(page, number):
    page.wait_for_function(
        f"document.querySelector('.trial h2')?.textContent.startsWith('Trial {number} ')"
    )


def hear(page):
    """All clips at once, without the time that it takes."""
    page.evaluate(HEAR)


def answer(page, choice):
    page.locator(".answers button").nth(CHOICES[choice]).click()


def token(page, test):
    """The session that this browser remembers."""
    return page.evaluate("(test) => JSON.parse(localStorage[`forespeak-listen-${test}`])", test)[
        "session"
    ]


def rows_of(folder, page, test):
    """What the server has of the session that a page takes: a dict for each vote."""
    text = (folder / test / f"votes-{token(page, test)}.csv").read_text()
    return list(csv.DictReader(io.StringIO(text)))


def pcm_of(given):
    """Clips of an answer of the server, int16 [samples] each, by name."""
    return {
        name: np.frombuffer(base64.b64decode(clip), "<i2") for name, clip in given["clips"].items()
    }


def nearest(clips):
    """Which of A and B a program takes X for: the one with which it correlates more."""
    x = clips["X"].astype(float)
    return max("AB", key=lambda name: np.corrcoef(x, clips[name].astype(float))[0, 1])
