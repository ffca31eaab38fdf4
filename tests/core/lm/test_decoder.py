"""The training model: what each logit may depend on, and what it must."""

import pytest
import torch
from torch import Tensor

from core.lm.decoder import Decoder, DecoderConfig, rope_table, rotate
from tests.fakes import tiny_decoder

B, Q, T, V = 2, 3, 6, 7
STEPS = T * Q


@pytest.fixture
def decoder() -> Decoder:
    return tiny_decoder(1, layers=2, window=STEPS)


def inputs(decoder: Decoder, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    rng = torch.Generator().manual_seed(seed)
    codes = torch.randint(V, (B, Q, T), generator=rng)
    cond = torch.randn(B, T, decoder.config.cond_width, generator=rng)
    guess = torch.randn(B, T, decoder.config.code_dim, generator=rng)
    return codes, cond, guess


@torch.no_grad()
def changed_steps(decoder: Decoder, before: tuple, after: tuple) -> list[int]:
    """Which of the S steps of the first sentence have other logits; the second has none."""
    difference = (decoder(*before) - decoder(*after)).abs().amax(-1).flatten(1)
    assert float(difference[1].max()) == 0
    return (difference[0] > 1e-4).nonzero().flatten().tolist()


def test_logits_have_a_row_for_every_code(decoder: Decoder) -> None:
    """Frames and codebooks in the wrong order train on the wrong answers."""
    assert decoder(*inputs(decoder)).shape == (B, T, Q, V)


@pytest.mark.parametrize("step", range(STEPS))
def test_a_code_is_seen_by_all_later_steps_and_no_earlier_one(decoder: Decoder, step: int) -> None:
    """A model that sees the answer trains to nothing; one that misses a code says noise."""
    codes, cond, guess = inputs(decoder)
    other = codes.clone()
    other[0, step % Q, step // Q] += 1
    other %= V
    changed = changed_steps(decoder, (codes, cond, guess), (other, cond, guess))
    assert changed == list(range(step + 1, STEPS))


@pytest.mark.parametrize("frame", range(T))
@pytest.mark.parametrize("what", ["cond", "guess"])
def test_conditioning_begins_at_its_own_frame(decoder: Decoder, frame: int, what: str) -> None:
    """Conditioning that arrives a frame late, or only at the first codebook."""
    codes, cond, guess = inputs(decoder)
    hint = (cond if what == "cond" else guess).clone()
    hint[0, frame] += 1
    after = (codes, hint, guess) if what == "cond" else (codes, cond, hint)
    changed = changed_steps(decoder, (codes, cond, guess), after)
    assert changed == list(range(frame * Q, STEPS))


def test_the_window_ends_where_it_says() -> None:
    """One layer, window 4: off by one here is a mismatch with the rolling cache there."""
    decoder = tiny_decoder(2, layers=1, window=4)
    codes, cond, guess = inputs(decoder)
    for frame in range(T):
        hint = cond.clone()
        hint[0, frame] += 1
        changed = changed_steps(decoder, (codes, cond, guess), (codes, hint, guess))
        # Steps of the frame itself, and those that can still attend to its last step.
        assert changed == list(range(frame * Q, min(STEPS, frame * Q + Q - 1 + 4)))


def test_codes_matter_by_their_vectors() -> None:
    """Input geometry: this frame so far and the whole last frame, not the token ids alone."""
    decoder = tiny_decoder(3, layers=1, window=1)
    with torch.no_grad():
        decoder.embed.weight.zero_()
    codes, cond, guess = inputs(decoder)
    for step in range(STEPS - 1):
        frame, codebook = divmod(step, Q)
        other = codes.clone()
        other[0, codebook, frame] = (other[0, codebook, frame] + 1) % V
        changed = changed_steps(decoder, (codes, cond, guess), (other, cond, guess))
        # The rest of its own frame and all of the next.
        assert changed == list(range(step + 1, min(STEPS, (frame + 2) * Q)))


@torch.no_grad()
def test_each_codebook_has_its_own_head(decoder: Decoder) -> None:
    """A head read at the wrong phase is off by one codebook for the whole sentence."""
    before = decoder(*inputs(decoder))
    for codebook in range(Q):
        decoder.head_bias[codebook] += 1
        difference = decoder(*inputs(decoder)) - before
        decoder.head_bias[codebook] -= 1
        for other in range(Q):
            wanted = float(other == codebook)
            assert difference[:, :, other].mean().item() == pytest.approx(wanted, abs=1e-4)


@torch.no_grad()
def test_output_weights_follow_the_codebook_vectors(decoder: Decoder) -> None:
    """Entries that sound alike must be able to share what is learnt about them."""
    decoder.head.zero_()
    weight = decoder.head_weight()
    for codebook in range(Q):
        for entry in range(V):
            wanted = decoder.directions[codebook, entry] @ decoder.head_geometry[codebook]
            assert weight[codebook, entry].tolist() == pytest.approx(wanted.tolist(), abs=1e-5)


def test_latent_sums_a_frame_s_vectors(decoder: Decoder) -> None:
    """The conditioner's guess is trained against this; one codebook too few is a quiet loss."""
    codes, _, _ = inputs(decoder)
    latent = decoder.latent(codes)
    assert latent.shape == (B, T, decoder.config.code_dim)
    for b in range(B):
        for t in range(T):
            wanted = sum(decoder.vectors[q, codes[b, q, t]] for q in range(Q))
            assert latent[b, t].tolist() == pytest.approx(wanted.tolist(), abs=1e-5)


def test_rotations_keep_lengths_and_only_distance_counts() -> None:
    """What lets a rolling cache keep keys that were rotated once, at their own position."""
    rng = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 8, generator=rng)
    rope = rope_table(60, 8)
    rotated_q, rotated_k = rotate(q.expand(60, 8), rope), rotate(k.expand(60, 8), rope)
    assert rotated_q.norm(dim=-1).tolist() == pytest.approx([float(q.norm())] * 60, rel=1e-5)
    assert rotated_q[0].tolist() == pytest.approx(q.tolist())
    for distance in (0, 1, 5):
        products = [float(rotated_q[n] @ rotated_k[n - distance]) for n in range(distance, 60)]
        assert products == pytest.approx([products[0]] * len(products), abs=1e-4)
    one_apart, five_apart = rotated_q[5] @ rotated_k[4], rotated_q[5] @ rotated_k[0]
    assert abs(float(one_apart - five_apart)) > 1e-2


def test_every_weight_is_learnt(decoder: Decoder) -> None:
    """A weight without gradient is dead: forgotten in forward, or cut off by a detach."""
    decoder(*inputs(decoder)).log_softmax(-1)[..., 0].sum().backward()
    for name, parameter in decoder.named_parameters():
        assert parameter.grad is not None, name
        assert float(parameter.grad.abs().max()) > 0, name


@torch.no_grad()
def test_an_untrained_model_is_nearly_even() -> None:
    """Initial weights that begin with confident nonsense waste the first of the training."""
    config = DecoderConfig(layers=2, width=64, heads=4, mlp=96, cond_width=16, codebook_size=32)
    torch.manual_seed(0)
    codebooks = torch.randn(4, 32, config.code_dim) * torch.tensor([3.0, 1, 1, 0.1])[:, None, None]
    decoder = Decoder(config, codebooks)
    codes = torch.randint(32, (1, 4, 10))
    logits = decoder(codes, torch.randn(1, 10, 16), torch.randn(1, 10, config.code_dim))
    assert logits.std().item() < 0.3
    assert logits.std().item() > 0
