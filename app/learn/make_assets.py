"""Makes what the chapters show and play: `python -m app.learn.make_assets`.

One sentence: spoken with a draft, with the sound of every rejected idea; spoken without one; and
decoded from one codebook, from two, and so on. With `--text` and `--name` only another sentence,
spoken with a draft.
"""

import argparse
import base64
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from core.codec.latent import LatentCodec
from core.engine import Engine, Settings, leave_a_core
from core.errors import ForespeakError
from core.ideas import imagine, to_codes, tokens_of, was_rejected
from core.recording import Recording, record
from core.sound import to_flac, to_int16
from core.voices.base import ASSETS

LESSONS = ASSETS / "lessons"
# Chosen for its mix: guesses that are rejected at each place of a round, and rounds that all stand.
EXAMPLE = "It guesses, then it checks."
SETTINGS, BASELINE = Settings(gamma=4), Settings(gamma=0)
TIMES = 5


def make_recording(engine: Engine, text: str, settings: Settings) -> Recording:
    """Of one sentence, with what every rejected idea would have sounded like.

    The tokens are the same each time; the chapters also show how long everything took, so after
    a run that only warms up the one whose time is the median is kept. Leave the computer alone
    meanwhile.
    """
    record(engine, text, settings)
    runs = [record(engine, text, settings) for _ in range(TIMES)]
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


def save_example(engine: Engine, folder: Path) -> None:
    """All that comes with the program."""
    recording = make_recording(engine, EXAMPLE, SETTINGS)
    recording.save(folder / "example.safetensors")
    make_recording(engine, EXAMPLE, BASELINE).save(folder / "example-baseline.safetensors")
    save_codebooks(engine, recording, folder)


def main(given: Sequence[str] | None = None) -> None:
    """Make all of it, or the sentence that is given, beside the chapters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", help="another sentence to record, up to 12 s")
    parser.add_argument("--name", type=_name, help="what figures will call its recording")
    asked = parser.parse_args(given)
    if (asked.text is None) != (asked.name is None):
        parser.error("give --text and --name together")
    leave_a_core()  # as the page does: the times are those that it would have
    engine = Engine.load(device="cpu")
    if asked.name is None:
        save_example(engine, LESSONS)
        return
    try:
        make_recording(engine, asked.text, SETTINGS).save(LESSONS / f"{asked.name}.safetensors")
    except ForespeakError as error:
        parser.error(str(error))


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9-]+", text):
        raise argparse.ArgumentTypeError("use small letters, digits and hyphens")
    return text


if __name__ == "__main__":
    main()
