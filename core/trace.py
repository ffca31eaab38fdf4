"""What happened, as plain records: rounds, sentences, sound; JSON and back.

A trace is all that the page needs to show a run again without any model.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from core.errors import ForespeakError
from core.files import write_text
from core.sound import from_flac, to_flac

SCHEMA = 5
SINCE: dict[int, dict[str, Any]] = {3: {"draft": "model"}, 4: {"earlier": []}}
"""Fields that a schema did not have yet, as they were then."""
MOST = 64  # γ and codebooks: whoever shows a trace makes room for them before it looks further
FRAME_RATES = (1, 1000)  # Hz
SAMPLE_RATES = (8_000, 192_000)  # Hz; browsers refuse what lies far outside
FOREVER = 4 * 3600  # seconds of sound, and of work
STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True)
class Round:
    """One draft and one verify. Tokens are codebook entries; probabilities are after sampling.

    position: of the round's first token, in its sentence. draft_probs and target_probs: q and
    p of each drafted token. next_token: corrected after a rejection, bonus after none, with
    next_prob under the target. draws: the uniform numbers of the accept tests: one per tested
    token, under block verification one per drafted token, none under rules that compare.
    at_s: seconds from the request to the round's end.
    """

    __pydantic_config__: ClassVar = STRICT

    position: int
    draft_tokens: tuple[int, ...]
    draft_probs: tuple[float, ...]
    target_probs: tuple[float, ...]
    accepted: int
    next_token: int
    next_prob: float
    draws: tuple[float, ...]
    draft_s: float
    verify_s: float
    sentence: int = 0
    at_s: float = 0.0

    def __post_init__(self) -> None:
        drafted = len(self.draft_tokens)
        if not drafted == len(self.draft_probs) == len(self.target_probs) >= self.accepted >= 0:
            raise ValueError(f"{self.accepted} of {drafted} drafted tokens cannot be accepted")
        if len(self.draws) > drafted:
            raise ValueError(f"{drafted} drafted tokens cannot have had {len(self.draws)} tests")

    @property
    def tokens(self) -> tuple[int, ...]:
        """What the round emitted."""
        return (*self.draft_tokens[: self.accepted], self.next_token)

    @property
    def tested(self) -> int:
        """How many drafted tokens have a verdict of their own: those that stood, and the one
        behind them. What comes then was not tested, or (block verification) fell with it."""
        return min(self.accepted + 1, len(self.draft_tokens))


@dataclass(frozen=True)
class Earlier:
    """Tokens that a sentence needed before those of its codec, in numbers.

    stage: what they are called, e.g. semantic. passes: of the target. seconds: of draft and verify.
    """

    __pydantic_config__: ClassVar = STRICT

    sentence: int
    stage: str
    tokens: int = 0
    passes: int = 0
    drafted: int = 0
    accepted: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        counted = self.passes, self.accepted, self.drafted - self.accepted
        if min(counted) < 0 or self.tokens != self.passes + self.accepted:
            raise ValueError(f"{self.passes} passes cannot have given {self.tokens} tokens")

    def after(self, round_: Round) -> "Earlier":
        """With one round more."""
        return replace(
            self,
            tokens=self.tokens + len(round_.tokens),
            passes=self.passes + 1,
            drafted=self.drafted + len(round_.draft_tokens),
            accepted=self.accepted + round_.accepted,
            seconds=self.seconds + round_.draft_s + round_.verify_s,
        )


@dataclass(frozen=True)
class Sentence:
    """A sentence as it is about to be spoken.

    phonemes: IPA; durations: of each, in codec frames (fractions occur); word_index: the word
    each phoneme belongs to, -1 for none. frames: codec frames in all.
    """

    __pydantic_config__: ClassVar = STRICT

    text: str
    words: tuple[str, ...]
    phonemes: tuple[str, ...]
    word_index: tuple[int, ...]
    durations: tuple[float, ...]
    frames: int


@dataclass(frozen=True)
class Chunk:
    """Sound that became playable `at_s` seconds after the request; counts are in samples."""

    __pydantic_config__: ClassVar = STRICT

    sentence: int
    start: int
    samples: int
    at_s: float


@dataclass(frozen=True)
class Trace:
    """One synthesis from request to last sample.

    gamma: the widest window; adaptive: narrower ones were chosen on the way. tolerance: of a
    relaxed rule, None for others. draft: who guessed, of `core.drafters.DRAFTS`. sound: all of
    it as `core.sound.to_flac` writes it, "" where none was kept.
    """

    __pydantic_config__: ClassVar = STRICT

    voice: str
    rule: str
    lossless: bool
    gamma: int
    temperature: float
    top_k: int
    top_p: float
    seed: int
    rate: float
    device: str
    num_codebooks: int
    codebook_size: int
    frame_rate: float
    sample_rate: int
    adaptive: bool = False
    tolerance: float | None = None
    draft: str = "model"
    earlier: tuple[Earlier, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    rounds: tuple[Round, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    total_s: float = 0.0
    sound: str = ""
    schema: int = field(default=SCHEMA)

    def __post_init__(self) -> None:
        if not (1 <= self.num_codebooks <= MOST and 0 <= self.gamma <= MOST):
            raise ValueError(f"{self.num_codebooks} codebooks or γ {self.gamma} is out of range")
        for rate, (least, most) in (
            (self.frame_rate, FRAME_RATES),
            (self.sample_rate, SAMPLE_RATES),
        ):
            if not least <= rate <= most:
                raise ValueError(f"{rate} Hz is not from {least} to {most}")
        if any(len(round_.draft_tokens) > self.gamma for round_ in self.rounds):
            raise ValueError(f"a round drafted more than γ {self.gamma}")

    def with_sound(self, pcm: np.ndarray) -> "Trace":
        """The same with its sound, int16 [samples]."""
        return replace(self, sound=to_flac(pcm, self.sample_rate))

    def pcm(self) -> np.ndarray | None:
        """The sound that was kept, int16 [samples]; None if none was."""
        if not self.sound:
            return None
        pcm, rate = from_flac(self.sound)
        if (len(pcm), rate) != (sum(chunk.samples for chunk in self.chunks), self.sample_rate):
            raise ForespeakError("The trace's sound is not that of its run: record it again.")
        return pcm

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_text(path, json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> "Trace":
        """Read what `save` wrote."""
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ForespeakError(f"Cannot read {path} ({error.strerror}).") from error
        except ValueError as error:
            raise ForespeakError(f"{path} is not a trace: it is not JSON.") from error
        return cls.from_json(text, path)

    @classmethod
    def from_json(cls, text: str, path: Path) -> "Trace":
        """Every field must be there, of its type, and no other; path: where the text was found."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ForespeakError(f"{path} is not a trace: it is not JSON.") from error
        if isinstance(data, dict):
            text = json.dumps(data := _of_today(data))
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ForespeakError(f"{path} is not a trace of schema {SCHEMA}: record it again.")
        damaged = ForespeakError(f"{path} is damaged: record the trace again.")
        try:
            trace = TypeAdapter(cls).validate_json(text, strict=True)
        except ValidationError as error:
            raise damaged from error
        if not (_is_complete(data) and _hangs_together(trace)):
            raise damaged
        return trace


def _of_today(data: dict) -> dict:
    """What an earlier schema's trace would be in this one; others as they are."""
    while type(schema := data.get("schema")) is int and schema in SINCE:
        if any(name in data for name in SINCE[schema]):
            break  # it is none of that schema
        data = data | SINCE[schema] | {"schema": schema + 1}
    return data


def _is_complete(data: dict) -> bool:
    """Whether no default stood in for a field, of JSON that is otherwise a trace."""

    def has_all(kind: type, records: Iterable[dict]) -> bool:
        names = {f.name for f in fields(kind)}
        return all(record.keys() == names for record in records)

    lists = {"earlier": Earlier, "sentences": Sentence, "rounds": Round, "chunks": Chunk}
    return has_all(Trace, [data]) and all(has_all(lists[name], data[name]) for name in lists)


def _hangs_together(trace: Trace) -> bool:
    """Whether it could have happened: whoever shows a trace need not look for gaps in it."""
    rounds, chunks, count = trace.rounds, trace.chunks, len(trace.sentences)
    times = [t for r in rounds for t in (r.draft_s, r.verify_s, r.at_s)]
    times += [trace.total_s, *(c.at_s for c in chunks), *(e.seconds for e in trace.earlier)]
    drafted = {token for r in rounds for token in r.draft_tokens}
    said = {r.next_token for r in rounds}
    ended = _ended(trace)
    emitted = _totals(((r.sentence, r.position, len(r.tokens)) for r in rounds), count)
    heard = _totals(((c.sentence, c.start, c.samples) for c in chunks), count)
    if emitted is None or heard is None:
        return False
    per_frame = trace.sample_rate / trace.frame_rate
    return (
        all(0 <= time < FOREVER for time in times)
        and all(0 <= token < trace.codebook_size for token in drafted)
        and all(0 <= token <= trace.codebook_size for token in said)
        and len(ended) == sum(r.next_token == trace.codebook_size for r in rounds)
        and all(map(_is_plan, trace.sentences))
        and all(0 <= e.sentence < count for e in trace.earlier)
        and sum(s.frames for s in trace.sentences) <= FOREVER * trace.frame_rate
        and all(
            tokens - (number in ended) <= s.frames * trace.num_codebooks
            and samples <= s.frames * per_frame + 1
            for number, (s, tokens, samples) in enumerate(
                zip(trace.sentences, emitted, heard, strict=True)
            )
        )
    )


def _ended(trace: Trace) -> set[int]:
    """Sentences that say their own end: the entry behind those of the codebook, in their last
    round, where a frame begins."""
    return {
        r.sentence
        for r, after in zip_longest(trace.rounds, trace.rounds[1:])
        if r.next_token == trace.codebook_size
        and (after is None or after.sentence != r.sentence)
        and (r.position + r.accepted) % trace.num_codebooks == 0
    }


def _totals(pieces: Iterable[tuple[int, int, int]], sentences: int) -> list[int] | None:
    """Size of each sentence, of (sentence, start, size); None if a piece does not follow those
    before it."""
    totals, latest = [0] * sentences, 0
    for sentence, start, size in pieces:
        if not (latest <= sentence < sentences and start == totals[sentence] and size > 0):
            return None
        latest = sentence
        totals[sentence] += size
    return totals


def _is_plan(sentence: Sentence) -> bool:
    counts = {len(sentence.phonemes), len(sentence.durations), len(sentence.word_index)}
    return (
        len(counts) == 1
        and sentence.frames >= 0
        and all(-1 <= word < len(sentence.words) for word in sentence.word_index)
        and all(0 <= duration <= sentence.frames for duration in sentence.durations)
    )


def first_difference(one: Trace, other: Trace) -> int | None:
    """The first token, counted from 0, in which two runs differ; None if they are the same."""
    tokens = (
        [token for round_ in trace.rounds for token in round_.tokens] for trace in (one, other)
    )
    pairs = enumerate(zip_longest(*tokens))
    return next((place for place, (mine, yours) in pairs if mine != yours), None)
