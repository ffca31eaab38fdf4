"""player.js: what is heard, sample by sample, and what the player says of it."""

from itertools import pairwise

import numpy as np
import pytest

from tests.browser.listening import clicked, pack, unpack

pytestmark = pytest.mark.browser

RATE = 22050


@pytest.fixture
def play(blank):
    return clicked(blank)


def pieces_of(pcm, rng, longest):
    """Cut into odd lengths, each beginning so softly that a fraction of the next sample shows."""
    cuts = [0]
    while cuts[-1] < len(pcm) - 1:
        cuts.append(cuts[-1] + 2 * int(rng.integers(1, longest // 2)) + 1)
    pcm[cuts[:-1]], pcm[np.array(cuts[:-1]) + 1] = 1, 32767
    return [pcm[a:b] for a, b in pairwise(cuts)]


def as_floats(pcm):
    return (np.asarray(pcm) / 32767).astype(np.float32)


class TestSound:
    def test_odd_pieces_at_random_times_are_heard_sample_by_sample(self, play):
        rng = np.random.default_rng(0)
        pcm = rng.integers(-32767, 32768, 3 * RATE).astype(np.int16)
        pcm[:3] = -32767, 32767, 1
        first, rest = pcm[:20001], pieces_of(pcm[20001:], rng, 1500)
        waits = rng.uniform(0, 30, len(rest)).tolist()
        seen = play(
            """async ([rate, pieces, waits]) => {
              const { Player, tap, sleep, pack, unpack } = tools;
              const player = new Player();
              player.begin(rate);
              const tape = await tap(player);
              for (const [i, piece] of pieces.entries()) {
                player.add(unpack(piece));
                await sleep(waits[i] ?? 0);
              }
              player.finish();
              const { segments, underruns } = player;
              const { at } = segments[0];
              const heard = pack(await tape.read(at, 3 * rate + 500));
              return { heard, segments, underruns, pcm: pack(player.pcm()) };
            }""",
            [RATE, [pack(piece) for piece in (first, *rest)], waits],
        )
        heard = unpack(seen["heard"], "<f4")
        np.testing.assert_array_equal(heard, np.append(as_floats(pcm), np.zeros(500, np.float32)))
        np.testing.assert_array_equal(np.rint(heard[: len(pcm)] * 32767), pcm)
        np.testing.assert_array_equal(unpack(seen["pcm"], "<i2"), pcm)
        assert seen["underruns"] == []
        for one, following in pairwise(seen["segments"]):
            assert following["start"] == one["start"] + one["samples"]
            assert following["at"] == one["at"] + one["samples"]

    def test_the_first_piece_sounds_at_once(self, play):
        wait = play("""async () => {
          const { Player, until, pcm } = tools;
          const player = new Player();
          player.begin(22050);
          await until(() => !player.blocked);
          player.add(pcm(0.1));
          return player.segments[0].at / 22050 - player.output.context.currentTime;
        }""")
        assert 0.01 < wait < 0.05

    def test_a_late_piece_is_an_underrun_as_long_as_the_silence(self, play):
        seen = play("""async () => {
          const { Player, tap, sleep, pcm, until, pack } = tools;
          const player = new Player();
          const states = [];
          player.onchange = (state) => states.push(state);
          player.begin(22050);
          const tape = await tap(player);
          player.add(pcm(0.2));
          const { at } = player.segments[0];
          await until(() => player.state === "waiting");
          const stuck = [player.position(), (await sleep(200), player.position())];
          player.add(pcm(0.1));
          player.finish();
          const heard = pack(await tape.read(at, 22050));
          return { heard, stuck, underruns: player.underruns, states };
        }""")
        [underrun] = seen["underruns"]
        assert underrun["at"] == 0.2
        assert 0.2 < underrun["seconds"] < 0.5
        assert seen["stuck"] == [0.2, 0.2]
        heard = unpack(seen["heard"], "<f4")
        silence = np.flatnonzero(heard[: np.flatnonzero(heard)[-1]] == 0)
        assert len(silence) == round(underrun["seconds"] * RATE)
        assert silence[0] == 0.2 * RATE
        assert silence[-1] - silence[0] == len(silence) - 1
        assert seen["states"] == ["waiting", "playing", "waiting", "playing", "ended"]

    def test_a_long_sound_needs_few_nodes_at_once(self, play):
        seen = play("""async () => {
          const { Player, tap, pcm, differ } = tools;
          const player = new Player();
          player.begin(22050);
          const tape = await tap(player);
          const sound = pcm(4);
          for (let i = 0; i < 4; i++) player.add(sound);
          player.finish();
          const planned = player.segments.length;
          const { at } = player.segments[0];
          const heard = await tape.read(at, 3.5 * 22050);
          const wrong = differ(heard, sound);
          const last = player.segments.at(-1);
          const { underruns } = player;
          player.close();
          return { planned, wrong, underruns, scheduled: (last.start + last.samples) / 22050 };
        }""")
        assert seen["planned"] == 2
        assert (seen["wrong"], seen["underruns"]) == (-1, [])
        assert 5 <= seen["scheduled"] <= 7

    def test_a_refused_rate_plays_as_one_piece_once_complete(self, play):
        seen = play("""async () => {
          const { Player, tap, until, pcm } = tools;
          const Real = AudioContext;
          window.AudioContext = class extends Real {
            constructor(options) {
              if (options?.sampleRate) throw new DOMException("no", "NotSupportedError");
              super(options);
            }
          };
          const player = new Player();
          player.begin(8000);
          player.add(pcm(0.2, 8000));
          player.add(pcm(0.2, 8000));
          const before = [player.segments.length, player.state];
          player.finish();
          const { segments } = player;
          await until(() => player.state === "ended");
          const { context } = player.output;
          return { before, segments, position: player.position(), rate: context.sampleRate };
        }""")
        assert seen["before"] == [0, "waiting"]
        assert [(s["start"], s["samples"]) for s in seen["segments"]] == [(0, 3200)]
        assert seen["position"] == 0.4
        assert seen["rate"] != 8000


class TestPosition:
    def test_it_is_the_captures_clock_less_the_latency(self, play):
        seen = play("""async () => {
          const { Player, tap, until, pcm } = tools;
          const player = new Player();
          player.begin(22050);
          const off = [], positions = [];
          const tape = await tap(player, ({ frame, samples }) => {
            if (!player.segments.length) return;
            const heard = (frame + samples.length - player.segments[0].at) / 22050;
            const { outputLatency } = player.output.context;
            positions.push(player.position());
            if (heard < outputLatency || heard > 2) return;
            off.push(player.position() + outputLatency - heard);
          });
          player.add(pcm(1));
          player.add(pcm(1));
          player.finish();
          await until(() => player.state === "ended");
          return { off, positions, end: player.position() };
        }""")
        off = np.array(seen["off"])
        assert len(off) > 200
        assert np.abs(off).max() < 0.05
        assert (np.diff(seen["positions"]) >= 0).all()
        assert seen["positions"][0] == 0
        assert seen["end"] == 2

    def test_a_wavering_latency_never_moves_it_back_or_past_the_end(self, play):
        positions = play("""async () => {
          const { Player, until, sleep, pcm } = tools;
          const player = new Player();
          player.begin(22050);
          let reads = 0;
          Object.defineProperty(player.output.context, "outputLatency", {
            get: () => (reads++ % 2 ? 0.2 : 0.01),
          });
          player.add(pcm(0.5));
          const positions = [];
          for (let i = 0; i < 100; i++) {
            positions.push(player.position());
            await sleep(8);
          }
          return positions;
        }""")
        assert (np.diff(positions) >= 0).all()
        assert (positions[0], positions[-1]) == (0, 0.5)
        assert len(set(positions)) > 10

    def test_any_order_of_commands_keeps_it_within_the_sound(self, play):
        rng = np.random.default_rng(5)
        commands = [
            {"name": str(rng.choice(["add", "add", "play", "pause", "seek"])), "to": rng.random()}
            for _ in range(60)
        ]
        seen = play(
            """async (commands) => {
              const { Player, sleep, pcm } = tools;
              const player = new Player();
              player.begin(22050);
              const seen = [];
              for (const { name, to } of commands) {
                const before = player.position();
                if (name === "add") player.add(pcm(0.05 + 0.1 * to));
                else player[name](...(name === "seek" ? [(3 * to - 0.5) * player.duration] : []));
                const [after, { state, duration }] = [player.position(), player];
                await sleep(20 * to);
                const later = player.position();
                const { segments } = player;
                seen.push({ name, to, before, after, later, state, duration, segments });
              }
              player.close();
              return seen;
            }""",
            commands,
        )
        wants = True
        for step in seen:
            assert 0 <= step["after"] <= step["later"] <= step["duration"]
            if step["name"] == "seek":
                goal = min(max((3 * step["to"] - 0.5) * step["duration"], 0), step["duration"])
                assert step["after"] == pytest.approx(goal, abs=1 / RATE)
            else:
                assert step["before"] <= step["after"] <= step["before"] + 0.05
            wants = {"play": True, "pause": False}.get(step["name"], wants)
            assert wants == (step["state"] != "paused")
            assert wants or (step["after"] == step["later"] and step["segments"] == [])
