"""The tensors of a model as its GGUF file has them: in another order, split, concatenated or stacked."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.unit.frontends.gguf.written_files import Array

Tensors = dict[str, Array]
"""Tensors by their names in a folder."""


def with_heads(config: Any, tensors: Tensors) -> Tensors:
    """The matrices that expand keys and values of each head, those of keys transposed."""
    result: Tensors = {}
    for name, value in tensors.items():
        if not name.endswith("kv_b_proj.weight"):
            result[name] = value
            continue
        heads = value.reshape(config.num_attention_heads, -1, value.shape[-1])
        size = config.qk_nope_head_dim
        result[name.replace("kv_b", "k_b")], result[name.replace("kv_b", "v_b")] = heads[:, :size].swapaxes(1, 2), heads[:, size:]
    return result


def with_all_heads(config: Any, tensors: Tensors) -> Tensors:
    """Queries, keys and values of all heads of delta rules in one matrix, gates in another, and 1 added to weights."""
    result: Tensors = {}
    of_head = config.linear_num_value_heads // config.linear_num_key_heads * config.linear_value_head_dim
    for name, value in tensors.items():
        if name.endswith("in_proj_qkvz.weight"):
            parts = value.reshape(config.linear_num_key_heads, -1, value.shape[-1])
            ends = np.cumsum([config.linear_key_head_dim, config.linear_key_head_dim, of_head])
            *mixed, gates = (each.reshape(-1, value.shape[-1]) for each in np.split(parts, ends, 1))
            result[name.replace("qkvz", "qkv")], result[name.replace("qkvz", "z")] = np.concatenate(mixed), gates
        else:
            result[name] = value + 1 if name.endswith("norm.weight") and ".linear_attn." not in name else value
    return result


def with_granite_matrices(tensors: Tensors, has_experts: bool) -> Tensors:
    """The matrices of experts as a tensor each, and those of the shared expert, which dense models have in its place."""
    result: Tensors = {}
    for name, value in tensors.items():
        layer = name.partition(".block_sparse_moe.")[0].partition(".shared_mlp.")[0]
        shared = f"{layer}.mlp.shared_expert" if has_experts else f"{layer}.mlp"
        begin = f"{layer}.mlp.experts" if ".block_sparse_moe." in name else shared
        if name.endswith(".input_linear.weight"):
            for part, rows in zip(("gate", "up"), np.split(value, 2, value.ndim - 2), strict=True):
                result[f"{begin}.{part}_proj.weight"] = rows
        else:
            result[f"{begin}.down_proj.weight" if name.endswith(".output_linear.weight") else name] = value
    return result


def with_matrices(tensors: Tensors) -> Tensors:
    """The matrices of experts, of which a folder has gate before up in one, as a tensor each."""
    result: Tensors = {}
    for name, value in tensors.items():
        if name.endswith("experts.gate_up_proj"):
            for part, rows in zip(("gate", "up"), np.split(value, 2, 1), strict=True):
                result[name.replace("gate_up", part) + ".weight"] = rows
        else:
            result[f"{name}.weight" if name.endswith("experts.down_proj") else name] = value
    return result


def with_transposed_matrices(tensors: Tensors) -> Tensors:
    """The matrices of experts of Llama 4, of which a folder has gate before up in one, transposed."""
    rows = {name: value.swapaxes(1, 2) if re.search(r"experts\.\w+_proj$", name) else value for name, value in tensors.items()}
    return with_matrices(rows)


def with_named_scales(config: Any, tensors: Tensors) -> Tensors:
    """The factors of experts of Gemma 4 by their names in files, and the divisors of frequencies, without end if unused."""
    result: Tensors = {}
    for name, value in tensors.items():
        number = name.partition("layers.")[2].partition(".")[0]
        if name.endswith(".router.scale"):
            result[f"blk.{number}.ffn_gate_inp.scale"] = value
        elif name.endswith(".per_expert_scale"):
            result[f"blk.{number}.ffn_down_exps.scale"] = value
        else:
            result[f"{name}.weight" if name.endswith(("_proj", "layer_scalar")) else name] = value
    size = next(
        value.size
        for name, value in tensors.items()
        if name.endswith(f"{config.layer_types.index('full_attention')}.self_attn.q_norm.weight")
    )
    half = size // 2
    rotated = int(size * config.rope_parameters["full_attention"].get("partial_rotary_factor", 1.0) / 2)
    result["rope_freqs.weight"] = np.array([1.0] * rotated + [1e30] * (half - rotated), np.float32)
    return result


def with_flat_matrices(config: Any, tensors: Tensors) -> Tensors:
    """The matrices of experts of DBRX, which lie flat in a folder, those of the last product transposed."""
    sizes, result = config.ffn_config, Tensors()
    for name, value in tensors.items():
        if ".ffn.experts.mlp." in name:
            value = value.reshape(sizes.moe_num_experts, sizes.ffn_hidden_size, -1)
            value, name = value.swapaxes(1, 2) if name.endswith(".w2") else value, f"{name}.weight"
        result[name] = value
    return result


def with_tiled_heads(config: Any, tensors: Tensors) -> Tensors:
    """The value heads of delta rules in the order in which their key heads are repeated, and 1 added to weights."""
    own, several = config.linear_num_key_heads, config.linear_num_value_heads // config.linear_num_key_heads
    size, keys = config.linear_value_head_dim, 2 * config.linear_num_key_heads * config.linear_key_head_dim

    def tiled(value: Array, size: int) -> Array:
        return value.reshape(own, several, size, *value.shape[1:]).swapaxes(0, 1).reshape(value.shape)

    result: Tensors = {}
    for name, value in tensors.items():
        if name.endswith(("in_proj_qkv.weight", "conv1d.weight")):
            value = np.concatenate([value[:keys], tiled(value[keys:], size)])
        elif name.endswith("in_proj_z.weight"):
            value = tiled(value, size)
        elif name.endswith(("in_proj_a.weight", "in_proj_b.weight", ".A_log", ".dt_bias")):
            value = tiled(value, 1)
        elif name.endswith("linear_attn.out_proj.weight"):
            value = tiled(value.T, size).T
        elif name.endswith("norm.weight") and ".linear_attn." not in name:
            value = value + 1
        result[name] = value
    return result


def stacked(tensors: Tensors) -> Tensors:
    """The tensors with the matrices of experts, and of several values of a token, in one, and decays of states as they are."""
    result, several = {}, dict[str, dict[int, Array]]()
    for name, value in tensors.items():
        match = re.fullmatch(r"(.*\.experts|model\.altup_(?:unembed_)?projections)\.(\d+)\.(.*)", name)
        if match is not None:
            several.setdefault(f"{match[1]}.{match[3]}", {})[int(match[2])] = value
        elif name.endswith(".A_log"):
            result[name] = -np.exp(value)
        else:
            result[name] = value.squeeze(1) if value.ndim == 3 and ".conv" in name else value
    return result | {name: np.stack([parts[index] for index in sorted(parts)]) for name, parts in several.items()}


def is_split(config: Any) -> bool:
    """Whether the file has the matrices of keys and values of each head, as newer files do: of every second model."""
    return bool(config.num_hidden_layers % 2)


def arranged(config: Any, tensors: Tensors) -> Tensors:
    """The tensors of a family whose files have them in another order, or split; the same of other families."""
    if config.model_type.startswith("deepseek") and is_split(config):
        return with_heads(config, tensors)
    if config.model_type.startswith("qwen3_5"):
        return with_tiled_heads(config, tensors)
    if config.model_type == "qwen3_vl_moe_text":
        return with_matrices(tensors)
    if config.model_type == "granitemoehybrid":
        return with_granite_matrices(tensors, bool(config.num_local_experts))
    if config.model_type == "llama4_text":
        return with_transposed_matrices(tensors)
    if config.model_type == "gemma4_text":
        return with_named_scales(config, tensors)
    if config.model_type == "dbrx":
        return with_flat_matrices(config, tensors)
    if config.model_type == "qwen3_next":
        return with_all_heads(config, tensors)
    return tensors
