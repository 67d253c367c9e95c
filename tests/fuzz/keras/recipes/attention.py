"""Attention layers, with masks and scores."""

from __future__ import annotations

from typing import Any

from tests.fuzz.draw import Draw
from tests.fuzz.keras.recipe import Call, layers, numbers, recipe


def _query_and_value(draw: Draw, features: int, others: int) -> tuple[Any, Any, Any]:
    batch, steps, length = draw.integer(1, 3), draw.integer(1, 4), draw.integer(1, 5)
    return (
        numbers(draw, [batch, steps, features]),
        numbers(draw, [batch, length, others]),
        numbers(draw, [batch, length, others]),
    )


@recipe("Attention AdditiveAttention")
def dot_attention(draw: Draw, name: str) -> Call:
    """Attention without projections."""
    features = draw.integer(1, 4)
    arrays = list(_query_and_value(draw, features, features))[: draw.integer(2, 3)]
    options: dict[str, Any] = {"use_scale": draw.chance(0.5)}
    if name == "Attention":
        options["score_mode"] = draw.one_of(("dot", "dot", "concat"))
    keywords: dict[str, Any] = {"use_causal_mask": draw.chance(0.3)}
    if draw.chance(0.3):
        masks = [draw.random.random(each.shape[:2]) < 0.7 for each in arrays[:2]]
        masks[1][:, 0] = True
        keywords["mask"] = masks
    if draw.chance(0.3):
        keywords["return_attention_scores"] = True
    return Call(getattr(layers, name)(**options), arrays, keywords, joined=True)


@recipe("MultiHeadAttention")
def multi_head(draw: Draw, _: str) -> Call:
    """Attention of several heads, over one axis or two."""
    if draw.chance(0.2):
        data = numbers(draw, [2, *draw.integers(2, 1, 4), 4])
        made = layers.MultiHeadAttention(draw.integer(1, 3), draw.integer(1, 4), attention_axes=draw.one_of(((1,), (2,), (1, 2))))
        return Call(made, [data, data + 1])
    query, value, key = _query_and_value(draw, draw.integer(1, 5), draw.integer(1, 5))
    made = layers.MultiHeadAttention(
        draw.integer(1, 3),
        draw.integer(1, 4),
        value_dim=draw.one_of((None, 2, 3)),
        use_bias=draw.chance(0.7),
        output_shape=draw.one_of((None, None, 3)),
        use_gate=draw.chance(0.15),
    )
    keywords: dict[str, Any] = {"use_causal_mask": draw.chance(0.3)}
    if draw.chance(0.3):
        mask = draw.random.random([query.shape[0], query.shape[1], value.shape[1]]) < 0.7
        mask[:, :, 0] = True
        keywords["attention_mask"] = mask
    if draw.chance(0.25):
        keywords["return_attention_scores"] = True
    return Call(made, [query, value, key][: draw.integer(2, 3)], keywords)


@recipe("GroupQueryAttention")
def grouped(draw: Draw, _: str) -> Call:
    """Attention whose keys and values serve several heads."""
    query, value, key = _query_and_value(draw, draw.integer(1, 5), draw.integer(1, 5))
    heads = draw.integer(1, 2)
    made = layers.GroupQueryAttention(
        draw.integer(1, 4), heads * draw.integer(1, 3), heads, use_bias=draw.chance(0.7), use_gate=draw.chance(0.15)
    )
    keywords: dict[str, Any] = {"use_causal_mask": draw.chance(0.3)}
    if draw.chance(0.25):
        keywords["return_attention_scores"] = True
    return Call(made, [query, value, key][: draw.integer(2, 3)], keywords)
