"""Files of Gemma 4, whose layers with windows have other sizes than the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from moir.errors import ModelFileError
from tests.unit.frontends.gguf.test_reading import keys_of
from tests.unit.frontends.gguf.written_files import llama_tensors
from tests.unit.language_models.folders import Array

SIZES: dict[str, object] = {
    **{"block_count": 4, "attention.sliding_window": 8, "attention.sliding_window_pattern": [True, False, True, False]},
    **{"attention.key_length": 8, "attention.value_length": 8, "attention.key_length_swa": 4, "attention.value_length_swa": 4},
    **{"rope.dimension_count": 8, "rope.dimension_count_swa": 4, "rope.freq_base_swa": 5.0, "attention.shared_kv_layers": 2},
    **{"attention.head_count_kv": [2, 1, 2, 1], "feed_forward_length": [3, 3, 6, 6], "embedding_length_per_layer_input": 0},
}


def tensors(divisors: list[float], has_values: bool = True) -> dict[str, Array]:
    """Tensors with divisors of the frequencies, and values of the layer without a window."""
    own = {"blk.1.attn_v.weight": np.zeros((8, 8), np.float32)} if has_values else {}
    return llama_tensors() | own | {"rope_freqs.weight": np.array(divisors, np.float32)}


def test_sizes_of_both_kinds_of_layers(tmp_path: Path) -> None:
    actual = keys_of(tmp_path, "gemma4", SIZES, tensors([1, 1e30, 1e30, 1e30]))
    expected = {
        **{"head_dim": 4, "global_head_dim": 8, "num_key_value_heads": 2, "num_global_key_value_heads": 1, "attention_k_eq_v": False},
        **{"intermediate_size": 3, "use_double_wide_mlp": True, "num_kv_shared_layers": 2, "enable_moe_block": False},
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.25},
        "rope_local_base_freq": 5.0,
    }
    assert {key: actual[key] for key in expected} == expected


def test_layers_without_values_use_the_keys(tmp_path: Path) -> None:
    assert keys_of(tmp_path, "gemma4", SIZES, tensors([1, 1, 1, 1], has_values=False))["attention_k_eq_v"] is True


@pytest.mark.parametrize(
    ("keys", "divisors", "message"),
    [
        ({"attention.head_count_kv": [2, 1, 1, 1]}, [1, 1], "differs in layers of one kind"),
        ({"feed_forward_length": [3, 4, 6, 6]}, [1, 1], "blocks of [3, 4, 6, 6] features are not possible"),
        ({"attention.value_length_swa": 2}, [1, 1], "'gemma4.attention.value_length_swa' is not 4, the size of a key"),
        ({"feed_forward_length": [3, 3]}, [1, 1], "has not a possible number for each of 4 layers"),
        ({}, [1, 2], "has other numbers than 1 and, after them, those of angles 0"),
        ({"attention.sliding_window": None}, [1, 1], "the key 'gemma4.attention.sliding_window' is missing"),
    ],
)
def test_sizes_that_are_not_possible(tmp_path: Path, keys: dict[str, object], divisors: list[float], message: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        keys_of(tmp_path, "gemma4", {**SIZES, **keys}, tensors(divisors))
    assert message in str(caught.value)
