"""Makes what the chapters show and play: `python -m app.learn.make_assets`.

One sentence: spoken with a draft, with the sound of every rejected idea; spoken without one; and
decoded from one codebook, from two, and so on.
"""

import base64
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from core.codec.latent import LatentCodec
from core.engine import Engine, Settings, leave_a_core
from core.ideas import imagine, to_codes, tokens_of, was_rejected
from core.recording import Recording, record
from core.sound import to_flac, to_int16
from core.voices.base import ASSETS

LESSONS = ASSETS / "lessons"
# Chosen for its mix: guesses that are rejected at each place of a round, and rounds that all stand.
EXAMPLE = "It guesses, then it checks."
SETTINGS, BASELINE = Settings(gamma=4), Settings(gamma=0)
TIMES = 5


def make_recording(engine: Engine, settings: Settings) -> Recording:
    """Of the example, with what every rejected idea would have sounded like.

    The tokens are the same each time; the chapters also show how long everything took, so the
    run whose time is the median is kept. Leave the computer alone meanwhile.
    """
    runs = [record(engine, EXAMPLE, settings) for _ in range(TIMES)]
    recording = sorted(runs, key=lambda run: run.trace.total_s)[TIMES // 2]
    trace = recording.trace
    ideas = {
        index: imagine(engine.voice.codec, trace, round_)
        for index, round_ in enumerate(trace.rounds)
        if was_rejected(round_)
    }
    return replace(recording, ideas=ideas)


def first_codebooks(codec: LatentCodec, count: int) -> LatentCodec:
    """The same codec, in which only the first `count` codebooks have a say."""
    shortened = deepcopy(codec)
    shortened.codebooks[count:] = 0
    return shortened


def save_codebooks(engine: Engine, recording: Recording, folder: Path) -> None:
    """codebooks-1.flac is the sentence from its first codebook alone, the last one from all."""
    codec = engine.voice.codec
    codes = to_codes(tokens_of(recording.trace), codec.num_codebooks)
    for count in range(1, codec.num_codebooks + 1):
        sound = to_int16(first_codebooks(codec, count).decode(codes).numpy())
        flac = base64.b64decode(to_flac(sound, codec.sample_rate))
        (folder / f"codebooks-{count}.flac").write_bytes(flac)


def main() -> None:
    """Make all of it, beside the chapters."""
    leave_a_core()  # as the page does: the times are those that it would have
    engine = Engine.load(device="cpu")
    LESSONS.mkdir(exist_ok=True)
    recording = make_recording(engine, SETTINGS)
    recording.save(LESSONS / "example.safetensors")
    make_recording(engine, BASELINE).save(LESSONS / "example-baseline.safetensors")
    save_codebooks(engine, recording, LESSONS)


if __name__ == "__main__":
    main()
