"""graphs.js and plots.js: what was measured is drawn at its time and to scale."""

import pytest

from tests.browser.drawing import (
    EVERY_KIND,
    METRICS,
    audio,
    evaluate,
    long_run,
    prepared,
    round_,
    sentence,
    started,
)

pytestmark = pytest.mark.browser

LANE = 40  # px, as the canvas of the tests says
TOP, BOTTOM = 8, LANE - 8  # of the first lane's plot
DRAW = """async ({ lines, width = 1280, perPixel = 0.001, left = 0, fit = false, playhead = 0,
                  buffered = [], underruns = [], beside = null }) => {
  const [{ Graphs }, { View }, { palette }] = await Promise.all(
    ["graphs", "view", "colours"].map((name) => import(`./page/${name}.js`)));
  const canvas = desk(width);
  const log = record(canvas);
  const run = await runOf(lines);
  const graphs = new Graphs(canvas);
  if (beside) {
    graphs.beside = new Graphs(desk(width));
    const other = await runOf(beside);
    graphs.beside.draw(other, new View(), 0, { buffered: [], underruns: [] });
  }
  const view = new View();
  view.secondsPerPixel = perPixel;
  graphs.draw(run, view, playhead, { buffered, underruns }); // tells the view its gutter
  view.left = left;
  if (fit) view.fit(run.frames * run.secondsPerFrame, width);
  log.paintings.length = log.calls = 0;
  graphs.draw(run, view, playhead, { buffered, underruns });
  return { ...log, colours: palette(canvas), gutter: view.gutter };
}"""


@pytest.fixture
def desk(blank):
    page = prepared(blank)
    return lambda lines=EVERY_KIND, **options: evaluate(page, DRAW, {"lines": lines, **options})


def boxes(drawn, colour):
    """Filled boxes of a colour in plots, as [left, top, width, height]."""
    found = [p["args"] for p in drawn["paintings"] if p["paint"] == "fillRect"]
    colours = [p["colour"] for p in drawn["paintings"] if p["paint"] == "fillRect"]
    return [b for b, c in zip(found, colours, strict=True) if c == drawn["colours"][colour]]


def lines(drawn, colour):
    """Stroked lines of a colour: their points and dashes."""
    strokes = [p for p in drawn["paintings"] if p["paint"] == "stroke" and p["colour"] == colour]
    return [([tuple(step[1:]) for step in p["path"]], p["dash"]) for p in strokes]


def texts(drawn):
    return [p["args"][0] for p in drawn["paintings"] if p["paint"] == "fillText"]


class TestRoundTime:
    def test_draft_and_verify_are_stacked_over_the_tokens_of_the_round(self, desk):
        rounds = [
            round_(0, [1, 2], 2, 3, seconds=(0.002, 0.006)),
            round_(3, [4], 0, 5, seconds=(0.001, 0.003)),
        ]
        drawn = desk([started(), sentence(6), *rounds])
        scale = (BOTTOM - TOP) / 15  # px a millisecond: the scale ends at 15 ms
        per_token = 25  # px: 20 frames of 2 tokens a second, a pixel each millisecond
        draft = [b for b in boxes(drawn, "draft") if b[1] + b[3] == BOTTOM]
        verify = [b for b in boxes(drawn, "verify") if b[0] >= drawn["gutter"]][: len(draft)]
        assert [b[0] - drawn["gutter"] for b in draft] == [0, 3 * per_token]
        assert [b[2] for b in draft] == [3 * per_token - 1, per_token - 1]
        assert [b[3] for b in draft] == pytest.approx([2 * scale, 1 * scale])
        assert [b[3] for b in verify] == pytest.approx([6 * scale, 3 * scale])
        assert [b[1] + b[3] for b in verify] == pytest.approx([b[1] for b in draft])
        assert "15 ms" in texts(drawn)
        assert {"6 ms", "round time, mean"} <= set(texts(drawn))

    def test_of_rounds_that_share_a_pixel_the_slowest_is_seen(self, desk):
        rounds = [round_(i, [], 0, 1, seconds=(0, 0.012 if i == 7 else 0.004)) for i in range(12)]
        drawn = desk([started(), sentence(6), *rounds], perPixel=1)
        (bar,) = [b for b in boxes(drawn, "verify") if b[0] == drawn["gutter"]]
        assert bar[3] == pytest.approx(12 / 15 * (BOTTOM - TOP))


class TestRtf:
    def test_the_line_goes_through_what_was_measured(self, desk):
        drawn = desk([started(), sentence(20), audio(500, rtf=1.2), audio(500, rtf=0.6)])
        first = drawn["colours"]["ahead"]
        (path, _), *_ = lines(drawn, first)
        height = BOTTOM - TOP
        expected = [
            (250, LANE + BOTTOM - 1.2 / 1.5 * height),
            (500, LANE + BOTTOM - 0.6 / 1.5 * height),
        ]
        assert path == [pytest.approx((drawn["gutter"] + x, y)) for x, y in expected]
        assert "0.60" in texts(drawn)

    def test_real_time_is_marked(self, desk):
        drawn = desk()
        level = round(LANE + BOTTOM - 1 / 1.5 * (BOTTOM - TOP))
        assert [b[1] for b in boxes(drawn, "pending")] == [level]
        assert "1 = real time" in texts(drawn)


class TestAhead:
    def test_the_line_follows_the_samples(self, desk):
        drawn = desk(buffered=[{"t": 0, "ahead": 0.5}, {"t": 0.1, "ahead": 2}])
        paths = [path for path, _ in lines(drawn, drawn["colours"]["ahead"]) if len(path) == 2]
        (path,) = [path for path in paths if path[0][1] > 2 * LANE]
        bottom, height = 2 * LANE + BOTTOM, BOTTOM - TOP
        expected = [(0, bottom - height / 4), (100, bottom - height)]
        assert path == [pytest.approx((drawn["gutter"] + x, y)) for x, y in expected]

    def test_what_is_ahead_now_is_ahead_of_the_playhead_as_it_stands(self, desk):
        lines = [started(), sentence(20), audio(2000)]
        drawn = desk(lines, playhead=0.3, buffered=[{"t": 0, "ahead": 0.2}])
        assert "0.7 s" in texts(drawn)

    def test_an_underrun_is_red_and_says_how_long(self, desk):
        drawn = desk(underruns=[{"at": 0.2, "seconds": 0.31}])
        (mark,) = boxes(drawn, "rejected")
        assert mark[0] + mark[2] / 2 - drawn["gutter"] == pytest.approx(200)
        assert "✕ waited 0.31 s" in texts(drawn)
        assert not boxes(desk(), "rejected")

    def test_every_underrun_is_marked_and_no_label_covers_another(self, desk):
        places = [0.2, 0.21, 0.22, 0.9]
        drawn = desk(underruns=[{"at": at, "seconds": at} for at in places])
        assert len(boxes(drawn, "rejected")) == 4
        waited = [text for text in texts(drawn) if "waited" in text]
        assert waited == ["✕ waited 0.20 s", "✕ waited 0.90 s"]


class TestAcceptance:
    def test_each_codebook_has_a_line_of_its_own(self, desk):
        rates = [0.9, 0.7, 0.5, 0.3, 0.8]
        header = started(codebooks=5)
        drawn = desk([header, sentence(20), *[audio(500, per_codebook=rates)] * 2])
        seen = []
        for colour in drawn["colours"]["series"]:
            for path, dash in lines(drawn, colour):
                seen.append((colour, tuple(dash), path[-1][1]))
        assert len({look[:2] for look in seen}) == 5
        level = sorted(3 * LANE + BOTTOM - rate * (BOTTOM - TOP) for rate in rates)
        assert sorted(y for *_, y in seen) == pytest.approx(level)
        assert {"0", "1", "2", "3", "4"} <= set(texts(drawn))

    def test_its_value_now_is_what_its_lines_show(self, desk):
        shown = texts(desk([started(), sentence(6), audio(acceptance_rate=0.4)]))
        assert {"accepted of tested", "50–75 %"} <= set(shown)
        assert "40 %" not in shown
        assert "75 %" in texts(desk([started(), sentence(6), audio(per_codebook=[0.75, 0.75])]))

    def test_the_baseline_has_nothing_to_accept(self, desk):
        none = {"acceptance_rate": None, "per_codebook": [None, None]}
        drawn = desk([started(gamma=0), sentence(6), round_(0, [], 0, 1), audio(**none)])
        assert "no draft: nothing to accept" in texts(drawn)


class TestAxis:
    def test_times_stand_at_their_places(self, desk):
        drawn = desk(perPixel=0.01)
        ticks = {p["args"][0]: p["args"][1] for p in drawn["paintings"] if p["paint"] == "fillText"}
        assert ticks["5 s"] - drawn["gutter"] == pytest.approx(500, abs=1)

    def test_minutes(self, desk):
        assert "1:30" in texts(desk(perPixel=0.1, left=60))

    def test_the_playhead_is_at_its_time(self, desk):
        drawn = desk(playhead=0.25)
        (line,) = [b for b in boxes(drawn, "ink") if b[2] == 3]
        assert line[0] + 1.5 - drawn["gutter"] == pytest.approx(250)


def test_only_what_is_visible_is_drawn_of_a_long_run(desk):
    run = long_run(600)
    buffered = [{"t": i / 20, "ahead": 1} for i in range(12_000)]
    assert desk(run, perPixel=1 / 300, left=300, buffered=buffered)["calls"] < 1000
    assert desk(run, fit=True, buffered=buffered)["calls"] < 12_000


@pytest.mark.parametrize("slow", [9, 0.1])
def test_graphs_side_by_side_share_the_larger_scale(desk, slow):
    """Otherwise the eye would find a slower lane as fast."""

    def scale(drawn):
        return max(int(text[:-3]) for text in texts(drawn) if text.endswith(" ms"))

    other = [
        line | {"verify_s": slow * line["verify_s"]} if line["kind"] == "round" else line
        for line in EVERY_KIND
    ]
    alone = scale(desk()), scale(desk(other))
    assert alone[0] != alone[1]
    assert scale(desk(beside=other)) == max(alone)


def test_values_are_those_of_the_metrics(desk):
    assert f"{METRICS['rtf']:.2f}" in texts(desk())


def test_titles_and_scales_fit_into_the_gutter(desk, blank):
    drawn = desk()
    titles = [
        p["args"][0] for p in drawn["paintings"] if p["paint"] == "fillText" and p["args"][1] == 0
    ][::2]
    width = """(text) => {
      const context = new OffscreenCanvas(1, 1).getContext("2d");
      context.font = "14px sans-serif";
      return context.measureText(text).width;
    }"""
    assert len(titles) == 4
    for title, scale in zip(titles, ("100 ms", "1.5", "10 s", "100 %"), strict=True):
        assert blank.evaluate(width, f"{title} {scale}") < drawn["gutter"] - 7
