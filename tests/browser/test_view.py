"""view.js: which time is where."""

import pytest

pytestmark = pytest.mark.browser

VIEW = """async (steps) => {
  const { View } = await import("./page/view.js");
  const view = new View({ paged: false });
  Object.assign(view, { gutter: 100, secondsPerPixel: 0.01, left: 20 });
  return (new Function("view", "View", steps))(view, View);
}"""


@pytest.fixture
def look(blank):
    """The value of some JavaScript about `view`: 100 px of gutter, 10 ms a pixel, from 20 s on."""
    return lambda steps: blank.evaluate(VIEW, steps)


class TestView:
    def test_time_and_place_are_inverse(self, look):
        assert look("return [view.xAt(20), view.xAt(23), view.timeAt(400)]") == [100, 400, 23]
        assert look("return view.span(1100)") == 10

    def test_zoom_keeps_the_time_under_the_pointer(self, look):
        zoomed = "view.zoom(2, 400); return [view.timeAt(400), view.secondsPerPixel]"
        assert look(zoomed) == pytest.approx([23, 0.005])
        back = (
            "view.zoom(2, 400); view.zoom(0.5, 700); view.zoom(0.5, 700); return view.timeAt(700)"
        )
        assert look(back) == pytest.approx(24.5)

    def test_zoom_has_ends(self, look):
        deep = look("for (let i = 0; i < 99; i++) view.zoom(2, 300); return view.secondsPerPixel")
        wide = look("for (let i = 0; i < 99; i++) view.zoom(.5, 300); return view.secondsPerPixel")
        assert 0 < deep < 0.001
        assert 1 < wide < 60

    def test_fit_shows_everything(self, look):
        shown = look("view.fit(30, 1100); return [view.xAt(0), view.xAt(30)]")
        assert shown == pytest.approx([100, 1100])

    def test_follow_keeps_the_playhead_in_place_and_stops_at_the_ends(self, look):
        follow = "view.follow({}, 60, 1100); return [view.xAt({}), view.left]"
        assert look(follow.format(30, 30)) == pytest.approx([450, 26.5])
        assert look(follow.format(1, 1)) == pytest.approx([200, 0])
        assert look(follow.format(59, 59)) == pytest.approx([1000, 50])
        assert look("view.follow(3, 4, 1100); return view.left") == 0

    def test_with_reduced_motion_it_turns_pages(self, look):
        turned = """view.paged = true; const lefts = [];
          for (const t of [20.1, 25, 29, 29.6, 35]) {
            view.follow(t, 60, 1100);
            lefts.push(view.left);
          }
          return lefts"""
        assert look(turned) == pytest.approx([20, 20, 20, 29.1, 29.1])

    def test_reduced_motion_is_the_visitors_choice(self, look, blank):
        paged = "return new View().paged"
        assert look(paged) is False
        blank.emulate_media(reduced_motion="reduce")
        assert look(paged) is True

    def test_finds_the_first_above_a_bound(self, blank):
        found = blank.evaluate(
            """async () => { const { firstAfter } = await import("./page/view.js");
              return [0, 1, 2.5, 3, 9].map((bound) => firstAfter([1, 2, 3], (x) => x, bound)); }"""
        )
        assert found == [0, 1, 2, 3, 3]
