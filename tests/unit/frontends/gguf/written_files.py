"""Files in GGUF as llama.cpp writes them, of a tiny model."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.unit.language_models.folders import HIDDEN, INNER, WORDS, weights

Array = np.ndarray[Any, Any]

Stored = Array | tuple[int, tuple[int, ...], bytes]
"""A tensor of numbers; or the number of its type, its shape and its bytes."""

ALIGNMENT = 32

TYPES = {"float32": 0, "float16": 1}
"""The numbers of the types of tensors, by those of numpy."""

NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output", "model.layers.": "blk.",
    "self_attn.o_proj": "attn_output", "self_attn.": "attn_", "mlp.": "ffn_", "_proj": "", "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}  # fmt: skip
"""What takes the place of parts of names in folders."""

KEYS: Mapping[str, object] = {
    "block_count": 1, "embedding_length": HIDDEN, "feed_forward_length": INNER, "context_length": 32, "attention.head_count": 2,
    "attention.head_count_kv": 1, "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 10000.0,
}  # fmt: skip

TOKENIZER: Mapping[str, object] = {
    "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": list(WORDS), "tokenizer.ggml.scores": [0.0] * len(WORDS),
    "tokenizer.ggml.token_type": [3, 3, 1, 1, 1, 1], "tokenizer.ggml.bos_token_id": 0, "tokenizer.ggml.eos_token_id": 1,
}  # fmt: skip


def metadata(architecture: str = "llama", keys: Mapping[str, object] | None = None) -> dict[str, object]:
    """The metadata of the model: the keys of its architecture, with further ones, and its tokenizer. None is left out."""
    own = {f"{architecture}.{name}": value for name, value in {**KEYS, **(keys or {})}.items() if value is not None}
    return {"general.architecture": architecture, **own, **TOKENIZER}


def stored(tensors: Mapping[str, Array]) -> dict[str, Array]:
    """The tensors of a folder by their names in a file."""
    result: dict[str, Array] = {}
    for name, value in tensors.items():
        for part, other in NAMES.items():
            name = name.replace(part, other)
        result[name] = value
    return result


def permuted(rows: Array, heads: int) -> Array:
    """Rows of queries or keys in the order of pairs that are rotated together, as files of `llama` have them."""
    return rows.reshape(heads, 2, len(rows) // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def llama_tensors() -> dict[str, Array]:
    """The tensors of the model."""
    tensors = stored(weights())
    for name, heads in (("q", 2), ("k", 1)):
        tensors[f"blk.0.attn_{name}.weight"] = permuted(tensors[f"blk.0.attn_{name}.weight"], heads)
    return tensors


def write_file(
    path: Path,
    values: Mapping[str, object] | None = None,
    tensors: Mapping[str, Stored] | None = None,
    *,
    version: int = 3,
    alignment: int = ALIGNMENT,
) -> Path:
    """Write a file.

    Args:
        path: the file.
        values: the metadata; that of the model by default.
        tensors: the tensors by name; those of the model by default.
        version: the version in the header.
        alignment: the number of which the places of tensors are multiples.
    """
    values = metadata() if values is None else values
    entries = [(name, *_parts(value)) for name, value in (llama_tensors() if tensors is None else tensors).items()]
    header = b"GGUF" + struct.pack("<IQQ", version, len(entries), len(values))
    header += b"".join(text(name) + tagged(value) for name, value in values.items())
    content = b""
    for name, kind, shape, data in entries:
        header += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape)) + struct.pack("<IQ", kind, len(content))
        content += data + bytes(-len(data) % alignment)
    path.write_bytes(header + bytes(-len(header) % alignment) + content)
    return path


def _parts(value: Stored) -> tuple[int, tuple[int, ...], bytes]:
    return value if isinstance(value, tuple) else (TYPES[value.dtype.name], value.shape, value.tobytes())


def text(value: str) -> bytes:
    """A string."""
    return struct.pack("<Q", len(value.encode())) + value.encode()


def tagged(value: object) -> bytes:
    """A value after the number of its type: u32, f32, strings, flags, and arrays of them."""
    kind, content = _value(value)
    return struct.pack("<I", kind) + content


def _value(value: object) -> tuple[int, bytes]:
    match value:
        case bool():
            return 7, struct.pack("<?", value)
        case int():
            return 4, struct.pack("<I", value)
        case float():
            return 6, struct.pack("<f", value)
        case str():
            return 8, text(value)
        case Sequence():
            parts = [_value(each) for each in value]
            return 9, struct.pack("<IQ", parts[0][0], len(parts)) + b"".join(content for _, content in parts)
        case _:
            raise TypeError(type(value).__name__)
