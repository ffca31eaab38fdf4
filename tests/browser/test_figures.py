"""The figures of a recorded run, passes and codebooks; and what all figures have in common."""

import base64

import numpy as np
import pytest

from app.wav import wav_bytes
from tests.browser.figures import MACHINE, P, Q, mount, said

pytestmark = pytest.mark.browser

TEXT = "hello"
RATE = 22050


def round_(drafted, accepted, seconds):
    draft_s, verify_s = seconds
    return {
        "draft_tokens": drafted,
        "accepted": accepted,
        "next_token": 9,
        "draft_s": draft_s,
        "verify_s": verify_s,
    }


def trace(gamma, rounds):
    return {
        "trace": {
            "gamma": gamma,
            "rounds": rounds,
            "num_codebooks": 2,
            "frame_rate": 20,
            "sample_rate": RATE,
            "sentences": [{"text": TEXT}],
        }
    }


# Tokens: 1 2 9 (bonus), 4 9 (corrected), 9 (corrected): three frames of two codebooks.
DRAFTED = trace(
    2,
    [
        round_([1, 2], 2, (0.004, 0.016)),
        round_([4, 5], 1, (0.004, 0.016)),
        round_([6, 7], 0, (0.004, 0.016)),
    ],
)
PLAIN = trace(0, [round_([], 0, (0.001, 0.01))] * 6)
RUNS = {"example": DRAFTED, "example-baseline": PLAIN}
ALL = {
    "passes": {},
    "codebooks": {},
    "accept": {"p": P, "q": Q},
    "residual": {"p": P, "q": Q},
    "proof": {"p": P, "q": Q},
    "speedup": {},
    "pays": {},
    "tolerance": {"p": P, "q": Q},
}
PAIRS = ("accept", "residual", "proof", "tolerance")
COSTS = ("speedup", "pays", "tolerance")
UNNAMED = """() => [...document.querySelectorAll("button, input, svg, fieldset")].filter(
  (element) =>
  !(element.ariaLabel || element.textContent.trim() || element.closest("label")?.textContent.trim())
).map((element) => element.outerHTML)"""
FOCUSABLE = "() => [...document.querySelectorAll('button:not(:disabled), input')].length"
# `nodes` is every source and gain that the page makes.
SPY = """() => {
  window.nodes = { GainNode: [], AudioBufferSourceNode: [] };
  for (const name of Object.keys(nodes)) {
    window[name] = class extends window[name] {
      constructor(...args) { super(...args); nodes[name].push(this); }
    };
  }
}"""
LOUD = "nodes.GainNode.map(({ gain }) => Math.round(gain.value)).join(' ')"


def cells(page, kind):
    """How many tokens, or passes, of this kind are drawn."""
    return page.locator(f"svg .fig-{kind}").count()


def move_to(page, share):
    page.get_by_role("slider", name="time").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", share
    )


def test_the_baseline_is_one_token_for_each_pass(blank):
    mount(blank, "passes", {"show": "baseline", "tokens": 5}, RUNS)
    assert (cells(blank, "pass"), cells(blank, "plain"), cells(blank, "draft")) == (5, 5, 0)
    # 5 tokens at 2 codebooks and 20 frames a second
    assert said(blank) == "After 50 ms: 5 tokens from 5 target passes, which is 125 ms of sound."


def test_both_runs_stand_on_one_clock(blank):
    mount(blank, "passes", {"tokens": 6}, RUNS)
    # Sixty milliseconds: all of both.
    assert [cells(blank, kind) for kind in ("accepted", "bonus", "corrected")] == [3, 1, 2]
    assert "6 tokens from 6 target passes by the baseline" in said(blank)
    assert "6 tokens from 3 target passes with a draft" in said(blank)
    move_to(blank, 0.5)  # 30 ms: the second round is under way
    assert said(blank).startswith("After 30 ms: 3 tokens from 3 target passes by the baseline")
    assert "3 tokens from 1 target passes with a draft" in said(blank)
    assert [cells(blank, kind) for kind in ("accepted", "bonus", "corrected")] == [2, 1, 0]
    widths = "[...document.querySelectorAll('svg .fig-pass')].map((e) => e.width.baseVal.value + 1)"
    *plain, first, _ = blank.evaluate(widths)
    assert first / plain[0] == pytest.approx(1.6, abs=0.02)


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_gamma_that_adapts_is_called_so(blank, adaptive):
    run = {"trace": {**DRAFTED["trace"], "adaptive": adaptive}}
    mount(blank, "passes", recordings={**RUNS, "example": run})
    words = blank.locator("svg text").all_text_contents()
    wanted = "Speculative, adaptive γ, up to 2" if adaptive else "Speculative, γ 2"
    assert any(text.startswith(wanted) for text in words)


def test_the_passes_play_and_pause(blank):
    mount(blank, "passes", {"tokens": 6}, RUNS)
    blank.get_by_role("button", name="Play").focus()
    blank.keyboard.press("Enter")
    time = blank.get_by_role("slider", name="time")
    blank.wait_for_function("document.querySelector('input').value > 0.05")
    blank.keyboard.press("Enter")
    stood = float(time.input_value())
    assert stood < 1
    blank.wait_for_timeout(100)
    assert float(time.input_value()) == stood
    assert said(blank).startswith(f"After {1000 * stood * 0.06:.0f} ms")


def test_tokens_of_the_codebooks_in_use(blank):
    mount(blank, "codebooks", {}, RUNS)
    numbers = "[...document.querySelectorAll('svg .fig-small')].map((e) => e.textContent)"
    assert blank.evaluate(numbers) == ["1", "9", "9", "2", "4", "9"]
    assert (cells(blank, "accepted"), cells(blank, "empty")) == (3, 3)
    assert "20 tokens a second" in said(blank)
    blank.get_by_role("radio", name="2", exact=True).check()
    assert (cells(blank, "accepted"), cells(blank, "empty")) == (6, 0)
    assert "40 tokens a second" in said(blank)
    assert TEXT in said(blank)


def test_switching_codebooks_keeps_the_place_in_the_sound(blank):
    tone = (8000 * np.sin(np.arange(4 * RATE) / 20)).astype(np.int16)
    sound = base64.b64encode(wav_bytes(tone, RATE)).decode()
    blank.evaluate(SPY)
    mount(blank, "codebooks", {}, RUNS, sound=sound)
    blank.get_by_role("button", name="Play").click()
    blank.get_by_role("button", name="Stop").wait_for()
    assert blank.evaluate(LOUD) == "1 0"
    blank.get_by_role("radio", name="2", exact=True).check()
    blank.wait_for_function(f"{LOUD} === '0 1'")
    assert blank.evaluate("nodes.AudioBufferSourceNode.length") == 2
    blank.evaluate("document.dispatchEvent(new CustomEvent('forespeak-claim', { detail: {} }))")
    blank.get_by_role("button", name="Play").wait_for()  # somebody else wants to be heard


def test_a_sound_that_is_missing_is_said(blank):
    mount(blank, "codebooks", {}, RUNS, sound="AAAA")
    blank.get_by_role("button", name="Play").click()
    blank.wait_for_function("document.querySelector('.fault').textContent")
    assert blank.get_by_role("button", name="Play").is_enabled()


@pytest.mark.parametrize("name", ["passes", "codebooks"])
def test_a_recording_that_is_missing_is_said(blank, name):
    with pytest.raises(Exception, match="no recording"):
        mount(blank, name)


WRONG = [
    *[(name, {"colour": "red"}, "no option “colour”, only ") for name in [*ALL, "step"]],
    *[(name, {"p": 0.5}, "p must be a list of numbers") for name in PAIRS],
    *[(name, {"q": ["1"]}, "q must be a list of numbers") for name in PAIRS],
    *[(name, {"gamma": 2.5}, "gamma must be a whole number from 1 to 16") for name in COSTS],
    *[(name, {"slope": "0.1"}, "slope must be a number from 0 to 1") for name in COSTS],
    ("accept", {"seed": -1}, "seed must be a whole number from 0"),
    ("proof", {"runs": 1}, "runs must be a whole number from 100 to"),
    ("tolerance", {"beta": 2}, "beta must be a number from 0 to 1"),
    ("passes", {"tokens": 0}, "tokens must be a whole number from 1"),
    ("passes", {"show": "all"}, "show must be one of baseline, both"),
    ("step", {"show": "everything"}, "show must be one of draft, verify"),
    ("step", {"round": -1}, "round must be a whole number from 0"),
    *[(name, {"recording": 5}, "name of a recording") for name in ("passes", "codebooks", "step")],
]


@pytest.mark.parametrize(("name", "options", "words"), WRONG)
def test_an_option_that_cannot_be_is_said(blank, name, options, words):
    with pytest.raises(Exception, match=words):
        mount(blank, name, options, RUNS)


def test_codebooks_of_another_recording_say_whose_sound_it_is(blank):
    mount(blank, "codebooks", {}, RUNS)
    assert "not of this sentence" not in said(blank)
    mount(blank, "codebooks", {"recording": "mine"}, {"mine": DRAFTED})
    assert "The sound is not of this sentence, but of the recording “example”." in said(blank)
    blank.get_by_role("radio", name="2", exact=True).check()
    assert "not of this sentence" in said(blank)


@pytest.mark.parametrize(("name", "options"), ALL.items())
def test_everything_has_a_name_and_the_keyboard_reaches_it(blank, name, options):
    mount(blank, name, options, RUNS, MACHINE)
    figure = blank.locator("figure")
    assert figure.get_attribute("role") == "group"
    assert figure.get_attribute("aria-label")
    assert blank.evaluate(UNNAMED) == []
    assert blank.locator("svg[role=img]").count() == blank.locator("svg").count()
    radios = blank.locator("fieldset.fig-choice input").count()
    stops = blank.evaluate(FOCUSABLE) - max(0, radios - 1)  # one stop for a group of radios
    reached = set()
    for _ in range(stops):
        blank.keyboard.press("Tab")
        reached.add(
            blank.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)")
        )
    assert len(reached) == stops


@pytest.mark.parametrize(("name", "options"), ALL.items())
def test_a_telephone_has_room_for_it(blank, name, options):
    blank.set_viewport_size({"width": 390, "height": 844})
    mount(blank, name, options, RUNS, MACHINE)
    blank.wait_for_function("document.querySelector('svg').viewBox.baseVal.width < 390")
    outside = """() => [...document.querySelectorAll("svg text")].filter((text) => {
      const [a, b] = [text.getBoundingClientRect(), text.closest("svg").getBoundingClientRect()];
      return a.width && (a.left < b.left - 2 || a.right > b.right + 2);
    }).map((text) => text.textContent)"""
    assert blank.evaluate(outside) == []
