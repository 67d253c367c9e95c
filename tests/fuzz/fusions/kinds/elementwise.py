"""Activations, and arithmetic with constants and with other values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds.registry import Kind, add, kind


def floats_only(x: Value) -> None:
    """Raise NoCase for a value that is not of floats."""
    if not x.is_float:
        raise NoCase("floats only")


def _unary(name: str, **attributes: Any) -> Callable[[Draft, Value], Value]:
    def apply(d: Draft, x: Value) -> Value:
        floats_only(x)
        return d.op(name, x, **attributes)

    return apply


def _with_number(name: str, attribute: str, numbers: Sequence[float]) -> Callable[[Draft, Value], Value]:
    def apply(d: Draft, x: Value) -> Value:
        floats_only(x)
        return d.op(name, x, **{attribute: d.draw.one_of(numbers)})

    return apply


ACTIVATIONS: Mapping[str, Callable[[Draft, Value], Value]] = {
    **{name: _unary(name) for name in ("Relu", "Sigmoid", "Tanh", "Softplus", "Softsign", "Mish", "HardSwish", "Erf")},
    "LeakyRelu": _with_number("LeakyRelu", "alpha", (0.01, 0.2, -0.3, 1.5, 0.0)),
    "Elu": _with_number("Elu", "alpha", (1.0, 0.5, -0.5)),
    "Selu": _unary("Selu"),
    "Celu": _with_number("Celu", "alpha", (1.0, 2.0)),
    "ThresholdedRelu": _with_number("ThresholdedRelu", "alpha", (1.0, 0.3)),
    "HardSigmoid": _unary("HardSigmoid", alpha=1 / 6, beta=0.5),
    "HardSigmoid.other": _with_number("HardSigmoid", "alpha", (0.2, 0.3, -0.2)),
    "Gelu": _unary("Gelu"),
    "Gelu.tanh": _unary("Gelu", approximate="tanh"),
}
for _name, _apply in ACTIVATIONS.items():
    add(Kind(_name, "activation", _apply))

for _name in ("Abs", "Neg", "Floor", "Ceil", "Round", "Sign", "Sin", "Cos", "Atan", "Identity"):
    add(Kind(_name, "unary", _unary(_name), 3.0 if _name in ("Abs", "Neg") else 0.5))


@kind("Swish", "activation")
def swish(d: Draft, x: Value) -> Value:
    floats_only(x)
    inner = d.op("Mul", x, d.scalar(d.draw.one_of((1.702, 0.5, -1.0)), x)) if d.draw.chance(0.3) else x
    return either(d, "Mul", x, d.op("Sigmoid", inner))


@kind("Gelu.erf", "activation")
def gelu(d: Draft, x: Value) -> Value:
    floats_only(x)
    inner = d.op("Div", x, d.scalar(2**0.5, x)) if d.draw.chance(0.6) else d.op("Mul", x, d.scalar(0.5**0.5, x))
    grown = either(d, "Add", d.op("Erf", inner), d.scalar(1, x))
    if d.draw.chance(0.5):
        return either(d, "Mul", either(d, "Mul", x, grown), d.scalar(0.5, x))
    return either(d, "Mul", either(d, "Mul", x, d.scalar(0.5, x)), grown)


@kind("HardSwish.relu6", "activation")
def hard_swish(d: Draft, x: Value) -> Value:
    floats_only(x)
    limited = d.op("Clip", either(d, "Add", x, d.scalar(3, x)), d.constant(0, x.dtype), d.constant(6, x.dtype))
    if d.draw.chance(0.3):
        return d.op("Div", limited, d.scalar(6, x))
    if d.draw.chance(0.5):
        return either(d, "Mul", x, d.op("Mul", limited, d.scalar(1 / 6, x)))
    return d.op("Div", either(d, "Mul", x, limited), d.scalar(6, x))


@kind("SoftPlus.log", "activation", 0.5)
def soft_plus(d: Draft, x: Value) -> Value:
    """Written as log(1 + eˣ), perhaps with tanh and a product after it: Mish."""
    floats_only(x)
    limited = d.op("Clip", x, None, d.constant(20, x.dtype))
    result = d.op("Log", either(d, "Add", d.op("Exp", limited), d.scalar(1, x)))
    return either(d, "Mul", x, d.op("Tanh", result)) if d.draw.chance(0.5) else result


@kind("PRelu", "activation")
def parametric(d: Draft, x: Value) -> Value:
    floats_only(x)
    return d.op("PRelu", x, constant_for(d, x))


@kind("PRelu.relu", "activation", 0.5)
def parametric_of_relu(d: Draft, x: Value) -> Value:
    """Relu(x) - slope · Relu(-x)."""
    floats_only(x)
    negative = d.op("Relu", d.op("Neg", x))
    return d.op("Sub", d.op("Relu", x), either(d, "Mul", constant_for(d, x), negative))


@kind("Clip", "activation")
def clip(d: Draft, x: Value) -> Value:
    low, high = d.draw.one_of(((0, 6), (-1, 1), (0, 1), (0.5, 2), (-2, -0.5), (None, 0.7), (-0.4, None), (0, None)))
    limits = [None if each is None else d.constant(each, x.dtype) for each in (low, high)]
    return d.op("Clip", x, *limits)


@kind("Exp", "unary", 0.5)
def exp(d: Draft, x: Value) -> Value:
    floats_only(x)
    return d.op("Exp", d.op("Clip", x, None, d.constant(4, x.dtype)))


@kind("Sqrt", "unary", 0.5)
def sqrt(d: Draft, x: Value) -> Value:
    floats_only(x)
    positive = either(d, "Add", d.op("Abs", x), d.scalar(0.1, x))
    return d.op("Reciprocal", d.op("Sqrt", positive)) if d.draw.chance(0.4) else d.op("Sqrt", positive)


@kind("Log", "unary", 0.3)
def log(d: Draft, x: Value) -> Value:
    floats_only(x)
    return d.op("Log", either(d, "Add", d.op("Abs", x), d.scalar(0.5, x)))


@kind("Square", "unary")
def square(d: Draft, x: Value) -> Value:
    return d.op("Mul", x, x) if d.draw.chance(0.6) or not x.is_float else d.op("Pow", x, d.scalar(d.draw.one_of((2, 2, 3)), x))


@kind("Cast", "unary")
def cast(d: Draft, x: Value) -> Value:
    """To another element type and back, or to integers."""
    to = d.draw.one_of((np.float16, np.int32, np.int64, np.float32, np.uint8 if d.draw.chance(0.3) else np.int8))
    between = x
    if x.is_float and np.dtype(to).kind in "iu":
        between = d.op("Clip", x, d.constant(0 if np.dtype(to).kind == "u" else -100, x.dtype), d.constant(100, x.dtype))
    from onnx import helper

    result = d.op("Cast", between, to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))
    return d.op("Cast", result, to=helper.np_dtype_to_tensor_dtype(x.dtype)) if d.draw.chance(0.8) else result


@kind("Where", "arithmetic", 0.7)
def where(d: Draft, x: Value) -> Value:
    """A choice between the value and another one, by a comparison of the value."""
    condition = d.op(d.draw.one_of(("Greater", "Less", "GreaterOrEqual")), x, constant_for(d, x))
    other = partner(d, x) if d.draw.chance(0.5) else constant_for(d, x)
    return d.op("Where", condition, *((x, other) if d.draw.chance(0.5) else (other, x)))


def either(d: Draft, name: str, left: Value, right: Value) -> Value:
    """A commutative operation with its operands in either order."""
    return d.op(name, left, right) if d.draw.chance(0.5) else d.op(name, right, left)


def shape_for(d: Draft, x: Value) -> tuple[int, ...]:
    """The shape of a constant for a value: one number, channels, rows, columns, a map, all of it, with ones in front or not."""
    draw, rank = d.draw, x.rank
    if not rank:
        return ()
    channel = d.channel_axis(x)
    match draw.integer(0, 7):
        case 0:
            axes: set[int] = set()
        case 1 | 2 | 3:
            axes = {channel}
        case 4:
            axes = {draw.integer(0, rank - 1)}
        case 5:
            axes = set(range(rank)) - {0, channel}
        case 6:
            axes = set(range(1, rank))
        case _:
            axes = {axis for axis in range(rank) if draw.chance(0.6)}
    shape = [x.shape[axis] if axis in axes else 1 for axis in range(rank)]
    while shape and shape[0] == 1 and draw.chance(0.6):
        shape.pop(0)
    return tuple(shape)


def constant_for(d: Draft, x: Value, *, divisor: bool = False) -> Value:
    """A constant for a value: positive, negative, of both signs, zeros among others, or all the same."""
    draw, shape = d.draw, shape_for(d, x)
    if not x.is_float:
        low = 1 if divisor or x.dtype.kind == "u" else -4
        return d.constant(draw.random.integers(low, 5, size=shape).astype(x.dtype))
    numbers = np.asarray(draw.random.uniform(0.3, 2.0, size=shape))
    match draw.integer(0, 6):
        case 0:
            numbers = -numbers
        case 1 | 2 | 3:
            numbers = numbers * draw.random.choice((-1.0, 1.0), size=shape)
        case 4 if not divisor:
            numbers = numbers * draw.random.choice((0.0, 1.0, -1.0), size=shape)
        case 5:
            numbers = np.full(shape, draw.one_of((0.5, 1.0, -1.0, 2.0, 0.25)))
        case _:
            pass
    return d.constant(numbers.astype(np.float32).astype(x.dtype))


def partner(d: Draft, x: Value) -> Value:
    """Another value that broadcasts with one: one that is there, or a new input."""
    draw = d.draw
    there = [each for each in d.values if each.dtype == x.dtype and broadcasts(each.shape, x.shape)]
    if there and draw.chance(0.75):
        return draw.one_of(there[-4:] if draw.chance(0.5) else there)
    shape = x.shape if draw.chance(0.7) else shape_for(d, x)
    return d.input(shape, x.dtype)


def broadcasts(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two shapes broadcast to the larger one of them."""
    pairs = list(zip(reversed(left), reversed(right), strict=False))
    return all(a == b or 1 in (a, b) for a, b in pairs)


def _with_constant(name: str) -> Callable[[Draft, Value], Value]:
    def apply(d: Draft, x: Value) -> Value:
        constant = constant_for(d, x, divisor=name == "Div")
        if d.draw.chance(0.3) and name != "Div":
            return d.op(name, constant, x)
        return d.op(name, x, constant)

    return apply


def _with_value(name: str) -> Callable[[Draft, Value], Value]:
    def apply(d: Draft, x: Value) -> Value:
        other = partner(d, x)
        if name == "Div":
            floats_only(x)
            return d.op(name, x, d.op("Add", d.op("Sigmoid", other), d.scalar(0.5, other)))
        return d.op(name, x, other) if d.draw.chance(0.5) else d.op(name, other, x)

    return apply


for _name, _weight in (("Mul", 3.0), ("Add", 3.0), ("Sub", 1.5), ("Div", 1.0), ("Max", 0.5), ("Min", 0.5)):
    add(Kind(f"{_name}.constant", "arithmetic", _with_constant(_name), _weight))
    add(Kind(f"{_name}.value", "arithmetic", _with_value(_name), _weight))


@kind("Scale", "arithmetic", 2.0)
def scale(d: Draft, x: Value) -> Value:
    """A product with constants of channels, then a sum with others."""
    return d.op("Add", either(d, "Mul", x, constant_for(d, x)), constant_for(d, x))


@kind("Gate", "arithmetic", 1.5)
def gate(d: Draft, x: Value) -> Value:
    floats_only(x)
    return either(d, "Mul", x, d.op(d.draw.one_of(("Sigmoid", "Tanh", "Gelu", "HardSigmoid")), partner(d, x)))


@kind("SquaredDifference", "arithmetic", 0.4)
def squared_difference(d: Draft, x: Value) -> Value:
    floats_only(x)
    difference = d.op("Sub", x, partner(d, x))
    return d.op("Mul", difference, difference)
