"""Normalisations and norms that exporters write as several nodes."""

from __future__ import annotations

import numpy as np

from tests.fuzz.sketch import Sketch, pattern


@pattern("fuse-mvn")
def mean_variance(g: Sketch) -> str:
    shape = g.draw.filled(1, 4)
    rank = len(shape)
    x = g.input(shape)
    axes = [rank - 1] if g.draw.chance(0.6) else sorted(g.draw.permutation(rank)[: g.draw.integer(1, rank)])
    centred = g.op("Sub", x, g.reduce("ReduceMean", x, g.axes(axes, rank)))
    again = g.op("Sub", x, g.reduce("ReduceMean", x, g.axes(axes, rank))) if g.draw.chance(0.2) else centred
    square = g.op("Pow", again, g.number(2.0)) if g.draw.chance(0.6) else g.op("Mul", again, again)
    variance = g.reduce("ReduceMean", square, g.axes(axes, rank))
    deviation = g.op("Sqrt", g.either("Add", variance, g.number(g.draw.one_of((1e-5, 1e-3, 0.1)), rank)))
    if g.draw.chance(0.2):
        deviation = g.either("Add", g.op("Sqrt", variance), g.number(1e-3, rank))
    normal = g.op("Div", centred, deviation)
    if g.draw.chance(0.5):
        normal = g.either("Add", g.either("Mul", normal, g.weights(shape[-1:])), g.weights(shape[-1:]))
    return normal


@pattern("fuse-normalize-l2")
def normalize(g: Sketch) -> str:
    shape = g.draw.filled(1, 4)
    rank = len(shape)
    x = g.input(shape)
    axes = g.axes([rank - 1], rank)
    total = g.reduce("ReduceSum", g.op("Mul", x, x) if g.draw.chance(0.5) else g.op("Pow", x, g.number(2.0)), axes)
    epsilon = g.number(g.draw.one_of((1e-6, 1e-2, 0.0)), rank)
    match g.draw.integer(0, 2):
        case 0:
            norm = g.op("Sqrt", g.either("Add", total, epsilon))
        case 1:
            norm = g.either("Max", g.op("Sqrt", total), epsilon)
        case _:
            norm = g.op("Sqrt", g.either("Max", total, epsilon))
    return g.op("Div", x, norm)


@pattern("fuse-reduce")
def norm(g: Sketch) -> str:
    shape = g.draw.shape(1, 4)
    x = g.input(shape)
    axes, keepdims = g.draw.axes(len(shape), 1), g.draw.integer(0, 1)
    if g.draw.chance(0.4):
        return g.reduce("ReduceSum", g.op("Abs", x), axes, keepdims)
    other = g.input(shape) if g.draw.chance(0.1) else x
    return g.op("Sqrt", g.reduce("ReduceSum", g.op("Mul", x, other), axes, keepdims))


@pattern("fold-batch-norm")
def batch_norm(g: Sketch) -> str:
    group = g.draw.one_of((1, 1, 2))
    inputs, outputs = 2 * group, 2 * group
    weights, bias = g.weights([outputs, inputs // group, *g.draw.integers(2, 1, 2)]), g.weights([outputs])
    x = g.input([g.draw.integer(1, 2), inputs, *g.draw.integers(2, 2, 4)])
    y = g.op("Conv", x, weights, bias, group=group) if g.draw.chance(0.6) else g.op("Conv", x, weights, group=group)
    variance = g.array(g.draw.positive(np.dtype(np.float32), [outputs]))
    return g.op("BatchNormalization", y, g.weights([outputs]), g.weights([outputs]), g.weights([outputs]), variance, epsilon=1e-3)


@pattern("fuse-attention")
def attention(g: Sketch) -> str:
    batch, heads, queries, keys, size = (g.draw.integer(1, 3) for _ in range(5))
    flat = g.draw.chance(0.15)
    outer = [batch] if flat else [batch, heads]
    rank = len(outer) + 2
    q, v = g.input([*outer, queries, size]), g.input([*outer, keys, g.draw.integer(1, 3)])
    swap = [*range(rank - 2), rank - 1, rank - 2]
    k = g.op("Transpose", g.input([*outer, keys, size]), perm=g.permutation(swap)) if g.draw.chance(0.6) else g.input([*outer, size, keys])
    scale = g.draw.integer(0, 3)
    if scale == 0:
        q = g.either("Mul", q, g.number(0.5, 2))
    if scale == 1:
        q, k = g.either("Mul", q, g.number(0.7)), g.either("Mul", k, g.number(0.7))
    scores = g.op("MatMul", q, k)
    if scale == 2:
        scores = g.op("Div", scores, g.number(2.0, 2))
    if g.draw.chance(0.5):
        mask = g.draw.one_of(([queries, keys], [1, 1, queries, keys], [batch, 1, 1, keys], [keys], [1], [batch, heads, queries, keys]))
        scores = g.either("Add", scores, g.input(mask))
    return g.op("MatMul", g.op("Softmax", scores, axis=g.axis(rank - 1, rank)), v)


@pattern("fold-batch-norm.alone")
def batch_norm_of_shape(g: Sketch) -> str:
    shape = g.draw.shape(2, 4)
    variance = g.array(g.draw.positive(np.dtype(np.float32), shape[1:2]))
    y = g.op("BatchNormalization", g.input(shape), *(g.weights(shape[1:2]) for _ in range(3)), variance, epsilon=0.01)
    return g.op("Relu", y)


@pattern("fold-negations")
def negated_terms(g: Sketch) -> str:
    """Sums of negated terms and factors, of floats and of integers."""
    shape = g.draw.shape(0, 3)
    dtype = g.draw.one_of((np.float32, np.float32, np.float32, np.int32, np.float16))
    x, y, z = (g.input(shape if index == 0 else g.draw.broadcasts_to(shape), dtype) for index in g.draw.permutation(3))
    negative = g.op("Neg", x)
    match g.draw.integer(0, 4):
        case 0:
            return g.either("Add", negative, y)
        case 1:
            return g.either("Add", g.either("Mul", negative, y), z)
        case 2:
            return g.op("Sub", y, negative)
        case 3:
            return g.op("Sub", g.either("Mul", negative, y), g.op("Neg", z))
        case _:
            return g.either("Add", g.either("Mul", negative, g.op("Neg", y)), g.either("Add", z, g.op("Neg", y)))
