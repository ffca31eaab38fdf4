"""run.js: what the page knows of a run equals what its records say."""

from dataclasses import asdict

import numpy as np
import pytest

from app.wire import Lane
from core.engine import AudioReady, Finished, RoundDone, SentenceStarted, Settings, Started
from tests.fake_voice import EndingVoice, ToneCodec, fake_engine

pytestmark = pytest.mark.browser

TEXT = "hello there\nand then some more\nno"
FACTS = """async (lines) => {
  const { Run } = await import("./page/run.js");
  const run = new Run();
  lines.forEach((line) => run.add(line));
  const cells = [];
  for (let frame = 0; frame < run.frames; frame++)
    for (let q = 0; q < run.Q; q++) cells.push(run.cell(frame, q));
  const names = ["header", "baseline", "Q", "sentences", "frames", "spoken", "rounds",
    "audioSeconds", "samples", "metrics", "finished", "secondsPerFrame"];
  return { cells, ...Object.fromEntries(names.map((name) => [name, run[name]])) };
}"""


def synthesize(gamma=4, rule="lossless"):
    return list(fake_engine().synthesize(TEXT, Settings(rule=rule, gamma=gamma)))


def lines_of(events):
    """The lines of a log, as far as Run reads them; metrics are labels here."""
    lines = [{"kind": "status", "state": "speaking", "text": "Speaking"}]
    for event in events:
        match event:
            case Started(trace=trace):
                line = {"kind": "started", "trace": asdict(trace), "baseline_tokens_per_s": 7.5}
            case SentenceStarted(index=index, sentence=sentence):
                line = {"kind": "sentence", "index": index, **asdict(sentence)}
            case RoundDone(round=round_):
                line = {"kind": "round", **asdict(round_)}
            case AudioReady(chunk=chunk):
                line = {"kind": "audio", **asdict(chunk), "pcm": "", "metrics": {"at": chunk.at_s}}
            case Finished():
                line = {"kind": "finished", "metrics": {"at": "end"}}
        lines.append({"n": len(lines), "lane": 0, **line})
    return [*lines, {"n": len(lines), "kind": "end", "state": "done", "text": "Done."}]


def random_lines(seed):
    """A log of rounds that no engine made: 3 codebooks, sentences that break off anywhere."""
    rng = np.random.default_rng(seed)
    lines = [{"kind": "started", "trace": {"num_codebooks": 3, "frame_rate": 20, "sample_rate": 9}}]
    for index in range(rng.integers(1, 4)):
        frames = int(rng.integers(1, 6))
        lines.append({"kind": "sentence", "index": index, "frames": frames, "text": "x"})
        position = 0
        while position < 3 * frames:
            lines.append(random_round(rng, index, position, 3 * frames - position))
            position += lines[-1]["accepted"] + 1
    return lines[: rng.integers(2, len(lines) + 1)]


def random_round(rng, sentence, position, left):
    drafted = int(rng.integers(0, min(5, left)))
    accepted = int(rng.integers(0, drafted + 1))
    tested = min(accepted + 1, drafted)
    return {
        "kind": "round",
        "sentence": sentence,
        "position": position,
        "draft_tokens": rng.integers(0, 50, drafted).tolist(),
        "draft_probs": rng.random(drafted).tolist(),
        "target_probs": rng.random(drafted).tolist(),
        "draws": rng.random(tested).tolist() if rng.random() < 0.7 else [],
        "accepted": accepted,
        "next_token": int(rng.integers(0, 50)),
        "next_prob": float(rng.random()),
    }


def expected_cells(lines):
    """Walk over the tokens of each sentence and say of each how it came about."""
    Q = next(line["trace"]["num_codebooks"] for line in lines if line["kind"] == "started")
    rounds = [line for line in lines if line["kind"] == "round"]
    cells = []
    for sentence, plan in enumerate(line for line in lines if line["kind"] == "sentence"):
        for token in range(plan["frames"] * Q):
            cells.append(expected_cell(rounds, sentence, token))
    return cells


def expected_cell(rounds, sentence, token):
    for index, one in enumerate(rounds):
        row = token - one["position"]
        if one["sentence"] != sentence or not 0 <= row <= one["accepted"]:
            continue
        drafts = list(
            zip(one["draft_tokens"], one["target_probs"], one["draft_probs"], strict=True)
        )
        draws = dict(enumerate(one["draws"]))
        tests = [
            {"token": t, "p": p, "q": q, "draw": draws.get(i)} for i, (t, p, q) in enumerate(drafts)
        ]
        place = {"round": index, "row": row}
        if row < one["accepted"]:
            return {"kind": "accepted", **tests[row], **place, "rejected": None}
        own = {"token": one["next_token"], "p": one["next_prob"], "q": None, "draw": None, **place}
        if not drafts:
            return {"kind": "plain", **own, "rejected": None}
        if row == len(drafts):
            return {"kind": "bonus", **own, "rejected": None}
        return {"kind": "corrected", **own, "rejected": tests[row]}
    return None


@pytest.fixture
def facts(blank):
    return lambda lines: blank.evaluate(FACTS, lines)


class TestRun:
    @pytest.mark.parametrize("rule", ["lossless", "same-seed"])
    def test_cells_are_what_the_engines_rounds_say(self, facts, rule):
        lines = lines_of(synthesize(rule=rule))
        known = facts(lines)
        assert known["cells"] == expected_cells(lines)
        assert {cell["kind"] for cell in known["cells"]} >= {"accepted", "corrected", "bonus"}
        assert known["spoken"] == len(known["cells"])
        tests = [cell for cell in known["cells"] if cell["kind"] == "accepted"]
        assert all((test["draw"] is None) == (rule == "same-seed") for test in tests)

    def test_a_baseline_is_plain(self, facts):
        cells = facts(lines_of(synthesize(gamma=0)))["cells"]
        assert {cell["kind"] for cell in cells} == {"plain"}

    def test_cells_are_what_random_rounds_say(self, facts):
        for seed in range(40):
            lines = random_lines(seed)
            assert facts(lines)["cells"] == expected_cells(lines), seed

    def test_sentences_rounds_and_chunks_count_over_the_whole_run(self, facts):
        events = synthesize()
        known = facts(lines_of(events))
        trace = events[-1].trace
        frames = [s.frames for s in trace.sentences]
        firsts = [sum(frames[:i]) for i in range(len(frames))]
        assert [s["firstFrame"] for s in known["sentences"]] == firsts
        assert [s["text"] for s in known["sentences"]] == TEXT.split("\n")
        assert known["frames"] == sum(frames)
        assert [r["firstToken"] for r in known["rounds"]] == [
            firsts[r.sentence] * trace.num_codebooks + r.position for r in trace.rounds
        ]
        assert [r["index"] for r in known["rounds"]] == list(range(len(trace.rounds)))
        chunks = [c.samples for c in trace.chunks]
        assert [c["start"] for c in known["samples"]] == [
            sum(chunks[:i]) for i in range(len(chunks))
        ]
        assert [c["metrics"]["at"] for c in known["samples"]] == [c.at_s for c in trace.chunks]
        assert known["audioSeconds"] == pytest.approx(sum(chunks) / trace.sample_rate)
        assert known["audioSeconds"] == pytest.approx(known["frames"] * known["secondsPerFrame"])

    def test_metrics_are_the_latest(self, facts):
        lines = lines_of(synthesize())
        begun, unfinished, done = facts(lines[:2]), facts(lines[:-2]), facts(lines)
        assert (begun["metrics"], begun["finished"], begun["baseline"]) == (None, False, 7.5)
        last = [line for line in lines if line["kind"] == "audio"][-1]
        assert (unfinished["metrics"], unfinished["finished"]) == (last["metrics"], False)
        assert (done["metrics"], done["finished"]) == ({"at": "end"}, True)

    def test_nothing_is_known_before_the_start(self, facts):
        known = facts(lines_of(synthesize())[:1])
        assert known["header"] is None
        assert (known["Q"], known["frames"], known["spoken"], known["audioSeconds"]) == (0, 0, 0, 0)


LENGTHS = """async (lines) => {
  const { Run } = await import("./page/run.js");
  const run = new Run();
  const frames = lines.map((line) => (run.add(line), [run.frames, run.open]));
  const ends = run.ends.map(({ frame, kind, token }) => [frame, kind, token]);
  return { frames, ends, spoken: run.spoken, emitted: run.emitted };
}"""


@pytest.mark.parametrize("codebooks", [1, 2, 8])
def test_a_sentence_that_ends_itself_is_never_longer_than_what_was_said(blank, codebooks):
    lane = Lane(0, None)
    engine = fake_engine(EndingVoice(ToneCodec(codebooks)))
    lines = [lane.add(event) for event in engine.synthesize("hello\nnothing\nyou", Settings())]
    known = blank.evaluate(LENGTHS, lines)
    lengths = [frames for frames, _ in known["frames"]]
    assert lengths == sorted(lengths)
    assert known["frames"][-1] == [8, False]
    assert any(is_open for _, is_open in known["frames"])
    assert [(frame, token) for frame, _, token in known["ends"]] == [(5, 5), (5, 5), (8, 5)]
    assert known["spoken"] == 8 * codebooks
    assert known["emitted"] == lane.metrics().tokens
