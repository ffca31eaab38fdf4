"""live.js by itself: its module, a component's value, and a server that the test plays."""

import json

import pytest

from app.wire import Lane
from core.engine import Settings
from tests.browser.conftest import NOWHERE
from tests.browser.pages import LIVE, wait_for_sound, wait_for_status
from tests.fake_voice import fake_engine

pytestmark = pytest.mark.browser
MOUNT = """async () => {
  document.body.innerHTML = "<button id=speak>Speak</button><button id=stop>Stop</button>";
  const element = document.body.appendChild(document.createElement("div"));
  window.props = { value: { run: null, muted: false } };
  const { mount } = await import("./page/live.js");
  mount(element, { props, watch: (_, changed) => (window.changed = changed) });
}"""


def log(text):
    """The log of a run as the server writes it."""
    lane = Lane(0, 100.0)
    lines = [{"kind": "status", "text": "Speaking…", "state": "speaking"}]
    lines += [lane.add(event) for event in fake_engine().synthesize(text, Settings())]
    lines.append({"kind": "end", "state": "done", "text": "Done."})
    return "".join(json.dumps({"n": n, **line}) + "\n" for n, line in enumerate(lines))


UNFINISHED = log("hello there").rsplit("\n", 2)[0] + "\n"  # without its end


class Server:
    """What live.js asks: states one after the other, one log for every run, and who was stopped."""

    def __init__(self, page):
        self.states = [{"state": "ready", "text": "Ready."}]
        self.log = log("hello there")
        self.stopped = []
        page.route(f"{NOWHERE}forespeak/**", self._answer)

    def _answer(self, route):
        path = route.request.url.removeprefix(f"{NOWHERE}forespeak/")
        if path == "state":
            state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
            route.fulfill(json=state)
        elif path.endswith("/stop"):
            self.stopped.append(path.split("/")[1])
            route.fulfill(status=204)
        else:
            route.fulfill(body=self.log, content_type="application/x-ndjson")


@pytest.fixture
def server(blank):
    return Server(blank)


@pytest.fixture
def live(blank, server):  # noqa: ARG001 - it has to be there first
    blank.evaluate(MOUNT)
    return blank


def test_says_how_far_the_voice_is_until_it_is_ready(blank, server):
    server.states = [
        {"state": "loading", "text": "Loading the voice…"},
        {"state": "warming", "text": "Warming up…"},
        {"state": "ready", "text": "Ready."},
    ]
    blank.evaluate(MOUNT)
    for text in ("Loading the voice…", "Warming up…", "Ready."):
        wait_for_status(blank, text)


def test_a_value_that_nobody_told_of_is_found(live):
    live.click("#speak")
    live.evaluate("props.value = { run: 'a', muted: false }")
    wait_for_sound(live)
    wait_for_status(live, "Done.")
    assert live.is_enabled("#speak")


def test_sound_of_a_rate_that_no_browser_plays_is_shown_and_the_status_says_so(live, server):
    server.log = log("hello there").replace('"sample_rate": 22050', '"sample_rate": 2000')
    live.click("#speak")
    live.evaluate("props.value = { run: 'a', muted: false }; changed()")
    wait_for_status(live, "Done. This sound cannot be played here")
    assert live.evaluate(f"{LIVE}.run.finished")
    live.click(".live .play")
    live.click("#stop")
    assert live.get_attribute(".live .status", "data-state") == "blocked"


def test_a_new_run_stops_the_one_before(live, server):
    server.log = UNFINISHED
    live.click("#speak")
    live.evaluate("props.value = { run: 'a', muted: false }; changed()")
    wait_for_sound(live)
    server.log = log("hello there")
    live.evaluate("props.value = { run: 'b', muted: false }; changed()")
    wait_for_status(live, "Done.")
    assert server.stopped == ["a"]


def test_a_page_that_comes_back_can_be_used_again(live, server):
    server.log = UNFINISHED
    live.click("#speak")
    live.evaluate("props.value = { run: 'a', muted: false }; changed()")
    wait_for_sound(live)
    leave = "window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))"
    live.evaluate(leave)
    wait_for_status(live, "Stopped.")
    assert live.is_enabled("#speak")
    assert live.evaluate(f"{LIVE}.player.state") != "playing"
    live.wait_for_timeout(50)
    assert server.stopped == ["a"]


def test_where_nothing_runs_or_sounds_stop_does_nothing(live):
    wait_for_status(live, "Ready.")
    live.click("#stop")
    live.keyboard.press("Escape")
    assert live.inner_text(".live .status") == "Ready."
    live.click("#speak")
    live.evaluate("props.value = { run: 'a', muted: false }; changed()")
    wait_for_status(live, "Done.")
    live.click("#stop")
    assert live.inner_text(".live .status") == "Done."


@pytest.mark.parametrize("state", ["stopped", "failed"])
def test_a_run_that_the_server_ends_falls_silent(live, server, state):
    lines = log("\n".join(["a long text"] * 5)).splitlines()
    lines[-1] = json.dumps({**json.loads(lines[-1]), "state": state, "text": "Ended."})
    server.log = "\n".join(lines) + "\n"
    live.click("#speak")
    live.evaluate("props.value = { run: 'a', muted: false }; changed()")
    wait_for_status(live, "Ended.")
    assert live.evaluate(f"{LIVE}.player.state") == "paused"


def test_where_the_server_plays_the_browser_is_silent_and_says_so(live):
    live.click("#speak")
    live.evaluate("props.value = { run: 'a', muted: true }; changed()")
    wait_for_sound(live)
    assert live.evaluate(f"{LIVE}.player.output.gain.value") == 0
    assert "server's loudspeakers" in live.inner_text(".live .status")


def test_without_a_press_the_browser_may_refuse_sound_then_play_is_asked_for(blank, server):  # noqa: ARG001
    # By itself: a script that Playwright evaluates counts as a press.
    run = "props.value = { run: 'a', muted: false }"
    script = f"async () => {{ await ({MOUNT})(); {run}; }}"
    blank.add_init_script(f"document.addEventListener('DOMContentLoaded', {script})")
    blank.goto(NOWHERE)
    blank.wait_for_timeout(1500)
    assert blank.inner_text(".live .status").startswith("Press Play")
    assert blank.get_attribute(".live .status", "data-state") == "blocked"
    blank.click(".live .play")
    wait_for_sound(blank)
    wait_for_status(blank, "Done.")


def test_a_press_that_the_server_never_answers_is_given_up(blank, server):  # noqa: ARG001
    blank.clock.install()
    blank.evaluate(MOUNT)
    blank.click("#speak")
    blank.clock.run_for(1000)
    assert blank.is_disabled("#speak")
    blank.clock.run_for(20_000)
    wait_for_status(blank, "The server does not answer")
    assert blank.is_enabled("#speak")
