"""Files of DeepSeek: the sizes of heads in both spellings, and the matrix that expands keys and values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from moir.architectures.stored_weight import StoredWeight
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f16, f32, ui8
from moir.errors import ModelFileError
from moir.frontends.gguf.latent import joined
from tests.unit.frontends.gguf.test_reading import keys_of

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


def test_the_factor_of_the_scores_is_stored_as_a_tenth(tmp_path: Path) -> None:
    scaling = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 8}
    actual = keys_of(tmp_path, "deepseek2", {**SIZES, **scaling, "rope.scaling.yarn_log_multiplier": 0.0707})
    expected = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "mscale": 0.707, "mscale_all_dim": 0.707}
    assert actual["rope_scaling"] == expected


def test_impossible_sizes(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="heads of 2 features for keys and 5 for values, 2 of them rotated, are not possible"):
        keys_of(tmp_path, "deepseek2", {**SIZES, "attention.key_length": 2})


def test_keys_are_transposed_and_values_dequantized() -> None:
    keys = np.arange(2 * 4 * 3, dtype=np.float32).reshape(2, 4, 3)
    codes = np.arange(2 * 5 * 4, dtype=np.uint8).reshape(2, 5, 2, 2)
    scale, zero = np.full((2, 5, 2, 1), 0.5, np.float16), np.full((2, 5, 2, 1), 1.5, np.float32)
    values = StoredWeight(DataAttr.of(codes, ui8), DataAttr.of(scale, f16), DataAttr.of(zero, f32), is_grouped=True)
    actual = np.asarray(joined(StoredWeight(DataAttr.of(keys, f32)), values).codes.array).reshape(2, 8, 4)
    np.testing.assert_array_equal(actual[:, :3], keys.swapaxes(1, 2))
    np.testing.assert_array_equal(actual[:, 3:], (codes.reshape(2, 5, 4) - np.float32(1.5)) * np.float32(0.5))
