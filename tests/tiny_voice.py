"""A declared voice of tiny random checkpoints in their published formats."""

from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from tests.core.lm.published import randomise, save

SIZE = 9
SPEECH = [f"<|s_{n}|>" for n in range(SIZE)]
SIGNS = ["<|begin|>", "<|speak|>", "<|end|>"]
DECLARATION = """
title = "Tiny"
licence = "None needed"
prompt = "<|begin|>Say:{text}<|speak|>"
stop = "<|end|>"
longest_s = 3

[target]
repository = "tiny/target"

[draft]
repository = "tiny/draft"

[codec]
kind = "xcodec2"
repository = "tiny/codec"

[[codebooks]]
token = "<|s_{}|>"
"""


def make_tokenizer(folder: Path, added: list[str]) -> int:
    """Bytes, and these tokens in this order; how many in all."""
    alphabet = sorted(ByteLevel.alphabet())
    tokenizer = Tokenizer(BPE({letter: n for n, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens([AddedToken(token) for token in added])
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer.get_vocab_size()


def make_model(folder: Path, added: list[str], seed: int) -> torch.nn.Module:
    """A Llama with a vocabulary; the model as transformers has it."""
    from transformers import LlamaConfig, LlamaForCausalLM

    folder.mkdir()
    config = LlamaConfig(
        vocab_size=make_tokenizer(folder, added),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
    )
    model = randomise(LlamaForCausalLM(config), seed)
    save(model, folder)
    return model


def make_codec(folder: Path) -> torch.nn.Module:
    from transformers import Wav2Vec2BertConfig, Xcodec2Config, Xcodec2Model

    semantic = Wav2Vec2BertConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    config = Xcodec2Config(
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=16,
        encoder_hidden_size=2,
        semantic_model_config=semantic,
        quantization_dim=64,
        quantization_levels=[3, 3],
    )
    torch.manual_seed(0)  # its layers have names and scales of their own: as they are made
    model = Xcodec2Model(config).eval()
    model.save_pretrained(folder)
    return model


def make_voice(root: Path) -> dict[str, Path]:
    """Repositories by name. Target and draft call the same entries by other ids."""
    make_model(root / "target", [*SIGNS, *SPEECH], seed=1)
    make_model(root / "draft", [*SPEECH[::-1], "<|other|>", *SIGNS], seed=2)
    make_codec(root / "codec")
    return {f"tiny/{part}": root / part for part in ("target", "draft", "codec")}
