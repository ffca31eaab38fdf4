"""listen-player.js and listen-heard.js: clips side by side, and what was heard of each."""

from itertools import pairwise

import numpy as np
import pytest

from tests.browser.listening import clicked, pack, unpack

pytestmark = pytest.mark.browser
RATE = 22050

BEGIN = """async (clips) => {
  const { BlindPlayer } = await import("./page/listen-player.js");
  const player = new BlindPlayer();
  const decoded = Object.entries(clips).map(([name, clip]) => [name, tools.unpack(clip)]);
  player.load(Object.fromEntries(decoded), 22050, 1);
  window.player = player;
}"""
# The player's blocks as floats from the first that sounds, and when each command was given.
TAPE = """async (commands) => {
  const { tap, sleep, until, pack } = tools;
  const times = [];
  let count = 0;
  const blocks = [];
  const tape = await tap(player, ({ samples }) => {
    if (blocks.length || samples.some(Boolean)) blocks.push(samples);
  });
  for (const [wait, command, ...given] of commands) {
    await sleep(wait);
    player[command](...given);
    times.push([player.chosen, player.position, player.playing]);
  }
  await sleep(150);
  const all = new Float32Array(128 * blocks.length);
  blocks.forEach((samples, n) => all.set(samples, 128 * n));
  const heard = Object.entries(player.heard).map(([name, { parts }]) => [name, parts]);
  return { sound: pack(all), times, heard: Object.fromEntries(heard), position: player.position };
}"""


@pytest.fixture
def clips():
    """Each nowhere silent, and each different from the others at every sample."""
    rng = np.random.default_rng(3)
    ramp = rng.integers(1000, 9000, RATE).astype(np.int16)
    return {"A": ramp, "B": ramp + 10_000, "X": -ramp}


@pytest.fixture
def play(blank, clips):
    evaluate = clicked(blank)
    evaluate(BEGIN, {name: pack(clip) for name, clip in clips.items()})
    return lambda *commands: evaluate(TAPE, commands)


def runs_of(sound, clips):
    """[(name, first sample, length)] of what was heard, without the fades in between."""
    found = []
    place = 0
    wide = {name: (clip / 32767).astype(np.float32) for name, clip in clips.items()}
    start = int(np.flatnonzero(sound)[0])
    while start + place < len(sound):
        for name, clip in wide.items():
            left = min(len(clip), len(sound) - start) - place
            same = sound[start + place : start + place + left] == clip[place : place + left]
            length = int(np.argmin(same)) if not same.all() else len(same)
            if length > 20:
                found.append((name, place, length))
                place += length - 1
                break
        place += 1
        if place >= len(next(iter(clips.values()))):
            break
    return found


class TestSwitching:
    def test_it_keeps_the_place_to_the_sample_and_nothing_is_lost(self, play, clips):
        seen = play(
            [0, "choose", "A"], [250, "choose", "B"], [200, "choose", "X"], [200, "choose", "A"]
        )
        runs = runs_of(unpack(seen["sound"], "<f4"), clips)
        assert [name for name, *_ in runs] == ["A", "B", "X", "A"]
        assert runs[0][1] == 0
        for (_, start, length), (_, following, _) in pairwise(runs):
            assert 0 < following - (start + length) < 0.012 * RATE  # the fade, and no more

    def test_fades_are_steady(self, play, clips):
        sound = unpack(play([0, "choose", "A"], [200, "choose", "A"])["sound"], "<f4")
        (run,) = runs_of(sound, clips)[:1]
        assert run[0] == "A"
        assert run[2] > 0.2 * RATE  # choosing what is heard already is not heard

    def test_it_ends_by_itself_and_begins_again_with_the_clip_that_is_chosen(self, play):
        seen = play([0, "choose", "A"], [1400, "choose", "B"])
        assert seen["times"][1][0] == "B"
        assert seen["times"][1][1] < 0.05
        assert seen["heard"]["A"] == [[0, 1]]
        assert seen["heard"]["B"] == []  # nobody counted yet: that is done frame by frame

    def test_pause_and_seek_keep_and_move_the_place(self, play):
        seen = play(
            [0, "choose", "X"],
            [300, "pause"],
            [100, "choose", "A"],
            [100, "seek", 0.9],
            [20, "pause"],
            [0, "seek", 5],
            [0, "seek", -5],
        )
        (_, first, _), (_, paused, playing), (_, again, _), (_, moved, _), *_ = seen["times"]
        assert first == 0
        assert 0.15 < paused < 0.35
        assert not playing
        assert again == pytest.approx(paused, abs=0.001)
        assert moved == pytest.approx(0.9, abs=0.001)
        assert [position for _, position, _ in seen["times"][-2:]] == [1, 0]


class TestHeard:
    def test_each_clip_is_credited_with_what_was_heard_of_it(self, play):
        seen = play([0, "choose", "A"], [250, "choose", "B"], [250, "choose", "A"], [250, "pause"])
        (first, second), (between,) = seen["heard"]["A"], seen["heard"]["B"]
        assert first[0] == 0
        assert first[1] == between[0]
        assert between[1] == second[0]
        assert second[1] == seen["position"]
        assert seen["heard"]["X"] == []

    def test_parts_join_and_repeated_ones_count_once(self, blank):
        seen = blank.evaluate("""async () => {
          const { Heard } = await import("./page/listen-heard.js");
          const heard = new Heard(3, 1);
          const seen = [];
          for (const part of [[1, 1.5], [0, 0.2], [0.1, 0.3], [2, 2], [0.3, 1], [0.5, 0.7]]) {
            heard.add(...part);
            seen.push([heard.parts, heard.seconds, heard.enough]);
          }
          const short = new Heard(0.5, 1);
          short.add(0, 0.4);
          const before = short.enough;
          short.add(0.4, 0.5);
          return { seen, short: [before, short.enough] };
        }""")
        assert seen["seen"][2] == [[[0, 0.3], [1, 1.5]], pytest.approx(0.8), False]
        assert seen["seen"][3][0] == [[0, 0.3], [1, 1.5]]
        assert seen["seen"][-1] == [[[0, 1.5]], 1.5, True]
        assert seen["short"] == [False, True]
