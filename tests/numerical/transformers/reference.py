"""A decoder of the kind of Llama in numpy, in f64: the definition that models are compared with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.unit.language_models.folders import Array

EPSILON, THETA = 1e-5, 10000.0


def normalized(x: Array, weight: Array) -> Array:
    """x / sqrt(mean(x²) + ε) · weight"""
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * weight


def rotated(x: Array, positions: Array) -> Array:
    """Heads [heads, tokens, size] whose dimensions i and i + size / 2 are rotated by position · θ^(-2 i / size)."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * THETA ** (-np.arange(half) / half)
    cosines, sines = np.cos(angles), np.sin(angles)
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cosines - second * sines, second * cosines + first * sines], -1)


def gated(x: Array, gate: Array, up: Array, down: Array) -> Array:
    """down(silu(gate(x)) · up(x))"""
    inner = x @ gate.T
    return (inner / (1 + np.exp(-inner)) * (x @ up.T)) @ down.T


def mixture(tensors: Mapping[str, Array], x: Array, prefix: str) -> Array:
    """The two experts with the largest scores of each token, by their shares of the softmax of these two (Mixtral)."""
    scores = x @ tensors[f"{prefix}.gate.weight"].T
    result = np.zeros_like(x)
    for token, values in enumerate(scores):
        chosen = np.argsort(-values)[:2]
        shares = np.exp(values[chosen] - values[chosen].max())
        for expert, share in zip(chosen, shares / shares.sum(), strict=True):
            matrices = (tensors[f"{prefix}.experts.{expert}.{name}.weight"] for name in ("w1", "w3", "w2"))
            result[token] += share * gated(x[token], *matrices)
    return result


def logits(weights: Mapping[str, Array], tokens: Array, heads: int, key_heads: int, window: int = 0) -> Array:
    """The logits [tokens, vocabulary] of one text without padding.

    Args:
        weights: the tensors as a folder has them; biases of queries, keys and values, and the weights of their
            normalizations are used where they are.
        tokens: the ids of the text.
        heads, key_heads: the numbers of heads of queries, and of keys and values.
        window: how many keys a query sees, itself included; 0 for all.
    """
    tensors = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    table, count = tensors["model.embed_tokens.weight"], len(tokens)
    x, positions = table[tokens], np.arange(count)
    distances = positions[:, None] - positions
    seen = (distances >= 0) & (distances < (window or count))

    def product(value: Array, name: str) -> Array:
        return value @ tensors[f"{name}.weight"].T + tensors.get(f"{name}.bias", 0.0)

    for layer in range(sum(name.endswith("input_layernorm.weight") for name in tensors)):
        prefix = f"model.layers.{layer}"

        def part(letter: str, number: int, value: Array, block: str = f"{prefix}.self_attn") -> Array:
            rows = product(value, f"{block}.{letter}_proj").reshape(count, number, -1)
            norm = tensors.get(f"{block}.{letter}_norm.weight")
            return (rows if norm is None else normalized(rows, norm)).swapaxes(0, 1)

        n = normalized(x, tensors[f"{prefix}.input_layernorm.weight"])
        queries, keys = rotated(part("q", heads, n), positions), rotated(part("k", key_heads, n), positions)
        keys, values = (np.repeat(each, heads // key_heads, 0) for each in (keys, part("v", key_heads, n)))
        scores = np.where(seen, queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[-1]), -np.inf)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        result = shares / shares.sum(-1, keepdims=True) @ values
        x = x + product(result.swapaxes(0, 1).reshape(count, -1), f"{prefix}.self_attn.o_proj")
        n = normalized(x, tensors[f"{prefix}.post_attention_layernorm.weight"])
        if f"{prefix}.block_sparse_moe.gate.weight" in tensors:
            x = x + mixture(tensors, n, f"{prefix}.block_sparse_moe")
            continue
        x = x + gated(n, *(tensors[f"{prefix}.mlp.{part}_proj.weight"] for part in ("gate", "up", "down")))
    return normalized(x, tensors["model.norm.weight"]) @ tensors.get("lm_head.weight", table).T
