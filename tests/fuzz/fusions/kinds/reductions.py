"""Reductions, normalizations, and shares of a sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds.elementwise import constant_for, either, floats_only
from tests.fuzz.fusions.kinds.registry import Kind, add, kind
from tests.fuzz.fusions.kinds.windows import image


def axes_of(d: Draft, x: Value) -> list[int]:
    """Axes of a value: the last one, those of an image, the channels, or any. Raises NoCase for a scalar."""
    if not x.rank:
        raise NoCase("no axes")
    draw, channel = d.draw, d.channel_axis(x)
    match draw.integer(0, 4):
        case 0 | 1:
            return [x.rank - 1]
        case 2 if x.rank > 2:
            return [axis for axis in range(1, x.rank) if axis != channel]
        case 3:
            return [min(channel, x.rank - 1)]
        case _:
            return sorted(draw.permutation(x.rank)[: draw.integer(1, x.rank)])


def _reduction(name: str) -> Callable[[Draft, Value], Value]:
    def apply(d: Draft, x: Value) -> Value:
        if not x.is_float and (name not in ("ReduceSum", "ReduceMax", "ReduceMin") or x.dtype.itemsize < 4):
            raise NoCase("floats only")
        return d.reduce(name, x, axes_of(d, x), int(d.draw.chance(0.6)))

    return apply


for _name, _weight in (("Mean", 3.0), ("Sum", 1.5), ("Max", 1.5), ("Min", 0.5), ("L1", 0.4), ("L2", 0.6), ("SumSquare", 0.4)):
    add(Kind(f"Reduce{_name}", "reduction", _reduction(f"Reduce{_name}"), _weight))


@kind("ArgMax", "reduction", 0.3)
def arg_max(d: Draft, x: Value) -> Value:
    floats_only(x)
    if not x.rank:
        raise NoCase("no axes")
    result = d.op(d.draw.one_of(("ArgMax", "ArgMin")), x, axis=d.draw.integer(-x.rank, x.rank - 1), keepdims=int(d.draw.chance(0.5)))
    return d.op("Cast", result, to=1) if d.draw.chance(0.7) else result


@kind("TopK", "reduction", 0.5)
def top(d: Draft, x: Value) -> Value:
    floats_only(x)
    if not x.rank:
        raise NoCase("no axes")
    axis = d.draw.integer(0, x.rank - 1)
    count = d.constant(np.array([d.draw.integer(1, x.shape[axis])], np.int64))
    values, indices = d.ops("TopK", x, count, outputs=2, axis=axis, largest=int(d.draw.chance(0.7)))
    d.values.append(values)
    return values if d.draw.chance(0.8) else d.op("Cast", indices, to=1)


@kind("Softmax", "reduction", 2.0)
def softmax(d: Draft, x: Value) -> Value:
    floats_only(x)
    if not x.rank:
        raise NoCase("no axes")
    axis = x.rank - 1 if d.draw.chance(0.6) else d.draw.integer(0, x.rank - 1)
    return d.op("LogSoftmax" if d.draw.chance(0.15) else "Softmax", x, axis=axis - x.rank if d.draw.chance(0.5) else axis)


@kind("Softmax.exp", "reduction", 0.4)
def softmax_of_parts(d: Draft, x: Value) -> Value:
    """exp(x - max) / sum."""
    floats_only(x)
    axes = [x.rank - 1] if x.rank else axes_of(d, x)
    powers = d.op("Exp", d.op("Sub", x, d.reduce("ReduceMax", x, axes)))
    return d.op("Div", powers, d.reduce("ReduceSum", powers, axes))


def several(*sizes: int) -> None:
    """Raise NoCase for a single element: its difference from its own mean is rounding alone, which a small deviation divides."""
    if prod(sizes) < 2:
        raise NoCase("a single element has no deviation")


def positive(d: Draft, shape: Sequence[int], like: Value) -> Value:
    """A constant of positive numbers."""
    return d.constant(d.draw.random.uniform(0.3, 2.0, size=tuple(shape)).astype(np.float32).astype(like.dtype))


@kind("BatchNormalization", "normalization", 2.0)
def batch_normalization(d: Draft, x: Value) -> Value:
    data = image(d, x, (2, 3, 4, 5))
    shape = data.shape[1:2]
    signed = positive(d, shape, x) if d.draw.chance(0.3) else d.weights(shape, x, 1.0)
    others = [d.weights(shape, x, 1.0), d.weights(shape, x, 1.0), positive(d, shape, x)]
    return d.as_image(d.op("BatchNormalization", data, signed, *others))


@kind("InstanceNormalization", "normalization")
def instance_normalization(d: Draft, x: Value) -> Value:
    data = image(d, x)
    several(*data.shape[2:])
    return d.as_image(d.op("InstanceNormalization", data, *(d.weights(data.shape[1:2], x, 1.0) for _ in range(2))))


@kind("GroupNormalization", "normalization", 1.5)
def group_normalization(d: Draft, x: Value) -> Value:
    """One node, or InstanceNormalization of groups with factors and terms of the channels."""
    data, draw = image(d, x), d.draw
    channels = data.shape[1]
    groups = draw.one_of([each for each in range(1, channels + 1) if channels % each == 0])
    several(channels // groups, *data.shape[2:])
    scale, bias = d.weights((channels,), x, 1.0), d.weights((channels,), x, 1.0)
    if draw.chance(0.5):
        return d.as_image(d.op("GroupNormalization", data, scale, bias, num_groups=groups))
    ones = d.constant(np.ones(groups, x.dtype)), d.constant(np.zeros(groups, x.dtype))
    normal = d.reshape(d.op("InstanceNormalization", d.reshape(data, (data.shape[0], groups, -1)), *ones), data.shape)
    shape = (channels, *[1] * (data.rank - 2))
    scale, bias = (d.constant(d.constants.pop(each.name).reshape(shape)) for each in (scale, bias))
    return d.as_image(d.op("Add", either(d, "Mul", normal, scale), bias))


@kind("LayerNormalization", "normalization", 1.5)
def layer_normalization(d: Draft, x: Value) -> Value:
    floats_only(x)
    if not x.rank:
        raise NoCase("no axes")
    axis = x.rank - 1 if d.draw.chance(0.7) else d.draw.integer(0, x.rank - 1)
    several(*x.shape[axis:])
    operands = [d.weights(x.shape[axis:], x, 1.0), *([d.weights(x.shape[axis:], x, 1.0)] if d.draw.chance(0.7) else [])]
    return d.op("LayerNormalization", x, *operands, axis=axis - x.rank if d.draw.chance(0.5) else axis)


@kind("LayerNormalization.parts", "normalization", 1.5)
def layer_normalization_of_parts(d: Draft, x: Value) -> Value:
    """Written as means, with near misses: another axis for the variance, dimensions that are not kept."""
    floats_only(x)
    draw, axes = d.draw, axes_of(d, x)
    several(*(x.shape[axis] for axis in axes))
    centred = d.op("Sub", x, d.reduce("ReduceMean", x, axes))
    again = d.op("Sub", x, d.reduce("ReduceMean", x, axes)) if draw.chance(0.2) else centred
    squares = d.op("Mul", again, again) if draw.chance(0.4) else d.op("Pow", again, d.scalar(2, x))
    others = axes if draw.chance(0.85) else axes_of(d, x)
    keepdims = int(draw.chance(0.9))
    variance = d.reduce("ReduceMean", squares, others, keepdims)
    epsilon = d.scalar(draw.one_of((1e-5, 1e-3, 0.1)), x)
    deviation = d.op("Sqrt", either(d, "Add", variance, epsilon))
    if draw.chance(0.2):
        deviation = either(d, "Add", d.op("Sqrt", either(d, "Add", variance, d.scalar(1e-6, x))), epsilon)
    normal = d.op("Div", centred, deviation) if draw.chance(0.7) else either(d, "Mul", centred, d.op("Reciprocal", deviation))
    return d.op("Add", either(d, "Mul", normal, constant_for(d, x)), constant_for(d, x)) if draw.chance(0.5) else normal


@kind("RMSNormalization", "normalization", 1.5)
def rms_normalization(d: Draft, x: Value) -> Value:
    floats_only(x)
    draw = d.draw
    axes = [x.rank - 1] if draw.chance(0.8) and x.rank else axes_of(d, x)
    squares = d.op("Pow", x, d.scalar(2, x)) if draw.chance(0.7) else d.op("Mul", x, x)
    mean = d.reduce("ReduceMean", squares, axes, int(draw.chance(0.93)))
    root = d.op("Sqrt", either(d, "Add", mean, d.scalar(draw.one_of((1e-5, 1e-2)), x)))
    normal = d.op("Div", x, root) if draw.chance(0.5) else either(d, "Mul", x, d.op("Reciprocal", root))
    if draw.chance(0.3):
        normal = either(d, "Mul", x, d.op("Div", d.scalar(1, x), root))
    return either(d, "Mul", normal, constant_for(d, x)) if draw.chance(0.7) else normal


@kind("LpNormalization", "normalization", 0.7)
def norm(d: Draft, x: Value) -> Value:
    """x by its norm along axes, or by a smallest one."""
    floats_only(x)
    axes, draw = axes_of(d, x), d.draw
    if draw.chance(0.3):
        return d.op("LpNormalization", x, axis=axes[0], p=2)
    total = d.reduce("ReduceSum", d.op("Mul", x, x), axes) if draw.chance(0.6) else d.reduce("ReduceSumSquare", x, axes)
    if draw.chance(0.5):
        return d.op("Div", x, d.op("Sqrt", either(d, "Add", total, d.scalar(1e-3, x))))
    return d.op("Div", x, d.op("Max", d.op("Sqrt", total), d.scalar(1e-2, x)))


@kind("LRN", "normalization", 0.4)
def response_normalization(d: Draft, x: Value) -> Value:
    data = image(d, x)
    return d.as_image(d.op("LRN", data, size=d.draw.one_of((1, 3)), alpha=0.1, beta=0.75, bias=1.0))
