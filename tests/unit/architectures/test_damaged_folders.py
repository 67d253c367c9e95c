"""Folders of language models of which moir cannot tell what they compute are errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import moir
from moir.errors import ModelFileError
from tests.unit.language_models.folders import HIDDEN, Array, weights, write_folder

UNTIED: dict[str, object] = {"tie_word_embeddings": False}

QUERY = "model.layers.0.self_attn.q_proj"


def refusal(folder: Path, tensors: dict[str, Array] | None = None, /, **keys: object) -> str:
    """The error that a folder is refused with."""
    with pytest.raises(ModelFileError) as caught:
        moir.convert_model(write_folder(folder / "m", tensors, **keys))
    return str(caught.value)


def test_a_missing_tensor(tmp_path: Path) -> None:
    tensors = weights()
    del tensors[f"{QUERY}.weight"]
    assert f"the tensor '{QUERY}.weight' is missing" in refusal(tmp_path, tensors)


def test_a_tensor_of_another_shape(tmp_path: Path) -> None:
    tensors = weights()
    tensors[f"{QUERY}.weight"] = tensors[f"{QUERY}.weight"][:-1]
    assert f"'{QUERY}.weight' is [{HIDDEN - 1}, {HIDDEN}] instead of [{HIDDEN}, {HIDDEN}]" in refusal(tmp_path, tensors)


def test_a_tensor_that_nothing_reads(tmp_path: Path) -> None:
    """A bias without the key that says so would be lost without a word."""
    tensors = weights()
    tensors[f"{QUERY}.bias"] = tensors["model.norm.weight"]
    assert f"1 tensors have no place in a model of llama: {QUERY}.bias" in refusal(tmp_path, tensors)


def test_tensors_without_effect_are_not_needed(tmp_path: Path) -> None:
    """An equal copy of the embeddings as the matrix of the logits, and the frequencies of former files."""
    tensors = weights()
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = tensors["model.norm.weight"][:2]
    written = moir.convert_model(write_folder(tmp_path / "m", tensors))
    assert str(written)


@pytest.mark.parametrize("is_tied", [True, False])
def test_another_matrix_of_the_logits_is_used(tmp_path: Path, is_tied: bool) -> None:
    """Transformers 5 does not tie matrices that a folder has both and that differ, whatever config.json says."""
    tensors = weights()
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"] + np.float32(1)
    written = str(moir.read_model(write_folder(tmp_path / "m", tensors, tie_word_embeddings=is_tied)))
    assert 'name = "lm_head.weight"' in written


@pytest.mark.parametrize("value", [0.5, "x", [1], {"factor": 2}])
def test_a_key_that_is_not_known(tmp_path: Path, value: object) -> None:
    assert "the key 'query_multiplier'" in refusal(tmp_path, query_multiplier=value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"num_local_experts": 2, "num_experts_per_tok": 3}, "3 of 2 experts cannot be chosen"),
        ({"num_local_experts": 1 << 20}, "experts cannot be chosen"),
        ({"num_local_experts": -1}, "-1 is not a possible number of experts"),
        ({}, "the tensor 'model.layers.0.block_sparse_moe.experts.0.w1.weight' is missing"),
    ],
)
def test_experts_that_are_not_possible(tmp_path: Path, keys: dict[str, object], message: str) -> None:
    assert message in refusal(tmp_path, model_type="mixtral", **keys)


def test_two_names_of_a_key(tmp_path: Path) -> None:
    keys = {"n_layer": 2, "num_hidden_layers": 1, "model_type": "falcon"}
    assert "'n_layer' is 2, but 'num_hidden_layers' is 1" in refusal(tmp_path, **keys)


@pytest.mark.parametrize(
    ("model_type", "keys", "message"),
    [
        ("glm4_moe", {"n_routed_experts": 10, "n_group": 4}, "10 experts in 4 groups"),
        ("glm4_moe", {"n_routed_experts": 8, "n_group": 4, "num_experts_per_tok": 3}, "3 experts cannot be chosen from 1 of 4 groups"),
        ("glm4_moe", {"n_shared_experts": -1}, "-1408 is not a possible number"),
        ("ernie4_5_moe", {"moe_layer_interval": 0}, "experts in each 0th layer are not possible"),
        ("deepseek_v3", {"scoring_func": "softmax"}, "'scoring_func' is 'softmax'; of this family moir knows 'sigmoid' alone"),
        ("deepseek_v3", {"kv_lora_rank": "x"}, "'kv_lora_rank' is 'x', not an integer"),
        ("lfm2", {"layer_types": ["mamba", "conv"]}, "'layer_types' has 2 entries for 1 layers"),
        ("lfm2", {"full_attn_idxs": "all"}, "'full_attn_idxs' is 'all', neither a list of layers nor their interval"),
        ("lfm2", {"conv_L_cache": 0}, "'conv_L_cache' is 0"),
        ("lfm2", {"block_multiple_of": 0}, "'block_multiple_of' is 0"),
        ("jamba", {"attn_layer_period": 2, "attn_layer_offset": 2}, "layer 2 ('attn_layer_offset') of each 2"),
        ("bamba", {"time_step_limit": [0.0, 1.0]}, "'time_step_limit' is [0.0, 1.0]; of this family moir knows [0.0, inf] alone"),
        ("nemotron_h", {**UNTIED, "layers_block_type": ["conv"]}, "layers of the kind 'conv' are not known"),
        (
            "nemotron_h",
            {**UNTIED, "hybrid_override_pattern": "M*"},
            "'hybrid_override_pattern' has 2 characters for 1 layers",
        ),
        ("gpt_neo", {"num_layers": 1, "attention_types": [[["local"], 2]]}, "'attention_types' has the entry [['local'], 2]"),
        ("gpt_neo", {"num_layers": 1, "attention_types": [[["far"], 1]]}, "does not say for each of 1 layers whether it is global"),
        ("exaone_moe", {"mlp_layer_types": ["sparser"]}, "'mlp_layer_types' has a layer 'sparser'"),
        ("llama", {"layer_types": ["mamba"]}, "layers of the kind 'mamba' are not known"),
    ],
)
def test_blocks_that_are_not_possible(tmp_path: Path, model_type: str, keys: dict[str, object], message: str) -> None:
    assert message in refusal(tmp_path, model_type=model_type, **keys)


def test_tensors_of_other_modalities(tmp_path: Path) -> None:
    """The language model of a multimodal folder has its configuration in `text_config`; other tensors are not read."""
    folder = write_folder(
        tmp_path / "m", {f"language_model.{name}": each for name, each in weights().items()} | {"vision.w": weights()[f"{QUERY}.weight"]}
    )
    inner = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({"model_type": "seeing", "text_config": inner, "vision_config": {}}))
    assert "input_ids" in str(moir.convert_model(folder))


def test_a_family_that_is_not_known(tmp_path: Path) -> None:
    error = refusal(tmp_path, model_type="lama")
    assert "there is no record of the family 'lama'" in error
    assert "did you mean llama?" in error


def test_a_key_that_is_spelt_otherwise(tmp_path: Path) -> None:
    error = refusal(tmp_path, attention_bais=True)
    assert "the key 'attention_bais' (True) is not known for this family; did you mean attention_bias?" in error


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"use_rope": False}, "the key 'use_rope' (False) is not known for this family"),
        ({"is_causal": False}, "the key 'is_causal' (False) is not known for this family"),
        ({"layer_types": ["sliding_attention"]}, "layers with windows are not known"),
        ({"layer_types": ["full_attention"] * 2}, "'layer_types' has 2 entries for 1 layers"),
        ({"rope_scaling": {"type": "spiral", "factor": 2.0}}, "rotary embeddings of the type 'spiral' are not known"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0, "twist": 1}}, "have no parameter 'twist'"),
        ({"num_key_value_heads": 3}, "2 heads cannot share 3 heads of keys"),
        ({"num_hidden_layers": -1}, "-1 layers"),
        ({"num_hidden_layers": 1 << 40}, "are not possible"),
        ({"hidden_act": None}, "names no activation"),
        ({"rms_norm_eps": float("nan")}, "'rms_norm_eps' is nan"),
        ({"rms_norm_eps": -1e-5}, "the epsilon of normalizations is -1e-05"),
        ({"head_dim": 0}, "'head_dim' is 0"),
        ({"partial_rotary_factor": 0.0}, "'partial_rotary_factor' is 0.0"),
        ({"rope_parameters": {"rope_theta": 0.0}}, "'rope_theta' is 0.0"),
        ({"model_type": "bert", "rms_norm_eps": None, "is_decoder": True}, "'is_decoder' is true; encoders"),
        ({"model_type": "deepseek_v2", "kv_lora_rank": 4, "topk_method": "noaux_tc"}, "'greedy' and 'group_limited_greedy' alone"),
        ({"hidden_size": [8]}, "'hidden_size' is list"),
    ],
)
def test_values_that_are_not_possible(tmp_path: Path, keys: dict[str, object], message: str) -> None:
    assert message in refusal(tmp_path, **keys)


VALUES = (
    *(None, 0, -1, 1 << 40, 0.5, 1e308, "x", "", True, False, [], ["a"], [None], {}),
    *({"rope_type": "yarn", "factor": "a"}, {"full_attention": 3}, {"type": "dynamic", "alpha": "a"}, {"alibi_bias_max": [], "qk_ln": 1}),
)
KEYS = (
    *("model_type", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim"),
    *("max_position_embeddings", "rms_norm_eps", "hidden_act", "rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor"),
    *("vocab_size", "tie_word_embeddings", "sliding_window", "layer_types", "attention_bias", "mlp_bias"),
    *("quantization_config", "compression_config"),
)


KEYS_OF_BLOCKS = {
    "deepseek_v3": "n_group topk_group n_routed_experts n_shared_experts routed_scaling_factor kv_lora_rank q_lora_rank v_head_dim "
    "qk_rope_head_dim qk_nope_head_dim first_k_dense_replace rope_interleave num_nextn_predict_layers",
    "ernie4_5_moe": "moe_layer_interval moe_layer_start_index moe_layer_end_index moe_norm_min moe_k use_bias",
    "phimoe": "router_jitter_noise rope_scaling lm_head_bias",
    "qwen3_next": "linear_num_key_heads linear_num_value_heads linear_key_head_dim linear_conv_kernel_dim full_attention_interval",
    "lfm2": "conv_L_cache full_attn_idxs block_auto_adjust_ff_dim block_ffn_dim_multiplier block_multiple_of conv_bias",
    "mamba": "state_size expand conv_kernel time_step_rank use_conv_bias",
    "jamba": "attn_layer_period attn_layer_offset expert_layer_period expert_layer_offset mamba_dt_rank num_experts",
    "granitemoehybrid": "mamba_n_heads mamba_n_groups mamba_expand num_local_experts position_embedding_type time_step_limit",
    "nemotron_h": "layers_block_type hybrid_override_pattern mamba_num_heads n_groups n_routed_experts",
    "gpt_neo": "attention_types window_size",
    "mpt": "attn_config d_model n_heads expansion_ratio",
    "hunyuan_v1_dense": "rope_scaling",
    "nanochat": "final_logit_softcapping",
}


@pytest.mark.parametrize(
    ("model_type", "key"),
    [
        *((model_type, key) for model_type in ("llama", "mistral") for key in KEYS),
        *((model_type, key) for model_type, keys in KEYS_OF_BLOCKS.items() for key in keys.split()),
    ],
)
def test_values_that_make_no_sense_are_errors_of_the_file(tmp_path: Path, model_type: str, key: str) -> None:
    folder = write_folder(tmp_path / "m", model_type=model_type)
    configuration = json.loads((folder / "config.json").read_text())
    messages: list[str] = []
    for value in VALUES:
        (folder / "config.json").write_text(json.dumps(configuration | {key: value}))
        try:
            moir.read_model(folder)
        except ModelFileError as error:
            messages.append(str(error))
    assert messages
    assert not any("\n" in each for each in messages)
