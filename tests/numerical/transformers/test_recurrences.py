"""Decoders whose layers have a recurrent state against definitions in numpy: at once, in parts, padded, reordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openvino
import pytest

import moir
from tests.numerical.runtime import core
from tests.numerical.transformers import recurrences
from tests.numerical.transformers.linear_recurrences import minimax, random, recurrent_gemma
from tests.numerical.transformers.reference import gated, normalized
from tests.numerical.transformers.test_decoders import TEXT, compare, compiled, step
from tests.unit.language_models.folders import HIDDEN, INNER, WORDS, Array, write_folder

Model = tuple[openvino.InferRequest, Callable[[Array], Array]]


def lfm2() -> tuple[dict[str, object], dict[str, Array], Callable[[Array], Array]]:
    """A layer of LFM2 without an attention."""
    layer = "model.layers.0"
    tensors = random(
        {
            "model.embed_tokens.weight": (len(WORDS), HIDDEN),
            "model.embedding_norm.weight": (HIDDEN,),
            f"{layer}.operator_norm.weight": (HIDDEN,),
            f"{layer}.ffn_norm.weight": (HIDDEN,),
            f"{layer}.conv.in_proj.weight": (3 * HIDDEN, HIDDEN),
            f"{layer}.conv.conv.weight": (HIDDEN, 1, 3),
            f"{layer}.conv.out_proj.weight": (HIDDEN, HIDDEN),
            f"{layer}.feed_forward.w1.weight": (INNER, HIDDEN),
            f"{layer}.feed_forward.w3.weight": (INNER, HIDDEN),
            f"{layer}.feed_forward.w2.weight": (HIDDEN, INNER),
        }
    )

    def logits(text: Array) -> Array:
        t = {name: each.astype(np.float64) for name, each in tensors.items()}
        x = t["model.embed_tokens.weight"][text]
        x = x + recurrences.short_convolution(t, normalized(x, t[f"{layer}.operator_norm.weight"]), f"{layer}.conv")
        n = normalized(x, t[f"{layer}.ffn_norm.weight"])
        x = x + gated(n, *(t[f"{layer}.feed_forward.{each}.weight"] for each in ("w1", "w3", "w2")))
        return normalized(x, t["model.embedding_norm.weight"]) @ t["model.embed_tokens.weight"].T

    return {"layer_types": ["conv"], "block_auto_adjust_ff_dim": False, "norm_eps": 1e-5}, tensors, logits


def mamba() -> tuple[dict[str, object], dict[str, Array], Callable[[Array], Array]]:
    """Two layers of Mamba."""
    features, size, rank = 2 * HIDDEN, 3, 2
    shapes: dict[str, tuple[int, ...]] = {"backbone.embeddings.weight": (len(WORDS), HIDDEN), "backbone.norm_f.weight": (HIDDEN,)}
    for layer in ("backbone.layers.0", "backbone.layers.1"):
        shapes |= {
            f"{layer}.norm.weight": (HIDDEN,),
            f"{layer}.mixer.in_proj.weight": (2 * features, HIDDEN),
            f"{layer}.mixer.conv1d.weight": (features, 1, 4),
            f"{layer}.mixer.conv1d.bias": (features,),
            f"{layer}.mixer.x_proj.weight": (rank + 2 * size, features),
            f"{layer}.mixer.dt_proj.weight": (features, rank),
            f"{layer}.mixer.dt_proj.bias": (features,),
            f"{layer}.mixer.A_log": (features, size),
            f"{layer}.mixer.D": (features,),
            f"{layer}.mixer.out_proj.weight": (HIDDEN, features),
        }
    tensors = random(shapes)

    def logits(text: Array) -> Array:
        t = {name: each.astype(np.float64) for name, each in tensors.items()}
        x = t["backbone.embeddings.weight"][text]
        for layer in ("backbone.layers.0", "backbone.layers.1"):
            x = x + recurrences.state_space(t, normalized(x, t[f"{layer}.norm.weight"]), f"{layer}.mixer")
        return normalized(x, t["backbone.norm_f.weight"]) @ t["backbone.embeddings.weight"].T

    return {"num_hidden_layers": 2, "state_size": size, "time_step_rank": rank, "layer_norm_epsilon": 1e-5}, tensors, logits


def mamba2() -> tuple[dict[str, object], dict[str, Array], Callable[[Array], Array]]:
    """Two layers of Mamba-2, whose four heads are in two groups."""
    features, size, heads, groups = 2 * HIDDEN, 3, 4, 2
    mixed = features + 2 * groups * size
    shapes: dict[str, tuple[int, ...]] = {
        "backbone.embeddings.weight": (len(WORDS), HIDDEN),
        "backbone.norm_f.weight": (HIDDEN,),
        "lm_head.weight": (len(WORDS), HIDDEN),
    }
    for layer in ("backbone.layers.0", "backbone.layers.1"):
        shapes |= {
            f"{layer}.norm.weight": (HIDDEN,),
            f"{layer}.mixer.in_proj.weight": (features + mixed + heads, HIDDEN),
            f"{layer}.mixer.conv1d.weight": (mixed, 1, 4),
            f"{layer}.mixer.conv1d.bias": (mixed,),
            **{f"{layer}.mixer.{name}": (heads,) for name in ("A_log", "D", "dt_bias")},
            f"{layer}.mixer.norm.weight": (features,),
            f"{layer}.mixer.out_proj.weight": (HIDDEN, features),
        }
    tensors = random(shapes)

    def logits(text: Array) -> Array:
        t = {name: each.astype(np.float64) for name, each in tensors.items()}
        x = t["backbone.embeddings.weight"][text]
        for layer in ("backbone.layers.0", "backbone.layers.1"):
            x = x + recurrences.grouped_state_space(t, normalized(x, t[f"{layer}.norm.weight"]), f"{layer}.mixer", groups)
        return normalized(x, t["backbone.norm_f.weight"]) @ t["lm_head.weight"].T

    keys: dict[str, object] = {
        "num_hidden_layers": 2,
        "state_size": size,
        "num_heads": heads,
        "n_groups": groups,
        "tie_word_embeddings": False,
    }
    return keys | {"layer_norm_epsilon": 1e-5, "time_step_limit": [0.0, {"__float__": "Infinity"}]}, tensors, logits


def qwen3_next() -> tuple[dict[str, object], dict[str, Array], Callable[[Array], Array]]:
    """A layer of Qwen3-Next with a delta rule and without experts; norms have a weight less 1."""
    layer, key_heads, heads, keys, values = "model.layers.0", 2, 4, 4, 3
    width = 2 * key_heads * keys + heads * values
    tensors = random(
        {
            "model.embed_tokens.weight": (len(WORDS), HIDDEN),
            "model.norm.weight": (HIDDEN,),
            f"{layer}.input_layernorm.weight": (HIDDEN,),
            f"{layer}.post_attention_layernorm.weight": (HIDDEN,),
            f"{layer}.linear_attn.in_proj_qkvz.weight": (width + heads * values, HIDDEN),
            f"{layer}.linear_attn.in_proj_ba.weight": (2 * heads, HIDDEN),
            f"{layer}.linear_attn.conv1d.weight": (width, 1, 4),
            f"{layer}.linear_attn.A_log": (heads,),
            f"{layer}.linear_attn.dt_bias": (heads,),
            f"{layer}.linear_attn.norm.weight": (values,),
            f"{layer}.linear_attn.out_proj.weight": (HIDDEN, heads * values),
            f"{layer}.mlp.gate_proj.weight": (INNER, HIDDEN),
            f"{layer}.mlp.up_proj.weight": (INNER, HIDDEN),
            f"{layer}.mlp.down_proj.weight": (HIDDEN, INNER),
        }
    )

    def logits(text: Array) -> Array:
        t = {name: each.astype(np.float64) for name, each in tensors.items()}
        x = t["model.embed_tokens.weight"][text]
        n = normalized(x, 1 + t[f"{layer}.input_layernorm.weight"])
        x = x + recurrences.delta_rule(t, n, f"{layer}.linear_attn", key_heads, heads)
        n = normalized(x, 1 + t[f"{layer}.post_attention_layernorm.weight"])
        x = x + gated(n, *(t[f"{layer}.mlp.{each}_proj.weight"] for each in ("gate", "up", "down")))
        return normalized(x, 1 + t["model.norm.weight"]) @ t["model.embed_tokens.weight"].T

    sizes = {"linear_num_key_heads": key_heads, "linear_num_value_heads": heads, "linear_key_head_dim": keys}
    others: dict[str, object] = {"linear_value_head_dim": values, "layer_types": ["linear_attention"], "mlp_only_layers": [0]}
    return sizes | others, tensors, logits


MODELS = {
    **{"lfm2": lfm2, "mamba": mamba, "mamba2": mamba2, "qwen3_next": qwen3_next},
    **{"minimax": minimax, "recurrent_gemma": recurrent_gemma},
}

OTHER_FAMILIES = ("rms_norm_eps", "rope_theta", "num_attention_heads", "num_key_value_heads", "max_position_embeddings")
"""Keys that Mamba and Mamba-2 do not have."""


LFM2_NAMES = ("rms_norm_eps", "hidden_act")
"""Keys that LFM2 does not have."""


def keys_of(model_type: str, keys: dict[str, object]) -> dict[str, object]:
    """The keys of config.json of a family."""
    absent = dict.fromkeys(OTHER_FAMILIES) if model_type in ("mamba", "mamba2") else {}
    return {"model_type": model_type, **absent, **dict.fromkeys(LFM2_NAMES if model_type == "lfm2" else ()), **keys}


@pytest.fixture(params=MODELS, name="model")
def fixture_model(request: pytest.FixtureRequest, tmp_path: Path) -> Model:
    """A request, and the definition."""
    keys, tensors, logits = MODELS[request.param]()
    return compiled(tmp_path, tensors, **keys_of(request.param, keys)), logits


def fed(request: openvino.InferRequest, tokens: Array, mask: Array, beams: Array | None = None) -> Array:
    """The logits of new tokens of a model that may have no positions."""
    if any(each.any_name == "position_ids" for each in request.model_inputs):
        return step(request, tokens, mask, beams)
    rows = np.arange(len(tokens), dtype=np.int32) if beams is None else beams
    return request.infer({"input_ids": tokens, "attention_mask": mask, "beam_idx": rows})["logits"]


def test_parts_of_a_text_in_turn(model: Model) -> None:
    """Five tokens, one, and two: the last tokens and the state come from the cache."""
    request, logits = model
    parts = [fed(request, TEXT[None, a:b], np.ones((1, b), np.int64))[0] for a, b in ((0, 5), (5, 6), (6, 8))]
    compare(np.concatenate(parts), logits(TEXT))


def test_a_shorter_text_is_padded_on_the_left(model: Model) -> None:
    request, logits = model
    mask = np.ones((2, 8), np.int64)
    mask[1, :3] = 0
    results = fed(request, np.stack([TEXT, np.concatenate([[1, 1, 1], TEXT[:5]])]), mask)
    compare(results[0], logits(TEXT))
    compare(results[1, 3:], logits(TEXT[:5]))


def test_beams_are_reordered(model: Model) -> None:
    request, logits = model
    texts = np.stack([TEXT[:4], TEXT[4:]])
    fed(request, texts, np.ones((2, 4), np.int64))
    results = fed(request, np.array([[3], [5]]), np.ones((2, 5), np.int64), np.array([1, 0], np.int32))
    for beam, (text, token) in enumerate(((texts[1], 3), (texts[0], 5))):
        compare(results[beam], logits(np.append(text, token))[-1:])


def test_the_delta_rule_is_one_operation(tmp_path: Path) -> None:
    """The plugin replaces the loop, which it recognizes by its operations, by one of its own."""
    keys, tensors, _ = qwen3_next()
    module = moir.convert_model(write_folder(tmp_path / "m", tensors, **keys_of("qwen3_next", keys)))
    graph = core().compile_model(moir.to_openvino(module), "CPU").get_runtime_model()
    kinds = Counter(op.get_rt_info()["layerType"].astype(str) for op in graph.get_ops())
    assert kinds["GatedDeltaNet"] == 1
    assert kinds["TensorIterator"] == 0
