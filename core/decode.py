"""The decoding loop: draft, verify in one target pass, keep what stands."""

from collections.abc import Iterator
from functools import partial
from time import perf_counter

import torch

from core.adaptive import Fixed, Window
from core.drafters import Drafter, LanguageModel, NoDraft
from core.sampling import Noise, Sampling, probs
from core.trace import Round
from core.verify import Rule


def speculative(
    target: LanguageModel,
    drafter: Drafter,
    length: int,
    window: Window,
    sampling: Sampling,
    rule: Rule,
    noise: Noise,
    stop: int | None = None,
) -> Iterator[Round]:
    """Rounds that together emit exactly `length` tokens of one sentence, or fewer up to a stop.

    Each round drafts a window of tokens, runs the target once over them, and emits the
    accepted ones and one more. The window shrinks at the end, so that nothing is drafted
    which could not be emitted.

    stop: the token that ends the sentence, where one can. Draft models give it no probability,
    which costs nothing, since a round ends there either way: so it only ever comes as a round's
    next token, nothing stands behind it, and the rules need not know of it.
    """
    tokens: list[int] = []
    while (position := len(tokens)) < length and tokens[-1:] != [stop]:
        rng = noise.at(position)
        begun = perf_counter()
        count = min(window.gamma(position), length - position - 1)
        draft = drafter.propose(tokens, count, partial(rule.draw, rng))
        drafted = perf_counter()
        target_probs = probs(target.forward(tokens[-1:] + draft.tokens), sampling)
        accepted, next_token = rule.verify(draft.tokens, draft.probs, target_probs, rng)
        target.rollback(position + accepted + 1)
        verified = perf_counter()  # what follows is for the trace, not for the speech
        tokens += [*draft.tokens[:accepted], next_token]
        rows = torch.arange(len(draft.tokens))
        round_ = Round(
            position=position,
            draft_tokens=tuple(draft.tokens),
            draft_probs=tuple(draft.probs[rows, draft.tokens].tolist()),
            target_probs=tuple(target_probs[rows, draft.tokens].tolist()),
            accepted=accepted,
            next_token=next_token,
            next_prob=float(target_probs[accepted, next_token]),
            draws=tuple(rng.accept_draws),
            draft_s=drafted - begun,
            verify_s=verified - drafted,
        )
        window.learn(round_)
        yield round_


def autoregressive(
    target: LanguageModel,
    length: int,
    sampling: Sampling,
    rule: Rule,
    noise: Noise,
    stop: int | None = None,
) -> Iterator[Round]:
    """The plain baseline: the same loop, with nothing drafted."""
    return speculative(target, NoDraft(), length, Fixed(0), sampling, rule, noise, stop)
