"""Files of DeepSeek: the sizes of heads in both spellings, and the matrix that expands keys and values."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import moir
from moir.dialects.computed_rows import MergedRows
from moir.errors import ModelFileError
from moir.frontends.gguf.container import StoredTensor
from moir.frontends.gguf.latent import joined
from moir.frontends.gguf.weights import floats_of
from tests.unit.frontends.gguf.test_blocks import BY_NAME, DEFINITIONS, random_rows
from tests.unit.frontends.gguf.test_reading import keys_of
from tests.unit.frontends.gguf.written_files import Stored, metadata, write_file
from tests.unit.language_models.folders import WORDS

SIZES: dict[str, object] = {
    **{"attention.kv_lora_rank": 8, "attention.key_length": 6, "attention.value_length": 5, "rope.dimension_count": 2},
    **{"expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 3},
}

NEWER: dict[str, object] = {
    **{**SIZES, "attention.key_length_mla": 6, "attention.value_length_mla": 5, "attention.head_count_kv": 1},
    **{"attention.key_length": 10, "attention.value_length": 8},
}


@pytest.mark.parametrize("sizes", [SIZES, NEWER])
def test_the_sizes_of_heads(tmp_path: Path, sizes: dict[str, object]) -> None:
    actual = keys_of(tmp_path, "deepseek2", sizes)
    expected = {"qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 5, "kv_lora_rank": 8, "q_lora_rank": None}
    assert expected.items() <= actual.items()
    assert (actual["model_type"], actual["n_group"], actual["topk_group"]) == ("deepseek_v2", 1, 1)


def test_the_router_names_the_family(tmp_path: Path) -> None:
    keys = {**SIZES, "expert_gating_func": 2, "expert_group_count": 2, "expert_group_used_count": 1, "attention.q_lora_rank": 7}
    actual = keys_of(tmp_path, "deepseek2", keys)
    assert (actual["model_type"], actual["n_group"], actual["topk_group"], actual["q_lora_rank"]) == ("deepseek_v3", 2, 1, 7)


@pytest.mark.parametrize(
    ("keys", "norm", "scale"), [({}, False, 1.0), ({"expert_weights_norm": True, "expert_weights_scale": 2.0}, True, 2.0)]
)
def test_weights_of_experts_that_the_file_leaves_out(tmp_path: Path, keys: dict[str, object], norm: bool, scale: float) -> None:
    """Files never say that a normalization is off, whatever the family's own default."""
    actual = keys_of(tmp_path, "deepseek2", {**SIZES, "expert_gating_func": 2, **keys})
    assert (actual["norm_topk_prob"], actual["routed_scaling_factor"]) == (norm, scale)


def test_the_factor_of_the_scores_is_stored_as_a_tenth(tmp_path: Path) -> None:
    scaling = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 8}
    actual = keys_of(tmp_path, "deepseek2", {**SIZES, **scaling, "rope.scaling.yarn_log_multiplier": 0.0707})
    expected = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "mscale": 0.707, "mscale_all_dim": 0.707}
    assert actual["rope_scaling"] == expected


def test_impossible_sizes(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="heads of 2 features for keys and 5 for values, 2 of them rotated, are not possible"):
        keys_of(tmp_path, "deepseek2", {**SIZES, "attention.key_length": 2})


@pytest.mark.parametrize("name", ["Q4_0", "Q5_0", "Q8_0", "MXFP4", "Q2_K", "Q4_K", "Q6_K"])
def test_keys_are_transposed_and_values_decoded(name: str) -> None:
    type, plain = BY_NAME[name], np.arange(2 * 256 * 3, dtype=np.float32).reshape(2, 256, 3)
    rows = random_rows(name, 2 * 5, 256 // type.count)
    blocks = rows.reshape(-1, type.size)
    numbers = [DEFINITIONS[name](block.tobytes(), index) for block in blocks for index in range(type.count)]
    keys = StoredTensor("k", BY_NAME["F32"], plain.shape, plain.view(np.uint8))
    values = StoredTensor("v", type, (2, 5, 256), rows.reshape(2, 5, -1))
    actual = joined(keys, values).codes.array.reshape(2, 8, 256)
    np.testing.assert_array_equal(actual[:, :3], plain.swapaxes(1, 2))
    np.testing.assert_allclose(actual[:, 3:], np.array(numbers).reshape(2, 5, 256), rtol=1e-6, atol=1e-6)


def drawn_tensor(name: str, shape: tuple[int, ...], draw: np.random.Generator) -> StoredTensor:
    """A tensor of f32."""
    return StoredTensor(name, BY_NAME["F32"], shape, draw.standard_normal(shape).astype(np.float32).view(np.uint8))


def test_blocks_of_the_joined_matrix() -> None:
    draw = np.random.default_rng(0)
    keys, values = drawn_tensor("k", (5, 64, 48), draw), drawn_tensor("v", (5, 40, 64), draw)
    matrix = joined(keys, values).codes.values
    assert isinstance(matrix, MergedRows)
    expected = np.concatenate([floats_of(keys.type, keys.rows).swapaxes(1, 2), floats_of(values.type, values.rows)], 1).reshape(-1, 64)
    np.testing.assert_array_equal(np.asarray(matrix), expected)
    for index in ((slice(0, 88), slice(None)), (slice(87, 89), slice(3, 9)), (slice(100, 440), slice(None)), (slice(430, 999), slice(1))):
        np.testing.assert_array_equal(matrix.block(index), expected[index])
    np.testing.assert_array_equal(matrix.elements(5000, 17001), expected.reshape(-1)[5000:17001])
    np.testing.assert_array_equal(np.asarray(matrix.rows(lambda array: array[::-2])), expected[::-2])


def write_large(path: Path, layers: int, heads: int, rank: int) -> None:
    """A file whose layers have the matrices of keys and values apart, and little else."""
    size, hidden, inner = 64, 32, 32
    keys: dict[str, object] = {
        **{"block_count": layers, "embedding_length": hidden, "attention.head_count": heads, "attention.head_count_kv": 1},
        **{"attention.kv_lora_rank": rank, "rope.dimension_count": 2, "leading_dense_block_count": layers, "vocab_size": len(WORDS)},
        **{"attention.key_length_mla": size + 2, "attention.value_length_mla": size, "feed_forward_length": inner},
        **{"attention.key_length": rank + 2, "attention.value_length": rank, "expert_weights_scale": 1.0, "expert_weights_norm": False},
        **{"expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 3, "expert_shared_count": 1},
    }
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (len(WORDS), hidden), "output": (len(WORDS), hidden), "output_norm": (hidden,)}
    for layer in range(layers):
        of_layer = {
            **{"attn_norm": (hidden,), "ffn_norm": (hidden,), "attn_q": (heads * (size + 2), hidden), "attn_kv_a_norm": (rank,)},
            **{"attn_kv_a_mqa": (rank + 2, hidden), "attn_k_b": (heads, rank, size), "attn_v_b": (heads, size, rank)},
            **{"attn_output": (hidden, heads * size), "ffn_gate": (inner, hidden), "ffn_up": (inner, hidden), "ffn_down": (hidden, inner)},
        }
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in of_layer.items()}
    kind, draw = BY_NAME["Q8_0"], np.random.default_rng(0)
    tensors: dict[str, Stored] = {}
    for name, shape in shapes.items():
        if name.endswith("_b"):
            rows = draw.integers(0, 255, (math.prod(shape) // kind.count, kind.size), np.uint8)
            rows[:, :2] = np.full((len(rows), 1), 0.01, "<f2").view(np.uint8)
            tensors[f"{name}.weight"] = (8, shape, rows.tobytes())
        else:
            tensors[f"{name}.weight"] = draw.standard_normal(shape).astype(np.float32)
    write_file(path, metadata("deepseek2", keys), tensors)


@pytest.mark.parametrize("compression", [None, "int8", "int4"])
def test_joined_matrices_do_not_stand_in_memory(tmp_path: Path, compression: str | None) -> None:
    layers, heads, rank = 4, 32, 512
    write_large(tmp_path / "small.gguf", 1, 2, 32)
    write_large(tmp_path / "large.gguf", layers, heads, rank)
    for name in ("small", "large"):
        # What is imported and cached is not counted.
        tracemalloc.start()
        try:
            moir.save_model(moir.convert_model(tmp_path / f"{name}.gguf", compress_weights=compression), tmp_path / f"{name}.xml")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    count = layers * heads * 128 * rank
    assert (tmp_path / "large.bin").stat().st_size > count * {"int8": 1, "int4": 0.5}.get(compression or "", 4)
    assert peak < 12e6, f"{peak / 1e6:.1f} MB for matrices of {count * 4 / 1e6:.0f} MB"
