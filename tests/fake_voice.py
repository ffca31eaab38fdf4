"""A voice without weights: toy languages that sound as short tones, always the same."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from core.codec.groups import AcousticGroups
from core.engine import AudioReady, Engine, Settings
from core.errors import ForespeakError
from core.sound import to_int16
from core.trace import Sentence
from core.voices.base import Plan, Stage
from tests.fakes import Language, ToyModel, blend, language

SAMPLES_PER_FRAME = 1024


class ToneCodec:
    """Implements `Codec`: each frame is a tone whose pitch and loudness its codes choose."""

    num_codebooks = 2
    codebook_size = 5

    def __init__(
        self,
        num_codebooks: int = num_codebooks,
        sample_rate: int = 22050,
        per_frame: int = SAMPLES_PER_FRAME,
    ):
        """per_frame: samples."""
        self.num_codebooks = num_codebooks
        self.sample_rate = sample_rate
        self.frame_rate = sample_rate / per_frame
        entries = torch.arange(1.0 * num_codebooks * self.codebook_size)
        self.groups = AcousticGroups(entries.view(num_codebooks, self.codebook_size, 1))
        self._per_frame = per_frame

    def decode(self, codes: Tensor) -> Tensor:
        time = torch.arange(self._per_frame) / self.sample_rate
        pitch, loudness = 220 * (1 + codes[0]), (1 + codes[-1]) / (1 + self.codebook_size)
        return (loudness[:, None] * torch.sin(2 * torch.pi * pitch[:, None] * time)).flatten()

    def stream(self) -> "ToneStream":
        return ToneStream(self)


class ToneStream:
    """Holds one frame back, as a codec with look-ahead does."""

    def __init__(self, codec: ToneCodec):
        self._codec = codec
        self._held = torch.empty(codec.num_codebooks, 0, dtype=torch.long)

    def push(self, codes: Tensor) -> Tensor:
        codes = torch.cat((self._held, codes), 1)
        self._held = codes[:, -1:]
        return self._codec.decode(codes[:, :-1])

    def finish(self) -> Tensor:
        return self._codec.decode(self._held)


class FakeVoice:
    """Implements `Voice`: a sentence a line, a frame a letter; "fail" breaks in the middle."""

    name = "fake"
    drafts = ("model", "ngram")

    def __init__(self, codec: ToneCodec | None = None) -> None:
        self.codec = codec or ToneCodec()
        self.target_language = language(1, self.codec.codebook_size, self.codec.num_codebooks)
        self.draft_language = blend(self.target_language, 2)

    def sentences(self, text: str) -> list[str]:
        return [line for line in text.splitlines() if any(map(str.isalnum, line))]

    def plan(self, sentence: str, rate: float) -> Plan:
        if sentence == "fail":
            raise ForespeakError("The fake voice failed: say something else.")
        letters = tuple(filter(str.isalnum, sentence))
        frames = max(2, round(len(letters) / rate))
        durations = (frames / len(letters),) * len(letters)
        word = (0,) * len(letters)
        return Plan(Sentence(sentence, (sentence,), letters, word, durations, frames), None)

    def target(self, plan: Plan) -> ToyModel:
        return ToyModel(self.target_language, plan.sentence.frames * self.codec.num_codebooks)

    def draft(self, plan: Plan) -> ToyModel:
        return ToyModel(self.draft_language, plan.sentence.frames * self.codec.num_codebooks)


class EndingVoice(FakeVoice):
    """Ends its sentences itself, a frame a letter, and knows nothing of phonemes; it has nothing to
    say to "nothing"."""

    LONGEST = 400  # frames

    def plan(self, sentence: str, rate: float) -> Plan:
        words = tuple(sentence.split())
        shown = Sentence(sentence, words, (), (), (), self.LONGEST)
        frames = 0 if sentence == "nothing" else round(sum(map(str.isalnum, sentence)) / rate)
        return Plan(shown, frames, self.codec.codebook_size)

    def target(self, plan: Plan) -> ToyModel:
        return ToyModel(ending(self.target_language, plan.conditioning * self.codec.num_codebooks))

    def draft(self, plan: Plan) -> ToyModel:  # noqa: ARG002 - it guesses on, whatever ends
        return ToyModel(ending(self.draft_language))


class StagedVoice(FakeVoice):
    """Says an idea first, of which each token becomes a frame; a frame if there are none."""

    def __init__(self, longest: int | None = None) -> None:
        """longest: of the idea, in tokens; by default a token a letter."""
        super().__init__()
        self._longest = longest

    def plan(self, sentence: str, rate: float) -> Plan:
        spoken = super().plan(sentence, rate)
        length = spoken.sentence.frames if self._longest is None else self._longest
        target, draft = (
            ToyModel(words, length) for words in (self.target_language, self.draft_language)
        )

        def then(idea: list[int]) -> Plan:
            frames = max(1, len(idea))
            shown = Sentence(sentence, (sentence,), (), (), (), frames)
            return replace(spoken, sentence=shown)

        return replace(spoken, before=Stage("idea", target, draft, length, None, then))


def ending(language: Language, length: float = float("inf")) -> Language:
    """The same with one entry more, which nothing but the end of `length` tokens is."""

    def follow(prefix: tuple[int, ...]) -> Tensor:
        logits = language(prefix)
        never = torch.full_like(logits[:1], -torch.inf)
        if len(prefix) < length:
            return torch.cat((logits, never))
        return torch.cat((never.expand_as(logits), torch.zeros_like(never)))

    return follow


def fake_engine(voice: FakeVoice | None = None) -> Engine:
    """An engine that speaks with the fake voice, or another one."""
    return Engine(voice or FakeVoice(), torch.device("cpu"))


def engine_pcm(text: str, gamma: int = 4, **settings: object) -> np.ndarray:
    """int16 samples [samples] as the engine gives them; settings differ from the default ones."""
    events = fake_engine().synthesize(text, Settings(gamma=gamma, **settings))
    pieces = [event.samples for event in events if isinstance(event, AudioReady)]
    return to_int16(np.concatenate(pieces))
