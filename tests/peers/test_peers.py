"""The peers are what they claim: the same models, the settings that the table names."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

pytest.importorskip("transformers", reason="needs requirements-peers.txt")

from core.bench import Spread
from core.decode import autoregressive
from core.engine import Engine
from core.lm.decoder import Decoder
from core.lm.runtime import DecoderRuntime
from core.sampling import Noise, Sampling, probs
from core.verify import RULES
from core.voices.base import Plan
from core.voices.joe import Conditioning
from tests.fakes import tiny_decoder
from tests.peers.__main__ import BASELINE, load_pair
from tests.peers.compare import Sample, first_difference, logit_gap, summarize
from tests.peers.model import CPU, Peer
from tests.peers.table import tables
from tests.peers.ways import (
    Forespeak,
    Run,
    Transformers,
    draw_at,
    transformers_ways,
)

Q, V, WINDOW, FRAMES = 3, 7, 8, 12
LENGTH = Q * FRAMES  # well beyond the window
GREEDY = 0.0


@pytest.fixture(scope="module")
def plan() -> Plan:
    rng = torch.Generator().manual_seed(5)
    config = tiny_decoder(0).config
    cond = torch.randn(FRAMES, config.cond_width, generator=rng)
    return Plan(None, Conditioning(cond, torch.randn(FRAMES, config.code_dim, generator=rng)))


@pytest.fixture(scope="module")
def target() -> Decoder:
    return tiny_decoder(0, window=WINDOW)


def greedy(decoder: Decoder, plan: Plan) -> tuple[int, ...]:
    """What Forespeak's baseline says."""
    state = DecoderRuntime(decoder, CPU).start(plan.conditioning.cond, plan.conditioning.hint)
    rounds = autoregressive(state, LENGTH, Sampling(GREEDY), RULES["lossless"], Noise(0))
    return tuple(token for round_ in rounds for token in round_.tokens)


@pytest.mark.parametrize("packed", [False, True])
def test_greedy_tokens_are_the_baselines(target: Decoder, plan: Plan, packed: bool) -> None:
    # Packing changes the modules that the peers share with their decoder.
    copy, draft = tiny_decoder(0, window=WINDOW), tiny_decoder(1, layers=1, window=WINDOW)
    for way in transformers_ways(copy, draft, 4, packed).values():
        assert way(plan, LENGTH, GREEDY, 0).tokens == greedy(target, plan)


@pytest.mark.parametrize("seed", range(3))
def test_a_draft_like_its_target_is_always_right(target: Decoder, plan: Plan, seed: int) -> None:
    """So p and q went through the same temperature, and the window is what was asked for."""
    way = Transformers(Peer(target), Peer(tiny_decoder(0, window=WINDOW)), 4)
    run = way(plan, LENGTH, 0.8, seed)
    assert run.acceptance_rate == 1
    assert (run.passes, run.drafted) == (-(-LENGTH // 5), LENGTH - -(-LENGTH // 5))


def test_defaults_are_not_the_fixed_window(target: Decoder, plan: Plan) -> None:
    draft = Peer(tiny_decoder(1, layers=1, window=WINDOW))
    default = Transformers(Peer(target), draft)(plan, LENGTH, GREEDY, 0)
    fixed = Transformers(Peer(target), draft, 4)(plan, LENGTH, GREEDY, 0)
    assert default.tokens == fixed.tokens
    assert (default.passes, default.drafted) != (fixed.passes, fixed.drafted)


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("temperature", [0.8, 1.5])
def test_tokens_are_drawn_as_forespeak_draws(
    target: Decoder, plan: Plan, temperature: float, once: bool
) -> None:
    peer = Peer(target)
    peer.hear(plan.conditioning.cond, plan.conditioning.hint)
    assert_drawn_alike(peer, temperature, once, 6)


def assert_drawn_alike(peer: Peer, temperature: float, once: bool, length: int) -> None:
    drawing = draw_at(temperature, once)
    drawing["generation_config"].update(
        max_new_tokens=length,
        return_dict_in_generate=True,
        output_scores=True,
        output_logits=True,
    )
    made = peer.generate(torch.tensor([[peer.sizes.codebook_size]]), **drawing)
    scores, logits = torch.cat(made.scores), torch.cat(made.logits)
    torch.testing.assert_close(scores.softmax(-1), probs(logits, Sampling(temperature)))


def test_the_gap_is_between_the_two_likeliest(target: Decoder, plan: Plan) -> None:
    said = greedy(target, plan)
    codes = torch.tensor(said).view(1, FRAMES, Q).mT
    heard = plan.conditioning.cond[None], plan.conditioning.hint[None]
    with torch.inference_mode():
        *_, second, best = target(codes, *heard)[0].flatten(0, 1)[20].sort().values.tolist()
    assert logit_gap(Peer(target), plan, said[:20]) == pytest.approx(best - second, abs=1e-4)


@pytest.mark.parametrize(
    ("one", "other", "place"), [("abc", "abc", None), ("abc", "axc", 1), ("ab", "abc", 2)]
)
def test_first_difference(one: Sequence[int], other: Sequence[int], place: int | None) -> None:
    assert first_difference(one, other) == place


def test_rows_compare_within_a_sentence(target: Decoder, plan: Plan) -> None:
    said = greedy(target, plan)
    other = (*said[:20], (said[20] + 1) % V, *said[21:])
    run = Run(said, seconds=1.0, passes=LENGTH, drafted=0)
    samples = [
        Sample("ours", 0.0, 0, run),
        Sample("theirs", 0.0, 0, replace(run, seconds=3.0, passes=18, drafted=36)),
        Sample("ours", 0.0, 1, run),
        Sample("theirs", 0.0, 1, replace(run, seconds=3.0, passes=18, drafted=36, tokens=other)),
    ]
    # As after a turn in which the other way came first.
    samples += [replace(sample, temperature=0.8) for sample in reversed(samples)]
    rows = summarize(samples, "ours", ["ours"], [plan, plan], Peer(target))
    assert [(row.temperature, row.way) for row in rows] == [
        (temperature, way) for temperature in (0.0, 0.8) for way in ("ours", "theirs")
    ]
    assert rows[2].differences is None
    assert all(table.row_count == 2 for table in tables(rows, 2))
    ours, theirs = rows[:2]
    assert ours.differences == []
    assert ours.acceptance_rate is None
    assert theirs.slower == {"ours": Spread(3.0, 3.0, 3.0)}
    assert theirs.acceptance_rate == Spread(0.5, 0.5, 0.5)
    assert theirs.acceptance_length.median == 2
    assert [(d.sentence, d.position) for d in theirs.differences] == [(1, 20)]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load("joe", "cpu")


@pytest.fixture
def sentence(engine: Engine) -> Plan:
    return engine.voice.plan("What a beautiful morning!", 1.0)


@pytest.mark.voice
def test_the_voice_says_the_same(engine: Engine, sentence: Plan) -> None:
    length = sentence.sentence.frames * engine.voice.codec.num_codebooks
    ways = {BASELINE: Forespeak(engine, 0), "speculative": Forespeak(engine, 4)}
    ways |= transformers_ways(*load_pair(engine), 4)
    said = {name: way(sentence, length, GREEDY, 0) for name, way in ways.items()}
    assert {run.tokens for run in said.values()} == {said[BASELINE].tokens}
    # The same drafts, but for near ties among their guesses: kernels round differently.
    passes = said["transformers, assisted, γ 4"].passes
    assert said["speculative"].passes == pytest.approx(passes, rel=0.15)


@pytest.mark.voice
def test_no_entry_of_the_voice_is_cut_off(engine: Engine, sentence: Plan) -> None:
    peer = Peer(load_pair(engine)[0])
    peer.hear(sentence.conditioning.cond, sentence.conditioning.hint)
    assert_drawn_alike(peer, 0.8, once=False, length=8)
