"""The Race tab: measured in turn, replayed side by side."""

import numpy as np
import pytest

from tests.browser.pages import RACE, held_pcm, still_speaks, synthesized, wait_for_status

pytestmark = pytest.mark.browser
TEXT = "hello there\nand more"
START = ".start button#race"


def lane(number):
    return f"{RACE}.lanes[{number}].stage"


@pytest.fixture
def track(page):
    """The page on its Race tab."""
    page.get_by_role("tab", name="Race").click()
    page.wait_for_selector(".race .lanes")
    return page


def start(page, text=TEXT):
    page.fill("#text textarea", text)
    page.click(START)


def finish(page):
    wait_for_status(page, "Done.", ".race >", 20_000)


class TestRace:
    def test_both_speak_the_same_text_and_are_compared(self, track):
        start(track)
        track.wait_for_function(f"{RACE}.racing")
        finish(track)
        for number in (0, 1):
            header = track.evaluate(f"{lane(number)}.run.header")
            assert bool(header["gamma"]) == bool(number)
            pcm, trace = synthesized(TEXT, header)
            np.testing.assert_array_equal(held_pcm(track, lane(number)), pcm)
            spoken = track.evaluate(f"{lane(number)}.run.spoken")
            assert spoken == sum(len(round_.tokens) for round_ in trace.rounds)
        verdict = track.inner_text(".verdict")
        assert "× the tokens per second" in verdict or "× its tokens per second" in verdict
        assert "Different samples of the same distribution" in verdict
        clocks = track.locator(".lane .time").all_inner_texts()
        walls = track.evaluate(f"{RACE}.lanes.map((lane) => lane.wall)")
        assert clocks == [f"{wall:.2f} s" for wall in walls]
        for wall in walls:
            assert f"{wall:.2f} s" in verdict

    def test_it_is_silent_until_both_are_measured_then_one_lane_is_heard(self, track):
        start(track, "\n".join(["hello there"] * 4))
        track.wait_for_function(f"{lane(0)}.run.spoken > 0")
        assert track.evaluate(f"{lane(0)}.player.state") == "idle"
        track.wait_for_function(f"{RACE}.racing")
        muted = f"{RACE}.lanes.map(({{ stage }}) => stage.player.muted)"
        assert track.evaluate(muted) == [True, False]
        track.wait_for_function(f"{lane(1)}.position > 0.1")
        track.click("text=Hear baseline")
        assert track.evaluate(muted) == [False, True]
        assert track.evaluate(f"{RACE}.racing")

    def test_again_and_slowly(self, track):
        start(track)
        finish(track)
        track.click("text=¼, silent")
        track.wait_for_function(f"{RACE}.racing")
        track.wait_for_function(f"{lane(1)}.position > 0.05")
        assert track.evaluate(f"{lane(1)}.player.state") == "idle"
        track.click(".race .again")
        wait_for_status(track, "Done.", ".race >")
        assert track.evaluate(f"{RACE}.lanes.every(({{ stage }}) => stage.run.finished)")
        assert track.inner_text(".verdict")

    def test_the_same_seed_gives_the_same_waveform(self, track):
        track.click("#settings .label-wrap")
        track.get_by_label("Rule").click()
        track.get_by_role("option", name="Gumbel match").click()
        start(track)
        finish(track)
        assert "identical, sample by sample" in track.inner_text(".verdict")
        first, second = held_pcm(track, lane(0)), held_pcm(track, lane(1))
        np.testing.assert_array_equal(first, second)

    def test_stop_ends_it_and_a_failure_is_shown(self, track, voice):
        start(track, "\n".join(["a long text"] * 100))
        track.wait_for_function(f"{lane(0)}.run.spoken > 0")
        track.click("#stop-race")
        wait_for_status(track, "Stopped.", ".race >")
        assert not still_speaks(voice)
        start(track, "fail")
        wait_for_status(track, "The fake voice failed", ".race >")
        assert track.is_disabled(".race .again")

    def test_what_fails_at_once_leaves_the_race_before_as_it_was(self, track):
        start(track)
        finish(track)
        spoken = f"{RACE}.lanes.map(({{ stage }}) => stage.run.spoken)"
        before, verdict = track.evaluate(spoken), track.inner_text(".verdict")
        start(track, "...")
        wait_for_status(track, "There is nothing to say", ".race >")
        assert (track.evaluate(spoken), track.inner_text(".verdict")) == (before, verdict)
        assert track.is_enabled(".race .again")
