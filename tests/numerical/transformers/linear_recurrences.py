"""Models whose layers have a linear recurrence alone, with random weights and their definitions in numpy, in f64."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from tests.numerical.transformers.recurrences import convolved, silu, softplus
from tests.numerical.transformers.reference import mixture, normalized
from tests.unit.language_models.folders import HIDDEN, INNER, WORDS, Array

Model = tuple[dict[str, object], dict[str, Array], Callable[[Array], Array]]
"""Keys of config.json, tensors, and a function from a text to its logits."""

HEADS = 2


def random(shapes: dict[str, tuple[int, ...]]) -> dict[str, Array]:
    """Random tensors of the given shapes."""
    generator = np.random.default_rng(4)
    return {name: (generator.standard_normal(shape) * 0.5).astype(np.float32) for name, shape in shapes.items()}


def sigmoid(x: Array) -> Array:
    """1 / (1 + e⁻ˣ)"""
    return 1 / (1 + np.exp(-x))


def recurrent_gemma() -> Model:
    """A layer of RecurrentGemma without an attention, whose recurrence has more features than the hidden state."""
    layer, features, size = "model.layers.0", 12, 6
    block, mlp = f"{layer}.temporal_block", f"{layer}.mlp_block"
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (len(WORDS), HIDDEN),
        "model.final_norm.weight": (HIDDEN,),
        f"{layer}.temporal_pre_norm.weight": (HIDDEN,),
        f"{layer}.channel_pre_norm.weight": (HIDDEN,),
        f"{block}.conv_1d.weight": (features, 1, 4),
        f"{block}.conv_1d.bias": (features,),
        f"{block}.rg_lru.recurrent_param": (features,),
    }
    for gate in ("input", "recurrent"):
        shapes |= {f"{block}.rg_lru.{gate}_gate_weight": (HEADS, size, size), f"{block}.rg_lru.{gate}_gate_bias": (HEADS, size)}
    for name, rows, columns in ((f"{block}.linear_y", features, HIDDEN), (f"{block}.linear_x", features, HIDDEN),
                                (f"{block}.linear_out", HIDDEN, features), (f"{mlp}.gate_proj", INNER, HIDDEN),
                                (f"{mlp}.up_proj", INNER, HIDDEN), (f"{mlp}.down_proj", HIDDEN, INNER)):  # fmt: skip
        shapes |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    tensors = random(shapes)

    def logits(text: Array) -> Array:
        t = {name: each.astype(np.float64) for name, each in tensors.items()}

        def linear(x: Array, name: str) -> Array:
            return x @ t[f"{name}.weight"].T + t[f"{name}.bias"]

        def gates(x: Array, name: str) -> Array:
            products = np.einsum("thi,hij->thj", x.reshape(-1, HEADS, size), t[f"{block}.rg_lru.{name}_gate_weight"])
            return sigmoid(products + t[f"{block}.rg_lru.{name}_gate_bias"]).reshape(-1, features)

        x = t["model.embed_tokens.weight"][text] * float(ml_dtypes.bfloat16(HIDDEN**0.5))
        n = normalized(x, 1 + t[f"{layer}.temporal_pre_norm.weight"])
        values = convolved(linear(n, f"{block}.linear_x"), t[f"{block}.conv_1d.weight"]) + t[f"{block}.conv_1d.bias"]
        factors = np.exp(-8 * gates(values, "recurrent") * softplus(t[f"{block}.rg_lru.recurrent_param"]))
        roots = np.sqrt(1 - factors**2)
        roots[0] = 1
        updates, state, states = values * gates(values, "input") * roots, np.zeros(features), np.zeros_like(values)
        for token in range(len(text)):
            state = states[token] = factors[token] * state + updates[token]
        x = x + linear(states * silu(linear(n, f"{block}.linear_y")), f"{block}.linear_out")
        n = normalized(x, 1 + t[f"{layer}.channel_pre_norm.weight"])
        x = x + linear(silu(linear(n, f"{mlp}.gate_proj")) * linear(n, f"{mlp}.up_proj"), f"{mlp}.down_proj")
        scores = normalized(x, 1 + t["model.final_norm.weight"]) @ t["model.embed_tokens.weight"].T
        return 3 * np.tanh(scores / 3)

    keys: dict[str, object] = {"block_types": ["recurrent"], "lru_width": features, "intermediate_size": 2 * INNER, "logits_soft_cap": 3.0}
    return {**keys, "hidden_act": None, "hidden_activation": "silu"}, tensors, logits


def minimax() -> Model:
    """Two layers of MiniMax with lightning attentions, which decay differently, and four experts."""
    size, layers = 4, 2
    width = HEADS * size
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (len(WORDS), HIDDEN), "model.norm.weight": (HIDDEN,)}
    for number in range(layers):
        layer = f"model.layers.{number}"
        shapes |= {
            f"{layer}.input_layernorm.weight": (HIDDEN,),
            f"{layer}.post_attention_layernorm.weight": (HIDDEN,),
            f"{layer}.self_attn.qkv_proj.weight": (3 * width, HIDDEN),
            f"{layer}.self_attn.norm.weight": (width,),
            f"{layer}.self_attn.output_gate.weight": (width, HIDDEN),
            f"{layer}.self_attn.out_proj.weight": (HIDDEN, width),
            f"{layer}.block_sparse_moe.gate.weight": (4, HIDDEN),
        }
        for expert in range(4):
            prefix = f"{layer}.block_sparse_moe.experts.{expert}"
            shapes |= {
                f"{prefix}.w1.weight": (INNER, HIDDEN),
                f"{prefix}.w2.weight": (HIDDEN, INNER),
                f"{prefix}.w3.weight": (INNER, HIDDEN),
            }
    tensors = random(shapes)

    def attention(t: dict[str, Array], x: Array, prefix: str, number: int) -> Array:
        queries, keys, values = np.split(silu(x @ t[f"{prefix}.qkv_proj.weight"].T).reshape(-1, HEADS, 3 * size), 3, -1)
        slopes = 2.0 ** (-8 / HEADS * np.arange(1, HEADS + 1)) * (1 - number / (layers - 1 + 1e-5) + 1e-5)
        state, results = np.zeros((HEADS, size, size)), np.zeros((len(x), width))
        for token in range(len(x)):
            state = np.exp(-slopes)[:, None, None] * state + keys[token, :, :, None] * values[token, :, None]
            results[token] = np.einsum("hk,hkv->hv", queries[token], state).reshape(-1)
        results = results / np.sqrt((results**2).mean(-1, keepdims=True) + 1e-6) * t[f"{prefix}.norm.weight"]
        return (results * sigmoid(x @ t[f"{prefix}.output_gate.weight"].T)) @ t[f"{prefix}.out_proj.weight"].T

    def logits(text: Array) -> Array:
        t = {name: each.astype(np.float64) for name, each in tensors.items()}
        x = t["model.embed_tokens.weight"][text]
        for number in range(layers):
            layer = f"model.layers.{number}"
            n = normalized(x, t[f"{layer}.input_layernorm.weight"])
            x = normalized(n * 1.5 + attention(t, n, f"{layer}.self_attn", number), t[f"{layer}.post_attention_layernorm.weight"])
            x = x + 0.5 * mixture(t, x, f"{layer}.block_sparse_moe")
        return normalized(x, t["model.norm.weight"]) @ t["model.embed_tokens.weight"].T

    factors: dict[str, object] = {"linear_attn_alpha_factor": 1.5, "mlp_beta_factor": 0.5, "num_local_experts": 4}
    return factors | {"layer_types": ["linear_attention"] * layers, "num_hidden_layers": layers, "head_dim": size}, tensors, logits
