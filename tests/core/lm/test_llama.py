"""The Llama-type decoder against transformers' own, on tiny random checkpoints."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from core.adaptive import Fixed
from core.decode import autoregressive, speculative
from core.drafters import DraftModel
from core.errors import ForespeakError
from core.lm.llama import LlamaRuntime
from core.lm.prompted import Entries
from core.lm.weights import Weights
from core.sampling import Noise, Sampling
from core.verify import RULES
from tests.core.lm.published import randomise, save

transformers = pytest.importorskip("transformers", minversion="5.24")

VOCABULARY = 61
CPU = torch.device("cpu")
PROMPT = [3, 60, 0, 17, 5]
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
SHAPES = {
    "plain": {},
    "grouped": {"num_key_value_heads": 2},
    "tied": {"tie_word_embeddings": True},
    "wide heads": {"head_dim": 24},
    "biased": {"attention_bias": True, "mlp_bias": True},
    "linear": {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}},
    "llama3": {"rope_parameters": LLAMA3, "num_key_value_heads": 1},
    "qwen2": {"num_key_value_heads": 2, "tie_word_embeddings": True},
}


def tiny(shape: str = "grouped", seed: int = 0) -> nn.Module:
    kinds = {"qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM)}
    config, model = kinds.get(shape, (transformers.LlamaConfig, transformers.LlamaForCausalLM))
    sizes = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "max_position_embeddings": 256,
        "eos_token_id": None,
    }
    built = randomise(model(config(**sizes | SHAPES[shape])), seed)
    if built.config.tie_word_embeddings:
        built.tie_weights()
    return built


def everything() -> Entries:
    """Entries that are the ids themselves."""
    return Entries(torch.arange(VOCABULARY)[None])


def logits_of(model: nn.Module, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0]


@pytest.mark.parametrize("shape", SHAPES)
def test_logits_are_those_of_transformers(shape: str, tmp_path: Path) -> None:
    """Also in passes of several tokens, after rollbacks, and far from the beginning."""
    model = tiny(shape)
    runtime = LlamaRuntime(Weights(save(model, tmp_path)), everything(), CPU)
    tokens = torch.randint(VOCABULARY, (60,), generator=torch.Generator().manual_seed(1)).tolist()
    wanted = logits_of(model, PROMPT + tokens)[len(PROMPT) - 1 :]
    state = runtime.start(PROMPT, 61)
    got = [state.forward(tokens[:2]), state.forward(tokens[2:5])]
    state.forward([7, 7, 7, 7])
    state.rollback(6)
    got += [state.forward(tokens[n : n + 1]) for n in range(5, 9)]
    state.rollback(8)
    got[-2:] = [state.forward(tokens[7:])]
    torch.testing.assert_close(torch.cat(got), wanted, atol=1e-4, rtol=0)


def test_configs_as_they_were_written_before_version_5(tmp_path: Path) -> None:
    """Published configs keep rope_theta beside rope_scaling."""
    save(tiny("llama3"), tmp_path)
    entries = everything()
    new = LlamaRuntime(Weights(tmp_path), entries, CPU).config.frequencies
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config |= {"rope_theta": rope.pop("rope_theta"), "rope_scaling": rope}
    path.write_text(json.dumps(config))
    assert torch.equal(LlamaRuntime(Weights(tmp_path), entries, CPU).config.frequencies, new)


def test_shards_are_one_model(tmp_path: Path) -> None:
    model = tiny()
    model.save_pretrained(tmp_path, max_shard_size="20kB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    weights = Weights(tmp_path)
    state = LlamaRuntime(weights, everything(), CPU).start(PROMPT, 1)
    torch.testing.assert_close(state.forward([]), logits_of(model, PROMPT)[-1:], atol=1e-4, rtol=0)
    assert weights.parameters == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("gamma", [0, 1, 4])
def test_greedy_tokens_are_those_of_generate(gamma: int, tmp_path: Path) -> None:
    """With a draft or without; entries in an order of their own, in two interleaved codebooks."""
    model = tiny("llama3")
    order = torch.randperm(VOCABULARY, generator=torch.Generator().manual_seed(2))
    entries = Entries(order[:60].view(2, 30))
    allowed = [set(range(VOCABULARY)) - set(ids.tolist()) for ids in entries.ids]

    def banned(_: int, said: torch.Tensor) -> list[int]:
        return entries.ids[(len(said) - len(PROMPT)) % 2].tolist()

    assert all(allowed)
    with torch.inference_mode():
        wanted = model.generate(
            torch.tensor([PROMPT]),
            max_new_tokens=40,
            do_sample=False,
            prefix_allowed_tokens_fn=banned,
        )[0, len(PROMPT) :].tolist()
    target = LlamaRuntime(Weights(save(model, tmp_path / "target")), entries, CPU)
    draft = LlamaRuntime(Weights(save(tiny(seed=9), tmp_path / "draft")), entries, CPU)
    greedy = Sampling(temperature=0)
    drafter = DraftModel(draft.start(PROMPT, 40), greedy)
    rule = RULES["lossless"]
    if gamma:
        rounds = speculative(
            target.start(PROMPT, 40), drafter, 40, Fixed(gamma), greedy, rule, Noise(0)
        )
    else:
        rounds = autoregressive(target.start(PROMPT, 40), 40, greedy, rule, Noise(0))
    said = [token for round_ in rounds for token in round_.tokens]
    assert entries.spell(said, 0) == wanted


def test_the_end_can_be_said_only_where_a_frame_begins(tmp_path: Path) -> None:
    model = tiny()
    entries = Entries(torch.tensor([[4, 5, 6], [20, 21, 22]]), stop=50)
    runtime = LlamaRuntime(Weights(save(model, tmp_path)), entries, CPU)
    got = runtime.start(PROMPT, 6).forward([2, 0, 1])
    wanted = logits_of(model, [*PROMPT, 6, 20, 5])[len(PROMPT) - 1 :]
    torch.testing.assert_close(got[0::2], wanted[0::2][:, [4, 5, 6, 50]], atol=1e-4, rtol=0)
    torch.testing.assert_close(got[1::2, :3], wanted[1::2][:, [20, 21, 22]], atol=1e-4, rtol=0)
    assert (got[1::2, 3] == -torch.inf).all()


def test_a_cache_holds_what_it_has_room_for_and_no_more(tmp_path: Path) -> None:
    runtime = LlamaRuntime(Weights(save(tiny(), tmp_path)), everything(), CPU)
    state = runtime.start(PROMPT, 4)
    state.forward([1, 2, 3])
    with pytest.raises(ValueError, match="do not fit"):
        state.forward([4])
    state.rollback(0)
    assert state.forward([]).shape == (1, VOCABULARY)
    with pytest.raises(ForespeakError, match="sees 256 tokens"):
        runtime.start(PROMPT, 252)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": "mamba"}, "of type mamba"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "'yarn', which is not supported"),
        ({"hidden_act": "gelu"}, "unusual shape"),
    ],
)
def test_what_is_no_llama_is_refused(change: dict, words: str, tmp_path: Path) -> None:
    save(tiny(), tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ForespeakError, match=words):
        LlamaRuntime(Weights(tmp_path), everything(), CPU)


def test_damage_is_told(tmp_path: Path) -> None:
    with pytest.raises(ForespeakError, match="holds no safetensors"):
        Weights(tmp_path)
    save(tiny(), tmp_path)
    with pytest.raises(ForespeakError, match="no tensor x: it is another kind"):
        Weights(tmp_path)["x"]
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ForespeakError, match=r"config\.json is damaged"):
        LlamaRuntime(Weights(tmp_path), everything(), CPU)
    file = tmp_path / "model.safetensors"
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ForespeakError, match="is damaged"):
        Weights(tmp_path)
