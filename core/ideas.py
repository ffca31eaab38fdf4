"""What the draft had in mind: the sound of guesses that were rejected, beside what was kept."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.codec.base import Codec
from core.errors import ForespeakError
from core.sound import from_flac, to_flac, to_int16
from core.trace import Round, Trace

SECONDS = 1.2  # of sound around the place: two or three words
FADE = 0.005  # seconds at either end, so that it does not click


@dataclass(frozen=True)
class Idea:
    """Where a run's sound would have been another: from sample `start` on, int16 [samples]."""

    start: int
    pcm: np.ndarray


def tokens_of(trace: Trace) -> list[int]:
    """All that a run of one sentence emitted, but for its end."""
    tokens = [token for round_ in trace.rounds for token in round_.tokens]
    return tokens[:-1] if tokens[-1:] == [trace.codebook_size] else tokens


def to_codes(tokens: Sequence[int], num_codebooks: int) -> Tensor:
    """Tokens in the order of speech as codes [Q, T]."""
    return torch.tensor(tokens).view(-1, num_codebooks).T


def was_rejected(round_: Round) -> bool:
    """Whether a guess of the round did not stand."""
    return round_.accepted < len(round_.draft_tokens)


def imagine(codec: Codec, trace: Trace, round_: Round) -> Idea:
    """The run as if the draft's rejected token and its guesses behind it had been kept; after
    them the run's own tokens go on. What was guessed behind the run's end is not heard."""
    kept = tokens_of(trace)
    guessed = list(kept)
    first, last = round_.position + round_.accepted, round_.position + len(round_.draft_tokens)
    guessed[first:last] = round_.draft_tokens[round_.accepted :]
    del guessed[len(kept) :]
    plain, other = (
        to_int16(codec.decode(to_codes(tokens, codec.num_codebooks)).cpu().numpy())
        for tokens in (kept, guessed)
    )
    differs = np.flatnonzero(plain != other)
    if not len(differs):
        return Idea(0, np.empty(0, np.int16))
    return Idea(int(differs[0]), other[differs[0] : differs[-1] + 1])


def excerpt(trace: Trace, round_: Round, idea: Idea | None = None) -> np.ndarray:
    """The run's sound around a round, with the idea in its place if there is one; int16."""
    pcm = trace.pcm().copy()
    if idea:
        pcm[idea.start : idea.start + len(idea.pcm)] = idea.pcm
    frames = (round_.position + round_.accepted) / trace.num_codebooks
    middle, half = frames / trace.frame_rate * trace.sample_rate, SECONDS / 2 * trace.sample_rate
    first = int(max(0, min(middle - half, len(pcm) - 2 * half)))
    pcm = pcm[first : first + int(2 * half)]
    ramp = np.linspace(0, 1, min(len(pcm), int(FADE * trace.sample_rate)))
    loudness = np.ones(len(pcm))
    loudness[: len(ramp)] *= ramp
    loudness[len(pcm) - len(ramp) :] *= ramp[::-1]
    return np.rint(pcm * loudness).astype(np.int16)


def to_text(ideas: Mapping[int, Idea], sample_rate: int) -> str:
    """As JSON: where they are, and all of their sound in one piece."""
    places = [[index, idea.start, len(idea.pcm)] for index, idea in ideas.items()]
    pcm = np.concatenate([np.empty(0, np.int16), *(idea.pcm for idea in ideas.values())])
    return json.dumps({"places": places, "sound": to_flac(pcm, sample_rate)})


def from_text(text: str) -> dict[int, Idea]:
    """What `to_text` was given. Raises ValueError, KeyError or TypeError for anything else."""
    data = json.loads(text)
    places = [[int(number) for number in place] for place in data["places"]]
    try:
        pcm = from_flac(data["sound"])[0] if data["sound"] else np.empty(0, np.int16)
    except ForespeakError as error:
        raise ValueError(str(error)) from error
    ends = np.cumsum([length for _, _, length in places], dtype=int).tolist()
    if any(min(place) < 0 for place in places) or [len(pcm)] != (ends[-1:] or [0]):
        raise ValueError("the sound is not that of its places")
    return {
        index: Idea(start, pcm[end - length : end])
        for (index, start, length), end in zip(places, ends, strict=True)
    }
