"""A voice of two causal language models that say the entries of a codec, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from core.codec.base import Codec
from core.forecast import Work, expected_rtf, measure_speed
from core.hub import Hub
from core.lm.llama import LlamaRuntime
from core.lm.prompted import PromptedState
from core.lm.vocabulary import Vocabulary
from core.lm.weights import Weights
from core.memory import check_memory
from core.trace import Sentence
from core.voices.bark import BarkVoice, bark_work
from core.voices.base import Plan, Voice
from core.voices.declaration import (
    CODECS,
    FOLDER,
    BarkDeclaration,
    Declaration,
    read_declaration,
)
from core.voices.published import PublishedVoice, here

SLOWEST = 0.3  # seconds a character: nobody speaks so slowly, so whoever does has lost the thread
SHORTEST = 2.0  # seconds that any sentence may last


@dataclass(frozen=True)
class Speaker:
    """A language model and its own vocabulary."""

    runtime: LlamaRuntime
    vocabulary: Vocabulary

    def start(self, declaration: Declaration, text: str, length: int) -> PromptedState:
        prompt = self.vocabulary.prompt(declaration.prompt, text)
        return self.runtime.start(prompt, length)


class Declared(PublishedVoice):
    """Implements `Voice`. Target and draft meet in the codec's entries, so that nothing else of
    their vocabularies need agree."""

    def __init__(self, name: str, declaration: Declaration, device: torch.device, hub: Hub):
        super().__init__(name, declaration, hub)
        folders = self.folders
        check_memory(name, needed(folders), device, declaration.smaller)
        self._declaration = declaration
        codec, books = CODECS[declaration.codec.kind], len(declaration.codebooks)
        self.codec: Codec = codec.load(folders["codec"], device, books)
        self._target = self._speaker(folders["target"], declaration.target.repository, device)
        self._draft = None
        if declaration.draft is not None:
            self._draft = self._speaker(folders["draft"], declaration.draft.repository, device)
        self.drafts = ("model", "ngram") if self._draft else ("ngram",)

    def plan(self, sentence: str, rate: float) -> Plan:
        self.check_pace(rate)
        seconds = min(self._declaration.longest_s, max(SHORTEST, SLOWEST * len(sentence)))
        frames = int(seconds * self.codec.frame_rate)
        shown = Sentence(sentence, tuple(sentence.split()), (), (), (), frames)
        stop = None if self._declaration.stop is None else self.codec.codebook_size
        return Plan(shown, None, stop)

    def target(self, plan: Plan) -> PromptedState:
        return self._start(self._target, plan)

    def draft(self, plan: Plan) -> PromptedState:
        return self._start(self._draft, plan)

    def _start(self, speaker: Speaker, plan: Plan) -> PromptedState:
        length = plan.sentence.frames * self.codec.num_codebooks
        return speaker.start(self._declaration, plan.sentence.text, length)

    def _speaker(self, folder: Path, repository: str, device: torch.device) -> Speaker:
        vocabulary = Vocabulary(folder, repository)
        tokens = [book.tokens(self.codec.codebook_size) for book in self._declaration.codebooks]
        entries = vocabulary.entries(tokens, self._declaration.stop)
        return Speaker(LlamaRuntime(Weights(folder), entries, device), vocabulary)


def needed(folders: Mapping[str, Path]) -> int:
    """Bytes of memory that models and codec take: 16 bits a number, but 32 in the codec."""
    parameters = {part: Weights(folder).parameters for part, folder in folders.items()}
    return 2 * sum(parameters.values()) + 2 * parameters["codec"]


def work(declaration: Declaration, folders: Mapping[str, Path]) -> Work:
    """What decoding without a draft takes; a row of the embedding is next to nothing."""
    weights = Weights(folders["target"])
    frames = CODECS[declaration.codec.kind].rate(folders["codec"])
    passed = weights.count(lambda name: not name.startswith("model.embed_tokens."))
    return Work(passed * frames * len(declaration.codebooks))


def expect_rtf(name: str, hub: Hub, folder: Path = FOLDER) -> float:
    """About how many seconds of work a second of sound is for this computer's CPU, without a draft.
    The voice must be declared and here."""
    declaration = read_declaration(name, folder)
    folders = here(name, declaration, hub)
    if isinstance(declaration, BarkDeclaration):
        return expected_rtf(bark_work(folders["target"]), measure_speed())
    return expected_rtf(work(declaration, folders), measure_speed())


def load_declared(name: str, device: torch.device) -> Voice:
    """The voice that a file in assets/voices declares."""
    declaration = read_declaration(name)
    build = BarkVoice if isinstance(declaration, BarkDeclaration) else Declared
    return build(name, declaration, device, Hub())
