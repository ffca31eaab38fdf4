"""The page as a visitor uses it: a voice that takes its time, and what is pressed and seen."""

import time

import numpy as np

from core.engine import AudioReady, Engine, Finished, Settings
from core.sampling import Sampling
from core.sound import to_int16
from tests.fake_voice import FakeVoice, fake_engine

LONG = "\n".join(["a long text"] * 100)  # ten seconds of work, forty of sound
EVENTS = "**/events?*"  # where the log of a run is read
LIVE = "document.querySelector('.live .stage').stage"
RACE = "document.querySelector('.race').race"


class SlowVoice(FakeVoice):
    """Takes its time over each sentence, and counts those it began."""

    begun = 0
    pause = 0.0

    def target(self, plan):
        self.begun += 1
        time.sleep(self.pause)
        return super().target(plan)

    def engine(self):
        """An engine with this voice."""
        return Engine(self, fake_engine().device)


def visit(browser, url, **options):
    """A new tab on the page, as soon as the voice is ready."""
    page = browser.new_page(viewport={"width": 1280, "height": 720}, **options)
    page.goto(url)
    wait_for_status(page, "Ready.")
    return page


def wait_for_status(page, text, root=".live", timeout=10_000):
    page.wait_for_function(
        "([root, text]) => document.querySelector(`${root} .status`)?.textContent.startsWith(text)",
        arg=[root, text],
        timeout=timeout,
    )


def speak(page, text):
    page.fill("#text textarea", text)
    page.click("#speak")


def finish(page):
    """Wait until the run is there as a whole; its sound may still play."""
    page.wait_for_function(f"{LIVE}.run.finished && !{LIVE}.toolbar.exports.element.inert")


def wait_for_sound(page, seconds=0.2):
    page.wait_for_function(f"{LIVE}.position > {seconds}")


def held_pcm(page, stage=LIVE):
    """int16 samples that the player of a stage holds."""
    return np.array(page.evaluate(f"Array.from({stage}.player.pcm())"), np.int16)


def synthesized(text, header):
    """int16 samples, and the trace, of an engine with the settings of a run."""
    settings = Settings(
        Sampling(header["temperature"], header["top_k"], header["top_p"]),
        header["rule"],
        header["gamma"],
        header["seed"],
        header["rate"],
    )
    events = list(fake_engine().synthesize(text, settings))
    sound = np.concatenate([event.samples for event in events if isinstance(event, AudioReady)])
    (trace,) = (event.trace for event in events if isinstance(event, Finished))
    return to_int16(sound), trace


def live_header(page):
    return page.evaluate(f"{LIVE}.run.header")


def still_speaks(voice, seconds=0.6):
    """Whether the voice begins sentences; waits for what it has begun."""
    time.sleep(2 * voice.pause)
    begun = voice.begun
    time.sleep(seconds)
    return voice.begun > begun
