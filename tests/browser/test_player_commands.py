"""player.js: its commands, the browser's leave to play, and what it leaves behind."""

import pytest

from tests.browser.listening import clicked

pytestmark = pytest.mark.browser

RATE = 22050


@pytest.fixture
def play(blank):
    return clicked(blank)


class TestCommands:
    def test_pause_and_seek_while_receiving(self, play):
        seen = play("""async () => {
          const { Player, tap, sleep, until, pcm, differ } = tools;
          const player = new Player();
          const states = [];
          player.onchange = (state) => states.push(state);
          player.begin(22050);
          const tape = await tap(player);
          const sound = pcm(2);
          player.add(sound.slice(0, 22050));
          await until(() => player.position() > 0.3);
          player.pause();
          const paused = player.position();
          player.add(sound.slice(22050));
          await sleep(150);
          const frozen = player.position();
          player.seek(1.24);
          const sought = player.position();
          player.play();
          const resumed = player.segments[0];
          const start = resumed.start;
          const silence = await tape.read(resumed.at - 2000, 2000);
          const heard = await tape.read(resumed.at, sound.length - start);
          const wrong = differ(heard, sound.slice(start));
          player.finish();
          await until(() => states.at(-1) === "ended");
          player.play();
          const again = [player.position(), player.state];
          player.seek(1);
          const { duration, underruns } = player;
          player.close();
          const quiet = silence.every((x) => x === 0);
          const places = { paused, frozen, sought, start, duration };
          return { ...places, states, wrong, quiet, again, underruns };
        }""")
        assert 0.3 < seen["paused"] < 0.5
        assert seen["frozen"] == seen["paused"]
        assert seen["sought"] == pytest.approx(1.24, abs=1e-4)
        assert seen["start"] == round(1.24 * RATE)
        assert (seen["wrong"], seen["quiet"]) == (-1, True)
        assert seen["again"] == [0, "playing"]
        assert (seen["duration"], seen["underruns"]) == (2, [])
        told = ["waiting", "playing", "paused", "playing", "ended", "playing", "idle"]
        assert seen["states"] == told

    def test_muted_it_is_silent_and_goes_on(self, play):
        seen = play("""async () => {
          const { Player, tap, until, pcm } = tools;
          const player = new Player({ gain: 0.5 });
          player.muted = true;
          player.begin(22050);
          const tape = await tap(player);
          const sound = pcm(1);
          player.add(sound);
          const { at } = player.segments[0];
          await until(() => player.position() > 0.4);
          player.muted = false;
          const clock = Math.round(player.output.context.currentTime * 22050) - at;
          const heard = await tape.read(at, 22050);
          const last = Math.fround(sound.at(-1) / 32767) / 2;
          const level = heard.at(-1) / last;
          player.gain = 2;
          const first = heard.findIndex((x) => x !== 0);
          return { first, clock, level, gain: player.output.gain.value };
        }""")
        assert abs(seen["first"] - seen["clock"]) < 0.05 * RATE
        assert seen["level"] == pytest.approx(1, abs=1e-6)
        assert seen["gain"] == 2

    def test_begin_ends_the_sound_before(self, play):
        seen = play("""async () => {
          const { Player, tap, until, pcm } = tools;
          const player = new Player();
          player.begin(22050);
          const tape = await tap(player);
          player.add(pcm(1));
          await until(() => player.position() > 0.1);
          player.begin(22050);
          const fresh = [player.position(), player.duration, player.state];
          const now = Math.round(player.output.context.currentTime * 22050);
          const heard = await tape.read(now, 11025);
          player.finish();
          return { fresh, sounding: heard.findLastIndex((x) => x !== 0), state: player.state };
        }""")
        assert seen["fresh"] == [0, 0, "waiting"]
        assert seen["sounding"] < 0.05 * RATE
        assert seen["state"] == "ended"  # a run may end without any sound

    def test_without_a_gesture_it_waits_and_then_plays_from_the_start(self, blank):
        # Not by `evaluate`, which counts as a gesture.
        blank.add_init_script("""(async () => {
          const { Player } = await import(new URL("page/player.js", location));
          document.addEventListener("click", () => Player.unlock());
          const player = new Player();
          player.begin(22050);
          player.add(new Int16Array(6615));
          player.finish();
          window.player = player;
        })()""")
        blank.reload()
        blank.wait_for_timeout(300)
        facts = "[player.state, player.blocked, player.position()]"
        assert blank.evaluate(facts) == ["waiting", True, 0]
        blank.mouse.click(9, 9)
        blank.wait_for_function("player.state === 'ended'")
        assert blank.evaluate(facts) == ["ended", False, 0.3]
        assert blank.evaluate("player.underruns") == []

    def test_an_idle_player_takes_every_command(self, play):
        assert play("""() => {
          const player = new tools.Player();
          player.play();
          player.pause();
          player.seek(3);
          player.gain = 0.5;
          player.finish();
          player.close();
          return [player.state, player.position(), player.duration, player.output];
        }""") == ["idle", 0, 0, None]


class TestUpkeep:
    def test_runs_leave_no_nodes_and_share_one_context(self, play):
        seen = play("""async () => {
          const { Player, sleep, until, pcm } = tools;
          const count = { contexts: 0, live: 0, most: 0 };
          const [Context, Source] = [AudioContext, AudioBufferSourceNode];
          window.AudioContext = class extends Context {
            constructor(options) { super(options); count.contexts++; }
          };
          window.AudioBufferSourceNode = class extends Source {
            constructor(...all) { super(...all); count.most = Math.max(count.most, ++count.live); }
            disconnect(...all) { super.disconnect(...all); count.live--; }
          };
          Player.prepare(22050);
          const players = [new Player(), new Player()];
          const after = [];
          for (let run = 0; run < 20; run++) {
            const player = players[run % 2];
            player.begin(22050);
            for (let i = 0; i < 5; i++) player.add(pcm(0.1));
            if (run % 4 < 2) player.finish(), await until(() => player.state === "ended");
            else await sleep(40), player.begin(22050);
            await sleep(20);
            after.push(count.live);
          }
          const shared = players[0].output.context === players[1].output.context;
          players[0].begin(16000);
          const other = players[0].output.context !== players[1].output.context;
          players.forEach((player) => player.close());
          return { ...count, after, shared, other };
        }""")
        assert seen["after"] == [0] * 20
        assert seen["most"] >= 5
        assert seen["contexts"] == 2
        assert seen["shared"]
        assert seen["other"]

    def test_close_silences_and_forgets(self, play):
        seen = play("""async () => {
          const { Player, until, pcm } = tools;
          const player = new Player();
          player.begin(22050);
          player.add(pcm(1));
          await until(() => player.position() > 0.05);
          player.close();
          const closed = [player.state, player.pcm().length, player.output, player.position()];
          player.begin(22050);
          player.add(pcm(0.05));
          player.finish();
          await until(() => player.state === "ended");
          return { closed, position: player.position() };
        }""")
        assert seen["closed"] == ["idle", 0, None, 0]
        assert seen["position"] == pytest.approx(0.05, abs=1e-4)
