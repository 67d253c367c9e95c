"""Attention and what belongs to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.signature import Required, Signature, Values, recipe


@recipe("Attention")
def attention(draw: Draw, signature: Signature) -> Values:
    batch, queries, keys = draw.integer(1, 2), draw.integer(1, 4), draw.integer(1, 4)
    heads = draw.integer(1, 2)
    query_heads = heads * draw.integer(1, 2)
    size, value_size = draw.one_of((2, 4)), draw.one_of((2, 3))
    past = draw.integer(1, 3) if draw.chance(0.2) else 0
    key, value = signature.dtype("K"), signature.dtype("V")
    values: dict[str, Any] = {
        "softmax_precision": None,
        "qk_matmul_output_mode": draw.integer(0, 3),
        "scale": draw.one_of((0.5, 1.0, 0.1)),
        "softcap": draw.one_of((0.0, 2.0)),
        "is_causal": int(draw.chance(0.3)),
    }
    if draw.chance(0.6):
        values |= {
            "Q": draw.array(key, [batch, query_heads, queries, size], special=0),
            "K": draw.array(key, [batch, heads, keys, size], special=0),
            "V": draw.array(value, [batch, heads, keys, value_size], special=0),
            "q_num_heads": None,
            "kv_num_heads": None,
        }
    else:
        values |= {
            "Q": draw.array(key, [batch, queries, query_heads * size], special=0),
            "K": draw.array(key, [batch, keys, heads * size], special=0),
            "V": draw.array(value, [batch, keys, heads * value_size], special=0),
            "q_num_heads": query_heads,
            "kv_num_heads": heads,
        }
    mask = signature.dtype("attn_mask")
    shape = draw.broadcasts_to([batch, query_heads, queries, keys + past])
    shape = [queries, keys + past] if len(shape) < 2 else [*shape[:-2], queries, keys + past]
    if mask.kind == "b":
        allowed = draw.random.random(shape) < 0.7
        allowed[..., 0] = True
        values["attn_mask"] = allowed
    elif mask == key:
        values["attn_mask"] = draw.array(mask, shape, special=0)
    if past:
        values |= {
            "past_key": Required(draw.array(key, [batch, heads, past, size], special=0)),
            "past_value": Required(draw.array(value, [batch, heads, past, value_size], special=0)),
        }
    elif draw.chance(0.1):
        values["nonpad_kv_seqlen"] = draw.between(np.int64, [batch], 1, keys)
    for name in ("left_window_size", "right_window_size"):
        values[name] = draw.integer(0, 3) if draw.chance(0.2) else None
    return values


@recipe("RotaryEmbedding")
def rotary(draw: Draw, signature: Signature) -> Values:
    batch, heads, length, size = draw.integer(1, 2), draw.integer(1, 3), draw.integer(1, 4), draw.one_of((4, 8))
    rotated = draw.one_of((0, 0, 4))
    half = (rotated or size) // 2
    flat = draw.chance(0.4)
    dtype = signature.dtype()
    places = draw.chance(0.6)
    caches = [6, half] if places else [batch, length, half]
    return {
        "X": draw.array(dtype, [batch, length, heads * size] if flat else [batch, heads, length, size], special=0),
        "cos_cache": draw.array(dtype, caches, special=0),
        "sin_cache": draw.array(dtype, caches, special=0),
        "position_ids": Required(draw.between(np.int64, [batch, length], 0, 5)) if places else None,
        "num_heads": heads if flat or draw.chance(0.3) else None,
        "rotary_embedding_dim": rotated,
    }


@recipe("LinearAttention")
def linear(draw: Draw, signature: Signature) -> Values:
    batch, length, heads = draw.integer(1, 2), draw.integer(1, 3), draw.integer(1, 2)
    query_heads = heads * draw.integer(1, 2)
    size, value_size = draw.integer(1, 3), draw.integer(1, 3)
    rule = draw.one_of(("linear", "gated", "delta", "gated_delta"))
    dtype, state = signature.dtype("query"), signature.dtype("past_state")
    values: dict[str, Any] = {
        "query": draw.array(dtype, [batch, length, query_heads * size], special=0),
        "key": draw.array(dtype, [batch, length, heads * size], special=0),
        "value": draw.array(dtype, [batch, length, heads * value_size], special=0),
        "past_state": draw.array(state, [batch, heads, size, value_size], special=0),
        "q_num_heads": query_heads,
        "kv_num_heads": heads,
        "update_rule": rule,
        "scale": 0.5,
        "chunk_size": None,
    }
    if "gated" in rule:
        values["decay"] = Required(-draw.positive(dtype, [batch, length, heads]))
    if "delta" in rule:
        values["beta"] = Required(draw.positive(dtype, [batch, length, heads]))
    return values
