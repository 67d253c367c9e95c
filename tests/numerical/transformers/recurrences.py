"""Blocks with a recurrent state in numpy, in f64, token by token: the definitions that models are compared with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.numerical.transformers.reference import normalized
from tests.unit.language_models.folders import Array

Tensors = Mapping[str, Array]


def silu(x: Array) -> Array:
    """x · sigmoid(x)"""
    return x / (1 + np.exp(-x))


def softplus(x: Array) -> Array:
    """ln(1 + eˣ)"""
    return np.log1p(np.exp(x))


def convolved(x: Array, kernel: Array) -> Array:
    """Each feature of x [tokens, features] convolved with its kernel [features, 1, K] over the last K tokens."""
    size = kernel.shape[-1]
    padded = np.concatenate([np.zeros((size - 1, x.shape[1])), x])
    return np.stack([(padded[token : token + size] * kernel[:, 0].T).sum(0) for token in range(len(x))])


def short_convolution(tensors: Tensors, x: Array, prefix: str) -> Array:
    """The block of LFM2: output(c · convolution(b · y)) for the parts b, c, y of one product."""
    first, second, values = np.split(x @ tensors[f"{prefix}.in_proj.weight"].T, 3, -1)
    return (second * convolved(first * values, tensors[f"{prefix}.conv.weight"])) @ tensors[f"{prefix}.out_proj.weight"].T


def state_space(tensors: Tensors, x: Array, prefix: str) -> Array:
    """The block of Mamba."""
    x, gates = np.split(x @ tensors[f"{prefix}.in_proj.weight"].T, 2, -1)
    x = silu(convolved(x, tensors[f"{prefix}.conv1d.weight"]) + tensors[f"{prefix}.conv1d.bias"])
    decay = -np.exp(tensors[f"{prefix}.A_log"])
    size = decay.shape[1]
    steps, inputs, outputs = np.split(x @ tensors[f"{prefix}.x_proj.weight"].T, [-2 * size, -size], -1)
    steps = softplus(steps @ tensors[f"{prefix}.dt_proj.weight"].T + tensors[f"{prefix}.dt_proj.bias"])
    state, result = np.zeros_like(decay), np.zeros_like(x)
    for token in range(len(x)):
        state = np.exp(steps[token, :, None] * decay) * state + (steps[token] * x[token])[:, None] * inputs[token]
        result[token] = state @ outputs[token]
    return ((result + x * tensors[f"{prefix}.D"]) * silu(gates)) @ tensors[f"{prefix}.out_proj.weight"].T


def grouped_state_space(tensors: Tensors, x: Array, prefix: str, groups: int) -> Array:
    """The block of Mamba-2: heads decay as a whole, and those of a group share inputs and outputs."""
    decay, features = -np.exp(tensors[f"{prefix}.A_log"]), tensors[f"{prefix}.norm.weight"].size
    heads, count = decay.size, len(x)
    kernel, bias = tensors[f"{prefix}.conv1d.weight"], tensors[f"{prefix}.conv1d.bias"]
    gates, mixed, steps = np.split(x @ tensors[f"{prefix}.in_proj.weight"].T, [features, features + len(kernel)], -1)
    x, inputs, outputs = np.split(silu(convolved(mixed, kernel) + bias), [features, (features + len(kernel)) // 2], -1)
    x = x.reshape(count, heads, -1)
    inputs, outputs = (np.repeat(each.reshape(count, groups, -1), heads // groups, 1) for each in (inputs, outputs))
    steps = softplus(steps + tensors[f"{prefix}.dt_bias"])
    state, result = np.zeros((*x.shape[1:], inputs.shape[2])), np.zeros_like(x)
    for token in range(count):
        taken = (steps[token, :, None] * x[token])[..., None] * inputs[token][:, None]
        state = np.exp(steps[token] * decay)[:, None, None] * state + taken
        result[token] = np.einsum("hpn,hn->hp", state, outputs[token]) + x[token] * tensors[f"{prefix}.D"][:, None]
    gated_result = (result.reshape(count, -1) * silu(gates)).reshape(count, groups, -1)
    rows = normalized(gated_result, tensors[f"{prefix}.norm.weight"].reshape(groups, -1)).reshape(count, -1)
    return rows @ tensors[f"{prefix}.out_proj.weight"].T


def delta_rule(tensors: Tensors, x: Array, prefix: str, key_heads: int, heads: int) -> Array:
    """The block of Qwen3-Next."""
    size, count = tensors[f"{prefix}.norm.weight"].size, len(x)
    own, values = heads // key_heads, heads * size
    grouped = (x @ tensors[f"{prefix}.in_proj_qkvz.weight"].T).reshape(count, key_heads, -1)
    keys = (grouped.shape[2] - 2 * own * size) // 2
    parts = [part.reshape(count, -1) for part in np.split(grouped, np.cumsum([keys, keys, own * size]), -1)]
    strengths, steps = np.split((x @ tensors[f"{prefix}.in_proj_ba.weight"].T).reshape(count, key_heads, -1), 2, -1)
    mixed = silu(convolved(np.concatenate(parts[:3], -1), tensors[f"{prefix}.conv1d.weight"]))
    query, key, value = np.split(mixed, [key_heads * keys, 2 * key_heads * keys], -1)
    query, key = (np.repeat(each.reshape(count, key_heads, keys), own, 1) for each in (query, key))
    query, key = (each / np.sqrt((each * each).sum(-1, keepdims=True) + 1e-6) for each in (query, key))
    value = value.reshape(count, heads, size)
    gates = -np.exp(tensors[f"{prefix}.A_log"]) * softplus(steps.reshape(count, heads) + tensors[f"{prefix}.dt_bias"])
    strengths = 1 / (1 + np.exp(-strengths.reshape(count, heads)))
    state, result = np.zeros((heads, keys, size)), np.zeros((count, heads, size))
    for token in range(count):
        state = np.exp(gates[token])[:, None, None] * state
        change = (value[token] - np.einsum("hkv,hk->hv", state, key[token])) * strengths[token, :, None]
        state = state + key[token][:, :, None] * change[:, None]
        result[token] = np.einsum("hkv,hk->hv", state, query[token]) / np.sqrt(keys)
    rows = normalized(result, tensors[f"{prefix}.norm.weight"]).reshape(count, values)
    return (rows * silu(parts[3])) @ tensors[f"{prefix}.out_proj.weight"].T
