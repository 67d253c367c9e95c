"""Operations that move elements: slices, parts, joined values, other shapes."""

from __future__ import annotations

from math import prod

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds.elementwise import either
from tests.fuzz.fusions.kinds.registry import kind


def axis_of(d: Draft, x: Value, least: int = 1) -> int:
    """An axis of a value with some size at least, mostly that of the channels. Raises NoCase if there is none."""
    axes = [axis for axis in range(x.rank) if x.shape[axis] >= least]
    if not axes:
        raise NoCase("no such axis")
    channel = d.channel_axis(x)
    return channel if channel in axes and d.draw.chance(0.6) else d.draw.one_of(axes)


def counted(d: Draft, axis: int, rank: int) -> int:
    """An axis, perhaps counted from the end."""
    return axis - rank if d.draw.chance(0.3) else axis


@kind("Concat", "movement", 3.0)
def concat(d: Draft, x: Value) -> Value:
    """With other values, with itself, or with a constant, along any axis."""
    if not x.rank:
        raise NoCase("nothing to be joined along")
    draw, axis = d.draw, axis_of(d, x)
    fitting = [
        each
        for each in d.values
        if each.dtype == x.dtype and each.rank == x.rank and all(i == axis or each.shape[i] == x.shape[i] for i in range(x.rank))
    ]
    parts = [x]
    for _ in range(draw.one_of((1, 1, 1, 2))):
        if fitting and draw.chance(0.75):
            parts.append(draw.one_of(fitting))
        elif draw.chance(0.6):
            shape = list(x.shape)
            shape[axis] = draw.integer(1, 3)
            parts.append(d.input(shape, x.dtype))
        else:
            shape = list(x.shape)
            shape[axis] = draw.integer(1, 2)
            parts.append(d.constant(d.numbers(shape, x.dtype)))
    order = draw.permutation(len(parts))
    return d.op("Concat", *(parts[index] for index in order), axis=counted(d, axis, x.rank))


def _parts(d: Draft, x: Value) -> list[Value]:
    draw, axis = d.draw, axis_of(d, x, 2)
    size = x.shape[axis]
    count = draw.one_of([each for each in (2, 2, 3, 4) if each <= size])
    if size % count == 0 and draw.chance(0.7):
        sizes = [size // count] * count
    else:
        cuts = sorted(draw.permutation(size - 1)[: count - 1])
        sizes = [int(each) for each in np.diff([0, *(cut + 1 for cut in cuts), size])]
    parts = d.ops("Split", x, d.constant(np.array(sizes, np.int64)), outputs=count, axis=counted(d, axis, x.rank))
    d.values.extend(parts)
    return parts


@kind("Split", "movement", 3.0)
def split(d: Draft, x: Value) -> Value:
    """One of the parts; the others may be used later."""
    return d.draw.one_of(_parts(d, x)[::-1])


@kind("Split.gate", "movement", 1.5)
def gated(d: Draft, x: Value) -> Value:
    """Of two parts of equal sizes, one times an activation of the other: GLU, or their sum."""
    axis = axis_of(d, x, 2)
    size = x.shape[axis]
    if size % 2 or not x.is_float:
        raise NoCase("no halves")
    halves = d.constant(np.array([size // 2] * 2, np.int64))
    left, right = d.ops("Split", x, halves, outputs=2, axis=counted(d, axis, x.rank))
    if d.draw.chance(0.3):
        left, right = right, left
    if d.draw.chance(0.25):
        return either(d, "Add", left, right)
    return either(d, "Mul", left, d.op(d.draw.one_of(("Sigmoid", "Gelu", "Tanh")), right))


@kind("Split.concat", "movement", 0.7)
def parts_joined(d: Draft, x: Value) -> Value:
    """Parts that are joined again, some of them changed, perhaps in another order."""
    parts = _parts(d, x)
    axis = next(axis for axis in range(x.rank) if parts[0].shape[axis] != x.shape[axis])
    changed = [d.op("Relu", each) if x.is_float and d.draw.chance(0.4) else each for each in parts]
    order = range(len(parts)) if d.draw.chance(0.6) else d.draw.permutation(len(parts))
    return d.op("Concat", *(changed[index] for index in order), axis=axis)


@kind("Slice", "movement", 2.0)
def sliced(d: Draft, x: Value) -> Value:
    draw = d.draw
    axes = [axis_of(d, x, 2)] if draw.chance(0.7) else [axis for axis in range(x.rank) if x.shape[axis] > 1]
    begins, ends, steps = [], [], []
    for axis in axes:
        size = x.shape[axis]
        begin = draw.integer(0, size - 1)
        end = draw.integer(begin + 1, size)
        step = draw.one_of((1, 1, 1, 2))
        if draw.chance(0.1):
            begin, end, step = size - 1, -size - 1, -1
        begins.append(begin - size if draw.chance(0.2) and step > 0 else begin)
        ends.append(2**31 - 1 if end == size and draw.chance(0.3) else end)
        steps.append(step)
    return d.op("Slice", x, *(d.constant(np.array(each, np.int64)) for each in (begins, ends, axes, steps)))


@kind("Transpose", "movement", 2.0)
def transposed(d: Draft, x: Value) -> Value:
    draw, rank = d.draw, x.rank
    if rank < 2:
        raise NoCase("nothing to be transposed")
    usual = [(0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1)), (*range(rank - 2), rank - 1, rank - 2), (1, 0, *range(2, rank))]
    return d.transpose(x, draw.one_of(usual) if draw.chance(0.8) else draw.permutation(rank))


@kind("Reshape", "movement", 2.0)
def reshaped(d: Draft, x: Value) -> Value:
    """Dimensions joined or split, of size 1 added or left out, or all of them in one."""
    draw, shape = d.draw, list(x.shape)
    match draw.integer(0, 5):
        case 0:
            shape = [prod(shape)]
        case 1 | 2 if x.rank > 1:
            axis = draw.integer(0, x.rank - 2)
            shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
        case 3 | 4 if x.rank:
            axis = draw.integer(0, x.rank - 1)
            divisors = [each for each in range(1, shape[axis] + 1) if shape[axis] % each == 0]
            part = draw.one_of(divisors)
            shape[axis : axis + 1] = [part, shape[axis] // part]
        case _:
            shape = shape[::-1]
    if len(shape) > 6:
        raise NoCase("too many dimensions")
    return d.reshape(x, shape)


@kind("Flatten", "movement", 1.0)
def flattened(d: Draft, x: Value) -> Value:
    return d.op("Flatten", x, axis=d.draw.integer(0, x.rank) if d.draw.chance(0.3) else min(1, x.rank))


@kind("Unsqueeze", "movement", 1.0)
def unsqueezed(d: Draft, x: Value) -> Value:
    if x.rank > 4:
        raise NoCase("too many dimensions")
    return d.op("Unsqueeze", x, d.constant(np.array([d.draw.integer(-x.rank - 1, x.rank)], np.int64)))


@kind("Squeeze", "movement", 1.0)
def squeezed(d: Draft, x: Value) -> Value:
    ones = [axis for axis in range(x.rank) if x.shape[axis] == 1]
    if not ones:
        raise NoCase("no dimension of size 1")
    axes = ones if d.draw.chance(0.4) else [d.draw.one_of(ones)]
    return d.op("Squeeze", x, d.constant(np.array([counted(d, axis, x.rank) for axis in axes], np.int64)))


@kind("Tile", "movement", 0.5)
def tiled(d: Draft, x: Value) -> Value:
    return d.op("Tile", x, d.constant(np.array([d.draw.one_of((1, 1, 2)) for _ in x.shape], np.int64)))


@kind("Expand", "movement", 0.7)
def expanded(d: Draft, x: Value) -> Value:
    shape = [d.draw.integer(2, 3) if size == 1 and d.draw.chance(0.7) else size for size in x.shape]
    if d.draw.chance(0.3) and x.rank < 5:
        shape = [d.draw.integer(1, 2), *shape]
    return d.op("Expand", x, d.constant(np.array(shape, np.int64)))


@kind("Gather", "movement", 1.0)
def gathered(d: Draft, x: Value) -> Value:
    """Entries along an axis: one, several in any order, or the reverse."""
    draw, axis = d.draw, axis_of(d, x)
    size = x.shape[axis]
    match draw.integer(0, 3):
        case 0:
            indices = np.array(draw.integer(-size, size - 1), np.int64)
        case 1:
            indices = np.arange(size)[::-1].astype(np.int64)
        case 2:
            indices = np.array([draw.integer(0, size - 1)], np.int64)
        case _:
            indices = np.array([draw.integer(-size, size - 1) for _ in range(draw.integer(1, 4))], np.int64)
    return d.op("Gather", x, d.constant(indices), axis=counted(d, axis, x.rank))


@kind("CumSum", "movement", 0.3)
def cumulated(d: Draft, x: Value) -> Value:
    if not x.rank or not (x.is_float or x.dtype in (np.int32, np.int64)):
        raise NoCase("nothing to be summed")
    return d.op("CumSum", x, d.constant(np.array(axis_of(d, x), np.int64)), exclusive=int(d.draw.chance(0.3)))
