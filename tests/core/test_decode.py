"""The decoding loop: lengths, counts, and tokens that do not depend on who drafted them."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch

from core.adaptive import Fixed, Window
from core.decode import autoregressive, speculative
from core.drafters import Draft, Drafter, DraftModel, Draw, NoDraft
from core.rules.exact import accept_probability
from core.sampling import Noise, Sampling, probs
from core.trace import Round
from core.verify import RULES, Rule
from tests.fakes import (
    EnumeratedNoise,
    Language,
    ToyModel,
    blend,
    disjoint,
    every_path,
    language,
)

PLAIN = Sampling(temperature=1.0)
GREEDY = Sampling(temperature=0.0)
RATIO, SAME_SEED = RULES["lossless"], RULES["same-seed"]
LOSSLESS = [rule for rule in RULES.values() if rule.lossless]
# These two relaxed rules only accept what the target may say: at temperature 0, one token.
GREEDY_LIKE_THE_TARGET = [*LOSSLESS, RULES["vadusa"], RULES["typical"]]


def tokens_of(rounds: Iterator[Round]) -> list[int]:
    return [token for r in rounds for token in r.tokens]


def speak(
    target: Language,
    draft: Language,
    length: int,
    gamma: int | Window,
    sampling: Sampling = PLAIN,
    rule: Rule = RATIO,
    noise: Noise | None = None,
) -> list[Round]:
    drafter = DraftModel(ToyModel(draft), sampling)
    noise = noise or Noise(0)
    # The target has room for this sentence and not one token more.
    model = ToyModel(target, capacity=length)
    window = Fixed(gamma) if isinstance(gamma, int) else gamma
    return list(speculative(model, drafter, length, window, sampling, rule, noise))


class Scripted:
    """Proposes given continuations, right or wrong: the sentence itself, altered at places."""

    def __init__(self, sentence: Sequence[int], size: int, wrong: Sequence[int] = ()):
        self._sentence = sentence
        self._size = size
        self._wrong = set(wrong)

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:  # noqa: ARG002
        places = range(len(tokens), len(tokens) + count)
        guesses = [(self._sentence[n] + (n in self._wrong)) % self._size for n in places]
        return Draft(guesses, torch.eye(self._size, dtype=torch.float64)[guesses])


class Moody:
    """Another drafter that now and then proposes less than asked, or nothing."""

    def __init__(self, drafter: Drafter, seed: int):
        self._drafter = drafter
        self._rng = np.random.default_rng(seed)

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:
        return self._drafter.propose(tokens, int(self._rng.integers(count + 1)), draw)


@pytest.mark.parametrize("rule", GREEDY_LIKE_THE_TARGET, ids=lambda rule: rule.name)
@pytest.mark.parametrize("gamma", range(9))
def test_greedy_tokens_are_the_baseline_s(rule: Rule, gamma: int) -> None:
    """At temperature 0 any wrong row, rollback or position shows as a different token."""
    for seed in range(4):
        target = language(seed, 5)
        baseline = tokens_of(autoregressive(ToyModel(target), 24, GREEDY, rule, Noise(seed)))
        argmax: list[int] = []
        while len(argmax) < 24:
            argmax.append(int(target(tuple(argmax)).argmax()))
        assert baseline == argmax
        for share in (0.0, 0.6, 0.9, 1.0):
            draft = blend(target, seed + 10, share)
            rounds = speak(target, draft, 24, gamma, GREEDY, rule, Noise(seed + 1))
            assert tokens_of(iter(rounds)) == baseline


# Of the relaxed rules one that tests with numbers, and one that does not.
@pytest.mark.parametrize(
    "rule", [*LOSSLESS, RULES["ssd"], RULES["typical"]], ids=lambda rule: rule.name
)
@pytest.mark.parametrize("gamma", range(9))
@pytest.mark.parametrize("length", range(1, 13))
def test_length_is_met_exactly_and_counts_add_up(rule: Rule, gamma: int, length: int) -> None:
    """A sentence that ends at any window index: tokens after the end, or drafts past it."""
    target = language(length, 4)
    kinds = {"all": target, "some": blend(target, 1, 0.7), "none": disjoint(target, 2)[1]}
    for kind, draft in kinds.items():
        said = disjoint(target, 2)[0] if kind == "none" else target
        rounds = speak(said, draft, length, gamma, PLAIN, rule, Noise(gamma))
        assert sum(len(r.tokens) for r in rounds) == length
        position = 0
        for r in rounds:
            drafted = len(r.draft_tokens)
            assert r.position == position
            assert drafted == min(gamma, length - position - 1)
            assert len(r.draft_probs) == len(r.target_probs) == drafted
            assert 0 <= r.accepted <= drafted
            assert len(r.tokens) == r.accepted + 1
            assert r.draft_s >= 0
            assert r.verify_s >= 0
            if kind != "some" and rule.lossless:
                assert r.accepted == (drafted if kind == "all" else 0)
            position += len(r.tokens)


def test_no_length_no_rounds() -> None:
    """A sentence of no tokens must not run a model."""
    assert speak(language(0), language(1), 0, 4) == []


@pytest.mark.parametrize("gamma", [1, 2, 5])
@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_recorded_probabilities_are_the_models_own(rule: Rule, gamma: int) -> None:
    """The page shows p and q: of the right token, in the right row, after sampling."""
    sampling = Sampling(0.7, top_k=3)
    target = language(1, 5)
    draft = blend(target, 2)
    said: list[int] = []
    for r in speak(target, draft, 30, gamma, sampling, rule, Noise(3)):
        for row, token in enumerate(r.draft_tokens):
            prefix = (*said, *r.draft_tokens[:row])
            assert r.draft_probs[row] == float(probs(draft(prefix), sampling)[token])
            assert r.target_probs[row] == float(probs(target(prefix), sampling)[token])
        prefix = (*said, *r.draft_tokens[: r.accepted])
        assert r.next_prob == float(probs(target(prefix), sampling)[r.next_token])
        assert r.next_prob > 0
        said += r.tokens


@pytest.mark.parametrize("gamma", range(1, 6))
def test_scripted_rejections_end_the_round_there(gamma: int) -> None:
    """Kept tokens past a rejection, or a round that goes on after it (openvino.genai#4190)."""
    target = language(4, 4)
    sentence = tokens_of(autoregressive(ToyModel(target), 20, GREEDY, RATIO, Noise(0)))
    assert 0 in sentence, "token 0 is a token like any other"
    for wrong in ([], [0], [1], [2, 3], [7], [4, 9, 14], list(range(20))):
        drafter = Scripted(sentence, 4, wrong)
        model = ToyModel(target)
        rounds = list(speculative(model, drafter, 20, Fixed(gamma), GREEDY, RATIO, Noise(0)))
        assert tokens_of(iter(rounds)) == sentence
        for r in rounds:
            places = range(r.position, r.position + len(r.draft_tokens))
            until = next((i for i, n in enumerate(places) if n in wrong), len(places))
            assert r.accepted == until
        # The last token is never taken in, everything before it is, and nothing else.
        assert model.tokens == sentence[:-1]
        # One pass a round: the last verified token and the drafts behind it.
        assert model.passes == [len(r.draft_tokens) + 1 for r in rounds]


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_baseline_is_one_token_a_pass(rule: Rule) -> None:
    """A baseline that drafts, or that pays for wider passes, flatters the speed-up."""
    model = ToyModel(language(0))
    rounds = list(autoregressive(model, 9, PLAIN, rule, Noise(0)))
    assert [(r.position, r.draft_tokens, r.accepted) for r in rounds] == [
        (n, (), 0) for n in range(9)
    ]
    assert model.passes == [1] * 9


@pytest.mark.parametrize("gamma", range(9))
def test_same_seed_tokens_are_the_baseline_s_whoever_drafts(gamma: int) -> None:
    """Numbers keyed by round or draw count shift when γ, the drafter or its mood changes."""
    for seed in range(6):
        target = language(seed, 6, zeros=seed % 2 == 1)
        length = 23 + seed

        def run(drafter: Drafter, target=target, length=length, seed=seed) -> list[int]:
            model, noise = ToyModel(target), Noise(seed, seed)
            window = Fixed(gamma)
            return tokens_of(speculative(model, drafter, length, window, PLAIN, SAME_SEED, noise))

        model, noise = ToyModel(target), Noise(seed, seed)
        baseline = tokens_of(autoregressive(model, length, PLAIN, SAME_SEED, noise))
        assert run(NoDraft()) == baseline
        for share in (0.0, 0.5, 1.0):
            draft = blend(target, seed + 20, share)
            assert run(DraftModel(ToyModel(draft), PLAIN)) == baseline
            assert run(Moody(DraftModel(ToyModel(draft), PLAIN), seed)) == baseline
            assert run(DraftModel(ToyModel(draft), Sampling(0.5, top_k=2))) == baseline
        assert run(Scripted(baseline, 6)) == baseline
        assert run(Scripted(baseline, 6, wrong=range(0, length, 3))) == baseline


def test_every_rule_needs_the_seed() -> None:
    """A seed or stream without effect would pass every equality above (vllm#13196)."""
    target = language(0, 6)
    for rule in RULES.values():
        said = {
            tuple(tokens_of(iter(speak(target, target, 20, 2, rule=rule, noise=Noise(*key)))))
            for key in ((0, 0), (1, 0), (0, 1), (1, 1))
        }
        assert len(said) == 4, rule.name


def test_same_seed_draft_profits_from_the_shared_noise() -> None:
    """Drawn from another lane, the draft would match only by chance."""
    target = language(3, 6)
    draft = blend(target, 4, 0.8)
    rate = {}
    for name, rule in {
        "shared": SAME_SEED,
        "own": Rule("x", "X", True, RATIO.draw, SAME_SEED.verify),
    }.items():
        rounds = speak(target, draft, 400, 1, PLAIN, rule)
        rate[name] = sum(r.accepted for r in rounds) / len(rounds)
    assert rate["shared"] > rate["own"] + 0.2


@pytest.mark.parametrize(
    "rule", [*LOSSLESS, RULES["ssd"], RULES["pcg"]], ids=lambda rule: rule.name
)
def test_equal_models_accept_every_draft(rule: Rule) -> None:
    """α = 1 sanity: with p = q a rejection means that one of them is not what it should be."""
    target = language(7, 6, zeros=True)
    for gamma in range(1, 9):
        rounds = speak(target, target, 60, gamma, Sampling(0.8, 4, 0.9), rule, Noise(gamma))
        assert all(r.accepted == len(r.draft_tokens) for r in rounds)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_run_can_be_repeated(rule: Rule) -> None:
    """Hidden state: in the noise, the rule, or the module."""
    target, draft = language(1, 6), language(2, 6)

    def again(noise: Noise) -> list[tuple]:
        rounds = speak(target, draft, 30, 3, PLAIN, rule, noise)
        return [(r.position, r.draft_tokens, r.draft_probs, r.tokens) for r in rounds]

    noise = Noise(5)
    first = again(noise)
    again(Noise(6))
    assert again(noise) == first
    assert again(Noise(5)) == first


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_interleaved_sentences_do_not_mix(rule: Rule) -> None:
    """Two people at the page, or baseline and speculative run side by side."""

    def sentence(n: int) -> Iterator[Round]:
        target = language(n, 6)
        drafter = DraftModel(ToyModel(blend(target, n + 5)), PLAIN)
        return speculative(ToyModel(target), drafter, 25, Fixed(3), PLAIN, rule, Noise(n))

    alone = [tokens_of(sentence(n)) for n in range(2)]
    mixed: list[list[int]] = [[], []]
    running = {n: sentence(n) for n in range(2)}
    while running:
        for n, rounds in list(running.items()):
            following = next(rounds, None)
            if following is None:
                del running[n]
            else:
                mixed[n] += following.tokens
    assert mixed == alone


@pytest.mark.parametrize("stop", [1, 2, 4])
@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_stopped_midway_it_leaves_what_was_emitted_and_disturbs_nobody(
    rule: Rule, stop: int
) -> None:
    """The stop button: the round is committed before it is shown, and a new run starts clean."""
    target, draft = language(1, 6), language(2, 6)
    noise = Noise(8)
    wanted = tokens_of(iter(speak(target, draft, 30, 3, PLAIN, rule, noise)))
    model = ToyModel(target)
    drafter = DraftModel(ToyModel(draft), PLAIN)
    rounds = speculative(model, drafter, 30, Fixed(3), PLAIN, rule, noise)
    said: list[int] = []
    for _ in range(stop):
        said += next(rounds).tokens
    rounds.close()
    assert said == wanted[: len(said)]
    assert model.tokens == said[:-1]
    assert model.length == len(said)
    assert tokens_of(iter(speak(target, draft, 30, 3, PLAIN, rule, noise))) == wanted


def assert_draws_explain(rounds: Sequence[Round]) -> None:
    """p, q and the draw of a tested row together give its verdict."""
    for r in rounds:
        assert len(r.draws) == min(r.accepted + 1, len(r.draft_tokens))
        tests = zip(r.target_probs, r.draft_probs, r.draws, strict=False)
        kept = [u < accept_probability(p, q) for p, q, u in tests]
        assert kept == [row < r.accepted for row in range(len(kept))]


def test_every_ratio_test_is_on_record() -> None:
    """The page explains a verdict by the number that was drawn; here it is the one that decided."""
    target = language(2)
    draft = blend(target, 102)
    rounds = speak(target, draft, 40, 3, PLAIN, RATIO, Noise(3))
    assert {r.accepted for r in rounds} == {0, 1, 2, 3}
    assert_draws_explain(rounds)
    for _, rounds in every_path(
        lambda branches: speak(target, draft, 3, 2, PLAIN, RATIO, EnumeratedNoise(branches))
    ):
        assert_draws_explain(rounds)
    assert not any(r.draws for r in speak(target, draft, 40, 3, PLAIN, SAME_SEED, Noise(3)))
