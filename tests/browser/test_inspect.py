"""inspect.js: what is told of a token is what happened."""

import pytest

from core.verify import RULES
from tests.browser.drawing import EVERY_KIND, prepared, round_, sentence, started

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror='window.hacked = 1'>"
DESCRIBE = """async ({ lines, frame, q }) => {
  const { describe } = await import("./page/inspect.js");
  return Object.fromEntries(describe(await runOf(lines), frame, q));
}"""
SHOW = """async ({ lines, x, y }) => {
  const { Inspect } = await import("./page/inspect.js");
  document.body.style.margin = 0;
  const board = document.body.appendChild(document.createElement("div"));
  board.style.cssText = "position: relative; height: 500px; top: 100px";
  const inspect = new Inspect(board);
  inspect.element.style.cssText = "position: absolute; width: max-content; max-width: 300px";
  inspect.show(await runOf(lines), 2, 0, x, y);
  const { left, top, right, bottom } = inspect.element.getBoundingClientRect();
  const shown = { left, top, right, bottom, text: inspect.element.textContent,
    images: document.images.length };
  inspect.hide();
  return { ...shown, hidden: inspect.element.hidden };
}"""


@pytest.fixture
def tell(blank):
    page = prepared(blank)
    return lambda frame, q, lines=EVERY_KIND: page.evaluate(
        DESCRIBE, {"lines": lines, "frame": frame, "q": q}
    )


@pytest.fixture
def show(blank):
    page = prepared(blank)
    return lambda lines, x, y: page.evaluate(SHOW, {"lines": lines, "x": x, "y": y})


class TestDescription:
    def test_accepted(self, tell):
        told = tell(0, 1)
        assert told["place"] == "codebook 1, frame 0 (0.00 s)"
        assert told["token"].startswith("11, accepted")
        assert told["target, draft"] == "p 0.40, q 0.50"
        assert told["test"] == "u 0.25 < min(1, p/q) 0.80: accepted"
        assert "agreed" not in told["token"]
        assert told["round"] == "0: accepted 2 of 2; 2.0 ms draft + 6.0 ms verify"
        assert "draft said" not in told

    def test_corrected(self, tell):
        told = tell(1, 1)
        assert told["token"].startswith("15, corrected")
        assert told["target"] == "p 0.13"
        assert told["draft said"] == "13, p 0.40, q 0.50"
        assert told["test"] == "u 0.90 ≥ min(1, p/q) 0.80: rejected"
        assert told["round"].startswith("1: accepted 0 of 2;")
        assert told["discarded"].startswith("14 ")

    def test_bonus_plain_and_pending(self, tell):
        assert tell(1, 0)["token"].startswith("12, bonus")
        assert tell(2, 0)["round"] == "2: 6.0 ms verify"
        assert tell(5, 1)["token"].startswith("pending")

    @pytest.mark.parametrize("rule", RULES)
    def test_only_what_the_rule_compared(self, tell, rule):
        round_1 = round_(0, [1, 2], 1, 3)
        if rule == "same-seed":
            round_1["draws"] = []
        lines = [started(rule=rule), sentence(6), round_1]
        together = "guesses are tested together"
        wanted = {
            "lossless": (
                "u 0.25 < min(1, p/q) 0.80: accepted",
                "u 0.90 ≥ min(1, p/q) 0.80: rejected",
            ),
            "block": (f"u 0.25, {together}: accepted", f"u 0.90, {together}: rejected"),
            "same-seed": ("the target agreed: accepted", "the target chose another: rejected"),
        }.get(rule, ("u 0.25: accepted", "u 0.90: rejected"))
        assert (tell(0, 0, lines)["test"], tell(0, 1, lines)["test"]) == wanted

    def test_numbers_that_differ_look_different(self, tell):
        close = {**round_(0, [1, 2], 2, 3), "draws": [0.799, 0.7999]}
        lines = [started(), sentence(6), close]
        assert tell(0, 0, lines)["test"] == "u 0.799 < min(1, p/q) 0.800: accepted"
        assert tell(0, 1, lines)["test"] == "u 0.7999 < min(1, p/q) 0.8000: accepted"

    def test_word_and_phoneme(self, tell):
        assert (tell(1, 0)["word"], tell(1, 0)["phoneme"]) == ("hello", "a")
        assert "word" not in tell(0, 0)


class TestBox:
    def test_stays_in_the_window(self, show):
        for x, y in ((0, 0), (1200, 0), (640, 610), (1279, 619)):
            box = show(EVERY_KIND, x, y)
            assert box["left"] >= 0
            assert box["top"] >= 0
            assert box["right"] <= 1280
            assert box["bottom"] <= 720
            assert box["hidden"]
            assert not box["left"] <= x <= box["right"]  # nor over the column that is read

    def test_text_stays_text(self, show, blank):
        box = show([started(), sentence(6, [HOSTILE, HOSTILE]), *EVERY_KIND[2:]], 10, 10)
        assert HOSTILE in box["text"]
        assert box["images"] == 0
        assert blank.evaluate("window.hacked") is None
