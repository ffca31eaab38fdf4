"""Drafters: a draft model that is never a token behind, ahead, or off what was verified."""

from collections.abc import Sequence
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from core.drafters import (
    ChainDraft,
    Draft,
    DraftModel,
    HeadsDraft,
    NGramDraft,
    NoDraft,
    check_draft,
)
from core.errors import ForespeakError
from core.sampling import Sampling, probs
from tests.fakes import Language, Remembered, ToyChain, ToyHeads, ToyModel, language

PLAIN = Sampling(temperature=1.0)
V = 4


def greedy(_row: int, q: Tensor) -> int:
    return int(q.argmax())


def rising(row: int, _q: Tensor) -> int:
    return row % V


def fresh_logits(follow: Language, tokens: Sequence[int]) -> Tensor:
    """What a model that never guessed says after `tokens`."""
    return ToyModel(follow).forward(tokens)[-1]


def check(draft: Draft, follow: Language, tokens: Sequence[int], sampling: Sampling) -> None:
    """Each row of q is what a fresh model gives after the tokens before it."""
    for row in range(len(draft.tokens)):
        logits = fresh_logits(follow, [*tokens, *draft.tokens[:row]])
        assert torch.equal(draft.probs[row], probs(logits, sampling))


def test_no_draft_proposes_nothing() -> None:
    """The baseline: a row of q without a token would break the verdict."""
    draft = NoDraft().propose([1, 2], 5, greedy)
    assert draft.tokens == []
    assert len(draft.probs) == 0


@pytest.mark.parametrize("gamma", range(1, 6))
def test_every_number_of_accepted_tokens_leaves_the_model_right(gamma: int) -> None:
    """The hole after full acceptance, and one too many forgotten (lablup/mlxcel#994)."""
    follow = language(0, V)
    for before, accepted in product(range(4), range(gamma + 1)):
        tokens = [3, 1, 2][:before]
        model = ToyModel(follow)
        drafter = DraftModel(model, PLAIN)
        first = drafter.propose(tokens, gamma, greedy)
        assert len(first.tokens) == gamma
        assert first.probs.shape == (gamma, V)
        check(first, follow, tokens, PLAIN)
        # What was kept, then a token that the draft did not guess (after all: the bonus).
        corrected = (first.tokens[accepted] + 1) % V if accepted < gamma else 0
        tokens += [*first.tokens[:accepted], corrected]
        model.passes.clear()
        second = drafter.propose(tokens, gamma, rising)
        check(second, follow, tokens, PLAIN)
        assert model.tokens == [*tokens, *second.tokens[:-1]]
        # Only what is new is taken in: one token, or two where the last guess was never fed.
        assert model.passes == [2 if accepted == gamma else 1] + [1] * (gamma - 1)


@pytest.mark.parametrize("skipped", [1, 2, 7])
@pytest.mark.parametrize("accepted", [0, 1, 3])
def test_rounds_without_a_proposal_are_caught_up(skipped: int, accepted: int) -> None:
    """γ = 0 for a while: the tokens of those rounds must reach the draft later, once."""
    follow = language(1, V)
    model = ToyModel(follow)
    drafter = DraftModel(model, PLAIN)
    first = drafter.propose([2], 3, greedy)
    tokens = [2, *first.tokens[:accepted]]
    for n in range(skipped):
        tokens.append((first.tokens[accepted] + 1) % V if n == 0 and accepted < 3 else n % V)
        model.passes.clear()
        assert drafter.propose(tokens, 0, greedy).tokens == []
        assert model.passes == []
    second = drafter.propose(tokens, 3, rising)
    check(second, follow, tokens, PLAIN)
    assert model.tokens == [*tokens, *second.tokens[:-1]]


def test_a_first_proposal_may_come_late() -> None:
    """Many rounds passed before the draft is first asked: it must begin at the beginning."""
    follow = language(2, V)
    drafter = DraftModel(ToyModel(follow), PLAIN)
    assert drafter.propose([], 0, greedy).tokens == []
    tokens = [0, 3, 3, 1]
    check(drafter.propose(tokens, 2, greedy), follow, tokens, PLAIN)


def test_a_match_by_chance_after_a_mismatch_does_not_count() -> None:
    """Guess [a, b, c] against [a, x, c]: c was computed after b, its keys are of another past."""
    follow = language(3, V)
    for guess, said in product(product(range(V), repeat=2), repeat=2):
        model = ToyModel(follow)
        drafter = DraftModel(model, PLAIN)
        script = [1, *guess, 0]
        drafter.propose([2], 4, lambda row, _q, script=script: script[row])
        tokens = [2, 1, *said, 3, 3]
        draft = drafter.propose(tokens, 2, greedy)
        check(draft, follow, tokens, PLAIN)
        assert model.tokens == [*tokens, *draft.tokens[:-1]]


def test_a_mismatch_stays_forgotten_when_the_same_token_returns() -> None:
    """The verified count must not outlive what was rolled back."""
    follow = language(4, V)
    drafter = DraftModel(ToyModel(follow), PLAIN)
    tokens: list[int] = []
    for step in range(12):
        draft = drafter.propose(tokens, 3, rising)
        check(draft, follow, tokens, PLAIN)
        tokens += [*draft.tokens[: step % 3], (draft.tokens[step % 3] + 1 + step % 2) % V]


@given(
    seed=st.integers(0, 1000),
    rounds=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, V - 1))),
)
def test_any_history_of_rounds(seed: int, rounds: list[tuple[int, int, int]]) -> None:
    """A history that nobody thought of: γ, kept guesses and following token at random."""
    follow = language(seed, V)
    model = ToyModel(follow)
    drafter = DraftModel(model, PLAIN)
    tokens: list[int] = []
    for count, kept, following in rounds:
        draft = drafter.propose(tokens, count, greedy)
        assert len(draft.tokens) == count
        check(draft, follow, tokens, PLAIN)
        if count:
            assert model.tokens == [*tokens, *draft.tokens[:-1]]
            assert model.length == len(model.tokens) + 1
        tokens += [*draft.tokens[:kept], following]


@pytest.mark.parametrize("sampling", [Sampling(0.5, 2, 0.9), Sampling(0.0), Sampling(2.0)])
def test_reported_q_is_what_the_token_was_drawn_from(sampling: Sampling) -> None:
    """Raw q, or q before temperature, makes the ratio test biased (transformers#47932)."""
    follow = language(5, V)
    seen: list[tuple[int, Tensor]] = []

    def draw(row: int, q: Tensor) -> int:
        seen.append((row, q.clone()))
        return int(q.argmax())

    draft = DraftModel(ToyModel(follow), sampling).propose([1, 2], 3, draw)
    assert [row for row, _ in seen] == [0, 1, 2]
    assert torch.equal(torch.stack([q for _, q in seen]), draft.probs)
    check(draft, follow, [1, 2], sampling)


def test_the_tokens_given_are_left_alone() -> None:
    """The loop's own list must not be grown or held by the drafter."""
    tokens = [1, 2, 3]
    drafter = DraftModel(ToyModel(language(6, V)), PLAIN)
    drafter.propose(tokens, 3, greedy)
    assert tokens == [1, 2, 3]
    tokens += [0, 0]
    check(drafter.propose(tokens, 2, greedy), language(6, V), tokens, PLAIN)


def ask(target: Remembered, tokens: Sequence[int]) -> None:
    """Bring the target to where a round with these verified tokens begins."""
    target.forward(tokens[:-1])


@pytest.mark.parametrize("before", range(4))
def test_a_chain_reads_each_guess_and_starts_at_the_last_verified_token(before: int) -> None:
    """A feature of a position too early or late; a guess that the next step does not know."""
    follow, tokens = language(0, V), [3, 1, 2][:before]
    target, chain = Remembered(follow), ToyChain(follow)
    if tokens:
        ask(target, tokens)
    draft = ChainDraft(target, chain, PLAIN).propose(tokens, 4, greedy)
    assert len(draft.tokens) == 4
    check(draft, follow, tokens, PLAIN)
    (begun,) = chain.begun
    assert (begun is None) == (not tokens)
    assert begun is None or begun[1:].tolist() == tokens[:-1]


def test_heads_propose_as_many_as_there_are_and_are_asked_for() -> None:
    follow, tokens = language(0, V), [3, 1, 2]
    target = Remembered(follow)
    ask(target, tokens)
    for count in (1, 3, 8):
        draft = HeadsDraft(target, ToyHeads(follow), PLAIN).propose(tokens, count, greedy)
        assert len(draft.tokens) == min(count, 3)
        for row, token in enumerate(draft.tokens):
            q = probs(fresh_logits(follow, [*tokens, *[0] * row]), PLAIN)
            assert torch.equal(draft.probs[row], q)
            assert token == greedy(row, q)


@pytest.mark.parametrize("drafter", [ChainDraft, HeadsDraft])
def test_fed_drafts_propose_nothing_if_nothing_is_asked_for(drafter: type) -> None:
    """A pass for nothing, and a row of q without a token."""
    draft = drafter(None, None, PLAIN).propose([1], 0, greedy)
    assert (draft.tokens, len(draft.probs)) == ([], 0)


@pytest.mark.parametrize(
    ("tokens", "guesses"),
    [
        ([], []),
        ([1, 2, 3], []),
        ([1, 2, 3, 1], []),  # out of phase: codebook 1 said it
        ([1, 2, 3, 0, 1], [2, 3, 0]),
        ([1, 2, 1, 3, 1], [3, 1]),  # the latest of equally long ones
        ([0, 1, 2, 3, 2, 1, 0, 1], [2, 3, 2]),  # the longest before the latest
    ],
)
def test_repetition_continues_the_longest_match_in_phase(
    tokens: list[int], guesses: list[int]
) -> None:
    draft = NGramDraft(2, V).propose(tokens, 3, greedy)
    assert draft.tokens == guesses
    if guesses:
        assert draft.probs.tolist() == [[float(i == token) for i in range(V)] for token in guesses]


def test_an_unknown_draft_is_refused_by_name() -> None:
    with pytest.raises(ForespeakError, match=r"oracle.*model, ngram"):
        check_draft("oracle", ("model", "ngram"))
