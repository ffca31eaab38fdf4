"""Bark's stages: text to semantic tokens, to two interleaved EnCodec codebooks, to all eight.

Each follows transformers' own `generate` to the token (tests compare them); what differs is that
tokens are said through the same loop as everywhere, so that a smaller Bark can draft them.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.errors import ForespeakError
from core.lm.gpt import FineRuntime, GptRuntime
from core.lm.prompted import Entries, PromptedState
from core.lm.weights import Weights, read_config
from core.lm.windowed import WindowedState


@dataclass(frozen=True)
class BarkRules:
    """How the stages hang together; what generation_config.json says, else what Bark was made for.

    Ids are places in the vocabulary, lengths are in tokens, rates in Hz.
    """

    text_encoding_offset: int = 10_048
    text_pad_token: int = 129_595
    semantic_infer_token: int = 129_599
    semantic_vocab_size: int = 10_000
    max_input_semantic_length: int = 256
    semantic_rate_hz: float = 49.9
    coarse_semantic_pad_token: int = 12_048
    coarse_infer_token: int = 12_050
    coarse_rate_hz: float = 75
    n_coarse_codebooks: int = 2
    max_coarse_input_length: int = 256
    max_coarse_history: int = 630
    sliding_window_len: int = 60
    max_fine_history_length: int = 512
    max_fine_input_length: int = 1024
    n_fine_codebooks: int = 8
    codebook_size: int = 1024

    @classmethod
    def load(cls, folder: Path) -> "BarkRules":
        path = folder / "generation_config.json"
        said: dict[str, Any] = {}
        if path.exists():
            whole = json.loads(path.read_text(encoding="utf-8"))
            for part in ("semantic_config", "coarse_acoustics_config", "fine_acoustics_config"):
                said |= whole.get(part) or {}
            said |= {"codebook_size": whole.get("codebook_size", cls.codebook_size)}
        return cls(**{f.name: said[f.name] for f in fields(cls) if f.name in said})

    @property
    def ratio(self) -> float:
        """Coarse tokens per semantic token."""
        return self.coarse_rate_hz / self.semantic_rate_hz * self.n_coarse_codebooks

    def frames(self, semantic: int) -> int:
        """EnCodec frames that so many semantic tokens last."""
        return math.floor(semantic * self.ratio / self.n_coarse_codebooks)


@dataclass(frozen=True)
class Speaker:
    """A history that the stages go on from: semantic [n], coarse [2, T], fine [8, T]."""

    semantic: Tensor
    coarse: Tensor
    fine: Tensor

    @classmethod
    def nobody(cls, rules: BarkRules) -> "Speaker":
        """No history: Bark chooses who speaks."""
        nothing = torch.empty(0, dtype=torch.long)
        return cls(
            nothing,
            nothing.view(rules.n_coarse_codebooks, 0),
            nothing.view(rules.n_fine_codebooks, 0),
        )


class Bark:
    """The two token-by-token stages of one checkpoint. Shared by all sentences."""

    def __init__(self, folder: Path, device: torch.device):
        weights, config = Weights(folder), read_config(folder)
        self.rules = rules = BarkRules.load(folder)
        semantic = Entries(torch.arange(rules.semantic_vocab_size)[None], rules.semantic_vocab_size)
        size, books = rules.codebook_size, rules.n_coarse_codebooks
        coarse = rules.semantic_vocab_size + torch.arange(books * size).view(books, size)
        self._semantic = GptRuntime(
            weights, "semantic.", config["semantic_config"], semantic, device
        )
        self._coarse = GptRuntime(
            weights, "coarse_acoustics.", config["coarse_acoustics_config"], Entries(coarse), device
        )

    def semantic(self, text: Sequence[int], speaker: Speaker, length: int) -> PromptedState:
        """Up to `length` semantic tokens of a text, given by the ids of its own vocabulary."""
        r = self.rules
        room = r.max_input_semantic_length
        ids = [token + r.text_encoding_offset for token in text[:room]]
        ids += [r.text_pad_token] * (room - len(ids))
        history = speaker.semantic[-room:].tolist()
        history += [r.semantic_vocab_size] * (room - len(history))  # its end stands for nothing
        said, heard, begin = (
            self._semantic.embed(torch.tensor(part))
            for part in (ids, history, [r.semantic_infer_token])
        )
        prompt = torch.cat((said + heard, begin))
        return PromptedState(self._semantic, prompt, length)

    def coarse(self, semantic: Sequence[int], speaker: Speaker) -> WindowedState:
        """Coarse tokens of a sentence's semantic tokens, frame by frame, codebook by codebook."""
        r = self.rules
        said, history = self._coarse_history(speaker)
        before = len(said)
        semantics = [*said, *semantic]
        furthest = math.floor(r.max_coarse_history / r.ratio)

        def open_window(tokens: Sequence[int]) -> PromptedState:
            due = before + round(len(tokens) / r.ratio)
            heard = semantics[max(0, due - furthest) :][: r.max_coarse_input_length]
            heard += [r.coarse_semantic_pad_token] * (r.max_coarse_input_length - len(heard))
            spoken = history + self._coarse.entries.spell(tokens, 0)
            ids = [*heard, r.coarse_infer_token, *spoken[-r.max_coarse_history :]]
            prompt = self._coarse.embed(torch.tensor(ids))
            return PromptedState(self._coarse, prompt, r.sliding_window_len)

        return WindowedState(r.sliding_window_len, open_window)

    def _coarse_history(self, speaker: Speaker) -> tuple[list[int], list[int]]:
        """Semantic and coarse ids of the speaker's past that belong to the same time."""
        r = self.rules
        coarse = speaker.coarse.T.reshape(-1).tolist()
        count = min(
            math.floor(r.max_coarse_history / r.ratio),
            len(speaker.semantic) - len(speaker.semantic) % 2,
            math.floor(len(coarse) / r.ratio),
        )
        if not count:
            return [], []
        ids = self._coarse.entries.spell(coarse, 0)
        # A frame less: Bark's makers found that it sounds better.
        return speaker.semantic[-count:].tolist(), ids[-round(count * r.ratio) :][:-2]


class BarkFine:
    """The last stage: all codebooks of an utterance from its coarse ones, at once."""

    def __init__(self, folder: Path, device: torch.device):
        config = read_config(folder)["fine_acoustics_config"]
        self.rules = BarkRules.load(folder)
        self._runtime = FineRuntime(Weights(folder), "fine_acoustics.", config, device)

    def __call__(self, coarse: Tensor, history: Tensor) -> Tensor:
        """Codes [8, T], the likeliest each, of codes [2, T] behind a history [8, past]."""
        r = self.rules
        history = history[:, -r.max_fine_history_length :]
        past, length = history.shape[1], history.shape[1] + coarse.shape[1]
        codes = torch.full(
            (r.n_fine_codebooks, max(length, r.max_fine_input_length)),
            r.codebook_size,  # stands for an unknown code
            device=self._runtime.device,
        )
        codes[:, :past] = history
        codes[: len(coarse), past:length] = coarse
        beyond = codes.shape[1] - r.max_fine_input_length
        further = math.ceil(
            (coarse.shape[1] - (r.max_fine_input_length - past)) / r.max_fine_history_length
        )
        for step in range(max(0, further) + 1):
            start = min(step * r.max_fine_history_length, beyond)
            fill = min(
                past + step * r.max_fine_history_length, codes.shape[1] - r.max_fine_history_length
            )
            window = codes[:, start : start + r.max_fine_input_length]
            for q in range(len(coarse), r.n_fine_codebooks):
                logits = self._runtime.logits(window, q)[fill - start :, : r.codebook_size]
                window[q, fill - start :] = logits.argmax(-1)
        return codes[:, past:length]


PARTS = ("semantic", "coarse", "fine")


def speaker_files(name: str) -> tuple[str, ...]:
    """Of a preset, e.g. v2/en_speaker_6, in Bark's repositories."""
    return tuple(f"speaker_embeddings/{name}_{part}_prompt.npy" for part in PARTS)


def load_speaker(folder: Path, name: str) -> Speaker:
    """A preset as Bark publishes it: three arrays, nothing pickled."""
    try:
        arrays = [np.load(folder / file, allow_pickle=False) for file in speaker_files(name)]
        semantic, coarse, fine = (torch.from_numpy(array).long() for array in arrays)
    except (OSError, ValueError) as error:
        raise ForespeakError(f"The speaker {name} is damaged: fetch the voice again.") from error
    return Speaker(semantic, coarse, fine)
