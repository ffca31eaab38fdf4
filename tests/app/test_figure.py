"""The figure shows what the trace says, whatever the text is."""

import io
import re
import warnings
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import matplotlib
import pytest
from PIL import Image

from app.figure import render
from app.figure_numbers import fixed
from app.figure_style import CELLS, DRAFT, FAINT, INK, LINES, PAPER, RULE, VERIFY
from app.figure_words import wrap
from core.engine import Settings
from core.metrics import measure
from core.trace import Sentence, Trace
from core.voices.base import ASSETS
from tests.fake_voice import fake_engine

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    '$x_1^2$ \\frac{a}{b} _ ^ % # <img onerror=alert(1)> ${alert(1)} {{x}} & " \0\x1b\ud83d 🧠 語'
)


def speak(text: str = "hello there\nworld", **settings) -> Trace:
    return list(fake_engine().synthesize(text, Settings(**settings)))[-1].trace


def with_words(trace: Trace, *words: str) -> Trace:
    """The trace of one sentence with other words, equally long."""
    (spoken,) = trace.sentences
    share = spoken.frames / len(words)
    index = tuple(range(len(words)))
    other = Sentence(" ".join(words), words, words, index, (share,) * len(words), spoken.frames)
    return replace(trace, sentences=(other,))


def svg(trace: Trace) -> ET.Element:
    return ET.fromstring(render(trace, "svg"))


def texts(root: ET.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


def cells(root: ET.Element) -> dict[str, int]:
    """How many shapes of each kind were drawn."""
    groups = {g.get("id"): g for g in root.iter(f"{SVG}g")}
    return {  # a shape that stands alone is drawn as the use of a definition
        kind: len(groups[kind].findall(f"{SVG}path")) + len(list(groups[kind].iter(f"{SVG}use")))
        for kind in CELLS
        if kind in groups
    }


def expected_cells(trace: Trace) -> Counter:
    """Token by token, from the rounds alone."""
    counts = Counter()
    for round_ in trace.rounds:
        counts["accepted"] += round_.accepted
        if not round_.draft_tokens:
            counts["plain"] += 1
        elif round_.accepted < len(round_.draft_tokens):
            counts.update(["rejected", "corrected"])
        else:
            counts["bonus"] += 1
    return +counts


@pytest.mark.parametrize("gamma", [0, 1, 3, 8])
def test_as_many_cells_of_each_kind_as_the_trace_has(gamma):
    trace = speak(gamma=gamma)
    root = svg(trace)
    assert cells(root) == expected_cells(trace)
    for kind, count in expected_cells(trace).items():
        assert f"{count} {kind}" in texts(root)


def test_cells_stand_at_their_tokens():
    """Without overlap and without gap: one cell a token, but two halves where one was rejected."""
    trace = speak("hello everybody", gamma=3)
    root = svg(trace)
    shapes = [
        path.get("d")
        for group in root.iter(f"{SVG}g")
        if group.get("id") in CELLS
        for path in group.findall(f"{SVG}path")
    ]
    boxes = Counter()
    for shape in shapes:
        points = re.findall(r"[ML] ([\d.]+) ([\d.]+)", shape)
        xs, ys = (sorted(map(float, values)) for values in zip(*points, strict=True))
        boxes[round(xs[0]), round(xs[-1]), round(ys[0]), round(ys[-1])] += 1
    assert set(boxes.values()) == {1}
    tokens = sum(len(round_.tokens) for round_ in trace.rounds)
    assert len(boxes) == tokens + expected_cells(trace)["rejected"]
    covered = sum((right - left) * (bottom - top) for left, right, top, bottom in boxes)
    left, _, top, _ = map(min, zip(*boxes, strict=True))
    _, right, _, bottom = map(max, zip(*boxes, strict=True))
    assert covered == pytest.approx((right - left) * (bottom - top), rel=0.01)


def test_words_and_numbers_are_text():
    trace = speak(gamma=3, seed=7)
    found = texts(svg(trace))
    m = measure(trace)
    for text in (
        "hello there",
        "world",
        "lossless",
        f"{m.ttfa_s * 1000:.0f} ms",
        f"{m.rtf:.2f}",
        f"{m.acceptance_length:.2f}",
        f"{m.acceptance_rate * 100:.0f} %",
        "voice fake · draft model · rule lossless · γ 3 · cpu",
        f"temperature 0.8 · seed 7 · {m.tokens_per_s:.0f} tokens/s",
    ):
        assert text in found


def test_the_speed_up_is_against_the_baseline_if_that_is_known():
    trace = speak(gamma=3)
    speed = measure(trace).tokens_per_s
    known = ET.fromstring(render(trace, "svg", speed / 2.5))
    assert {"speed-up", "2.50×"} < set(texts(known))
    assert "–" in texts(svg(trace))
    baseline = ET.fromstring(render(speak(gamma=0), "svg", 100.0))
    assert not any(text.endswith("×") for text in texts(baseline))


def test_a_gamma_that_adapts_is_called_so():
    found = " ".join(texts(svg(replace(speak(gamma=8), adaptive=True))))
    assert "adaptive γ up to 8" in found


def test_the_rtf_curve_ends_where_the_number_says():
    trace = replace(speak(gamma=3), total_s=1234.5)  # what came after the last sound counts, too
    assert texts(svg(trace)).count(f"{measure(trace).rtf:.2f}") == 2


@pytest.mark.parametrize(("value", "text"), [(0.125, "0.13"), (0.375, "0.38"), (2, "2.00")])
def test_halves_are_rounded_as_a_browser_does(value, text):
    assert fixed(value, 2) == text


def test_colours_are_the_pages():
    """By name, in the light theme."""
    script = (ASSETS / "page/colours.js").read_text(encoding="utf-8")
    light = script[script.index("const LIGHT") : script.index("const DARK")]
    page = dict(re.findall(r'(\w+): "(#\w+)"', light))
    ours = {kind: CELLS[kind][0] for kind in CELLS}
    ours |= {"ground": PAPER, "ink": INK, "muted": FAINT, "faint": RULE}
    ours |= {"draft": DRAFT, "verify": VERIFY}
    assert ours == {name: page[name] for name in ours}
    assert [colour for colour, _ in LINES] == re.findall(r"#\w+", light.split("series:")[1])


def test_what_is_not_lossless_says_so():
    found = texts(svg(replace(speak(), lossless=False)))
    assert "not lossless" in found
    assert "lossless" not in found


def test_a_baseline_has_no_acceptance():
    found = texts(svg(speak(gamma=0)))
    assert "Autoregressive baseline" in found
    assert not any("acceptance rate so far" in text for text in found)
    assert "draft" not in found


@pytest.mark.parametrize("format", ["png", "svg"])
def test_hostile_text_is_only_text(format):
    trace = with_words(speak("a" * 60), *HOSTILE.split(" "))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = render(trace, format)
    if format == "svg":
        found = " ".join(texts(ET.fromstring(data)))
        for text in ("$x_1^2$", "\\frac{a}{b}", "onerror=alert(1)>", "${alert(1)}", "{{x}}"):
            assert text in found
        assert "🧠" not in found  # the font has none


def test_a_png_is_a_slide():
    image = Image.open(io.BytesIO(render(speak(), "png")))
    assert image.size == (1920, 1080)
    shown = {colour for _, colour in image.convert("RGB").getcolors(1 << 20)}
    for kind in expected_cells(speak()):
        face = CELLS[kind][0]
        assert tuple(bytes.fromhex(face[1:])) in shown


@pytest.mark.parametrize("format", ["png", "svg"])
def test_equal_traces_give_equal_files(format):
    trace = speak()
    assert render(trace, format) == render(trace, format)


def test_settings_of_others_neither_change_it_nor_are_changed():
    trace = speak()
    before = render(trace, "svg")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        settings = dict(matplotlib.rcParams)
        assert render(trace, "svg") == before
        assert dict(matplotlib.rcParams) == settings


def test_a_run_that_was_stopped_at_once():
    trace = replace(speak(), rounds=(), chunks=(), total_s=0.0)
    assert cells(svg(trace)) == {}
    assert render(replace(trace, sentences=()), "png")


def test_many_words_keep_clear_of_one_another():
    """Lines of text do not overlap, and long texts end in an ellipsis."""
    trace = with_words(speak("a" * 60), *(["incomprehensibilities"] * 150))
    words = [text for text in texts(svg(trace)) if text.startswith("incomp")]
    assert 5 < len(words) < 60
    assert any(text.endswith("…") for text in words)


def test_wrapping_by_words_and_cutting_what_is_too_long():
    def width(text: str, size: float) -> float:
        return len(text) * size

    assert wrap("aa bb cc", 5, 1, width) == ["aa bb", "cc"]
    assert wrap("aaaa bbbb cccc dddd", 5, 1, width) == ["aaaa", "bbbb", "cccc…"]
    assert wrap("aa bb cc dd ee ff gg", 5, 1, width) == ["aa bb", "cc dd", "ee…"]
    assert wrap("abcdefgh", 5, 1, width) == ["abcd…"]
    assert wrap("abc", 0.5, 1, width) == [""]
