"""Attention of the domain com.microsoft whose operands are quantized or packed.

ONNX Runtime computes QAttention on the CPU; what is packed it computes on GPUs only, so that the same attention with
operands of their own is the reference.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, expected_results, node
from tests.numerical.processors import NEEDS_WIDE_SUMS
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(12)
HEADS, SIZE, HIDDEN = 2, 4, 8
microsoft = partial(node, domain="com.microsoft")
RANKED = ("static", "dynamic")


def random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("signed", [False, pytest.param(True, marks=NEEDS_WIDE_SUMS)])
@pytest.mark.parametrize(
    ("attributes", "mask", "past"),
    [
        ({}, None, False),
        ({"unidirectional": 1}, None, True),
        ({"scale": 0.3}, np.array([2, 3], np.int32), False),
        ({}, np.array([[1, 1, 0], [1, 0, 0]], np.int32), False),
    ],
)
def test_quantized(attributes: dict[str, Any], mask: Array | None, past: bool, signed: bool) -> None:
    type_ = np.int8 if signed else np.uint8
    x = RANDOM.integers(0, 255, (2, 3, 6)).astype(np.uint8)
    constants: dict[str, Array] = {
        "w": RANDOM.integers(np.iinfo(type_).min, np.iinfo(type_).max, (6, 3 * HIDDEN)).astype(type_),
        "b": random(3 * HIDDEN),
        "x_scale": np.array(0.02, np.float32),
        "w_scale": np.array(0.01, np.float32),
        "x_zero": np.array(128, np.uint8),
        "w_zero": np.array(3, type_),
    }
    if mask is not None:
        constants["mask"] = mask
    inputs = {"x": x} | ({"past": random(2, 2, HEADS, 2, SIZE)} if past else {})
    operands = ["x", "w", "b", "x_scale", "w_scale", "" if mask is None else "mask", "x_zero", "w_zero", *(["past"] if past else [])]
    outputs = ["y", "present"] if past else ["y"]
    check([microsoft("QAttention", operands, outputs, num_heads=HEADS, **attributes)], inputs, constants=constants, forms=RANKED, atol=1e-4)


def packed(parts: list[Array], axis: int) -> Array:
    """Queries, keys and values [batch, sequence, heads * size], or those of tokens, in one array."""
    return np.stack([part.reshape(*part.shape[:-1], HEADS, SIZE) for part in parts], axis=axis)


def attention(parts: list[Array], bias: Array | None = None) -> Array:
    """What ONNX Runtime makes of operands of their own: [batch, sequence, heads * size]."""
    inputs: dict[str, Array] = dict(zip("qkv", parts, strict=True)) | ({} if bias is None else {"b": bias})
    model = build([microsoft("MultiHeadAttention", list(inputs), ["y"], num_heads=HEADS)], inputs)
    return expected_results(model, inputs, "onnxruntime")[0]


@pytest.mark.parametrize("has_bias", [False, True])
def test_queries_keys_and_values_in_one_operand(has_bias: bool) -> None:
    parts, bias = [random(2, 3, HIDDEN) for _ in range(3)], random(3 * HIDDEN) if has_bias else None
    inputs = {"q": packed(parts, 3)} | ({} if bias is None else {"b": bias})
    operands = ["q"] if bias is None else ["q", "", "", "b"]
    nodes = [microsoft("MultiHeadAttention", operands, ["y"], num_heads=HEADS)]
    check(nodes, inputs, expected=[attention(parts, bias)], forms=RANKED)


def test_keys_and_values_in_one_operand() -> None:
    query, key, value = random(2, 3, HIDDEN), random(2, 5, HIDDEN), random(2, 5, HIDDEN)
    nodes = [microsoft("MultiHeadAttention", ["q", "k"], ["y"], num_heads=HEADS)]
    check(nodes, {"q": query, "k": packed([key, value], 3)}, expected=[attention([query, key, value])], forms=RANKED)


LENGTHS = (1, 3, 2)
ENDS = np.cumsum([0, *LENGTHS]).astype(np.int32)
PLACES = np.zeros((len(LENGTHS), max(LENGTHS)), np.int32)


def by_sequence(parts: list[Array]) -> Array:
    """The attention of each sequence for itself, one after the other."""
    pieces = [[part[None, start:end] for part in parts] for start, end in pairwise(ENDS)]
    return np.concatenate([attention(piece)[0] for piece in pieces])


@pytest.mark.parametrize("form", ["own", "one"])
def test_tokens_of_several_sequences(form: str) -> None:
    parts, bias = [random(sum(LENGTHS), HIDDEN) for _ in range(3)], random(3 * HIDDEN)
    expected = by_sequence([part + own for part, own in zip(parts, np.split(bias, 3), strict=True)])
    inputs = dict(zip("qkv", parts, strict=True)) if form == "own" else {"q": packed(parts, 2)}
    operands = [*(["q", "k", "v"] if form == "own" else ["q", "", ""]), "b", "places", "ends"]
    nodes = [microsoft("PackedMultiHeadAttention", operands, ["y"], num_heads=HEADS)]
    check(nodes, inputs | {"places": PLACES, "ends": ENDS}, constants={"b": bias}, expected=[expected], forms=RANKED)


def test_projected_tokens_of_several_sequences() -> None:
    x, weights, bias = random(sum(LENGTHS), 6), random(6, 3 * HIDDEN), random(3 * HIDDEN)
    expected = by_sequence(np.split(x @ weights + bias, 3, axis=1))
    nodes = [microsoft("PackedAttention", ["x", "w", "b", "places", "ends"], ["y"], num_heads=HEADS)]
    inputs = {"x": x, "places": PLACES, "ends": ENDS}
    check(nodes, inputs, constants={"w": weights, "b": bias}, expected=[expected], forms=RANKED)


def test_a_bias_of_packed_scores_is_refused() -> None:
    inputs = {name: random(6, HIDDEN) for name in "qkv"} | {"places": PLACES, "ends": ENDS, "added": random(1, HEADS, 3, 3)}
    nodes = [microsoft("PackedMultiHeadAttention", ["q", "k", "v", "", "places", "ends", "added"], ["y"], num_heads=HEADS)]
    with pytest.raises(ConversionError, match="leave the attention bias out"):
        check(nodes, inputs, expected=[inputs["q"]], forms=["static"])


@pytest.mark.parametrize("channels", ["last", "first"])
@pytest.mark.parametrize("group", [1, 2])
def test_channel_last_convolution(group: int, channels: str) -> None:
    x, w, b = random(2, 5, 6, 4), random(6, 4 // group, 3, 2), random(6)
    attributes: dict[str, Any] = {"group": group, "pads": [1, 0, 0, 1], "strides": [2, 1], "kernel_shape": [3, 2]}
    model = build([node("Conv", ["x", "w", "b"], ["y"], **attributes)], {"x": x.transpose(0, 3, 1, 2)}, constants={"w": w, "b": b})
    expected = expected_results(model, {"x": x.transpose(0, 3, 1, 2)}, "onnxruntime")[0].transpose(0, 2, 3, 1)
    constants = {"w": w if channels == "first" else np.ascontiguousarray(w.transpose(0, 2, 3, 1)), "b": b}
    nodes = [microsoft("NhwcConv", ["x", "w", "b"], ["y"], **attributes)]
    check(nodes, {"x": x}, constants=constants, expected=[expected], forms=RANKED, operations=4)
