"""A folder of a tiny language model, as Hugging Face Transformers writes it."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

HIDDEN, INNER, WORDS = 8, 16, ("<s>", "</s>", "a", "b", "ab", "c")


def write_folder(folder: Path, tensors: Mapping[str, Array] | None = None, /, **keys: object) -> Path:
    """Write a llama of one layer and a tokenizer of six tokens.

    Args:
        folder: the folder, which must not exist.
        tensors: the tensors by name; random ones by default.
        keys: further keys of config.json.
    """
    folder.mkdir(parents=True)
    configuration = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": INNER,
        "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 32, "rms_norm_eps": 1e-5,
        "hidden_act": "silu", "rope_theta": 10000.0, "vocab_size": len(WORDS), "tie_word_embeddings": True, "bos_token_id": 0,
        "eos_token_id": 1,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(configuration | keys))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "</s>"}))
    write_tensors(folder / "model.safetensors", weights() if tensors is None else tensors)
    return folder


def tokenizer() -> dict[str, object]:
    """A tokenizer of pairs of characters."""
    added = [
        {"id": index, "content": WORDS[index], "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        for index in (0, 1)
    ]
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
        "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": {word: index for index, word in enumerate(WORDS)},
        "merges": [["a", "b"]],
    }  # fmt: skip
    normalizer = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    decoder = {
        "type": "Sequence",
        "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}],
    }
    return {"version": "1.0", "added_tokens": added, "normalizer": normalizer, "pre_tokenizer": None, "post_processor": None,
            "decoder": decoder, "model": model}  # fmt: skip


def weights() -> dict[str, Array]:
    """Random weights of the model, by the names of their tensors."""
    shapes = {"model.embed_tokens.weight": (len(WORDS), HIDDEN), "model.norm.weight": (HIDDEN,)}
    layer = {
        "self_attn.q_proj": (HIDDEN, HIDDEN), "self_attn.k_proj": (4, HIDDEN), "self_attn.v_proj": (4, HIDDEN),
        "self_attn.o_proj": (HIDDEN, HIDDEN), "mlp.gate_proj": (INNER, HIDDEN), "mlp.up_proj": (INNER, HIDDEN),
        "mlp.down_proj": (HIDDEN, INNER), "input_layernorm": (HIDDEN,), "post_attention_layernorm": (HIDDEN,),
    }  # fmt: skip
    shapes |= {f"model.layers.0.{name}.weight": shape for name, shape in layer.items()}
    generator = np.random.default_rng(0)
    return {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


TYPES = {
    "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "int64": "I64", "int32": "I32", "int8": "I8",
    "uint8": "U8",
}  # fmt: skip
"""The names of element types in safetensors."""


def write_tensors(path: Path, tensors: Mapping[str, Array]) -> None:
    """Write tensors as safetensors: the size of a header, the header, the bytes of the tensors."""
    header: dict[str, object] = {}
    content = b""
    for name, tensor in tensors.items():
        tensor = tensor.astype(np.float32) if tensor.dtype == np.float64 else tensor
        values = tensor.tobytes()
        header[name] = {
            "dtype": TYPES[tensor.dtype.name],
            "shape": tensor.shape,
            "data_offsets": [len(content), len(content) + len(values)],
        }
        content += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)
