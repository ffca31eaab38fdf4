"""Live runs and races, without a page."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from app.orders import ADAPTIVE, AUTOMATIC, DRAFT, NO_DRAFT, Order
from app.runs import Runs
from app.speaking import live, race, render
from app.spelling import SPELLED_SHORT
from app.studio import Measured, Studio
from core.costs import mean_acceptance
from core.engine import Engine
from core.errors import ForespeakError
from core.outlook import LONGEST, TRIAL
from tests.app.conftest import finished, lines_of, wait_until
from tests.fake_voice import FakeVoice, engine_pcm, fake_engine

LONG = "\n".join(["a long text"] * 500)


def order(text="hello there\nand more", rule="lossless", gamma=4, seed=0, draft=DRAFT):
    return Order.from_controls(text, "joe", draft, rule, gamma, 0.8, 1, seed, 1)


def started(studio, work, *arguments):
    return Runs().start(lambda run: work(run, studio, *arguments))


def kinds(lines):
    return [line["kind"] for line in lines]


def slow_studio(seconds=0.02):
    """A studio whose voice takes its time over each sentence, and what it was asked to say."""
    voice, spoken = FakeVoice(), []
    target = voice.target
    pause = threading.Event()

    def slow(plan):
        if plan.sentence.text != TRIAL:
            spoken.append(plan.sentence.text)
        pause.wait(seconds)
        return target(plan)

    voice.target = slow
    studio = Studio(lambda _: Engine(voice, fake_engine().device))
    studio.ready("joe")
    spoken.clear()
    return studio, spoken


class TestLive:
    def test_a_run_from_status_to_end(self, studio):
        run = started(studio, live, order())
        lines = finished(run)
        assert lines[-1]["state"] == "done"
        assert [line["text"] for line in lines if line["kind"] == "status"][-1] == "Speaking…"
        assert kinds(lines).index("started") < kinds(lines).index("sentence")
        np.testing.assert_array_equal(run.lanes[0].pcm(), engine_pcm("hello there\nand more"))

    def test_the_baseline_is_timed_anew_after_each_run(self, studio):
        known = studio.ready("joe").baseline_tokens_per_s
        first, second = (finished(started(studio, live, order())) for _ in range(2))
        (timed,) = (line for line in first if line["kind"] == "baseline")
        assert kinds(first)[-3:] == ["finished", "baseline", "end"]
        before, after = (
            line["baseline_tokens_per_s"] for line in first + second if line["kind"] == "started"
        )
        assert (before, after) == (known, timed["tokens_per_s"])
        assert timed["tokens_per_s"] != known

    def test_a_text_in_another_script_is_noted(self, studio):
        for text, note in (("hello", "Done."), ("你好 hello", f"Done. {SPELLED_SHORT}")):
            run = started(studio, live, order(text))
            assert finished(run)[-1]["text"] == note

    def test_the_speed_up_of_the_latest_run_with_a_draft_is_kept(self):
        """Against the baseline right after it: whatever else the computer did met both."""
        studio = Studio(lambda _: fake_engine())
        for given in (order(gamma=3), order(draft=NO_DRAFT)):
            run = started(studio, live, given)
            lines = finished(run)
            if given.gamma:
                spoken = run.lanes[0].metrics().tokens_per_s
                (timed,) = (line for line in lines if line["kind"] == "baseline")
            assert studio.ready("joe").measured == Measured(3, spoken / timed["tokens_per_s"])

    @pytest.mark.parametrize(("work", "lane"), [(live, 0), (race, 0)])
    def test_the_latest_baseline_is_what_later_runs_are_compared_with(self, studio, work, lane):
        run = started(studio, work, order(draft=NO_DRAFT))
        lines = finished(run)
        measured = run.lanes[lane].metrics().tokens_per_s
        assert studio.ready("joe").baseline_tokens_per_s == measured
        assert studio.state("joe").baseline_tokens_per_s == measured
        for line in lines:
            if line["kind"] == "started" and line["lane"] == 1:
                assert line["baseline_tokens_per_s"] == measured

    def test_the_automatic_gamma_is_the_studios(self, studio):
        run = started(studio, live, order(gamma=AUTOMATIC))
        finished(run)
        assert run.lanes[0].trace().gamma == studio.ready("joe").gamma

    @pytest.mark.parametrize("work", [live, race, render])
    def test_adaptive_windows_are_chosen_on_the_way(self, studio, work):
        run = started(studio, work, order(gamma=ADAPTIVE))
        lines = finished(run)
        trace = run.lanes[-1].trace()
        assert (trace.adaptive, trace.gamma) == (True, LONGEST)
        assert [at["trace"]["adaptive"] for at in lines if at["kind"] == "started"][-1] is True

    def test_a_run_whose_windows_changed_is_no_measured_gamma(self):
        studio = Studio(lambda _: fake_engine())
        finished(started(studio, live, order(gamma=ADAPTIVE)))
        assert studio.ready("joe").measured is None

    @pytest.mark.parametrize("work", [live, race])
    def test_the_automatic_gamma_of_a_rule_is_that_of_its_own_acceptance(self, work):
        """Rules differ by much in what they accept; the measured one keeps what was measured."""
        studio = Studio(lambda _: fake_engine())
        measured = studio.ready("joe").outlook
        finished(started(studio, work, order()))
        assert studio.ready("joe").outlook_of("model", "lossless") == measured
        run = started(studio, work, order(rule="typical"))
        finished(run)
        trace = run.lanes[-1].trace()
        alpha = mean_acceptance(trace.rounds, trace.rule)
        outlook = replace(measured, alpha=alpha)
        assert studio.ready("joe").outlook_of("model", "typical") == outlook
        assert studio.ready("joe").outlook_of("model", "ssd") == measured
        again = started(studio, work, order(rule="typical", gamma=AUTOMATIC))
        finished(again)
        assert again.lanes[-1].trace().gamma == outlook.gamma

    def test_a_baseline_teaches_nothing_of_its_rule(self):
        studio = Studio(lambda _: fake_engine())
        finished(started(studio, live, order(rule="typical", draft=NO_DRAFT)))
        assert studio.ready("joe").outlook_of("model", "typical") == studio.ready("joe").outlook

    def test_sound_is_there_before_the_run_has_ended(self):
        studio, _ = slow_studio()
        run = started(studio, live, order(LONG))
        with run.listening():
            wait_until(lambda: "audio" in kinds(lines_of(run)))
            assert not run.ended
        run.stop()

    def test_stop_takes_effect_at_the_next_event_and_the_next_run_speaks(self):
        studio, spoken = slow_studio()
        run = started(studio, live, order(LONG))
        wait_until(lambda: spoken)
        run.stop()
        assert finished(run)[-1]["state"] == "stopped"
        assert len(spoken) < 10
        assert finished(started(studio, live, order("hello")))[-1]["state"] == "done"

    def test_two_runs_take_turns_and_each_gets_its_own_sound(self):
        studio, spoken = slow_studio()
        first = started(studio, live, order("one\ntwo\nthree"))
        wait_until(lambda: spoken)
        second = started(studio, live, order("four\nfive"))
        waiting = finished(second)
        assert waiting[0]["text"] == "2nd in the queue"
        assert waiting[0]["state"] == "queued"
        assert spoken == ["one", "two", "three", "four", "five"]
        np.testing.assert_array_equal(first.lanes[0].pcm(), engine_pcm("one\ntwo\nthree"))
        np.testing.assert_array_equal(second.lanes[0].pcm(), engine_pcm("four\nfive"))

    def test_who_waits_can_be_stopped(self):
        studio, spoken = slow_studio()
        first = started(studio, live, order(LONG))
        wait_until(lambda: spoken)
        second = started(studio, live, order("never"))
        wait_until(lambda: second.lines(0))
        second.stop()
        assert finished(second)[-1]["state"] == "stopped"
        assert not first.ended
        first.stop()
        assert "never" not in spoken

    @pytest.mark.parametrize("text", ["", " \n", "...", "hello\nfail"])
    def test_a_failure_is_told_and_the_next_run_speaks(self, studio, text):
        end = finished(started(studio, live, order(text)))[-1]
        assert end["state"] == "failed"
        assert "nothing to say" in end["text"] or "fake voice failed" in end["text"]
        assert finished(started(studio, live, order("hello")))[-1]["state"] == "done"

    def test_a_voice_that_cannot_be_loaded(self):
        def load(_):
            raise ForespeakError("The file is damaged: restore it.")

        end = finished(started(Studio(load), live, order()))[-1]
        assert end == end | {"state": "failed", "text": "The file is damaged: restore it."}


class FakeSpeakers:
    """Speakers that are done when a test says so."""

    def __init__(self):
        self.did, self.pcm, self.heard, self.ended_by = [], [], threading.Event(), "nobody"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.ended_by = kind and kind.__name__

    def begin(self, sample_rate):
        self.did.append(sample_rate)

    def write(self, pcm):
        self.pcm.append(pcm)

    def complete(self):
        self.did.append("complete")

    def wait(self, seconds):
        return self.heard.wait(seconds / 10)


class TestSpeakers:
    def test_they_get_every_sample_and_the_model_is_free_while_they_play(self, studio):
        speakers = FakeSpeakers()
        run = started(studio, live, order(), speakers)
        wait_until(lambda: "playing" in [line.get("state") for line in lines_of(run)])
        assert finished(started(studio, live, order("hello")))[-1]["state"] == "done"
        assert not run.ended
        speakers.heard.set()
        assert finished(run)[-1]["state"] == "done"
        np.testing.assert_array_equal(
            np.concatenate(speakers.pcm), engine_pcm("hello there\nand more")
        )
        assert speakers.did == [22050, "complete"]
        assert speakers.ended_by is None

    def test_the_thread_that_used_the_model_does_not_wait_for_them(self):
        """PyTorch's helpers of a living thread would slow the next run."""
        studio, _ = slow_studio()
        ready, threads = studio.ready("joe"), set()
        plan = ready.engine.voice.plan
        ready.engine.voice.plan = lambda *a: threads.add(threading.current_thread()) or plan(*a)
        speakers = FakeSpeakers()
        run = started(studio, live, order(), speakers)
        wait_until(lambda: "playing" in [line.get("state") for line in lines_of(run)])
        assert threads
        assert not any(thread.is_alive() for thread in threads)
        speakers.heard.set()

    def test_stop_falls_silent_while_they_play(self, studio):
        speakers = FakeSpeakers()
        run = started(studio, live, order(), speakers)
        wait_until(lambda: "complete" in speakers.did)
        run.stop()
        assert finished(run)[-1]["state"] == "stopped"
        assert speakers.ended_by == "Stopped"

    def test_a_device_that_breaks_fails_the_run(self, studio):
        def broken(_):
            raise ForespeakError("Card stopped playing: connect it again.")

        speakers = FakeSpeakers()
        speakers.write = broken
        end = finished(started(studio, live, order(), speakers))[-1]
        assert (end["state"], end["text"]) == ("failed", "Card stopped playing: connect it again.")


class TestRace:
    def test_the_baseline_speaks_first_then_the_draft_helps(self, studio):
        lines = finished(started(studio, race, order()))
        lanes = [line["lane"] for line in lines if "lane" in line]
        assert lanes == sorted(lanes)
        gammas = [line["trace"]["gamma"] for line in lines if line["kind"] == "started"]
        assert gammas == [0, 4]
        assert kinds(lines)[-2:] == ["verdict", "end"]

    def test_the_verdict_is_of_the_lanes_metrics(self, studio):
        lines = finished(started(studio, race, order()))
        one, other = (line["metrics"] for line in lines if line["kind"] == "finished")
        verdict = lines[-2]
        assert verdict["speedup"] == other["tokens_per_s"] / one["tokens_per_s"]
        for name in ("ttfa_s", "rtf", "wall_s"):
            assert verdict[name] == [one[name], other[name]]

    @pytest.mark.parametrize("seed", range(3))
    def test_under_same_seed_both_are_identical(self, studio, seed):
        run = started(studio, race, order(rule="same-seed", seed=seed))
        verdict = finished(run)[-2]
        assert (verdict["identical"], verdict["first_difference"]) == (True, None)
        np.testing.assert_array_equal(run.lanes[0].pcm(), run.lanes[1].pcm())

    def test_other_rules_sound_different_and_say_where(self, studio):
        run = started(studio, race, order())
        verdict = finished(run)[-2]
        assert not verdict["identical"]
        plain, fast = (
            [token for round_ in lane.trace().rounds for token in round_.tokens]
            for lane in run.lanes
        )
        place = verdict["first_difference"]
        assert plain[:place] == fast[:place]
        assert plain[place] != fast[place]

    def test_nobody_speaks_between_the_two(self):
        studio, spoken = slow_studio()
        first = started(studio, race, order("one\ntwo"))
        wait_until(lambda: spoken)
        finished(started(studio, live, order("three")))
        assert first.ended
        assert spoken == ["one", "two", "one", "two", "three"]

    def test_stop_ends_a_race_without_a_verdict(self):
        studio, spoken = slow_studio()
        run = started(studio, race, order(LONG))
        wait_until(lambda: spoken)
        run.stop()
        assert "verdict" not in kinds(finished(run))
