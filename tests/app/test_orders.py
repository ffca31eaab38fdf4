"""What the controls ask for."""

import pytest

from app.orders import ADAPTIVE, AUTOMATIC, DRAFT, LONGEST_TEXT, NO_DRAFT, Order
from core.engine import Settings
from core.errors import ForespeakError
from core.sampling import Sampling
from core.speedup import Costs, Outlook

CONTROLS = {
    "text": "hello",
    "voice": "joe",
    "draft": DRAFT,
    "rule": "same-seed",
    "gamma": AUTOMATIC,
    "temperature": 1,
    "top_p": 0.9,
    "seed": 7,
    "rate": 2,
}


def order(**changes):
    return Order.from_controls(**CONTROLS | changes)


def test_every_control_reaches_the_engine():
    expected = Settings(Sampling(1.0, 0, 0.9), "same-seed", 3, 7, 2.0)
    assert order(gamma=3).settings(automatic_gamma=5) == expected


@pytest.mark.parametrize(
    ("draft", "gamma", "live", "race"),
    [(DRAFT, AUTOMATIC, 5, 5), (DRAFT, 3, 3, 3), (NO_DRAFT, 3, 0, 5), (NO_DRAFT, AUTOMATIC, 0, 5)],
)
def test_gamma(draft, gamma, live, race):
    chosen = order(draft=draft, gamma=gamma)
    assert chosen.settings(5).gamma == live
    assert chosen.drafted(5).gamma == race
    assert chosen.baseline().gamma == 0


def test_adaptive_windows_go_by_the_outlook():
    outlook = Outlook(0.6, Costs.steady(0.1, (1.0, 1.1, 1.2, 1.3)))
    chosen = order(gamma=ADAPTIVE)
    for settings in (chosen.settings(2, outlook), chosen.drafted(2, outlook)):
        assert (settings.gamma, settings.adaptive, settings.adapts) == (3, outlook, True)
    assert not chosen.baseline().adapts
    assert chosen.drafted(2) == order(gamma=2).settings(5)
    alone = order(gamma=ADAPTIVE, draft=NO_DRAFT)
    assert alone.settings(2, outlook) == alone.baseline()
    assert alone.drafted(2, outlook).adapts
    assert not order(gamma=AUTOMATIC).settings(2, outlook).adapts


def test_a_tolerance_is_for_rules_that_have_one():
    assert order(rule="ssd", tolerance=0.4).settings(2).tolerance == 0.4
    assert order(rule="ssd", tolerance="0.4").settings(2).tolerance == 0.4
    for empty in ("", None):
        assert order(rule="ssd", tolerance=empty).settings(2).tolerance is None
    assert order(rule="block", tolerance=0.4).settings(2).tolerance is None


def test_who_guesses_reaches_the_engine():
    assert order(draft="ngram").settings(2).draft == "ngram"
    assert order(draft=NO_DRAFT).drafted(2).draft == DRAFT


def test_what_has_no_control_is_as_the_voice_is_meant_to_speak(monkeypatch):
    monkeypatch.setattr("app.orders.recommended_sampling", lambda _: Sampling(0.3, 50, 0.7))
    assert order().sampling == Sampling(1.0, 50, 0.9)


@pytest.mark.parametrize("name", CONTROLS)
def test_an_empty_control_is_refused(name):
    with pytest.raises(ForespeakError, match="empty"):
        order(**{name: None})


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"voice": "nobody"}, "nobody"),
        ({"rule": "guess"}, "guess"),
        ({"temperature": 9}, "Temperature"),
        ({"top_p": 0}, "Top-p"),
        ({"rate": 3}, "rate 3"),
        ({"gamma": 17}, "γ 17"),
        ({"draft": "oracle"}, "oracle"),
        ({"seed": 1.5}, r"Seed 1\.5 is not whole"),
        ({"rule": "ssd", "tolerance": 2}, "β 2"),
        ({"rule": "ssd", "tolerance": "nan"}, "β nan"),
        ({"rule": "ssd", "tolerance": "much"}, "Tolerance 'much'"),
        ({"text": "a" * (LONGEST_TEXT + 1)}, "20001 characters"),
    ],
)
def test_what_is_out_of_range_is_refused(change, part):
    with pytest.raises(ForespeakError, match=part):
        order(**change)
