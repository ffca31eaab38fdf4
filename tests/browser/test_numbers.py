"""numbers.js and legend.js: the numbers are the metrics, the badge is the verdict."""

import pytest

from tests.browser.drawing import EVERY_KIND, audio, prepared, round_, sentence, started

pytestmark = pytest.mark.browser

SHOW = """async (lines) => {
  const { Numbers, summary } = await import("./page/numbers.js");
  const run = await runOf(lines);
  const element = document.body.appendChild(document.createElement("div"));
  const numbers = new Numbers(element);
  numbers.show(run);
  let changes = 0;
  new MutationObserver((list) => (changes += list.length)).observe(
    element, { childList: true, characterData: true, subtree: true });
  numbers.show(run);
  await new Promise((done) => setTimeout(done));
  const text = (selector) => element.querySelector(selector).textContent;
  return { changes, summary: summary(run), badge: element.querySelector(".badge").dataset.kind,
    hint: text(".length .hint"),
    against: text(".speedup .hint"), tip: element.querySelector(".speedup").title,
    verdict: text(".badge .mark") + text(".badge .text"),
    ...Object.fromEntries(["ttfa", "rtf", "length", "rate", "speedup"].map(
      (name) => [name, text(`.${name} .value`)])) };
}"""


@pytest.fixture
def show(blank):
    page = prepared(blank)
    return lambda lines: page.evaluate(SHOW, lines)


class TestNumbers:
    def test_are_the_metrics(self, show):
        shown = show(EVERY_KIND)
        assert shown["ttfa"] == "71 ms"
        assert shown["rtf"] == "0.50"
        assert shown["length"] == "2.50"
        assert shown["rate"] in ("62 %", "63 %")
        assert shown["speedup"] == "2.00×"
        assert shown["against"] == "times the baseline, 195 tok/s here" == shown["tip"]

    def test_only_a_change_touches_the_page(self, show):
        assert show(EVERY_KIND)["changes"] == 0

    def test_before_the_first_sound_nothing_is_claimed(self, show):
        shown = show([started()])
        assert {shown[name] for name in ("ttfa", "rtf", "length", "rate", "speedup")} == {"–"}
        assert show([])["badge"] == "none"
        assert show([])["summary"] == ""

    def test_a_machine_that_was_not_measured_has_no_speed_up(self, show):
        header = {**started(), "baseline_tokens_per_s": None}
        shown = show([header, sentence(6), audio()])
        unknown = "no baseline was saved"
        assert (shown["speedup"], shown["against"], shown["tip"]) == ("–", unknown, unknown)

    def test_what_came_before_the_codec_tokens_is_counted_apart(self, show):
        said = {"kind": "earlier", "sentence": 0, "stage": "semantic", "tokens": 30, "passes": 8}
        shown = show([started(), said])
        assert shown["hint"] == "tokens per target pass; 30 semantic tokens, 3.75 per pass"
        assert shown["summary"] == "No sound yet; 30 semantic tokens, 3.75 per pass."
        assert show(EVERY_KIND)["hint"] == "tokens per target pass"

    def test_verdicts(self, show):
        assert show(EVERY_KIND)["verdict"] == "✓lossless"
        relaxed = show([started(lossless=False), *EVERY_KIND[1:]])
        assert relaxed["badge"] == "relaxed"
        assert relaxed["verdict"].endswith("not lossless")
        assert relaxed["summary"].endswith("not lossless.")

    def test_the_baseline_is_not_compared_with_itself(self, show):
        none = {"acceptance_rate": None, "per_codebook": [None, None]}
        shown = show([started(gamma=0), sentence(6), round_(0, [], 0, 1), audio(**none)])
        assert (shown["verdict"], shown["speedup"], shown["rate"]) == ("●baseline", "–", "–")
        assert shown["summary"] == (
            "So far: First sound after 71 ms; RTF 0.50, faster than speech; "
            "2.50 tokens per target pass; baseline."
        )


def test_the_legend_looks_like_the_cells(blank):
    page = prepared(blank)
    colours, pixels = page.evaluate(
        """async () => {
          const [{ Legend }, { palette }] = await Promise.all(
            ["legend", "colours"].map((name) => import(`./page/${name}.js`)));
          const element = document.body.appendChild(document.createElement("div"));
          new Legend(element);
          const seen = [...element.querySelectorAll("canvas")].map((canvas) => {
            const context = canvas.getContext("2d");
            const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
            const found = new Set();
            for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) found.add(
              "#" + [0, 1, 2].map((c) => data[i + c].toString(16).padStart(2, "0")).join(""));
            return [...found];
          });
          return [palette(element), seen];
        }"""
    )
    kinds = (["accepted"], ["rejected", "corrected"], ["bonus"], ["plain"])
    for expected, seen in zip(kinds, pixels, strict=False):
        assert {colours[kind] for kind in expected} <= set(seen)
