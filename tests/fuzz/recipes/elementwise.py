"""Operations on single elements, with and without broadcasting."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from tests.fuzz.attributes import FACTORS, TYPES
from tests.fuzz.draw import NARROW_INTEGERS, Array, Draw, integer_limits
from tests.fuzz.signature import OUTPUTS, Signature, Values, recipe


def pair(draw: Draw, signature: Signature) -> tuple[list[int], list[int], Values]:
    """Shapes of two operands that broadcast; before version 7 the second is a part of the first that an attribute places."""
    shape = draw.shape()
    if "broadcast" not in signature.schema.attributes:
        left, right = draw.broadcasts_to(shape), draw.broadcasts_to(shape)
        return (shape, right, {}) if draw.chance(0.4) else (left, right, {}) if draw.chance(0.5) else (left, shape, {})
    if draw.chance(0.4):
        return shape, shape, {"broadcast": draw.integer(0, 1), "axis": None}
    start = draw.integer(0, len(shape))
    stop = draw.integer(start, len(shape))
    axis = None if stop == len(shape) else start
    return shape, shape[start:stop], {"broadcast": 1, "axis": axis}


@recipe(
    "Add",
    "Sub",
    "Mul",
    "And",
    "Or",
    "Xor",
    "Equal",
    "Greater",
    "Less",
    "GreaterOrEqual",
    "LessOrEqual",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
)
def binary(draw: Draw, signature: Signature) -> Values:
    left, right, attributes = pair(draw, signature)
    a, b = draw.array(signature.dtype("A"), left), draw.array(signature.dtype("B"), right)
    if b.size and a.shape == b.shape and draw.chance(0.3):
        b = np.where(draw.array(np.dtype(bool), a.shape), a, b)
    return {"A": a, "B": b} | attributes


def divisor(draw: Draw, dtype: np.dtype, shape: list[int]) -> Array:
    """Numbers to divide by: of integers none is 0, which no machine defines."""
    array = draw.array(dtype, shape)
    if dtype.kind not in "iu" and dtype.name not in NARROW_INTEGERS:
        return array
    return np.where(array == 0, np.ones((), dtype), array).astype(dtype)


@recipe("Div", "Mod")
def division(draw: Draw, signature: Signature) -> Values:
    left, right, attributes = pair(draw, signature)
    dtype = signature.dtype("A")
    numerator = draw.array(dtype, left)
    if dtype.kind == "i":
        # The least integer by -1 overflows.
        numerator = np.maximum(numerator, integer_limits(dtype)[0] + 1).astype(dtype)
    result = {"A": numerator, "B": divisor(draw, dtype, right)} | attributes
    if signature.name == "Mod":
        result["fmod"] = 1 if dtype.kind not in "iu" else draw.integer(0, 1)
    return result


@recipe("Pow")
def power(draw: Draw, signature: Signature) -> Values:
    left, right, attributes = pair(draw, signature)
    base, exponent = signature.dtype("X"), signature.dtype("Y")
    integral = base.kind in "iu"
    x = draw.between(base, left, -3 if base.kind == "i" else 0, 4) if integral else draw.array(base, left)
    if integral or exponent.kind in "iu":
        y = draw.between(exponent, right, 0, 3)
    else:
        y = draw.array(exponent, right) if draw.chance(0.5) else np.full(right, draw.one_of((2.0, 3.0, 0.5, -1.0, 1.0, 0.0)), exponent)
    return {"X": x, "Y": y} | attributes


@recipe("BitShift")
def shift(draw: Draw, signature: Signature) -> Values:
    left, right, _ = pair(draw, signature)
    dtype = signature.dtype()
    # The CPU plugin computes 64-bit integers in 32.
    most = 20 if dtype.itemsize == 8 else 8 * dtype.itemsize - 1
    return {"X": draw.array(dtype, left), "Y": draw.between(dtype, right, 0, most)}


@recipe("Max", "Min", "Sum", "Mean")
def variadic(draw: Draw, signature: Signature) -> Values:
    name = next(iter(signature.inputs))
    shape = draw.shape()
    equal = signature.version < 8
    count = draw.integer(1, 4)
    dtype = signature.dtype(name)
    return {name: [draw.array(dtype, shape if equal or draw.chance(0.4) else draw.broadcasts_to(shape)) for _ in range(count)]}


@recipe("Where")
def where(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape()
    return {name: draw.array(signature.dtype(name), draw.broadcasts_to(shape)) for name in signature.inputs}


@recipe("PRelu")
def prelu(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape()
    if signature.version < 7:
        shape = draw.shape(2)
        slope = [draw.one_of((1, shape[1]))]
    else:
        slope = draw.broadcasts_to(shape)
    dtype = signature.dtype()
    return {"X": draw.array(dtype, shape), "slope": draw.array(dtype, slope)}


@recipe("Clip")
def clip(draw: Draw, signature: Signature) -> Values:
    dtype = signature.dtype()
    name = next(iter(signature.inputs))
    limits = sorted(float(each) for each in np.nan_to_num(draw.array(dtype, [2]).astype(np.float64), posinf=9, neginf=-9))
    if draw.chance(0.1):
        limits.reverse()
    if signature.version < 11:
        return {name: draw.array(dtype, draw.shape()), "min": limits[0], "max": limits[1]}
    return {name: draw.array(dtype, draw.shape()), "min": np.array(limits[0]).astype(dtype), "max": np.array(limits[1]).astype(dtype)}


@recipe("Cast", "CastLike", "BitCast")
def cast(draw: Draw, signature: Signature) -> Values:
    source = signature.dtype("input")
    shape = draw.shape()
    x = draw.array(source, shape, special=0.1)
    target = draw.one_of(TYPES)
    if signature.name == "CastLike":
        target = signature.data_type("target_type")
    integral = target in INTEGRAL
    if integral and source.kind not in "biuOUS":
        # Reals beyond the limits of an integer type are converted as the machine likes.
        low, high = INTEGRAL[target]
        x = np.clip(np.nan_to_num(x.astype(np.float64)), max(low, -100), min(high, 100)).astype(source)
        # A type of powers of two has no 0.
        x = np.where(np.isnan(x.astype(np.float64)), np.ones((), source), x)
    if source.kind in "OUS":
        x = np.array([draw.one_of(("1", "-2", "0.5", "1e3", "12")) for _ in range(x.size)], dtype=object).reshape(shape)
    values: Values = {"input": x, "to": target if signature.version >= 6 else TensorProto.DataType.Name(target).encode()}
    if "target_type" in signature.inputs:
        values["target_type"] = draw.array(signature.dtype("target_type"), draw.shape())
    if signature.name == "BitCast":
        width = source.itemsize
        values["to"] = draw.one_of(SAME_WIDTH.get(width, SAME_WIDTH[1]))
    return values


INTEGRAL: dict[int, tuple[int, int]] = {
    TensorProto.INT64: (-100, 100),
    TensorProto.INT32: (-100, 100),
    TensorProto.INT16: (-100, 100),
    TensorProto.INT8: (-128, 127),
    TensorProto.UINT8: (0, 255),
    TensorProto.UINT16: (0, 100),
    TensorProto.UINT32: (0, 100),
    TensorProto.UINT64: (0, 100),
    TensorProto.INT4: (-8, 7),
    TensorProto.UINT4: (0, 15),
    TensorProto.INT2: (-2, 1),
    TensorProto.UINT2: (0, 3),
}
SAME_WIDTH: dict[int, list[int]] = {
    1: [TensorProto.INT8, TensorProto.UINT8],
    2: [TensorProto.INT16, TensorProto.UINT16, TensorProto.FLOAT16, TensorProto.BFLOAT16],
    4: [TensorProto.INT32, TensorProto.UINT32, TensorProto.FLOAT],
    8: [TensorProto.INT64, TensorProto.UINT64, TensorProto.DOUBLE],
}


@recipe("Selu", "HardSigmoid", "Elu", "Celu", "LeakyRelu", "ThresholdedRelu", "Shrink", "Swish")
def activation(draw: Draw, signature: Signature) -> Values:
    values: Values = {next(iter(signature.inputs)): draw.array(signature.dtype(), draw.shape())}
    for name in signature.schema.attributes:
        if name in ("alpha", "beta", "gamma", "lambd", "bias"):
            values[name] = draw.one_of(FACTORS if signature.name != "Celu" else [each for each in FACTORS if each])
    return values


@recipe("SwiGLU")
def gated(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape()
    return {name: draw.array(signature.dtype(name), shape) for name in signature.inputs}


@recipe("IsInf")
def is_infinite(draw: Draw, signature: Signature) -> Values:
    return {"X": draw.array(signature.dtype(), draw.shape(), special=0.8)}


@recipe("Dropout")
def dropout(draw: Draw, signature: Signature) -> Values:
    """In inference, where it gives back its operand."""
    training = np.array(False) if draw.chance(0.7) else None
    # What the mask is without training was not said before version 12.
    first = {OUTPUTS: 1} if signature.version < 12 else {}
    return first | {"data": draw.array(signature.dtype(), draw.shape()), "training_mode": training, "ratio": 0.5, "is_test": 1}
