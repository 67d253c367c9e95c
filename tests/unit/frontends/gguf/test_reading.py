"""What a file says, and what it cannot say: keys, tensors, families."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from moir.architectures.families import architecture_of
from moir.architectures.record import Configuration
from moir.dialects.framework import FrameworkOp
from moir.errors import ModelFileError
from moir.frontends.gguf import read_model
from moir.frontends.gguf.checkpoint import FileCheckpoint
from moir.frontends.gguf.container import Container
from moir.frontends.gguf.model import described
from moir.frontends.gguf.rotary import divisors_of
from moir.frontends.gguf.spellings import SPELLINGS
from moir.frontends.huggingface.configuration import configured
from tests.unit.frontends.gguf.written_files import Array, Stored, llama_tensors, metadata, permuted, write_file
from tests.unit.frontends.stored_values import values
from tests.unit.language_models.folders import HIDDEN, INNER

NUMBERS = np.random.default_rng(0)


def keys_of(
    path: Path, architecture: str, keys: dict[str, object] | None = None, tensors: dict[str, Array] | None = None
) -> dict[str, object]:
    """The keys of the config.json of a file of an architecture."""
    write_file(path / "m.gguf", metadata(architecture, keys), tensors)
    return dict(described(Container(path / "m.gguf"))[2].values)


def test_every_architecture_has_a_record() -> None:
    names = {name for each in SPELLINGS.values() for name in (each.family, *each.variants.values())}
    assert [name for name in sorted(names) if architecture_of(name) is None] == []


def test_the_keys_of_config_json(tmp_path: Path) -> None:
    assert keys_of(tmp_path, "llama") == {
        "model_type": "llama", "num_hidden_layers": 1, "hidden_size": HIDDEN, "intermediate_size": INNER, "num_attention_heads": 2,
        "num_key_value_heads": 1, "head_dim": 4, "max_position_embeddings": 32, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "vocab_size": 6, "tie_word_embeddings": True, "attention_bias": False, "mlp_bias": False,
    }  # fmt: skip


def test_biases_and_logits_are_where_their_tensors_are(tmp_path: Path) -> None:
    tensors = llama_tensors()
    tensors |= {"output.weight": tensors["token_embd.weight"], "blk.0.attn_q.bias": np.zeros(HIDDEN, np.float32)}
    actual = keys_of(tmp_path, "llama", tensors=tensors)
    assert (actual["tie_word_embeddings"], actual["attention_bias"], actual["mlp_bias"]) == (False, True, False)
    names = [str(op.attributes["name"]) for op in read_model(tmp_path / "m.gguf").walk() if "name" in op.attributes]
    assert {'"blk.0.attn_q.bias"', '"output.weight"'} <= set(names)


@pytest.mark.parametrize(
    ("architecture", "keys", "expected"),
    [
        ("llama", {"attention.sliding_window": 8}, {"model_type": "mistral", "sliding_window": 8}),
        ("llama", {"attention.sliding_window": 0}, {"model_type": "llama"}),
        ("gemma2", {"attn_logit_softcapping": 20.0}, {"sliding_window": None, "query_pre_attn_scalar": 4, "attn_logit_softcapping": 20.0}),
        ("gemma2", {"block_count": 46, "context_length": 8192}, {"sliding_window": 4096, "query_pre_attn_scalar": 4.0}),
        ("gemma3", {"attention.key_length": 6, "block_count": 62}, {"sliding_window": None, "query_pre_attn_scalar": 4.0, "head_dim": 6}),
        (
            "gemma3",
            {"block_count": 3, "attention.sliding_window": 8, "attention.sliding_window_pattern": [True, True, False]},
            {"sliding_window": 8, "layer_types": ["sliding_attention", "sliding_attention", "full_attention"]},
        ),
        (
            "gemma3",
            {"block_count": 2, "attention.sliding_window": 8, "attention.sliding_window_pattern": 2, "rope.freq_base_swa": 5.0},
            {"layer_types": ["sliding_attention", "full_attention"], "rope_local_base_freq": 5.0},
        ),
        ("qwen2", {}, {"use_sliding_window": False}),
        ("phi3", {"attention.sliding_window": 9}, {"sliding_window": 9}),
        ("phi3", {"rope.dimension_count": 2}, {"partial_rotary_factor": 0.5}),
        ("granite", {"logit_scale": 4.0, "attention.scale": 0.5}, {"logits_scaling": 4.0, "attention_multiplier": 0.5}),
        ("granite", {"logit_scale": 4.0}, {"attention_multiplier": 0.5}),
        ("llama", {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}, {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
        ("llama", {"rope.scaling.factor": 4.0}, {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
        ("llama", {"rope.scaling.type": "none", "rope.scaling.original_context_length": 4}, {"model_type": "llama"}),
        (
            "qwen3",
            {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 8},
            {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8}},
        ),
        (
            "gpt-oss",
            {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.yarn_beta_fast": 16.0, "attention.sliding_window": 4,
             "expert_count": 3, "expert_used_count": 2, "expert_feed_forward_length": 7},
            {"rope_scaling": {"truncate": False, "rope_type": "yarn", "factor": 4.0, "beta_fast": 16.0}, "num_local_experts": 3,
             "intermediate_size": 7},
        ),
        (
            "llama",
            {"expert_count": 3, "expert_used_count": 2, "expert_weights_norm": True, "expert_gating_func": 1},
            {"model_type": "mixtral", "num_local_experts": 3, "num_experts_per_tok": 2, "intermediate_size": INNER},
        ),
        ("llama", {"expert_count": 0, "expert_used_count": 0}, {"model_type": "llama"}),
        ("llama", {"attention.head_count": [2, 2], "block_count": 2}, {"num_attention_heads": 2}),
        ("olmo2", {"attention.sliding_window": 8}, {"model_type": "olmo3", "sliding_window": 8}),
        (
            "granitehybrid",
            {"attention.head_count_kv": [0, 1], "block_count": 2, "ssm.inner_size": 2 * HIDDEN, "ssm.time_step_rank": 4},
            {"position_embedding_type": "nope", "layer_types": ["conv", "full_attention"], "mamba_d_head": HIDDEN // 2},
        ),
        (
            "granitehybrid",
            {"attention.head_count_kv": [0, 1], "block_count": 2, "rope.scaling.finetuned": True, "ssm.inner_size": HIDDEN},
            {"position_embedding_type": "rope", "rope_theta": 10000.0},
        ),
        (
            "minicpm",
            {"embedding_scale": 12.0, "residual_scale": 0.5, "logit_scale": 4.0},
            {"model_type": "granite", "embedding_multiplier": 12.0, "residual_multiplier": 0.5, "logits_scaling": 4.0},
        ),
        (
            "dbrx",
            {"expert_count": 4, "expert_used_count": 2, "attention.clamp_kqv": 8.0, "attention.layer_norm_epsilon": 1e-5},
            {"n_layers": 1, "ffn_config.moe_top_k": 2, "ffn_config.ffn_hidden_size": INNER, "attn_config.clip_qkv": 8.0},
        ),
        (
            "llama4",
            {"expert_count": 128, "expert_used_count": 1, "expert_feed_forward_length": 5, "interleave_moe_layer_step": 2},
            {"use_qk_norm": False, "intermediate_size": 5, "intermediate_size_mlp": INNER, "moe_layers": []},
        ),
        (
            "mistral3",
            {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 8,
             "rope.scaling.yarn_log_multiplier": 1.0, "attention.temperature_scale": 0.1},
            {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "mscale": 1.0,
                              "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}},
        ),
        (
            "glm4moe",
            {"block_count": 3, "nextn_predict_layers": 1, "expert_count": 4, "expert_used_count": 2, "expert_gating_func": 2,
             "expert_feed_forward_length": 7, "leading_dense_block_count": 1, "expert_shared_count": 1},
            {"num_hidden_layers": 2, "n_routed_experts": 4, "first_k_dense_replace": 2, "n_shared_experts": 0},
        ),
        (
            "mamba",
            {"attention.head_count": 0, "ssm.inner_size": 2 * HIDDEN, "ssm.state_size": 4, "ssm.conv_kernel": 3, "ssm.time_step_rank": 2,
             "ssm.dt_b_c_rms": True, "attention.head_count_kv": None, "rope.freq_base": None},
            {"model_type": "falcon_mamba", "expand": 2, "state_size": 4, "conv_kernel": 3, "time_step_rank": 2},
        ),
        (
            "gemma3n",
            {"block_count": 2, "activation_sparsity_scale": [-float("inf"), 0.0], "attention.shared_kv_layers": 0,
             "embedding_length_per_layer_input": 4, "altup.active_idx": 1, "altup.num_inputs": 2},
            {"activation_sparsity_pattern": [0.0, 0.5], "hidden_size_per_layer_input": 4, "altup_active_idx": 1},
        ),
        (
            "lfm2",
            {"block_count": 3, "attention.head_count_kv": [0, 1, 0], "shortconv.l_cache": 3},
            {"layer_types": ["conv", "full_attention", "conv"], "num_key_value_heads": 1, "conv_L_cache": 3},
        ),
    ],
)  # fmt: skip
def test_keys_of_families(tmp_path: Path, architecture: str, keys: dict[str, object], expected: dict[str, object]) -> None:
    actual = keys_of(tmp_path, architecture, keys)
    assert {key: actual.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("architecture", "keys", "message"),
    [
        ("llama", {"block_count": None}, "the key 'llama.block_count' is missing"),
        ("llama", {"attention.layer_norm_rms_epsilon": None}, "the key 'llama.attention.layer_norm_rms_epsilon' is missing"),
        ("llama", {"block_count": "1"}, "'llama.block_count' is a text, not a number"),
        ("llama", {"block_count": 1.5}, "'llama.block_count' is 1.5, not an integer"),
        ("llama", {"feed_forward_length": [8, 16]}, "'llama.feed_forward_length' differs from layer to layer"),
        ("llama", {"attention.value_length": 3}, "heads of 4 features for keys and of 3 for values are not read"),
        ("llama", {"attention.scale": 0.25}, r"the key 'llama.attention.scale' \(0.25\) is not known for this family"),
        ("qwen2", {"pooling_type": 3}, r"the key 'qwen2.pooling_type' \(3\) is not known for this family"),
        ("qwen2", {"attention.sliding_window": 4}, r"the key 'qwen2.attention.sliding_window' \(4\) is not known"),
        ("qwen3", {"attention.causal": False}, "the attention of the model is not causal"),
        ("cohere2", {"attention.layer_norm_epsilon": 1e-5}, "the key 'cohere2.attention.sliding_window' is missing"),
        ("gpt2", {"attention.layer_norm_epsilon": 1e-5}, "1 heads of keys for 2 heads of queries are not known for this family"),
        ("llama", {"rope.scaling.type": "dynamic", "rope.scaling.factor": 2.0}, "with the scaling 'dynamic' are not known"),
        ("llama", {"rope.scaling.type": "longrope"}, "the tensor 'rope_factors_short.weight' is missing"),
        ("llama", {"rope.dimension_count": 6}, "6 rotated dimensions of 4 are not possible"),
        ("llama", {"expert_count": 3, "expert_used_count": 2, "expert_gating_func": 2}, "routers of the kind 2 are not known"),
        ("llama", {"expert_shared_feed_forward_length": 8}, "the key 'llama.expert_shared_feed_forward_length'"),
        ("lfm2", {"attention.head_count_kv": [0, 1, 2]}, "'lfm2.attention.head_count_kv' differs from layer to layer"),
        ("lfm2", {"attention.head_count_kv": 1}, "'lfm2.attention.head_count_kv' is int, not a list"),
        ("rwkv6", {}, "files of the architecture 'rwkv6' are not read"),
        ("minicpm", {"residual_scale": 0.5}, "the key 'minicpm.embedding_scale' is missing"),
        ("glm4moe", {"nextn_predict_layers": 1}, "1 of 1 layers cannot predict further tokens"),
        ("mamba", {"ssm.inner_size": HIDDEN + 1}, "features of a state space for 8 of the model are not read"),
        ("qwen-2", {}, "files of the architecture 'qwen-2' are not read; did you mean qwen2"),
    ],
)
def test_keys_that_are_refused(tmp_path: Path, architecture: str, keys: dict[str, object], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        keys_of(tmp_path, architecture, keys)


def test_adapters_are_no_models(tmp_path: Path) -> None:
    write_file(tmp_path / "m.gguf", {"general.type": "adapter", **metadata()})
    with pytest.raises(ModelFileError, match="the file is no model, but of the kind 'adapter'"):
        read_model(tmp_path / "m.gguf")


def checkpoint(path: Path, architecture: str, tensors: Mapping[str, Stored]) -> FileCheckpoint:
    """The weights of a file with two heads of queries and one of keys."""
    write_file(path / "m.gguf", metadata(architecture), tensors)
    return FileCheckpoint(Container(path / "m.gguf"), SPELLINGS[architecture], Configuration(1, 8, 6, 2, 1))


@pytest.mark.parametrize(("operand", "name", "heads"), [("query.weight", "attn_q.weight", 2), ("key.bias", "attn_k.bias", 1)])
def test_rows_of_queries_and_keys_of_llama_are_in_pairs(tmp_path: Path, operand: str, name: str, heads: int) -> None:
    rows = NUMBERS.standard_normal((8, 3) if operand.endswith("weight") else 8).astype(np.float32)
    for architecture, expected in (("llama", rows), ("qwen2", permuted(rows, heads))):
        weights = checkpoint(tmp_path, architecture, {f"blk.0.{name}": permuted(rows, heads)})
        np.testing.assert_array_equal(values(weights.weight(f"layers.0.attention.{operand}", rows.shape)), expected)


def test_gates_and_other_matrices_of_experts_in_one_tensor(tmp_path: Path) -> None:
    both = NUMBERS.standard_normal((2, 6, 4)).astype(np.float32)
    weights = checkpoint(tmp_path, "llama", {"blk.0.ffn_gate_up_exps.weight": both})
    parts = [values(weights.weight(f"layers.0.experts.{part}.weight", (2, 3, 4))) for part in ("gate", "up")]
    np.testing.assert_array_equal(np.concatenate(parts, 1), both)


@pytest.mark.parametrize("kind", [None, 8])
def test_a_tensor_for_each_expert(tmp_path: Path, kind: int | None) -> None:
    """Numbers, and Q8_0 (8): a scale in f16 before 32 codes of 8 bits."""
    matrices = NUMBERS.integers(-9, 9, (3, 2, 32)).astype(np.int8)

    def tensor(matrix: Array) -> Stored:
        rows = b"".join(np.float16(0.5).tobytes() + row.tobytes() for row in matrix)
        return matrix.astype(np.float32) if kind is None else (kind, matrix.shape, rows)

    tensors = {f"blk.0.ffn_up.{expert}.weight": tensor(matrix) for expert, matrix in enumerate(matrices)}
    weight = checkpoint(tmp_path, "llama", tensors).weight("layers.0.experts.up.weight", matrices.shape)
    assert weight.shape == matrices.shape
    np.testing.assert_array_equal(np.asarray(weight.codes.values).reshape(matrices.shape), matrices)
    assert (weight.scale is None) is (kind is None)
    with pytest.raises(ModelFileError, match=r"the tensor 'blk.0.ffn_up.3.weight' is missing"):
        checkpoint(tmp_path, "llama", tensors).weight("layers.0.experts.up.weight", (4, 2, 32))


def test_divisors_of_frequencies(tmp_path: Path) -> None:
    tensors = llama_tensors() | {"rope_freqs.weight": np.array([1.0, 8.0], np.float32)}
    write_file(tmp_path / "m.gguf", tensors=tensors)
    nodes = [op for op in read_model(tmp_path / "m.gguf").walk() if isinstance(op, FrameworkOp) and op.KIND == "RotaryEmbedding"]
    assert [str(op.properties["divisors"]) for op in nodes] == ["array<f64: 1.000000e+00, 8.000000e+00>"]
    write_file(tmp_path / "m.gguf", tensors=tensors | {"rope_freqs.weight": np.ones(3, np.float32)})
    with pytest.raises(ModelFileError, match=r"the tensor 'rope_freqs.weight' has 3 numbers for 2 frequencies"):
        read_model(tmp_path / "m.gguf")
    write_file(tmp_path / "m.gguf", tensors=tensors | {"rope_freqs.weight": np.zeros(2, np.float32)})
    with pytest.raises(ModelFileError, match=r"the tensor 'rope_freqs.weight' has numbers that are not possible"):
        read_model(tmp_path / "m.gguf")


def test_factors_of_longrope(tmp_path: Path) -> None:
    factors = {f"rope_factors_{name}.weight": np.array(each, np.float32) for name, each in (("short", [1, 1]), ("long", [2, 4]))}
    keys: dict[str, object] = {"rope.scaling.original_context_length": 8, "rope.scaling.attn_factor": 1.25}
    write_file(tmp_path / "m.gguf", metadata("phi3", keys), llama_tensors() | factors)
    container = Container(tmp_path / "m.gguf")
    _, family, actual = described(container)
    _, sizes, _ = configured(family, actual)
    assert sizes.rotary[0] is not None
    assert sizes.rotary[0].parameters == {
        "short_factor": (1.0, 1.0), "long_factor": (2.0, 4.0), "original_max_position_embeddings": 8, "attention_factor": 1.25,
        "factor": 4.0, "max_position_embeddings": 32,
    }  # fmt: skip
    assert divisors_of(container, sizes.rotary[0]) == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"blk.0.attn_v.weight": None}, "the tensor 'blk.0.attn_v.weight' is missing; did you mean"),
        ({"blk.0.ffn_up.weight": np.zeros((3, 8), np.float32)}, r"the tensor 'blk.0.ffn_up.weight' is \[3, 8\] instead of \[16, 8\]"),
        ({"blk.0.ssm_a": np.zeros(3, np.float32)}, "1 tensors have no place in a model of llama: blk.0.ssm_a"),
        ({"token_embd.weight": None}, "the tensor 'token_embd.weight' is missing"),
        ({"blk.0.attn_norm.weight": (8, (32,), bytes(34))}, r"the tensor 'blk.0.attn_norm.weight' is \[32\] instead of \[8\]"),
    ],
)
def test_tensors_that_are_refused(tmp_path: Path, changes: dict[str, Array | None], message: str) -> None:
    tensors = {name: value for name, value in (llama_tensors() | changes).items() if value is not None}
    with pytest.raises(ModelFileError, match=message):
        read_model(write_file(tmp_path / "m.gguf", tensors=tensors))


def test_matrices_of_several_values_of_a_token(tmp_path: Path) -> None:
    stacked = NUMBERS.standard_normal((3, 4, 4)).astype(np.float32)
    weights = checkpoint(tmp_path, "gemma3n", {"altup_proj.weight": stacked})
    np.testing.assert_array_equal(values(weights.weight("first_values.2.weight", (4, 4))), stacked[2])
    with pytest.raises(ModelFileError, match="has no matrix 3"):
        weights.weight("first_values.3.weight", (4, 4))


def test_the_decay_of_states(tmp_path: Path) -> None:
    decay = -np.exp(NUMBERS.standard_normal((3, 2))).astype(np.float32)
    weights = checkpoint(tmp_path, "mamba", {"blk.0.ssm_a": decay})
    np.testing.assert_allclose(-np.exp(values(weights.weight("layers.0.state_space.decay", (3, 2)))), decay, rtol=1e-6)
    with pytest.raises(ModelFileError, match="has elements that are not negative, or codes"):
        checkpoint(tmp_path, "mamba", {"blk.0.ssm_a": -decay}).weight("layers.0.state_space.decay", (3, 2))
