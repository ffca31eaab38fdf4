"""bars.js: every bar stands where its probability puts it, and none is missing."""

import numpy as np
import pytest

from tests.browser.drawing import prepared

pytestmark = pytest.mark.browser
V = 512
TYPE = 14
COLOURS = {"q": "#a8447f", "p": "#0072b2"}
LAYOUT = """async ({ series, width }) => {
  const { layout, largestFirst } = await import("./page/bars.js");
  return layout(series, largestFirst(...Object.values(series)), width, 14);
}"""
DRAW = """async ({ shown, width, shade }) => {
  const { Bars } = await import("./page/bars.js");
  document.body.style.margin = 0;
  const bars = new Bars();
  bars.element.style.cssText = `display: block; width: ${width}px; font: 14px/200px sans-serif`;
  document.body.append(bars.element);
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  const log = record(bars.element);
  bars.picture.surface.context = bars.element.getContext("2d");
  bars.show({ series: shown, shade, label: "bars", marks: [{ entry: 3, text: "here" }] });
  return log.paintings;
}"""
SHARE = """async (values) => {
  const { share } = await import("./page/amounts.js");
  return values.map((value) => share(value));
}"""


@pytest.fixture
def distributions():
    rng = np.random.default_rng(1)
    return {name: rng.dirichlet(np.full(V, 0.05)).tolist() for name in ("q", "p")}


@pytest.fixture
def page(blank):
    return prepared(blank)


def drawn(page, shown, shade=None, width=900):
    """Boxes [x, y, width, height] by colour, without what frames the picture."""
    args = {"shown": shown, "width": width, "shade": shade}
    paintings = page.evaluate(DRAW, args)
    boxes = [painting for painting in paintings if painting["paint"] == "fillRect"]
    return {
        name: np.array([box["args"] for box in boxes if box["colour"] == colour])
        for name, colour in COLOURS.items()
    }, paintings


def test_all_entries_are_there_largest_first(page, distributions):
    placed = page.evaluate(LAYOUT, {"series": distributions, "width": 900})
    assert sorted(bar["entry"] for bar in placed["bars"]) == sorted([*range(V), *range(V)])
    largest = np.maximum(distributions["q"], distributions["p"])
    order = [bar["entry"] for bar in placed["bars"][::2]]
    assert np.all(np.diff(largest[order]) <= 0)
    assert np.all(np.diff([bar["x"] for bar in placed["bars"]]) > 0)
    for bar in placed["bars"]:
        assert bar["value"] == distributions[bar["series"]][bar["entry"]]
        both = (distributions[name][bar["entry"]] for name in ("q", "p"))
        assert bar["common"] == min(both)
        assert 0 <= bar["x"] <= bar["x"] + bar["width"] <= 900 + 1e-6
    assert placed["most"] >= largest.max()


def test_heights_are_probabilities_and_the_shared_part_is_alpha(page, distributions):
    boxes, _ = drawn(page, distributions, "common")
    placed = page.evaluate(LAYOUT, {"series": distributions, "width": 900})
    rise = (200 - 4.2 * TYPE) / placed["most"]
    for name in ("q", "p"):
        mine = [bar for bar in placed["bars"] if bar["series"] == name]
        common, rest = boxes[name][0::2], boxes[name][1::2]
        np.testing.assert_allclose(common[:, 3] / rise, [bar["common"] for bar in mine], atol=1e-9)
        tops = (common[:, 3] + rest[:, 3]) / rise
        np.testing.assert_allclose(tops, [bar["value"] for bar in mine], atol=1e-9)
        np.testing.assert_allclose(rest[:, 1] + rest[:, 3], common[:, 1], atol=1e-6)
    alpha = np.minimum(distributions["q"], distributions["p"]).sum()
    assert boxes["q"][0::2, 3].sum() / rise == pytest.approx(alpha)


def test_one_distribution_is_drawn_whole(page, distributions):
    boxes, paintings = drawn(page, {"q": distributions["q"]})
    assert len(boxes["q"]) == V
    assert len(boxes["p"]) == 0
    texts = [each["args"][0] for each in paintings if each["paint"] == "fillText"]
    assert "here" in texts
    named = [text for text in texts if text.isdigit()]
    assert f"{V - len(named)} more" in texts


def test_three_symbols_need_no_tail(page):
    placed = page.evaluate(LAYOUT, {"series": {"q": [0.2, 0.5, 0.3]}, "width": 900})
    assert [bar["entry"] for bar in placed["bars"]] == [1, 2, 0]
    assert placed["tail"] == 0


def test_nothing_overflows_a_telephone(page, distributions):
    placed = page.evaluate(LAYOUT, {"series": distributions, "width": 300})
    assert placed["wide"] >= 4
    assert max(bar["x"] + bar["width"] for bar in placed["bars"]) <= 300 + 1e-6


def test_amounts_have_three_digits_that_say_something(page):
    values = [0, 1, 0.5, 0.12345, 0.0456789, 0.00123456, 0.00001]
    wanted = ["0", "1", "0.500", "0.123", "0.0457", "0.00123", "< 0.0001"]
    assert page.evaluate(SHARE, values) == wanted
