"""The embedded voice: aligned phonemes condition two decoders over one latent codec."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from core.codec.latent import LatentCodec
from core.drafters import ChainDraft, Drafter, HeadsDraft
from core.lm.chain import Chain, ChainRuntime
from core.lm.compiled import CompiledDecoder, CompiledState
from core.lm.conditioner import Alignment, load_conditioner, whole_frames, with_blanks
from core.lm.decoder import load_decoder
from core.lm.durations import load_durations
from core.lm.fed import load_fed
from core.lm.graph import GraphRuntime
from core.lm.heads import Heads, HeadsRuntime
from core.lm.inputs import Inputs
from core.lm.runtime import DecoderRuntime, DecoderState
from core.sampling import Sampling
from core.text import prepare
from core.text.phonemize import Phonemizer
from core.trace import Sentence
from core.voices.base import ASSETS, Plan


@dataclass(frozen=True)
class Conditioning:
    """cond [T, width] and hint [T, code_dim] of one sentence."""

    cond: Tensor
    hint: Tensor


class Joe:
    """Implements `Voice`."""

    name = "joe"
    drafts = ("model", "feature", "heads", "ngram")

    def __init__(self, device: torch.device, folder: Path = ASSETS / "joe"):
        self.codec = LatentCodec.load(folder / "codec.safetensors", device)
        self._phonemize = Phonemizer()
        self._durations = load_durations(folder / "durations.safetensors")
        codebooks = self.codec.codebooks.cpu()
        self._conditioner = load_conditioner(folder / "conditioner.safetensors").to(device)
        runtime = GraphRuntime if device.type == "cuda" else DecoderRuntime
        target = load_decoder(folder / "target.safetensors", codebooks)
        chain = load_fed(Chain, folder / "feature.safetensors", target)
        heads = load_fed(Heads, folder / "heads.safetensors", target)
        # Heads read the last of the layers that the chain reads.
        self._target = runtime(target, device, taps=chain.config.taps)
        self._draft = CompiledDecoder(load_decoder(folder / "draft.safetensors", codebooks))
        inputs = Inputs(target, torch.device("cpu"))
        self._chain, self._heads = ChainRuntime(chain, inputs), HeadsRuntime(heads, inputs)

    def sentences(self, text: str) -> Iterable[str]:
        return prepare(text)

    @torch.inference_mode()
    def plan(self, sentence: str, rate: float) -> Plan:
        phonemes = self._phonemize(sentence)
        ids = with_blanks(torch.tensor(phonemes.ids))
        per_frame = self._conditioner.config.steps
        steps = whole_frames(self._durations.predict(ids, rate), per_frame)
        alignment = Alignment.from_durations(ids, steps, per_frame).to(self._target.device)
        cond, hint = self._conditioner(alignment)
        shown = Sentence(
            text=sentence,
            words=phonemes.words,
            phonemes=phonemes.symbols,
            word_index=phonemes.word_index,
            durations=shown_durations(steps / per_frame),
            frames=cond.shape[1],
        )
        return Plan(shown, Conditioning(cond[0], hint[0]))

    def target(self, plan: Plan) -> DecoderState:
        return self._target.start(plan.conditioning.cond, plan.conditioning.hint)

    def draft(self, plan: Plan) -> CompiledState:
        return self._draft.start(plan.conditioning.cond, plan.conditioning.hint)

    def fed_draft(self, name: str, plan: Plan, target: DecoderState, sampling: Sampling) -> Drafter:
        heard = plan.conditioning.cond.cpu(), plan.conditioning.hint.cpu()
        if name == "heads":
            return HeadsDraft(target, self._heads.start(*heard), sampling)
        return ChainDraft(target, self._chain.start(*heard), sampling)


def shown_durations(durations: Tensor) -> tuple[float, ...]:
    """Each phoneme's duration with that of the blank behind it, [P], of durations [2 P - 1]."""
    return tuple(F.pad(durations, (0, 1)).view(-1, 2).sum(1).tolist())
