"""amounts.js, step-actions.js and step-parts.js: what is said is so, under every accept rule."""

import pytest

from core.verify import RULES
from tests.browser.figures import call

pytestmark = pytest.mark.browser

OTHERS = [name for name in RULES if name != "lossless"]
DRAWING = [name for name in RULES if name not in ("same-seed", "typical")]
SAID = """async ({ view, rule }) => {
  const [{ actionsOf, statesAt, tell }, { acceptLine, key }] = await Promise.all(
    ["actions", "parts"].map((part) => import(`./page/step-${part}.js`)));
  const actions = actionsOf(view);
  const told = actions.map((each) => [each.kind, each.row, tell(view, each, rule).join(" ")]);
  const read = (elements) => elements.map((element) => element.textContent).join(" ");
  const line = read(acceptLine(view.rows[0], rule));
  const names = read(key(["q", "p"], "common", view.rows[0], rule));
  return { told, line, key: names, states: statesAt(view, actions, actions.length - 1, rule) };
}"""


def row(accepted=True, **fields):
    usual = {"token": 3, "p": 0.4, "q": 0.5, "overlap": 0.7, "accept": 0.8, "draw": 0.25}
    return {**usual, "own": None, "accepted": accepted, **fields}


def view(rows, drafted=2, **fields):
    """A round in which so many guesses were drafted, of entries 3 and 4."""
    accepted = sum(each["accepted"] for each in rows)
    shares = [[0, 0, 0, 0.5, 0.5]] * (drafted + 1)
    return {
        "draft_tokens": [3, 4, 3, 4][:drafted],
        "codebooks": [0, 1, 0, 1, 0],
        "rows": rows,
        "p": shares,
        "q": shares[:drafted],
        "accepted": accepted,
        "next_token": 4,
        "next_prob": 0.5,
        "residual": None if accepted == drafted else shares[0],
        "cache": [10, 11 + drafted, 11 + accepted],
        **fields,
    }


def of(rule, accepted):
    """A first row as that rule decides it."""
    if rule == "same-seed":
        return row(accepted, accept=None, draw=None, own=3 if accepted else 1)
    if rule == "typical":
        return row(accepted, accept=float(accepted))
    return row(accepted, draw=0.25 if accepted else 0.9)


def told(page, rule, rows, **fields):
    return page.evaluate(SAID, {"view": view(rows, **fields), "rule": rule})


def words(found, kind):
    return next(text for each, _, text in found["told"] if each == kind)


COLD = {"q": 0, "p": 0, "overlap": 1, "accept": 0}
LIKELIEST = [[0, 1, 0, 0, 0]]


class TestGuessesThatCannotBe:
    """With other settings than the run's, such as temperature 0, its guess may have q 0."""

    @pytest.mark.parametrize("rule", RULES)
    def test_is_said(self, blank, rule):
        rows = [{**of(rule, False), **COLD}]
        found = told(blank, rule, rows, drafted=1, q=LIKELIEST, drafted_as=[1])
        said = words(found, "test")
        assert "the draft cannot guess 3, its q is 0: it would guess 1." in said
        assert "The target cannot say it either: p is 0, too." in said
        assert "p/q" not in said + found["line"]  # nobody divides by 0
        assert ("α is about guesses that it can make." in said) == (rule == "lossless")
        assert "of guesses that the draft can make" in found["key"]
        assert "it cannot draw 3" in words(found, "draft")

    def test_what_it_would_guess_is_known_up_to_its_first_other_guess(self, blank):
        rows = [row(), {**row(False), **COLD, "token": 4}]
        same, other = (
            told(blank, "lossless", rows, q=LIKELIEST * 2, drafted_as=instead)
            for instead in ([3, 1], [2, 1])
        )
        said = [
            text
            for found in (same, other)
            for kind, n, text in found["told"]
            if (kind, n) == ("test", 1)
        ]
        assert ["it would guess" in text for text in said] == [True, False]

    def test_a_residual_of_nothing_is_none(self, blank):
        rows = [{**row(False), **COLD}]
        found = told(
            blank, "lossless", rows, drafted=1, q=LIKELIEST, p=LIKELIEST * 2, drafted_as=[1]
        )
        assert "p is nowhere above q" in words(found, "residual")


class TestAmounts:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (0, "0"),
            (1, "1"),
            (0.5, "0.500"),
            (0.9996, "0.9996"),
            (0.9994, "0.999"),
            (0.99999, "> 0.9999"),
            (0.0123456, "0.0123"),
            (0.00001, "< 0.0001"),
        ],
    )
    def test_nothing_is_rounded_to_what_it_is_not(self, blank, value, text):
        assert call(blank, "amounts", "share", value) == text

    @pytest.mark.parametrize(
        ("pair", "texts"),
        [
            ((0.9996, 0.99964), ["0.99960", "0.99964"]),
            ((0.80004, 0.80008), ["0.8000", "0.8001"]),
            ((0.3, 0.8), ["0.300", "0.800"]),
            ((0.5, 0.5), ["0.500", "0.500"]),
            ((1, 0.99999), ["1", "> 0.9999"]),
        ],
    )
    def test_what_is_compared_can_be_told_apart(self, blank, pair, texts):
        assert call(blank, "amounts", "compared", *pair) == texts


class TestWords:
    @pytest.mark.parametrize("rule", RULES)
    def test_alpha_is_the_chance_of_acceptance_of_one_rule_only(self, blank, rule):
        found = told(blank, rule, [of(rule, True), of(rule, False)])
        assert ("that part of the guesses stands" in words(found, "verify")) == (rule == "lossless")
        assert ("α" in found["key"]) == (rule == "lossless")
        assert ("Σ min(p, q) = 0.700" in found["key"]) == (rule != "lossless")

    @pytest.mark.parametrize("accepted", [True, False])
    @pytest.mark.parametrize("rule", DRAWING)
    def test_a_drawn_number_decides(self, blank, rule, accepted):
        found = told(blank, rule, [of(rule, accepted)], drafted=1)
        said = words(found, "test")
        assert "0.800" in said
        assert ("0.250" if accepted else "0.900") in said
        assert "min(1, p/q)" not in said or rule == "lossless"
        assert ("min(1, p/q + β)" in said) == (rule == "ssd")
        assert ("mean of min(1, P/Q) over the token's groups" in said) == (rule == "pcg")

    @pytest.mark.parametrize("accepted", [True, False])
    def test_a_threshold_decides_without_a_number(self, blank, accepted):
        found = told(blank, "typical", [of("typical", accepted)], drafted=1)
        said = words(found, "test")
        assert f"is {'above' if accepted else 'not above'} the threshold min(ε, √ε" in said
        assert "p = 0.400" in said
        assert "drawn" not in said
        assert "else 0" not in said
        assert found["line"] == ""

    def test_one_guess_is_no_row_of_guesses(self, blank):
        rows = [row(), row()]
        first, second = [
            text for kind, _, text in told(blank, "block", rows)["told"] if kind == "test"
        ]
        assert first.startswith("Guess 1: passed.")
        assert second.startswith("Guesses 1 to 2: passed.")
        alone = told(blank, "block", [row()], drafted=1)
        assert words(alone, "test").endswith("So the first stands.")

    @pytest.mark.parametrize("rule", DRAWING)
    def test_the_numbers_never_contradict_the_verdict(self, blank, rule):
        for draw, accept in ((0.80004, 0.80008), (0.9995, 0.9997), (0.99985, 0.99989)):
            found = told(blank, rule, [row(True, draw=draw, accept=accept)], drafted=1)
            low, high = call(blank, "amounts", "compared", draw, accept)
            assert low != high
            for text in (words(found, "test"), found["line"]):
                assert low in text
                assert high in text

    def test_only_the_first_place_of_guesses_that_were_drawn_otherwise(self, blank):
        rows = [row(False, draw=0.9), row(False)]
        found = told(blank, "lossless", rows, drafted=3, first_only=True)
        assert [action[:2] for action in found["told"]] == [
            ["draft", 0],
            ["verify", 0],
            ["test", 0],
        ]
        assert "discarded" not in words(found, "test")
        assert found["states"] == ["rejected", "open", "open", "open"]
