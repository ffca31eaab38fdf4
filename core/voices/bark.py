"""Bark: semantic tokens, then two interleaved EnCodec codebooks, then the rest and the sound."""

from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from core.codec.encodec import EnCodec
from core.codec.published import find_class
from core.codec.whole import WholeStream
from core.errors import ForespeakError
from core.forecast import Work
from core.hub import Hub
from core.lm.bark import Bark, BarkFine, BarkRules, Speaker, load_speaker
from core.lm.vocabulary import Vocabulary
from core.lm.weights import Weights, read_config
from core.lm.windowed import WindowedState
from core.memory import check_memory
from core.trace import Sentence
from core.voices.base import Plan, Stage
from core.voices.declaration import BarkDeclaration
from core.voices.published import PublishedVoice

SENTENCE_S = 5  # how long a sentence usually lasts; the last stage takes as much for any
CODEC = "codec_model."
DRAFTED = ("semantic.", "coarse_acoustics.")
"""Names of a checkpoint's tensors begin so: those of the codec, and of the stages with a draft."""


class BarkCodec:
    """Implements `Codec` for the coarse codebooks: the fine stage sees all frames at once, so sound
    comes a sentence at a time."""

    def __init__(self, fine: BarkFine, codec: EnCodec, history: Tensor):
        """history: the speaker's codes [8, past]."""
        self.num_codebooks = fine.rules.n_coarse_codebooks
        self.codebook_size = fine.rules.codebook_size
        self.sample_rate = codec.sample_rate
        self.frame_rate = codec.frame_rate
        self.groups = codec.groups
        self._fine, self._codec, self._history = fine, codec, history

    def decode(self, codes: Tensor) -> Tensor:
        if not codes.numel():
            return torch.empty(0)
        return self._codec.decode(self._fine(codes, self._history))

    def stream(self) -> WholeStream:
        return WholeStream(self)


class BarkVoice(PublishedVoice):
    """Implements `Voice`."""

    drafts = ("model", "ngram")

    def __init__(self, name: str, declaration: BarkDeclaration, device: torch.device, hub: Hub):
        super().__init__(name, declaration, hub)
        folders = self.folders
        check_memory(name, needed(folders["target"], folders["draft"]), device, declaration.smaller)
        self._longest = declaration.longest_s
        self._vocabulary = Vocabulary(folders["target"], declaration.target.repository)
        self._target, self._draft = (Bark(folders[part], device) for part in ("target", "draft"))
        self._speaker = Speaker.nobody(self._target.rules)
        if declaration.speaker:
            self._speaker = load_speaker(folders["target"], declaration.speaker)
        fine = BarkFine(folders["target"], device)
        codec = load_codec(folders["target"], device, fine.rules.n_fine_codebooks)
        self.codec = BarkCodec(fine, codec, self._speaker.fine)

    def plan(self, sentence: str, rate: float) -> Plan:
        """Its length is known once the semantic tokens are."""
        self.check_pace(rate)
        text = self._vocabulary.prompt("{text}", sentence)
        rules = self._target.rules
        length = int(self._longest * rules.semantic_rate_hz)
        target, draft = (
            bark.semantic(text, self._speaker, length) for bark in (self._target, self._draft)
        )
        then = partial(self._spoken, sentence)
        before = Stage("semantic", target, draft, length, rules.semantic_vocab_size, then)
        return Plan(Sentence(sentence, (), (), (), (), 0), None, before=before)

    def target(self, plan: Plan) -> WindowedState:
        return self._target.coarse(plan.conditioning, self._speaker)

    def draft(self, plan: Plan) -> WindowedState:
        return self._draft.coarse(plan.conditioning, self._speaker)

    def _spoken(self, sentence: str, semantic: list[int]) -> Plan:
        rules = self._target.rules
        words = tuple(sentence.split())
        shown = Sentence(sentence, words, (), (), (), rules.frames(len(semantic)))
        return Plan(shown, semantic, span=rules.sliding_window_len)


def needed(target: Path, draft: Path) -> int:
    """Bytes of memory that all stages and the codec take, and the draft's two: 16 bits a number,
    but 32 in the codec."""
    whole, small = Weights(target), Weights(draft)
    halves = whole.parameters + small.count(lambda name: name.startswith(DRAFTED))
    return 2 * halves + 2 * whole.count(lambda name: name.startswith(CODEC))


def bark_work(folder: Path) -> Work:
    """What a second of sound takes without a draft, in a sentence of usual length."""
    weights, rules = Weights(folder), BarkRules.load(folder)

    def passed(stage: str) -> int:
        """What its rows are multiplied by: not what is looked up, nor the masks of the makers."""
        looked_up = f"{stage}input_embeds", f"{stage}position_embeds"
        return weights.count(
            lambda name: (
                name.startswith(stage)
                and not name.startswith(looked_up)
                and not name.endswith(".attn.bias")
            )
        )

    coarse_hz = rules.coarse_rate_hz * rules.n_coarse_codebooks
    single = rules.semantic_rate_hz * passed("semantic.") + coarse_hz * passed("coarse_acoustics.")
    # Every window begins with a prompt, whose later half grows with the sentence.
    prompt = rules.max_coarse_input_length + rules.max_coarse_history / 2
    windows = coarse_hz / rules.sliding_window_len
    filled = rules.n_fine_codebooks - rules.n_coarse_codebooks
    fine = filled * rules.max_fine_input_length / SENTENCE_S
    many = windows * prompt * passed("coarse_acoustics.") + fine * passed("fine_acoustics.")
    return Work(single, many)


def load_codec(folder: Path, device: torch.device, num_codebooks: int) -> EnCodec:
    """The EnCodec that a Bark checkpoint contains."""
    config = find_class("EncodecConfig")(**read_config(folder)["codec_config"])
    model = find_class("EncodecModel")(config)
    weights, prefix = Weights(folder), CODEC
    # What newer versions of torch call original0 and original1, older ones called g and v.
    tensors = {
        name.removeprefix(prefix)
        .replace(".weight_g", ".parametrizations.weight.original0")
        .replace(".weight_v", ".parametrizations.weight.original1"): weights[name].float()
        for name in weights.names()
        if name.startswith(prefix)
    }
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise ForespeakError(
            f"{folder} holds no EnCodec that fits: fetch the voice again."
        ) from error
    return EnCodec(model.eval().to(device), num_codebooks)
