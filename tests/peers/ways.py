"""Ways to decode one sentence: Forespeak's loop, and transformers' over the same weights."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessorList, TemperatureLogitsWarper

from core.adaptive import Fixed
from core.decode import autoregressive, speculative
from core.engine import Engine, Settings
from core.lm.decoder import Decoder
from core.sampling import Noise, Sampling
from core.voices.base import Plan
from tests.peers.model import Peer, pack


@dataclass(frozen=True)
class Run:
    """What came out, and what it took: wall-clock seconds of the whole loop, target passes, and
    tokens drafted."""

    tokens: tuple[int, ...]
    seconds: float
    passes: int
    drafted: int

    @property
    def tokens_per_s(self) -> float:
        return len(self.tokens) / self.seconds

    @property
    def acceptance_length(self) -> float:
        """Each pass emits what was accepted and one token more."""
        return len(self.tokens) / self.passes

    @property
    def acceptance_rate(self) -> float | None:
        return (len(self.tokens) - self.passes) / self.drafted if self.drafted else None


Way = Callable[[Plan, int, float, int], Run]
"""(sentence, tokens to make, temperature, seed) -> what came out."""


class Forespeak:
    """The engine's own loop, lossless; γ 0 is the baseline."""

    def __init__(self, engine: Engine, gamma: int, draft: str = "model"):
        self._engine = engine
        self._settings = Settings(gamma=gamma, draft=draft)

    def __call__(self, plan: Plan, length: int, temperature: float, seed: int) -> Run:
        engine, gamma, sampling = self._engine, self._settings.gamma, Sampling(temperature)
        settings = replace(self._settings, sampling=sampling, seed=seed)
        rule, noise = engine.rule(settings), Noise(seed)
        begun = perf_counter()
        target = engine.voice.target(plan)
        if gamma == 0:
            rounds = autoregressive(target, length, sampling, rule, noise)
        else:
            drafter = engine.drafter(plan, target, settings)
            rounds = speculative(target, drafter, length, Fixed(gamma), sampling, rule, noise)
        rounds = list(rounds)
        return Run(
            tokens=tuple(token for round_ in rounds for token in round_.tokens),
            seconds=perf_counter() - begun,
            passes=len(rounds),
            drafted=sum(len(round_.draft_tokens) for round_ in rounds),
        )


class Transformers:
    """`generate` of transformers; with a draft, assisted generation.

    gamma: guesses in every round, as in the papers; None leaves transformers' defaults, up to 20
    guesses that end with the first unsure one.
    """

    def __init__(self, target: Peer, draft: Peer | None = None, gamma: int | None = None):
        self._target = target
        self._draft = draft
        self._gamma = gamma

    def __call__(self, plan: Plan, length: int, temperature: float, seed: int) -> Run:
        begin = torch.tensor([[self._target.sizes.codebook_size]])
        drawing = draw_at(temperature, once=self._gamma is not None)
        drawing["generation_config"].max_new_tokens = length
        widths: list[int] = []
        counting = self._target.register_forward_pre_hook(
            lambda _module, _args, named: widths.append(named["input_ids"].shape[1]),
            with_kwargs=True,
        )
        torch.manual_seed(seed)  # `generate` draws from the global generator, and from no other
        try:
            begun = perf_counter()
            for model in filter(None, (self._target, self._draft)):
                model.hear(plan.conditioning.cond, plan.conditioning.hint)
            if self._draft is not None:
                self._draft.generation_config = assistance(self._gamma)
            made = self._target.generate(begin, assistant_model=self._draft, **drawing)
            seconds = perf_counter() - begun
        finally:
            counting.remove()
        # A pass takes in what the cache lacks, always one verified token, and the guesses.
        return Run(tuple(made[0, 1:].tolist()), seconds, len(widths), sum(widths) - len(widths))


def assistance(gamma: int | None) -> GenerationConfig:
    """What the assistant must carry itself: `generate` does not hand such arguments on to it.

    Without a threshold of 0, low confidence ends a window early.
    """
    if gamma is None:
        return GenerationConfig()
    return GenerationConfig(
        num_assistant_tokens=gamma,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0.0,
    )


def draw_at(temperature: float, once: bool) -> dict[str, Any]:
    """Arguments of `generate`; its own top-k would be 50.

    An assistant applies the temperature that `generate` is given twice: the target's warpers are
    handed to it, and it makes its own from the same config. q is then sharper than asked for,
    which is lossless but accepts less. once: say it in a way that both heed once.
    """
    if temperature == 0:
        return {"generation_config": GenerationConfig(do_sample=False)}
    given = 1.0 if once else temperature
    processors = [TemperatureLogitsWarper(temperature)] if once else []
    return {
        "generation_config": GenerationConfig(do_sample=True, temperature=given, top_k=0),
        "logits_processor": LogitsProcessorList(processors),
    }


def transformers_ways(
    target: Decoder, draft: Decoder, gamma: int, packed: bool = False
) -> dict[str, Way]:
    """Plain generation and assisted generation, by name; packed: on Forespeak's linear kernels."""
    models = Peer(target), Peer(draft)
    for model in models if packed else ():
        pack(model)
    kernels = ", our kernels" if packed else ""
    return {
        f"transformers, plain{kernels}": Transformers(models[0]),
        f"transformers, assisted, γ {gamma}{kernels}": Transformers(*models, gamma),
        f"transformers, assisted, defaults{kernels}": Transformers(*models),
    }
