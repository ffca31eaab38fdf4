"""A run with everything that it was decided from: what target and draft answered, round by round.

So another temperature or rule can be tried on the same step afterwards, without any model.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from core.drafters import LanguageModel
from core.engine import AudioReady, Engine, Finished, Settings
from core.errors import ForespeakError
from core.ideas import Idea, from_text, to_text, tokens_of
from core.sampling import Sampling
from core.sound import to_int16
from core.trace import Trace
from core.voices.base import Plan, Voice

LONGEST = 12.0  # seconds of speech: all of it is kept, and stepped through by hand


@dataclass(frozen=True)
class Recording:
    """One sentence that was spoken.

    trace: with its sound. draft_logits [G, V] and target_logits [G + 1, V] of each round, as
    `forward` gave them. ideas: what rejected guesses would have sounded like, by round; of some
    or none.
    """

    trace: Trace
    draft_logits: tuple[Tensor, ...]
    target_logits: tuple[Tensor, ...]
    ideas: Mapping[int, Idea] = field(default_factory=dict)

    def __post_init__(self) -> None:
        trace = self.trace
        if len(trace.sentences) != 1 or not trace.rounds:
            raise ValueError("a recording is one sentence of at least one round")
        if len(tokens_of(trace)) != self.length:
            raise ValueError("the sentence is not complete")
        V = self.target_logits[0].shape[-1] if self.target_logits else 0
        if V not in (trace.codebook_size, trace.codebook_size + 1):  # one more: the end
            raise ValueError("the logits are not those of the codebook")
        for logits, more in ((self.draft_logits, 0), (self.target_logits, 1)):
            shapes = [(len(round_.draft_tokens) + more, V) for round_ in trace.rounds]
            if [tuple(rows.shape) for rows in logits] != shapes:
                raise ValueError("the logits are not those of the rounds")
            if not all(rows.is_floating_point() and not rows.isnan().any() for rows in logits):
                raise ValueError("the logits are no numbers")
        if not all(self._holds(index, idea) for index, idea in self.ideas.items()):
            raise ValueError("the ideas are not those of the rounds")

    @property
    def length(self) -> int:
        """Tokens of the sentence, without its end."""
        return self.trace.sentences[0].frames * self.trace.num_codebooks

    @property
    def settings(self) -> Settings:
        """With which the run was made, but for how its windows were chosen. Raises ForespeakError
        where there are no such settings."""
        t = self.trace
        sampling = Sampling(t.temperature, t.top_k, t.top_p)
        return Settings(sampling, t.rule, t.gamma, t.seed, t.rate, t.tolerance)

    def _holds(self, index: int, idea: Idea) -> bool:
        samples = sum(chunk.samples for chunk in self.trace.chunks)
        return index < len(self.trace.rounds) and idea.start + len(idea.pcm) <= samples

    def save(self, path: Path) -> None:
        """Write as one safetensors file; the trace and the ideas are text in its header."""
        tensors = {
            "draft_logits": torch.cat(self.draft_logits),
            "target_logits": torch.cat(self.target_logits),
        }
        ideas = to_text(self.ideas, self.trace.sample_rate)
        partial = path.with_suffix(".partial")
        save_file(tensors, partial, {"trace": json.dumps(asdict(self.trace)), "ideas": ideas})
        partial.replace(path)  # the old file or the new one, never a part of it

    @classmethod
    def load(cls, path: Path) -> "Recording":
        """Read what `save` wrote."""
        damaged = ForespeakError(f"{path} is damaged: record it again.")
        try:
            with safe_open(path, framework="pt") as file:
                texts = file.metadata() or {}
                draft, target = file.get_tensor("draft_logits"), file.get_tensor("target_logits")
            trace = Trace.from_json(texts["trace"], path)
            counts = [len(round_.draft_tokens) for round_ in trace.rounds]
            recording = cls(
                trace,
                draft.split(counts),
                target.split([count + 1 for count in counts]),
                from_text(texts["ideas"]),
            )
            recording.settings  # noqa: B018 - raises where they are out of range
            trace.pcm()
        except FileNotFoundError as error:
            raise ForespeakError(f"{path} is missing: restore it, e.g. git checkout.") from error
        except (OSError, SafetensorError, RuntimeError, KeyError, TypeError, ValueError) as error:
            raise damaged from error
        return recording


def record(
    engine: Engine, text: str, settings: Settings, check: Callable[[], None] = lambda: None
) -> Recording:
    """Speak the first sentence of a text, and keep it all.

    check: called now and then; what it raises ends the run.
    """
    recorder = Recorder(engine.voice)
    pieces = []
    with closing(Engine(recorder, engine.device).synthesize(text, settings)) as events:
        for event in events:
            check()
            if isinstance(event, AudioReady):
                pieces.append(to_int16(event.samples))
                check_length(sum(map(len, pieces)) / recorder.codec.sample_rate)
            elif isinstance(event, Finished):
                if not pieces:
                    raise ForespeakError("The sentence ended at once: try another seed.")
                trace = event.trace.with_sound(np.concatenate(pieces))
    return Recording(trace, tuple(recorder.draft_logits), tuple(recorder.target_logits))


def check_length(seconds: float) -> None:
    """Raises ForespeakError if a sentence is too long to be kept."""
    if seconds > LONGEST:
        raise ForespeakError(
            f"The first sentence takes {seconds:.0f} s: step mode keeps up to {LONGEST:.0f} s. "
            "Shorten it, or speak faster."
        )


class Recorder:
    """Implements `Voice`: another one, of whose first sentence all answers are kept.

    The decoding loop is the one that always runs, and knows nothing of it.
    """

    def __init__(self, voice: Voice):
        self.name = voice.name
        self.codec = voice.codec
        self.drafts = ("model",)  # the one whose logits are kept
        self.draft_logits: list[Tensor] = []
        self.target_logits: list[Tensor] = []
        self._voice = voice
        self._drafted: list[Tensor] = []  # since the target was asked last

    def sentences(self, text: str) -> Iterable[str]:
        return islice(self._voice.sentences(text), 1)

    def plan(self, sentence: str, rate: float) -> Plan:
        return self._voice.plan(sentence, rate)

    def target(self, plan: Plan) -> LanguageModel:
        if plan.stop is None:  # else it tells as it goes
            check_length(plan.sentence.frames / self.codec.frame_rate)
        return Overheard(self._voice.target(plan), self._verified)

    def draft(self, plan: Plan) -> LanguageModel:
        return Overheard(self._voice.draft(plan), partial(self._proposed, plan.stop))

    def _proposed(self, stop: int | None, logits: Tensor) -> None:
        """The draft may take in several tokens at once: what it draws from is the last row, where
        the end has no chance."""
        row = logits[-1:].clone()
        if stop is not None:
            row[:, stop] = -torch.inf
        self._drafted.append(row)

    def _verified(self, logits: Tensor) -> None:
        """A round is complete: as many of the draft's rows as the target was given tokens."""
        nothing = torch.empty(0, logits.shape[-1], dtype=logits.dtype)
        drafted = self._drafted[: len(logits) - 1]
        self.draft_logits.append(torch.cat(drafted) if drafted else nothing)
        self.target_logits.append(logits.clone())
        self._drafted = []


class Overheard:
    """Implements `LanguageModel`: another one, whose answers are told."""

    def __init__(self, model: LanguageModel, tell: Callable[[Tensor], None]):
        self._model = model
        self._tell = tell

    @property
    def length(self) -> int:
        return self._model.length

    @property
    def tokens(self) -> Sequence[int]:
        return self._model.tokens

    def forward(self, tokens: Sequence[int]) -> Tensor:
        logits = self._model.forward(tokens)
        self._tell(logits)
        return logits

    def rollback(self, length: int) -> None:
        self._model.rollback(length)
