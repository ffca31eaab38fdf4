"""The token grid (grid.js and what it uses): every token is drawn as what it is, where it is."""

from itertools import pairwise

import pytest

from tests.browser.drawing import (
    EVERY_KIND,
    FRAME_RATE,
    audio,
    evaluate,
    long_run,
    prepared,
    round_,
    sentence,
    started,
)

pytestmark = pytest.mark.browser

KINDS = ("accepted", "rejected", "corrected", "bonus", "plain", "pending")
# Draws lines with a view; what was painted, and what the grid says is at given places.
DRAW = """async ({ lines, width = 1280, frame = 24, left = 0, fit = false, playhead = 0,
                  highlight = null, theme = "" }) => {
  const [{ Grid }, { View }, { palette }] = await Promise.all(
    ["grid", "view", "colours"].map((name) => import(`./page/${name}.js`)));
  document.body.className = theme;
  const canvas = desk(width);
  const log = record(canvas);
  const run = await runOf(lines);
  let read = 0;
  const cell = run.cell.bind(run);
  run.cell = (...place) => { read += 1; return cell(...place); };
  const grid = new Grid(canvas);
  const view = new View();
  view.secondsPerPixel = run.secondsPerFrame / frame;
  grid.draw(run, view, playhead, highlight); // tells the view its gutter
  view.left = left;
  if (fit) view.fit(run.frames * run.secondsPerFrame, width);
  log.paintings.length = log.calls = read = 0;
  grid.draw(run, view, playhead, highlight);
  window.grid = grid;
  return { ...log, read, colours: palette(canvas), gutter: view.gutter, height: grid.height,
    middles: Array.from({ length: run.frames }, (_, i) =>
      view.xAt((i + 0.5) * run.secondsPerFrame)) };
}"""
AT = "(places) => places.map(([x, y]) => grid.at(x, y)).map((cell) => cell && [cell.frame, cell.q])"


@pytest.fixture
def desk(blank):
    """Draws with these options."""
    page = prepared(blank)

    def draw(lines=EVERY_KIND, **options):
        drawn = evaluate(page, DRAW, {"lines": lines, **options})
        drawn["at"] = lambda places: page.evaluate(AT, places)
        return drawn

    return draw


def cells(drawn, kind):
    """The painting of a kind's cells, and for each cell the points that it was drawn through."""
    colour = drawn["colours"][kind]
    corners = {"rejected": 4, "bonus": 4}.get(kind, 1)
    for painting in drawn["paintings"]:
        if painting["colour"] == colour and painting["path"]:
            steps = [
                painting["path"][i : i + corners] for i in range(0, len(painting["path"]), corners)
            ]
            return painting, [
                [point for step in shape for point in points(step)] for shape in steps
            ]
    return None, []


def points(step):
    name, x, y, *size = step
    return [(x, y)] if name in ("moveTo", "lineTo") else [(x, y), (x + size[0], y + size[1])]


def middle(shape):
    xs, ys = zip(*shape, strict=True)
    return [(min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2]


def marks(drawn, kind):
    """Boxes of a kind where cells are too narrow for shapes."""
    colour = drawn["colours"][kind]
    return [
        p["args"] for p in drawn["paintings"] if p["paint"] == "fillRect" and p["colour"] == colour
    ]


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


class TestCells:
    def test_each_kind_is_drawn_where_it_belongs(self, desk):
        drawn = desk()
        expected = {
            "accepted": [[0, 0], [0, 1]],
            "bonus": [[1, 0]],
            "rejected": [[1, 1]],
            "corrected": [[1, 1]],
            "plain": [[2, 0]],
            "pending": [[2, 1], *([f, q] for f in (3, 4, 5) for q in (0, 1))],
        }
        for kind in KINDS:
            shapes = cells(drawn, kind)[1]
            assert drawn["at"]([middle(shape) for shape in shapes]) == expected[kind], kind

    def test_the_rejected_token_stands_above_the_corrected_one(self, desk):
        drawn = desk()
        (rejected,), (corrected,) = cells(drawn, "rejected")[1], cells(drawn, "corrected")[1]
        assert max(y for _, y in rejected) < min(y for _, y in corrected)

    def test_no_two_kinds_have_the_same_shape(self, desk):
        drawn = desk()
        shapes = set()
        for kind in KINDS:
            painting, (first, *_) = cells(drawn, kind)
            ys = [y for _, y in first]
            height = round(max(ys) - min(ys))
            steps = tuple(name for name, *_ in painting["path"][: len(first)])
            shapes.add((painting["paint"], steps, height, bool(painting["dash"])))
        assert len(shapes) == len(KINDS)

    def test_narrow_cells_differ_in_height_as_well_as_colour(self, desk):
        drawn = desk(frame=4)
        heights = {kind: marks(drawn, kind)[0][3] for kind in KINDS}
        assert len({round(height) for height in heights.values()}) == len(KINDS)

    def test_every_cell_is_drawn_once_and_found_again(self, desk):
        for frame, left in ((24, 0), (24, 0.113), (13.7, 0.05), (7.3, 0.2), (60, 0)):
            drawn = desk(frame=frame, left=left)
            drawn_cells = [s for kind in KINDS if kind != "rejected" for s in cells(drawn, kind)[1]]
            middles = [middle(shape) for shape in drawn_cells]
            seen = [place for place in middles if place[0] > drawn["gutter"]]
            found = drawn["at"](seen)
            first = int(left * FRAME_RATE)
            wanted = {(f, q) for f in range(first + 1, 6) for q in (0, 1)}
            assert wanted <= {tuple(place) for place in found}
            assert len({tuple(place) for place in found}) == len(found)
            for (x, _), (f, _) in zip(seen, found, strict=True):
                assert x == pytest.approx(drawn["middles"][f], abs=2)

    def test_a_cell_begins_where_it_is_drawn(self, desk):
        drawn = desk(long_run(10), frame=13.7)
        shapes = [s for s in cells(drawn, "accepted")[1] if drawn["gutter"] + 1 < s[0][0] < 1260]
        inside = drawn["at"]([[x + 0.05, y + 5] for (x, y), _ in shapes])
        before = drawn["at"]([[x - 0.05, y + 5] for (x, y), _ in shapes])
        assert inside == drawn["at"]([middle(shape) for shape in shapes])
        assert before == [[frame - 1, q] for frame, q in inside]

    def test_nothing_is_found_beside_the_cells(self, desk):
        drawn = desk()
        x, top = drawn["middles"][0], drawn["height"] - 4 - 2 * 40
        beside = [[x, top - 1], [x, drawn["height"] - 1], [drawn["gutter"] - 1, top + 1]]
        assert drawn["at"]([*beside, [drawn["middles"][5] + 24, top + 1]]) == [None] * 4

    def test_numbers_stand_in_cells_that_are_wide_enough(self, desk):
        written = [p["args"] for p in desk(frame=60)["paintings"] if p["paint"] == "fillText"]
        numbers = [args[0] for args in written if isinstance(args[0], int)]
        assert sorted(numbers) == [10, 11, 12, 13, 15, 16]
        few = [p["args"][0] for p in desk(frame=24)["paintings"] if p["paint"] == "fillText"]
        assert not [text for text in few if isinstance(text, int)]

    @pytest.mark.parametrize("theme", ["", "dark"])
    def test_every_kind_stands_out_from_the_ground(self, desk, theme):
        colours = desk(theme=theme)["colours"]
        outlined = {"corrected", "plain"}
        for kind in KINDS:
            shown = [colours[kind], colours["outline"]] if kind in outlined else [colours[kind]]
            assert max(contrast(colour, colours["ground"]) for colour in shown) >= 3, kind


class TestMarks:
    def test_the_playhead_is_at_its_time(self, desk):
        drawn = desk(playhead=0.125)
        lines = [p["args"] for p in drawn["paintings"] if p["paint"] == "fillRect"]
        (line,) = [args for args in lines if args[2] == 3]
        assert line[0] + 1.5 == pytest.approx(drawn["middles"][2], abs=0.01)

    def test_a_round_is_outlined(self, desk):
        drawn = desk(highlight={"frame": 0, "q": 1})
        boxes = [p["args"] for p in drawn["paintings"] if p["paint"] == "strokeRect"]
        places = drawn["at"]([[x + w / 2, y + h / 2] for x, y, w, h in boxes])
        assert places[:4] == [[0, 0], [0, 1], [1, 0], [0, 1]]  # the round, then the cell itself

    def test_the_newest_token_is_outlined_until_all_are_there(self, desk):
        drawn = desk()
        ((x, y, w, h),) = [p["args"] for p in drawn["paintings"] if p["paint"] == "strokeRect"]
        assert drawn["at"]([[x + w / 2, y + h / 2]]) == [[2, 0]]
        rest = [round_(5 + i, [], 0, 1) for i in range(7)]
        whole = desk([*EVERY_KIND, *rest])
        assert not [p for p in whole["paintings"] if p["paint"] == "strokeRect"]


class TestCaptions:
    def test_words_and_phonemes_stand_over_their_frames(self, desk):
        drawn = desk(frame=60)
        places = {
            p["args"][0]: p["args"][1:] for p in drawn["paintings"] if p["paint"] == "fillText"
        }
        start = drawn["middles"][0] - 30
        per_phoneme = 6 * 60 / 7
        assert places["hello"][0] == pytest.approx(start + 2 * per_phoneme, abs=1)
        assert places["you"][0] == pytest.approx(start + 5 * per_phoneme, abs=1)
        assert places["b"][0] == pytest.approx(start + 5.5 * per_phoneme, abs=1)

    def test_labels_never_overlap(self, desk, blank):
        words = ["incomprehensibilities", "a", "of", "x", "antidisestablishmentarianism", "I"]
        measure = """(texts) => { const context = document.createElement("canvas").getContext("2d");
          context.font = "14px sans-serif";
          return texts.map((text) => context.measureText(text).width); }"""
        for frame in (3, 5, 9, 14, 30, 60):
            drawn = desk([started(), sentence(40, words)], frame=frame)
            written = [p["args"] for p in drawn["paintings"] if p["paint"] == "fillText"]
            labels = [args for args in written if args[1] > drawn["gutter"]]
            widths = blank.evaluate(measure, [text for text, *_ in labels])
            assert labels
            rows = {}
            for (_, x, y), width in zip(labels, widths, strict=True):
                rows.setdefault(y, []).append((x - width / 2, x + width / 2))
            for edges in map(sorted, rows.values()):
                assert all(a[1] <= b[0] + 0.5 for a, b in pairwise(edges))

    def test_stress_and_length_stay_with_their_phoneme(self, blank):
        spans = blank.evaluate(
            """async () => (await import("./page/captions.js")).spans({
              words: ["far"], phonemes: ["^", "f", "ˈ", "ɑ", "ː", "$"],
              word_index: [-1, 0, 0, 0, 0, -1], durations: [1, 1, 1, 1, 1, 1], frames: 12 })"""
        )
        assert spans["words"] == [{"text": "far", "start": 2, "end": 10}]
        assert [(s["text"], s["start"], s["end"]) for s in spans["sounds"]] == [
            ("f", 2, 4),
            ("ˈɑː", 4, 10),
        ]


class TestCost:
    def test_only_what_is_visible_is_drawn_of_a_long_run(self, desk):
        lines = long_run(600)
        near = desk(lines, frame=14, left=300)
        assert near["read"] < 4 * 1280 / 14 + 20
        assert near["calls"] < 1500
        all_of_it = desk(lines, fit=True)
        assert all_of_it["read"] <= 4 * 1280
        assert all_of_it["calls"] < 8000


def test_an_empty_run_draws_its_rows(desk):
    assert desk([started(), audio(0)])["height"] > 80
