"""Sizes, windows, chunks and factors of single layers, as config.json says them in several spellings."""

from __future__ import annotations

from typing import Any

import pytest

from moir.architectures.families import family_of
from moir.architectures.record import Configuration
from moir.errors import ModelFileError
from moir.frontends.huggingface.configuration import configured
from moir.frontends.huggingface.keys import Keys

SIZES = {
    **{"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2},
    **{"vocab_size": 64, "max_position_embeddings": 64, "head_dim": 8},
}

KINDS = ["sliding_attention", "full_attention"] * 2


def configuration(model_type: str, **keys: object) -> Configuration:
    """The configuration of a model."""
    family = family_of(model_type)
    assert family is not None
    return configured(family, Keys({"model_type": model_type, **SIZES, **keys}, "config.json"))[1]


def of_layers(sizes: Configuration, field: str) -> list[Any]:
    """A field of all layers."""
    return [getattr(sizes.of_layer(layer), field) for layer in range(sizes.layers)]


@pytest.mark.parametrize(
    ("keys", "head_sizes", "key_heads"),
    [
        ({"global_head_dim": 16}, [8, 16, 8, 16], [2, 2, 2, 2]),
        ({"global_head_dim": 16, "num_global_key_value_heads": 1}, [8, 16, 8, 16], [2, 2, 2, 2]),
        ({"global_head_dim": 16, "num_global_key_value_heads": 1, "attention_k_eq_v": True}, [8, 16, 8, 16], [2, 1, 2, 1]),
        ({"per_layer_config": {}}, [8, 8, 8, 8], [2, 2, 2, 2]),
        ({"per_layer_config": {"1": {"head_dim": 16, "num_key_value_heads": 1}, "3": {"head_dim": 16}}}, [8, 16, 8, 16], [2, 1, 2, 2]),
    ],
)
def test_sizes_of_heads_of_gemma_4(keys: dict[str, object], head_sizes: list[int], key_heads: list[int]) -> None:
    sizes = configuration("gemma4_text", layer_types=KINDS, sliding_window=4, hidden_size_per_layer_input=0, **keys)
    assert (of_layers(sizes, "head_size"), of_layers(sizes, "key_heads")) == (head_sizes, key_heads)


def test_the_last_layer_of_gemma_4_sees_all() -> None:
    sizes = configuration("gemma4_text", layer_types=["full_attention", *["sliding_attention"] * 3], sliding_window=4)
    assert sizes.windows == (0, 4, 4, 0)


@pytest.mark.parametrize(("count", "sources"), [(0, ()), (1, (0, 1, 2, 1)), (2, (0, 1, 0, 1))])
def test_layers_that_use_the_keys_of_others(count: int, sources: tuple[int, ...]) -> None:
    sizes = configuration("gemma3n_text", layer_types=KINDS, num_kv_shared_layers=count)
    assert sizes.sources == sources


def test_wider_networks_of_layers_that_use_the_keys_of_others() -> None:
    sizes = configuration("gemma4_text", layer_types=KINDS, num_kv_shared_layers=2, use_double_wide_mlp=True)
    assert of_layers(sizes, "feed_forward") == [48, 48, 96, 96]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"num_kv_shared_layers": 4}, "4 of 4 layers cannot use the keys of others"),
        ({"num_kv_shared_layers": 3}, "no layer before layer 1 has the window of layer 1"),
        ({"intermediate_size": [48, 48]}, "'intermediate_size' has 2 entries for 4 layers"),
        ({"intermediate_size": [48, 0, 48, 48]}, "'intermediate_size' has the entry 0"),
        ({"activation_sparsity_pattern": [1.0] * 4}, "'activation_sparsity_pattern' has the entry 1.0"),
    ],
)
def test_sizes_of_layers_that_are_not_possible(keys: dict[str, object], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        configuration("gemma3n_text", **{"layer_types": KINDS, "num_kv_shared_layers": 0, **keys})


@pytest.mark.parametrize(
    "keys", [{"9": {"head_dim": 8}}, {"x": {}}, {"0": 3}, {"0": {"hidden_size": 8}}, {"0": {"head_dim": 0}}, {"0": {"head_dim": True}}]
)
def test_keys_of_layers_that_are_not_possible(keys: dict[str, object]) -> None:
    with pytest.raises(ModelFileError):
        configuration("gemma4_text", layer_types=KINDS, per_layer_config=keys)


@pytest.mark.parametrize(
    ("keys", "chunks", "rotated"),
    [
        ({"attention_chunk_size": 8}, (8, 8, 8, 0), [True, True, True, False]),
        ({"attention_chunk_size": 8, "no_rope_layers": [1, 0, 1, 0]}, (8, 0, 8, 0), [True, False, True, False]),
        ({"attention_chunk_size": 8, "no_rope_layers": [], "no_rope_layer_interval": 2}, (8, 0, 8, 0), [True, False, True, False]),
        ({"attention_chunk_size": 8, "layer_types": ["chunked_attention"] * 4}, (8, 8, 8, 8), [True, True, True, False]),
        ({"attention_chunk_size": 64}, (), [True, True, True, False]),
        ({"attention_chunk_size": None}, (), [True, True, True, False]),
    ],
)
def test_chunks_and_rotations_of_llama_4(keys: dict[str, object], chunks: tuple[int, ...], rotated: list[bool]) -> None:
    sizes = configuration("llama4_text", **keys)
    assert (sizes.chunks, [each is not None for each in sizes.rotary]) == (chunks, rotated)


def test_chunks_of_other_families_are_refused() -> None:
    with pytest.raises(ModelFileError, match="layers with chunks are not known for this family"):
        configuration("llama", layer_types=["chunked_attention"] * 4)


def test_chunks_of_no_tokens_are_refused() -> None:
    with pytest.raises(ModelFileError, match="chunks of 0 tokens are not possible"):
        configuration("llama4_text", attention_chunk_size=0)


def test_a_base_of_rotations_for_each_layer() -> None:
    sizes = configuration("granite_swa", layer_rope_theta=[1e4, 0.0, None, 5e5])
    assert [each and each.theta for each in sizes.rotary] == [1e4, None, None, 5e5]
    with pytest.raises(ModelFileError, match="'layer_rope_theta' has the entry -1"):
        configuration("granite_swa", layer_rope_theta=[1e4, -1, 1e4, 1e4])


def test_quotients_of_keys() -> None:
    sizes = configuration("minicpm", scale_emb=12, scale_depth=1.4, dim_model_base=8)
    assert (sizes.embedding_scale, sizes.residual_scale, sizes.logits_scale) == (12, 0.7, 0.25)
    assert configuration("minicpm3", scale_depth=None, dim_model_base=None).residual_scale == 1


@pytest.mark.parametrize("model_type", ["gemma2", "gemma3_text", "recurrent_gemma", "gemma3n_text"])
@pytest.mark.parametrize("size", [0, -1])
def test_roots_of_impossible_sizes(model_type: str, size: int) -> None:
    with pytest.raises(ModelFileError, match=rf"'hidden_size' is {size}"):
        configuration(model_type, hidden_size=size)


def test_factors_of_lists() -> None:
    lists: dict[str, object] = {"mlp_multipliers": [0.5, 1.0], "ssm_multipliers": [1.0, 1.0, 3.0, 1.0, 1.0]}
    keys: dict[str, object] = {"mamba_n_heads": 4, "mamba_d_ssm": 64, **lists}
    assert configuration("falcon_h1", **keys).factors == {"gate": 0.5, "state space inputs": 3.0}
    with pytest.raises(ModelFileError, match="'mlp_multipliers' has no number at index 1"):
        configuration("falcon_h1", **{**keys, "mlp_multipliers": [0.5]})


@pytest.mark.parametrize(
    ("model_type", "keys"),
    [
        ("glm4_moe_lite", {"first_k_dense_replace": 3}),
        ("qwen3_moe", {"decoder_sparse_step": 3, "mlp_only_layers": [1], "num_experts": 4, "num_experts_per_tok": 2}),
        ("ernie4_5_moe", {"moe_layer_interval": 2, "moe_layer_start_index": 1, "moe_layer_end_index": 2}),
    ],
)
def test_a_list_of_layers_with_experts_precedes_the_rule(model_type: str, keys: dict[str, object]) -> None:
    sizes = configuration(model_type, mlp_layer_types=["dense", "sparse", "sparse", "dense"], **keys)
    assert [each is not None for each in sizes.experts] == [False, True, True, False]
