"""Drafts that read the target's hidden states: as they decode, against as they are trained."""

from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from torch import Tensor

from core.adaptive import Fixed
from core.checkpoint import save_checkpoint
from core.decode import autoregressive, speculative
from core.drafters import ChainDraft, HeadsDraft
from core.lm.chain import Chain, ChainRuntime
from core.lm.fed import Fed, FedConfig, load_fed
from core.lm.heads import Heads, HeadsRuntime
from core.lm.inputs import Inputs
from core.lm.runtime import DecoderRuntime, DecoderState
from core.sampling import Noise, Sampling
from core.verify import RULES
from tests.fakes import exact_weight, tiny_decoder

CPU = torch.device("cpu")
Q, V, FRAMES = 3, 7, 9
LENGTH = Q * FRAMES
STEPS = 5
FED = {Chain: (0, 1), Heads: (1,)}


class Case:
    """A target, one sentence of it, and what its layers make of it as a whole."""

    @torch.no_grad()
    def __init__(self) -> None:
        self.decoder = tiny_decoder(0)
        rng = torch.Generator().manual_seed(1)
        config = self.decoder.config
        self.cond = torch.randn(FRAMES, config.cond_width, generator=rng)
        self.hint = torch.randn(FRAMES, config.code_dim, generator=rng)
        codes = torch.randint(V, (1, Q, FRAMES), generator=rng)
        self.tokens = codes[0].T.flatten().tolist()
        given = codes, self.cond[None], self.hint[None]
        outputs: list[Tensor] = []
        hooks = [b.register_forward_hook(lambda *a: outputs.append(a[2])) for b in self.blocks]
        self.decoder(*given)
        for hook in hooks:
            hook.remove()
        self.features = torch.cat(outputs, -1)  # [1, S, 2 width]
        self.inputs = self.decoder.inputs(*given)
        self.known = self.decoder.known_inputs(*given[1:])
        self.runtime = DecoderRuntime(self.decoder, CPU, taps=(0, 1))

    @property
    def blocks(self) -> torch.nn.ModuleList:
        return self.decoder.blocks

    def draft(self, kind: type[Fed]) -> Fed:
        """Untrained, but with no weight at zero."""
        draft = kind(FedConfig(FED[kind], 6, STEPS), self.decoder)
        rng = torch.Generator().manual_seed(2)
        for parameter in draft.parameters():
            parameter.data += torch.randn(parameter.shape, generator=rng) * 0.1
        return draft.requires_grad_(False)

    def start(self) -> DecoderState:
        return self.runtime.start(self.cond, self.hint)


@pytest.fixture(scope="module")
def case() -> Case:
    return Case()


@pytest.fixture
def exact_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """They show the arithmetic; int8 ones would hide it behind their rounding."""
    for module in ("kernels", "chain", "heads"):
        monkeypatch.setattr(f"core.lm.{module}.packed", exact_weight)


def test_features_are_what_the_layers_gave(case: Case) -> None:
    """Rows of another pass, of a guess that was taken back, or of layers in another order."""
    state = case.start()
    state.forward(case.tokens[:4])
    state.forward([6, 6, 6])
    state.rollback(5)
    state.forward(case.tokens[4:9])
    for position in range(10):
        wanted = case.features[0, position]
        torch.testing.assert_close(state.feature(position), wanted, rtol=1e-2, atol=1e-2)
    state.rollback(3)
    for position in (-1, 3, 9):
        with pytest.raises(ValueError, match="not among the 3"):
            state.feature(position)


@pytest.mark.usefixtures("exact_weights")
def test_a_chain_decodes_as_it_was_trained(case: Case) -> None:
    """Another phase's weights, a token too late, a state of another position."""
    chain = case.draft(Chain)
    trained = chain(case.inputs, case.features)
    state = ChainRuntime(chain, Inputs(case.decoder, CPU)).start(case.cond, case.hint)
    for n in range(LENGTH - STEPS):
        hidden = state.begin(case.features[0, n - 1] if n else None)
        for j in range(STEPS):
            hidden, logits = state.step(hidden, case.tokens[: n + j])
            torch.testing.assert_close(logits, trained[j][0, n], rtol=1e-3, atol=1e-3)


@pytest.mark.usefixtures("exact_weights")
def test_heads_decode_as_they_were_trained(case: Case) -> None:
    """Another head, phase or frame; more guesses than heads or than asked for."""
    heads = case.draft(Heads)
    trained = heads(case.inputs, case.known, case.features[..., -case.decoder.config.width :])
    state = HeadsRuntime(heads, Inputs(case.decoder, CPU)).start(case.cond, case.hint)
    for n in range(LENGTH - STEPS):
        for count in (1, STEPS, STEPS + 3):
            feature = case.features[0, n - 1] if n else None
            logits = state.guess(feature, case.tokens[:n], count)
            wanted = torch.stack([trained[j][0, n] for j in range(min(count, STEPS))])
            torch.testing.assert_close(logits, wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", FED)
def test_whole_sentences_under_the_same_seed_are_the_baselines(case: Case, kind: type) -> None:
    """A feature of a token that was not verified would be noticed by speed alone: by nobody."""
    inputs, sampling, rule = Inputs(case.decoder, CPU), Sampling(), RULES["same-seed"]
    runtime, drafter = {Chain: (ChainRuntime, ChainDraft), Heads: (HeadsRuntime, HeadsDraft)}[kind]
    prepared = runtime(case.draft(kind), inputs)
    for seed, gamma in ((0, 1), (1, 4), (2, 8)):
        target = case.start()
        draft = drafter(target, prepared.start(case.cond, case.hint), sampling)
        window, noise = Fixed(gamma), Noise(seed)
        rounds = list(speculative(target, draft, LENGTH, window, sampling, rule, noise))
        plain = autoregressive(case.start(), LENGTH, sampling, rule, Noise(seed))
        assert [t for r in rounds for t in r.tokens] == [t for r in plain for t in r.tokens]
        assert max(len(r.draft_tokens) for r in rounds) == min(gamma, STEPS if kind is Heads else 8)


@pytest.mark.parametrize("kind", FED)
def test_saved_as_int8_they_say_nearly_the_same(case: Case, kind: type, tmp_path: Path) -> None:
    """Scales of another row or axis; taps that JSON made a list."""
    draft = case.draft(kind)
    path = tmp_path / "draft.safetensors"
    save_checkpoint(path, draft, asdict(draft.config), int8=True)
    loaded = load_fed(kind, path, case.decoder)
    assert loaded.config == draft.config
    for name, parameter in draft.named_parameters():
        error = (loaded.get_parameter(name) - parameter).abs().max()
        assert error < parameter.abs().max() / 200, name
