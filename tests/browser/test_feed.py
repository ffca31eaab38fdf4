"""feed.js: every line once and in order, whatever the connection does; and at its own pace."""

import json
from itertools import pairwise

import numpy as np
import pytest

pytestmark = pytest.mark.browser

# A server of scripted connections: each a status and what its stream does, piece by piece; a
# number is a pause in milliseconds. `heard` is what the listener was told.
FOLLOW = """async ([connections, after]) => {
  const { follow } = await import("./page/feed.js");
  window.asked = [];
  window.heard = [];
  window.aborted = 0;
  window.cancelled = 0;
  const encoder = new TextEncoder();
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  window.fetch = async (url, { signal }) => {
    asked.push(String(url).replace(document.baseURI, ""));
    const script = connections[asked.length - 1] ?? { status: "refused" };
    const { status = 200, body = [], end = "close" } = script;
    if (status === "refused") throw new TypeError("Failed to fetch");
    if (status === "silent")
      await new Promise((_, fail) => signal.addEventListener("abort", fail));
    let leave = false;
    return new Response(new ReadableStream({
      start(controller) {
        signal.addEventListener("abort", () => {
          aborted++;
          leave = true;
          controller.error(new DOMException("", "AbortError"));
        });
      },
      async pull(controller) {
        while (typeof body[0] === "number") await sleep(body.shift());
        if (leave) return;
        if (body.length) controller.enqueue(Uint8Array.from(body.shift()));
        else if (end === "close") controller.close();
        else if (end === "break") controller.error(new TypeError("network error"));
        else await new Promise(() => {});
      },
      cancel() { cancelled++; },
    }), { status });
  };
  window.feed = follow("a b", after, (line) => {
    heard.push(line);
    if (line.stop) feed.stop();
    if (line.fault) throw new Error(line.fault);
  });
}"""
PACE = """async ([lines, speed, until]) => {
  const { Pacer } = await import("./page/feed.js");
  window.told = [];
  const began = performance.now();
  window.pacer = new Pacer(lines, (line) => {
    told.push({ name: line.name, at: (performance.now() - began) / 1000 });
    if (line.name === until) pacer.stop();
  }, speed ? { speed } : undefined);
  return told.length;
}"""


def log(count, **fields):
    """Lines of a run; the first also has `fields`."""
    lines = [{"n": n, "kind": "status", "text": f"zwölf β {n}"} for n in range(count - 1)]
    lines.append({"n": count - 1, "kind": "end", "state": "done", "text": "Done."})
    lines[0] |= fields
    return lines


def encode(lines):
    """The bytes of lines, one piece."""
    return list("".join(json.dumps(x, ensure_ascii=False) + "\n" for x in lines).encode())


def scatter(data, rng):
    """Cut anywhere, also within lines and within letters."""
    cuts = sorted({0, len(data), *rng.integers(0, len(data), 40).tolist()})
    return [data[a:b] for a, b in pairwise(cuts)]


@pytest.fixture
def follow(blank):
    def start(*connections, after=0):
        blank.evaluate(FOLLOW, [list(connections), after])

    return start


def wait_for_end(blank):
    blank.wait_for_function("heard.at(-1)?.kind === 'end'", timeout=8000)
    return blank.evaluate("heard")


def numbers(blank):
    """From which line on each connection was asked for."""
    asked = blank.evaluate("asked")
    before = "forespeak/runs/a%20b/events?after="
    assert all(path.startswith(before) for path in asked)
    return [int(path.removeprefix(before)) for path in asked]


class TestFollow:
    def test_lines_cut_anywhere_arrive_whole(self, blank, follow):
        lines = log(30)
        for seed in range(5):
            follow({"body": scatter(encode(lines), np.random.default_rng(seed)), "end": "never"})
            assert wait_for_end(blank) == lines
            assert numbers(blank) == [0]

    def test_a_broken_connection_is_resumed_at_the_next_line(self, blank, follow):
        lines = log(9)
        half = encode(lines[3:4])[:10]
        follow(
            {"body": [encode(lines[:3]), half], "end": "break"},
            {"status": 503},
            {"body": [encode(lines[3:6]), half]},
            {"body": [encode(lines[6:])]},
        )
        assert wait_for_end(blank) == lines
        assert numbers(blank) == [0, 3, 3, 6]

    def test_it_begins_where_it_is_told_and_passes_over_what_it_had(self, blank, follow):
        lines = log(9)
        follow({"body": [encode(lines[:6])]}, {"body": [encode(lines)]}, after=4)
        assert wait_for_end(blank) == lines[4:]
        assert numbers(blank) == [4, 6]

    def test_a_missing_or_garbled_line_is_asked_for_again(self, blank, follow):
        lines = log(6)
        follow(
            {"body": [encode([lines[0], lines[2]])], "end": "never"},
            {"body": [encode(lines[1:3]), list(b'{"n": 3, oh}\n')], "end": "never"},
            {"body": [encode(lines[3:])]},
        )
        assert wait_for_end(blank) == lines
        assert numbers(blank) == [0, 1, 3]
        assert blank.evaluate("cancelled") == 2  # nobody would read on there

    def test_an_unknown_run_fails_at_once(self, blank, follow):
        follow({"status": 404})
        [end] = wait_for_end(blank)
        assert (end["state"], "no longer knows" in end["text"]) == ("failed", True)
        assert numbers(blank) == [0]

    def test_a_lost_server_is_given_up_after_growing_waits(self, blank, follow):
        blank.clock.install()
        follow({"body": [encode(log(9)[:2])], "end": "break"})
        blank.clock.run_for(15_000)
        assert len(blank.evaluate("heard")) == 2
        early = len(numbers(blank))
        blank.clock.run_for(15_000)
        end = wait_for_end(blank)[-1]
        assert (end["state"], "lost" in end["text"]) == ("failed", True)
        assert 5 <= early < len(numbers(blank)) <= 12
        assert set(numbers(blank)[1:]) == {2}
        blank.clock.run_for(60_000)
        assert len(blank.evaluate("heard")) == 3

    def test_a_server_that_does_not_answer_is_asked_again(self, blank, follow):
        blank.clock.install()
        lines = log(3)
        follow({"status": "silent"}, {"status": "silent"}, {"body": [encode(lines)]})
        blank.clock.run_for(12_000)
        assert wait_for_end(blank) == lines

    def test_a_long_silent_queue_is_no_loss(self, blank, follow):
        blank.clock.install()
        lines = log(3)
        follow({"body": [60_000], "end": "break"}, {"status": "refused"}, {"body": [encode(lines)]})
        blank.clock.run_for(65_000)
        assert wait_for_end(blank) == lines

    def test_stop_is_the_last_thing_heard(self, blank, follow):
        follow({"body": [encode(log(9, stop=True))], "end": "never"}, {"body": [encode(log(9))]})
        blank.wait_for_function("heard.length")
        blank.wait_for_timeout(400)
        assert [line["n"] for line in blank.evaluate("heard")] == [0]
        assert (blank.evaluate("aborted"), numbers(blank)) == (1, [0])

    def test_a_fault_of_the_listener_is_reported_and_costs_no_line(self, blank, follow):
        blank.evaluate(
            "() => { window.reportError = ({ message }) => (window.reported = message); }"
        )
        lines = log(4, fault="mine")
        follow({"body": [encode(lines)]})
        assert wait_for_end(blank) == lines
        assert blank.evaluate("reported") == "mine"
        assert numbers(blank) == [0]


def line(name, lane=None, at_s=None):
    given = {"name": name, "lane": lane, "at_s": at_s}
    return {key: value for key, value in given.items() if value is not None}


RACE = [
    line("queued"),
    line("started 0", 0),
    line("sentence 0", 0),
    line("round 0", 0, 0.2),
    line("audio 0", 0, 0.3),
    line("finished 0", 0),
    line("started 1", 1),
    line("sentence 1", 1),
    line("round 1", 1, 0.1),
    line("next 1", 1),
    line("audio 1", 1, 0.25),
    line("finished 1", 1),
    line("end"),
]


class TestPacer:
    def told(self, blank, count):
        blank.wait_for_function(f"told.length >= {count}", timeout=5000)
        return blank.evaluate("told")

    def test_lanes_run_side_by_side_at_the_measured_times(self, blank):
        assert blank.evaluate(PACE, [RACE, None, None]) == 0  # nothing within the constructor
        due = {
            0: ["queued", "started 0", "sentence 0", "started 1", "sentence 1"],
            0.1: ["round 1", "next 1"],
            0.2: ["round 0"],
            0.25: ["audio 1", "finished 1"],
            0.3: ["audio 0", "finished 0", "end"],
        }
        told = self.told(blank, len(RACE))
        assert [x["name"] for x in told] == [name for names in due.values() for name in names]
        times = [at for at, names in due.items() for _ in names]
        for one, at in zip(told, times, strict=True):
            assert at - 0.002 <= one["at"] < at + 0.1

    @pytest.mark.parametrize(("speed", "at_s"), [(0.5, 0.2), (8, 3.2)])
    def test_speed(self, blank, speed, at_s):
        blank.evaluate(PACE, [[line("only", 0, at_s)], speed, None])
        [only] = self.told(blank, 1)
        assert 0.398 <= only["at"] < 0.5

    def test_stop_is_the_last_thing_heard(self, blank):
        blank.evaluate(PACE, [RACE, None, "round 1"])
        blank.wait_for_timeout(500)
        assert blank.evaluate("told").pop()["name"] == "round 1"
