"""Matrix products, and the parts of transformers that are made of them."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds.elementwise import either, floats_only, partner
from tests.fuzz.fusions.kinds.registry import kind


def at_least(x: Value, rank: int) -> None:
    """Raise NoCase for a value of a lower rank, or that is not of floats."""
    floats_only(x)
    if x.rank < rank:
        raise NoCase("too few dimensions")


def dense_weights(d: Draft, rows: int, columns: int, like: Value) -> Value:
    """A constant matrix of numbers, dequantized from 8 bits per column, or transposed by a node."""
    draw = d.draw
    if draw.chance(d.quantized_weights):
        codes = draw.random.integers(-127, 128, size=(rows, columns)).astype(np.int8)
        scales = (draw.random.uniform(0.5, 1.5, size=columns) / 90 / rows**0.5).astype(np.float32).astype(like.dtype)
        return d.op("DequantizeLinear", d.constant(codes), d.constant(scales), d.constant(np.zeros(columns, np.int8)), axis=1)
    if draw.chance(0.3):
        return d.transpose(d.weights((columns, rows), like), (1, 0))
    return d.weights((rows, columns), like, 1.5 / rows**0.5)


@kind("MatMul.constant", "product", 3.0)
def product(d: Draft, x: Value) -> Value:
    at_least(x, 1)
    columns = d.draw.one_of((1, 2, 4, 8, x.shape[-1], x.shape[-1]))
    result = d.op("MatMul", x, dense_weights(d, x.shape[-1], columns, x))
    return either(d, "Add", result, d.weights((columns,), x, 0.5)) if d.draw.chance(0.4) else result


@kind("MatMul.left", "product", 0.7)
def product_with_constant_on_the_left(d: Draft, x: Value) -> Value:
    at_least(x, 2)
    rows = d.draw.one_of((1, 2, 4, x.shape[-2]))
    return d.op("MatMul", d.weights((rows, x.shape[-2]), x, 1.0), x)


@kind("MatMul.batch", "product", 0.5)
def product_with_matrices(d: Draft, x: Value) -> Value:
    """With constant matrices, one for each matrix of the value."""
    at_least(x, 3)
    columns = d.draw.one_of((1, 3, x.shape[-1]))
    return d.op("MatMul", x, d.weights((*x.shape[-3:-2], x.shape[-1], columns), x, 0.7))


@kind("MatMul.value", "product", 1.5)
def product_of_values(d: Draft, x: Value) -> Value:
    """Of two computed matrices, one of them perhaps transposed."""
    at_least(x, 2)
    other = partner(d, x) if d.draw.chance(0.5) else x
    if other.rank < 2:
        raise NoCase("no matrices")
    order = (*range(other.rank - 2), other.rank - 1, other.rank - 2)
    if d.draw.chance(0.5):
        return d.op("MatMul", x, d.transpose(other, order))
    return d.op("MatMul", d.transpose(other, order), x)


@kind("Gemm", "product", 1.0)
def gemm(d: Draft, x: Value) -> Value:
    at_least(x, 2)
    data = d.op("Flatten", x) if x.rank > 2 else x
    draw, columns = d.draw, d.draw.one_of((1, 3, 4, 8))
    transposed = draw.chance(0.5)
    rows = data.shape[-1]
    weights = d.weights((columns, rows) if transposed else (rows, columns), x, 1.5 / rows**0.5)
    terms = [d.weights(draw.one_of([(columns,), (1, columns), (1,)]), x, 0.5)] if draw.chance(0.7) else []
    scales = {"alpha": draw.one_of((1.0, 1.0, 0.5)), "beta": draw.one_of((1.0, 1.0, 2.0))}
    return d.op("Gemm", data, weights, *terms, transB=int(transposed), **scales)


@kind("FeedForward", "block", 1.0)
def feed_forward(d: Draft, x: Value) -> Value:
    """Two products with an activation or a gate between them, perhaps with a residual connection."""
    at_least(x, 2)
    from tests.fuzz.fusions.kinds.elementwise import ACTIVATIONS, gelu, swish

    draw, size = d.draw, x.shape[-1]
    inner = d.op("MatMul", x, dense_weights(d, size, 2 * size, x))
    if draw.chance(0.6):
        inner = either(d, "Add", inner, d.weights((2 * size,), x, 0.5))
    active = draw.one_of((gelu, swish, *(ACTIVATIONS[name] for name in ("Relu", "Gelu", "Gelu.tanh", "Mish", "HardSwish"))))(d, inner)
    if draw.chance(0.35):
        active = either(d, "Mul", active, d.op("MatMul", x, dense_weights(d, size, 2 * size, x)))
    result = d.op("MatMul", active, dense_weights(d, 2 * size, size, x))
    return either(d, "Add", result, x) if draw.chance(0.5) else result


def heads_of(d: Draft, x: Value, heads: int, *, moved: bool = True) -> Value:
    """[batch, steps, heads · size] as [batch, heads, steps, size]."""
    batch, steps, size = x.shape
    split = d.reshape(x, (batch, steps, heads, size // heads))
    return d.transpose(split, (0, 2, 1, 3)) if moved else split


def sequence(x: Value) -> tuple[int, int, int]:
    """The sizes of a sequence. Raises NoCase if the value is none."""
    floats_only(x)
    if x.rank != 3 or x.shape[-1] % 2:
        raise NoCase("no sequence")
    return x.shape[0], x.shape[1], x.shape[2]


def rotated(d: Draft, x: Value) -> Value:
    """Rotary position embeddings of [batch, heads, steps, size], of halves or of pairs."""
    draw, (_, _, steps, size) = d.draw, x.shape
    if size % 2:
        raise NoCase("no halves")
    angles = np.outer(np.arange(steps), 0.5 ** np.arange(size // 2))
    angles = np.concatenate([angles, angles], 1).reshape(1, 1, steps, size)
    cosines, sines = (d.constant(each.astype(np.float32).astype(x.dtype)) for each in (np.cos(angles), np.sin(angles)))
    if draw.chance(0.5):
        left, right = d.ops("Split", x, d.constant(np.array([size // 2] * 2, np.int64)), outputs=2, axis=draw.one_of((-1, 3)))
    else:
        bounds = [d.constant(np.array([each], np.int64)) for each in (0, size // 2, 2**31 - 1, 3)]
        left, right = d.op("Slice", x, bounds[0], bounds[1], bounds[3]), d.op("Slice", x, bounds[1], bounds[2], bounds[3])
    halves = d.op("Concat", d.op("Neg", right), left, axis=-1)
    return d.op("Add", either(d, "Mul", x, cosines), either(d, "Mul", halves, sines))


@kind("RoPE", "block", 1.0)
def rotary(d: Draft, x: Value) -> Value:
    batch, steps, size = sequence(x)
    heads = d.draw.one_of([each for each in (1, 2, 4) if size % (2 * each) == 0])
    result = rotated(d, heads_of(d, x, heads))
    return d.reshape(d.transpose(result, (0, 2, 1, 3)), (batch, steps, size)) if d.draw.chance(0.6) else result


@kind("Attention", "block", 2.0)
def attention(d: Draft, x: Value) -> Value:
    """Of one value, or of two: scaled at the queries, the keys or the scores, with a mask or without."""
    batch, steps, size = sequence(x)
    draw = d.draw
    heads = draw.one_of([each for each in (1, 2, 2, 4) if size % each == 0])
    if draw.chance(0.3):
        joined = d.op("MatMul", x, dense_weights(d, size, 3 * size, x))
        parts = d.ops("Split", joined, d.constant(np.array([size] * 3, np.int64)), outputs=3, axis=-1)
    else:
        parts = [d.op("MatMul", x, dense_weights(d, size, size, x)) for _ in range(3)]
        if draw.chance(0.5):
            parts = [either(d, "Add", each, d.weights((size,), x, 0.5)) for each in parts]
    queries, keys, values = (heads_of(d, each, heads) for each in parts)
    if draw.chance(0.25):
        queries, keys = rotated(d, queries), rotated(d, keys)
    scale = d.scalar((size // heads) ** -0.5, x)
    place = draw.integer(0, 3)
    if place == 0:
        queries = either(d, "Mul", queries, scale)
    scores = d.op("MatMul", queries, d.transpose(keys, (0, 1, 3, 2)))
    if place == 1:
        scores = either(d, "Mul", scores, scale)
    if place == 2:
        scores = d.op("Div", scores, d.scalar((size // heads) ** 0.5, x))
    if draw.chance(0.4):
        mask = np.where(draw.random.random((1, 1, steps, steps)) < 0.3, -1e4, 0).astype(np.float32)
        scores = either(d, "Add", scores, d.constant(mask.astype(x.dtype)))
    shares = d.op("Softmax", scores, axis=draw.one_of((-1, 3)))
    result = d.op("MatMul", shares, values)
    joined = d.reshape(d.transpose(result, (0, 2, 1, 3)), (batch, steps, size))
    return d.op("MatMul", joined, dense_weights(d, size, size, x)) if draw.chance(0.6) else joined
