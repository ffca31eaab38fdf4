"""The only door: load a voice, synthesize text, get a stream of typed events."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from time import perf_counter

import numpy as np
import torch

from core.adaptive import Adaptive, Fixed, Window, Within
from core.decode import autoregressive, speculative
from core.drafters import Drafter, DraftModel, LanguageModel, NGramDraft, NoDraft, check_draft
from core.errors import ForespeakError
from core.lm.capture import MAX_GAMMA
from core.lm.durations import check_rate
from core.sampling import Noise, Sampling
from core.schedule import chunk_bounds
from core.speedup import Outlook
from core.trace import Chunk, Earlier, Round, Sentence, Trace
from core.verify import Rule, find_rule
from core.voices.alone import DraftAlone
from core.voices.base import Plan, Stage, Voice
from core.voices.catalog import find_voice

EARLIER = 2**32  # the noise of earlier stages: as many sentences on


@dataclass(frozen=True)
class Settings:
    """How to speak. gamma 0 is the plain autoregressive baseline.

    tolerance: how far a relaxed rule goes; None leaves it at the rule's own. adaptive: what
    drafting yields and costs here; with it, windows up to gamma are chosen round by round.
    draft: who guesses, of `core.drafters.DRAFTS`.
    """

    sampling: Sampling = field(default_factory=Sampling)
    rule: str = "lossless"
    gamma: int = 6
    seed: int = 0
    rate: float = 1.0
    tolerance: float | None = None
    adaptive: Outlook | None = None
    draft: str = "model"

    def __post_init__(self) -> None:
        check_draft(self.draft)
        find_rule(self.rule, self.tolerance)
        if not 0 <= self.gamma <= MAX_GAMMA:
            raise ForespeakError(
                f"γ {self.gamma} is out of range: choose 0 (baseline) to {MAX_GAMMA}."
            )
        check_rate(self.rate)

    @property
    def adapts(self) -> bool:
        """Whether γ is chosen round by round."""
        return self.gamma > 0 and self.adaptive is not None


@dataclass(frozen=True)
class Started:
    """The run's trace, still without events: everything that is known beforehand."""

    trace: Trace


@dataclass(frozen=True)
class EarlierSaid:
    """A round of a stage before a sentence's codec tokens: the stage so far. Its sentence starts
    when all such stages are done."""

    earlier: Earlier


@dataclass(frozen=True)
class SentenceStarted:
    """ends_itself: `sentence.frames` is how long it may become; the round that ends it tells."""

    index: int
    sentence: Sentence
    ends_itself: bool = False


@dataclass(frozen=True)
class RoundDone:
    round: Round


@dataclass(frozen=True)
class AudioReady:
    """Playable sound: `samples` float32 in [-1, 1], mono."""

    chunk: Chunk
    samples: np.ndarray


@dataclass(frozen=True)
class Finished:
    """The whole run."""

    trace: Trace


Event = Started | EarlierSaid | SentenceStarted | RoundDone | AudioReady | Finished


def pick_device(name: str = "auto") -> torch.device:
    """cuda, cpu, or whichever is there."""
    if name not in ("auto", "cpu", "cuda"):
        raise ForespeakError(f"Unknown device {name!r}: choose auto, cpu or cuda.")
    if name == "cuda" and not torch.cuda.is_available():
        raise ForespeakError("No CUDA device is available to PyTorch: use --device cpu.")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def leave_a_core() -> None:
    """Let passes take all cores but one, which is for whoever shows them meanwhile.

    The threads of a pass wait for each other, so a core that is taken from one slows them all.
    """
    torch.set_num_threads(max(1, torch.get_num_threads() - 1))


class Engine:
    """A loaded voice. Runs share only its weights, so several may be under way at once."""

    def __init__(self, voice: Voice, device: torch.device):
        self.voice = voice
        self.device = device

    @classmethod
    def load(cls, voice: str = "joe", device: str = "auto") -> "Engine":
        """A voice by name, on the chosen device."""
        build, chosen = find_voice(voice), pick_device(device)
        return cls(build(chosen), chosen)

    def draft_alone(self) -> "Engine":
        """The same voice with its draft in the target's place: what nothing corrects."""
        return Engine(DraftAlone(self.voice), self.device)

    def synthesize(self, text: str, settings: Settings) -> Iterator[Event]:
        """Speak: events in the order in which things happen; closing the iterator cancels.

        A sentence is split off only when the one before it is spoken: a long text begins as
        soon as a short one. Raises ForespeakError, before any event, if there is nothing to say
        or the voice has no such draft.
        """
        begun = perf_counter()
        check_draft(settings.draft, self.voice.drafts)
        sentences = iter(self.voice.sentences(text))
        first = next(sentences, None)
        if first is None:
            raise ForespeakError("There is nothing to say: give some text with letters or digits.")
        return self._run(chain((first,), sentences), settings, begun)

    def trace(self, text: str, settings: Settings) -> Trace:
        """Speak to the end, and keep what happened."""
        return deque(self.synthesize(text, settings), maxlen=1).pop().trace

    def plan(self, sentence: str, settings: Settings) -> Plan:
        """A sentence as it is about to be spoken, once its earlier stages are said."""
        planning = self._plan(sentence, settings, 0)
        while True:
            try:
                next(planning)
            except StopIteration as done:
                return done.value[0]

    def _plan(
        self, sentence: str, settings: Settings, index: int
    ) -> Generator[EarlierSaid, None, tuple[Plan, list[Earlier]]]:
        """The plan, and what was said for it."""
        plan, said = self.voice.plan(sentence, settings.rate), []
        while stage := plan.before:
            earlier, tokens = Earlier(index, stage.name), []
            for round_ in self._earlier_rounds(stage, settings, index):
                earlier = earlier.after(round_)
                tokens += round_.tokens
                yield EarlierSaid(earlier)
            said.append(earlier)
            plan = stage.then(tokens[:-1] if tokens[-1:] == [stage.stop] else tokens)
        return plan, said

    def _earlier_rounds(self, stage: Stage, settings: Settings, index: int) -> Iterator[Round]:
        """Drafted and verified as the last stage's, but that no rule is relaxed: nobody could tell
        what that would do to the sound."""
        rule, sampling = find_rule(settings.rule), settings.sampling
        rule = rule if rule.lossless else find_rule("lossless")
        noise = Noise(settings.seed, EARLIER + index)
        drafter = DraftModel(stage.draft, sampling, stage.stop) if settings.gamma else NoDraft()
        return speculative(
            stage.target,
            drafter,
            stage.length,
            Fixed(settings.gamma),
            sampling,
            rule,
            noise,
            stage.stop,
        )

    def rule(self, settings: Settings) -> Rule:
        """The accept rule of a run with this voice."""
        rule = find_rule(settings.rule, settings.tolerance)
        if not rule.acoustic:
            return rule
        if self.voice.codec.groups is None:
            raise ForespeakError(
                f"The rule {rule.name!r} compares how entries sound, which the codec of "
                f"{self.voice.name} cannot tell: choose another rule."
            )
        return rule.hearing(self.voice.codec.groups)

    def drafter(self, plan: Plan, target: LanguageModel, settings: Settings) -> Drafter:
        """Who guesses what this target says of a sentence."""
        if settings.draft == "model":
            return DraftModel(self.voice.draft(plan), settings.sampling, plan.stop)
        if settings.draft == "ngram":
            codec = self.voice.codec
            return NGramDraft(codec.num_codebooks, codec.codebook_size + (plan.stop is not None))
        return self.voice.fed_draft(settings.draft, plan, target, settings.sampling)

    def _run(self, sentences: Iterable[str], settings: Settings, begun: float) -> Iterator[Event]:
        trace = self._blank_trace(settings)
        yield Started(trace)
        window = self._window(settings)
        earlier, plans, rounds, chunks = [], [], [], []
        for index, text in enumerate(sentences):
            plan, said = yield from self._plan(text, settings, index)
            earlier += said
            plans.append(plan.sentence)
            yield SentenceStarted(index, plan.sentence, plan.stop is not None)
            for event in self._speak(index, plan, settings, window, begun):
                if isinstance(event, RoundDone):
                    if event.round.next_token == plan.stop:
                        plans[-1] = replace(plan.sentence, frames=self._frames(event.round))
                    rounds.append(event.round)
                else:
                    chunks.append(event.chunk)
                yield event
        yield Finished(
            replace(
                trace,
                earlier=tuple(earlier),
                sentences=tuple(plans),
                rounds=tuple(rounds),
                chunks=tuple(chunks),
                total_s=perf_counter() - begun,
            )
        )

    def _speak(
        self, index: int, plan: Plan, settings: Settings, window: Window, begun: float
    ) -> Iterator[RoundDone | AudioReady]:
        """One sentence: rounds, and sound as soon as its frames are verified."""
        Q = self.voice.codec.num_codebooks
        stream = self.voice.codec.stream()
        tokens: list[int] = []
        sent = made = 0
        for round_ in self.rounds(plan, settings, window, index):
            tokens += round_.tokens
            yield RoundDone(replace(round_, sentence=index, at_s=perf_counter() - begun))
            ended = round_.next_token == plan.stop
            frames = self._frames(round_) if ended else plan.sentence.frames
            for first, last in chunk_bounds(sent, len(tokens) // Q, frames, ended):
                codes = torch.tensor(tokens[first * Q : last * Q], dtype=torch.long).view(-1, Q).T
                samples = stream.push(codes)
                if last == frames:
                    samples = torch.cat((samples, stream.finish()))
                sent = last
                if len(samples):
                    sound = samples.cpu().numpy()  # waits for a GPU: playable from here on
                    chunk = Chunk(index, made, len(sound), perf_counter() - begun)
                    made += len(sound)
                    yield AudioReady(chunk, sound)

    def rounds(
        self, plan: Plan, settings: Settings, window: Window, index: int = 0
    ) -> Iterator[Round]:
        """Those of a sentence, the `index`-th of its text; window: chooses γ where one drafts."""
        rule = self.rule(settings)
        sampling, noise = settings.sampling, Noise(settings.seed, index)
        length = plan.sentence.frames * self.voice.codec.num_codebooks
        target = self.voice.target(plan)
        if settings.gamma == 0:
            return autoregressive(target, length, sampling, rule, noise, plan.stop)
        drafter = self.drafter(plan, target, settings)
        if plan.span:
            window = Within(window, plan.span)
        return speculative(target, drafter, length, window, sampling, rule, noise, plan.stop)

    def _frames(self, last: Round) -> int:
        """Of a sentence that this round has ended."""
        return (last.position + last.accepted) // self.voice.codec.num_codebooks

    def _window(self, settings: Settings) -> Window:
        """Shared by all sentences of a run: what one has taught, the next one knows."""
        if not settings.adapts:
            return Fixed(settings.gamma)
        outlook = settings.adaptive.within(settings.gamma)
        return Adaptive(outlook, self.voice.codec.num_codebooks)

    def _blank_trace(self, settings: Settings) -> Trace:
        codec, sampling = self.voice.codec, settings.sampling
        rule = find_rule(settings.rule, settings.tolerance)
        return Trace(
            voice=self.voice.name,
            rule=rule.name,
            lossless=rule.lossless,
            gamma=settings.gamma,
            temperature=sampling.temperature,
            top_k=sampling.top_k,
            top_p=sampling.top_p,
            seed=settings.seed,
            rate=settings.rate,
            device=str(self.device),
            num_codebooks=codec.num_codebooks,
            codebook_size=codec.codebook_size,
            frame_rate=codec.frame_rate,
            sample_rate=codec.sample_rate,
            draft=settings.draft,
            adaptive=settings.adapts,
            tolerance=rule.tolerance and rule.tolerance.value,
        )
