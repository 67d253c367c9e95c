"""Compositions that the runtime replaces by one operation of its own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds.elementwise import either, floats_only, partner
from tests.fuzz.fusions.kinds.movements import axis_of, counted
from tests.fuzz.fusions.kinds.registry import kind
from tests.fuzz.fusions.kinds.windows import image


@kind("Slice.several", "movement", 0.7)
def slices(d: Draft, x: Value) -> Value:
    """Slices of one value along one axis, perhaps with gaps or overlaps, joined or added."""
    draw, axis = d.draw, axis_of(d, x, 2)
    size, count = x.shape[axis], draw.integer(2, min(4, x.shape[axis]))
    bounds = [round(size * number / count) for number in range(count + 1)]
    if draw.chance(0.3):
        bounds = [max(0, min(size, bound + draw.integer(-1, 1))) for bound in bounds]
    place = d.constant(np.array([counted(d, axis, x.rank)], np.int64))
    parts = [d.op("Slice", x, *(d.constant(np.array([each], np.int64)) for each in pair), place) for pair in pairwise(bounds)]
    if draw.chance(0.4):
        parts = [d.op("Relu", each) if x.is_float and draw.chance(0.5) else each for each in parts]
    if draw.chance(0.3) and len({each.shape for each in parts}) == 1:
        return either(d, "Add", parts[0], parts[-1])
    return d.op("Concat", *parts, axis=axis)


@kind("Split.squeeze", "movement", 0.5)
def squeezed_parts(d: Draft, x: Value) -> Value:
    """Parts of size 1 without their axis, joined along another one."""
    axis = axis_of(d, x, 2)
    size = x.shape[axis]
    if size > 4 or x.rank < 2:
        raise NoCase("too many parts")
    parts = d.ops("Split", x, d.constant(np.array([1] * size, np.int64)), outputs=size, axis=axis)
    place = d.constant(np.array([counted(d, axis, x.rank)], np.int64))
    rows = [d.op("Squeeze", each, place) for each in parts]
    d.values.extend(rows)
    return d.op("Concat", *rows, axis=d.draw.integer(0, x.rank - 2))


@kind("Gather.several", "movement", 0.5)
def entries(d: Draft, x: Value) -> Value:
    """Single entries of one value along one axis, added, multiplied, or joined again."""
    draw, axis = d.draw, axis_of(d, x, 2)
    size = x.shape[axis]
    chosen = draw.permutation(size)[:3] if draw.chance(0.5) else list(range(min(size, 4)))
    rows = [d.op("Gather", x, d.constant(np.array(index, np.int64)), axis=axis) for index in chosen]
    if draw.chance(0.5):
        place = d.constant(np.array([axis], np.int64))
        return d.op("Concat", *(d.op("Unsqueeze", each, place) for each in rows), axis=axis)
    return d.op("Add", rows[0], rows[-1])


@kind("Max.min", "activation", 0.5)
def limited(d: Draft, x: Value) -> Value:
    """Max and Min with numbers, in either order."""
    low, high = d.draw.one_of(((0.0, 6.0), (-1.0, 1.0), (1.0, -1.0), (-2.0, 0.5)))
    names = [("Max", low), ("Min", high)]
    for name, number in names if d.draw.chance(0.5) else names[::-1]:
        x = either(d, name, x, d.scalar(number, x))
    return x


@kind("Concat.reduce", "reduction", 0.5)
def reduced_pair(d: Draft, x: Value) -> Value:
    """Two values that are stacked, and reduced along the new axis."""
    other = partner(d, x)
    if other.shape != x.shape or x.rank > 4 or not x.is_float:
        raise NoCase("another shape")
    axis = d.draw.integer(0, x.rank)
    place = d.constant(np.array([axis], np.int64))
    stacked = d.op("Concat", d.op("Unsqueeze", x, place), d.op("Unsqueeze", other, place), axis=axis)
    return d.reduce(d.draw.one_of(("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean")), stacked, [axis], int(d.draw.chance(0.3)))


@kind("Resize.parts", "pooling", 0.4)
def repeated_columns(d: Draft, x: Value) -> Value:
    """Nearest neighbours: each element twice, by a Concat or a product of a reshaped value."""
    data = image(d, x, (4,))
    batch, channels, height, width = data.shape
    split = d.reshape(data, (batch, channels, height, 1, width, 1))
    if d.draw.chance(0.5):
        split = d.op("Concat", split, split, axis=5)
        split = d.op("Concat", split, split, axis=3)
    else:
        split = d.op("Mul", split, d.constant(np.ones((1, 1, 1, 2, 1, 2), x.dtype)))
    return d.as_image(d.reshape(split, (batch, channels, 2 * height, 2 * width)))


@kind("DepthToSpace.parts", "pooling", 0.5)
def blocks(d: Draft, x: Value) -> Value:
    """Reshape, Transpose, Reshape: DepthToSpace, SpaceToDepth, or nearly."""
    data, draw = image(d, x, (4,)), d.draw
    batch, channels, height, width = data.shape
    if channels % 4 == 0 and draw.chance(0.6):
        split = d.reshape(
            data, (batch, 2, 2, channels // 4, height, width) if draw.chance(0.5) else (batch, channels // 4, 2, 2, height, width)
        )
        order = draw.one_of(((0, 3, 4, 1, 5, 2), (0, 1, 4, 2, 5, 3)))
        result = d.transpose(split, order)
        return d.as_image(d.reshape(result, (batch, result.shape[1], result.shape[2] * result.shape[3], result.shape[4] * result.shape[5])))
    if height % 2 or width % 2:
        raise NoCase("no blocks")
    split = d.transpose(d.reshape(data, (batch, channels, height // 2, 2, width // 2, 2)), (0, 3, 5, 1, 2, 4))
    return d.as_image(d.reshape(split, (batch, 4 * channels, height // 2, width // 2)))


@kind("Twice", "arithmetic", 0.5)
def twice(d: Draft, x: Value) -> Value:
    """The same operation of the same value twice, and the sum of both."""
    floats_only(x)
    name = d.draw.one_of(("Relu", "Sigmoid", "Neg", "Exp", "Softmax"))
    x = d.op("Tanh", x) if name == "Exp" else x
    if name == "Softmax" and not x.rank:
        raise NoCase("no axes")
    return d.op("Add", d.op(name, x), d.op(name, x))


@kind("Neutral", "arithmetic", 0.5)
def neutral(d: Draft, x: Value) -> Value:
    """A sum with zeros or a product with ones, whose shape may add dimensions."""
    shape = d.draw.one_of(((), (1,), (1,) * x.rank, (1,) * min(5, x.rank + 1), x.shape))
    name, number = d.draw.one_of((("Add", 0), ("Mul", 1), ("Sub", 0), ("Div", 1)))
    return d.op(name, x, d.constant(np.full(shape, number), x.dtype))


@kind("Linear", "arithmetic", 0.5)
def linear(d: Draft, x: Value) -> Value:
    """Sums and products with numbers in a row."""
    floats_only(x)
    for _ in range(d.draw.integer(2, 4)):
        x = either(d, d.draw.one_of(("Add", "Mul")), x, d.scalar(d.draw.one_of((2.0, -0.5, 0.0, 1.0, -1.0)), x))
    return x


@kind("Transposes", "movement", 0.8)
def transposed_twice(d: Draft, x: Value) -> Value:
    """Something between two Transposes, the second of which is the inverse of the first or another one."""
    if x.rank < 2:
        raise NoCase("nothing to be transposed")
    order = d.draw.permutation(x.rank)
    inner = d.transpose(x, order)
    d.values.append(inner)
    name = d.draw.one_of(("Relu", "Neg", "Abs", "Add", "Identity", "ReduceMean"))
    if name == "Add":
        inner = d.op("Add", inner, d.weights((inner.shape[-1],), x, 1.0) if x.is_float else d.constant(np.ones(1), x.dtype))
    elif x.is_float:
        inner = d.reduce(name, inner, [d.draw.integer(0, x.rank - 1)]) if name == "ReduceMean" else d.op(name, inner)
    back = [int(each) for each in np.argsort(order)] if d.draw.chance(0.7) else d.draw.permutation(x.rank)
    return d.transpose(inner, back)
