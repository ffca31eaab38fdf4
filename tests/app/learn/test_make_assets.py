"""What makes the chapters' recordings: the example, or a sentence that a teacher gives."""

import pytest

from app.learn import make_assets as module
from core.engine import Engine, Settings
from core.ideas import was_rejected
from core.recording import Recording
from tests.fake_voice import fake_engine


@pytest.fixture(autouse=True)
def fake(monkeypatch, tmp_path):
    """The fake voice; files go to tmp_path."""
    monkeypatch.setattr(Engine, "load", lambda **_: fake_engine())
    monkeypatch.setattr(module, "leave_a_core", lambda: None)
    monkeypatch.setattr(module, "LESSONS", tmp_path)


def test_another_sentence_is_recorded_with_a_draft_and_all_rejected_ideas(tmp_path):
    module.main(["--text", "hello my friend", "--name", "my-own"])
    assert [path.name for path in tmp_path.iterdir()] == ["my-own.safetensors"]
    recording = Recording.load(tmp_path / "my-own.safetensors")
    trace = recording.trace
    assert (trace.sentences[0].text, trace.gamma) == ("hello my friend", 4)
    rejected = {n for n, round_ in enumerate(trace.rounds) if was_rejected(round_)}
    assert recording.ideas.keys() == rejected


def test_the_first_run_only_warms_up(monkeypatch):
    """What is slow the first time is nothing that a chapter should show."""
    made, record = [], module.record
    monkeypatch.setattr(module, "record", lambda *a: made.append(record(*a)) or made[-1])
    kept = module.make_recording(fake_engine(), "hello", Settings(gamma=4))
    times = [run.trace.total_s for run in made]
    assert len(times) == module.TIMES + 1
    assert kept.trace.total_s == sorted(times[1:])[module.TIMES // 2]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--text", "hello"], "together"),
        (["--name", "x"], "together"),
        (["--text", "hello", "--name", "../x"], "letters, digits and hyphens"),
        (["--text", "...", "--name", "x"], "nothing to say"),
        (["--text", "a" * 300, "--name", "x"], "up to 12 s"),
    ],
)
def test_what_cannot_be_recorded_says_why(tmp_path, capsys, given, said):
    with pytest.raises(SystemExit):
        module.main(given)
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
