"""What to expect of a voice, from what it takes and what this computer does."""

from core import forecast
from core.forecast import Speed, Work, expected_rtf, measure_speed, warning


def test_both_kinds_of_passes_take_their_time() -> None:
    assert expected_rtf(Work(600.0), Speed(200.0, 1.0)) == 3
    assert expected_rtf(Work(600.0, 50.0), Speed(200.0, 25.0)) == 5


def test_this_computer_has_a_speed(monkeypatch) -> None:
    """Of both kinds of passes, in numbers per second."""
    monkeypatch.setattr(forecast, "SHAPE", (1024, 1024))
    speed = measure_speed()
    assert 1e6 < speed.single < 1e14
    assert 1e6 < speed.many < 1e14


def test_the_best_of_several_tries_counts(monkeypatch) -> None:
    times = iter([9.0, 2.0, 5.0, 4.0, 8.0, 9.0])
    monkeypatch.setattr(forecast, "SHAPE", (4, 8))
    monkeypatch.setattr(forecast, "_time", lambda *_: next(times))
    assert measure_speed() == Speed(16.0, 64 * 32 / 4)


def test_a_warning_names_voice_and_rtf_and_says_that_it_is_an_estimate() -> None:
    assert warning("llasa-3b", 0.9) is None
    words = warning("llasa-3b", 12.3)
    assert words is not None
    assert words.startswith("llasa-3b is large for a CPU: expect about 12 s of work per second")
    assert "estimate" in words
