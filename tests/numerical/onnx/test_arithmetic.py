"""Arithmetic, elementary functions, bits and conversions of ONNX, against ONNX Runtime or numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(4)
X = (3 * RANDOM.standard_normal((2, 3, 4))).astype(np.float32)
UNIT = RANDOM.uniform(-0.9, 0.9, (2, 3)).astype(np.float32)
POSITIVE = RANDOM.uniform(1.1, 4, (2, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("kind", "x", "opset"),
    [
        ("Abs", X, 6),
        ("Acos", UNIT, 7),
        ("Acosh", POSITIVE, 9),
        ("Asin", UNIT, 7),
        ("Asinh", X, 9),
        ("Atan", X, 7),
        ("Atanh", UNIT, 9),
        ("Ceil", X, 6),
        ("Cos", X, 7),
        ("Cosh", UNIT, 9),
        ("Erf", X, 9),
        ("Exp", X, 13),
        ("Floor", X, 13),
        ("Log", POSITIVE, 6),
        ("Neg", X, 6),
        ("Reciprocal", POSITIVE, 6),
        ("Round", np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.4], np.float32), 11),
        ("Sign", np.array([-2, 0, 3], np.float32), 13),
        ("Sin", X, 7),
        ("Sinh", UNIT, 9),
        ("Sqrt", POSITIVE, 13),
        ("Tan", UNIT, 7),
        ("Tanh", X, 13),
        ("Abs", np.array([-3, 4], np.int32), 13),
        ("Neg", np.array([-3, 4], np.int32), 13),
        ("Sign", np.array([-3, 0, 4], np.int32), 13),
        ("BitwiseNot", np.array([-3, 0, 4], np.int32), 18),
        ("BitwiseNot", np.array([3, 0, 4], np.uint8), 18),
    ],
)
def test_unary(kind: str, x: Array, opset: int) -> None:
    check([node(kind, ["x"], ["y"])], {"x": x}, opset=opset, operations=1)


A = np.array([[7, -7, 8], [-8, 5, -5]], np.int32)
B = np.array([[3, 3, -3], [-3, 2, 2]], np.int32)


@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
@pytest.mark.parametrize("opset", [7, 14])
def test_binary(kind: str, dtype: type, opset: int) -> None:
    check([node(kind, ["a", "b"], ["y"])], {"a": A.astype(dtype), "b": B.astype(dtype)}, opset=opset, operations=1)


def test_binary_broadcasts_both_ways() -> None:
    check([node("Add", ["a", "b"], ["y"])], {"a": X[:1, :, :1], "b": X[0]}, operations=1)


@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Div", "Pow"])
@pytest.mark.parametrize("constant", [True, False])
def test_binary_with_an_axis(kind: str, constant: bool) -> None:
    x, b = np.abs(X), np.array([1, 2, 3], np.float32)
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power}[kind]
    check(
        [node(kind, ["a", "b"], ["y"], broadcast=1, axis=1)],
        {"a": x} if constant else {"a": x, "b": b},
        constants={"b": b} if constant else None,
        opset=6,
        expected=[function(x, b[:, None])],
        forms=("static", "dynamic"),
    )


def test_binary_with_broadcast_but_no_axis() -> None:
    b = np.array([1, 2, 3, 4], np.float32)
    check([node("Add", ["a", "b"], ["y"], broadcast=1)], {"a": X, "b": b}, opset=6, expected=[X + b])


@pytest.mark.parametrize(("fmod", "dtype"), [(0, np.int32), (0, np.int64), (1, np.int32), (1, np.float32)])
def test_mod(fmod: int, dtype: type) -> None:
    a, b = A.astype(dtype), B.astype(dtype)
    check([node("Mod", ["a", "b"], ["y"], fmod=fmod)], {"a": a, "b": b}, opset=13, operations=1)


@pytest.mark.parametrize(
    ("a", "b", "operations"),
    [
        (POSITIVE, UNIT[:1], 1),
        (POSITIVE, np.array(2, np.int64), 2),
        (POSITIVE, np.array([[1, 2, 3]], np.int32), 2),
        (np.array([1, 2, 3], np.int32), np.array([2, 3, 1], np.int32), 1),
        (np.array([1, 4, 9], np.int32), np.array([0.5], np.float32), 3),
    ],
)
def test_pow(a: Array, b: Array, operations: int) -> None:
    check([node("Pow", ["a", "b"], ["y"])], {"a": a, "b": b}, opset=15, operations=operations)


def test_pow_with_a_constant_integer_is_one_operation() -> None:
    check([node("Pow", ["a", "b"], ["y"])], {"a": POSITIVE}, constants={"b": np.array(2, np.int64)}, opset=13, operations=1)


@pytest.mark.parametrize("kind", ["Max", "Min", "Sum", "Mean"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("opset", [8, 13])
def test_variadic(kind: str, count: int, opset: int) -> None:
    inputs = {"a": X, "b": X[:, :1] + 1, "c": X[0, 0] * 2}
    names = list(inputs)[:count]
    check(
        [node(kind, names, ["y"])], {name: inputs[name] for name in names}, opset=opset, operations=count - (kind != "Mean" or count == 1)
    )


@pytest.mark.parametrize("kind", ["BitwiseAnd", "BitwiseOr", "BitwiseXor"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint8])
def test_bitwise(kind: str, dtype: type) -> None:
    check([node(kind, ["a", "b"], ["y"])], {"a": np.abs(A).astype(dtype), "b": np.abs(B).astype(dtype)}, opset=18, operations=1)


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32])
def test_bit_shift(direction: str, dtype: type) -> None:
    a, b = np.array([1, 64, 5], dtype), np.array([1, 2, 0], dtype)
    expected = np.left_shift(a, b) if direction == "LEFT" else np.right_shift(a, b)
    check([node("BitShift", ["a", "b"], ["y"], direction=direction)], {"a": a, "b": b}, opset=11, expected=[expected])


def test_bit_shift_without_direction() -> None:
    with pytest.raises(ConversionError, match="direction is 'UP'"):
        check([node("BitShift", ["a", "b"], ["y"], direction="UP")], {"a": A, "b": B}, opset=11, expected=[A])


@pytest.mark.parametrize(
    ("x", "to", "dtype"),
    [
        (X, TensorProto.INT32, np.int32),
        (X, TensorProto.INT64, np.int64),
        (X, TensorProto.FLOAT16, np.float16),
        (X, TensorProto.BOOL, np.bool_),
        (np.array([0, 0.3, -0.2], np.float32), TensorProto.BOOL, np.bool_),
        (A, TensorProto.FLOAT, np.float32),
        (np.array([0, 5], np.int64), TensorProto.BOOL, np.bool_),
        (np.array([True, False]), TensorProto.INT64, np.int64),
        (np.array([True, False]), TensorProto.FLOAT, np.float32),
        (np.array([3, 200], np.uint8), TensorProto.FLOAT, np.float32),
    ],
)
def test_cast(x: Array, to: int, dtype: type) -> None:
    check([node("Cast", ["x"], ["y"], to=to)], {"x": x}, opset=13, expected=[x.astype(dtype)], operations=1)


def test_cast_to_the_same_type_is_nothing() -> None:
    check([node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], {"x": X}, operations=0)


@pytest.mark.parametrize("saturate", [0, 1])
def test_cast_to_8_bits(saturate: int) -> None:
    x = np.array([0.4, 1000, -1000], np.float32)
    expected = np.clip(x, -448, 448) if saturate else np.array([0.4, np.nan, np.nan])
    inside = [node("Cast", ["x"], ["z"], to=TensorProto.FLOAT8E4M3FN, saturate=saturate), node("Cast", ["z"], ["y"], to=TensorProto.FLOAT)]
    rounded = expected.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    check(inside, {"x": x}, opset=19, expected=[rounded])


def test_cast_of_strings() -> None:
    with pytest.raises(ConversionError, match="converts no strings"):
        check([node("Cast", ["x"], ["y"], to=TensorProto.STRING)], {"x": X}, expected=[X])


def test_cast_to_what_the_ir_does_not_have() -> None:
    with pytest.raises(ConversionError, match="to is 14, a data type that the operation sets do not have"):
        check([node("Cast", ["x"], ["y"], to=TensorProto.COMPLEX64)], {"x": X}, expected=[X])


def test_cast_like() -> None:
    check([node("CastLike", ["x", "like"], ["y"])], {"x": X, "like": A}, opset=19, expected=[X.astype(np.int32)], operations=1)


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [("Add", {}), ("Mul", {}), ("Div", {}), ("Max", {})],
)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_other_floats(kind: str, attributes: dict[str, Any], dtype: type) -> None:
    a, b = POSITIVE.astype(dtype), (POSITIVE + 1).astype(dtype)
    function = {"Add": np.add, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum}[kind]
    expected = function(a.astype(np.float32), b.astype(np.float32)).astype(dtype)
    check([node(kind, ["a", "b"], ["y"], **attributes)], {"a": a, "b": b}, expected=[expected], rtol=1e-2)


NUMBERS = np.random.default_rng(2)
real = normal_numbers(NUMBERS)


def integers(dtype: type) -> dict[str, Any]:
    """Two operands whose sums, differences and products overflow 8 bits."""
    info = np.iinfo(dtype)
    a, b = (NUMBERS.integers(info.min, info.max, 40, endpoint=True).astype(dtype) for _ in range(2))
    a[:2] = (info.min, info.max)
    return {"a": a, "b": np.where(b == 0, 3, b).astype(dtype)}


NARROW = {
    f"{kind} of {dtype.__name__}": NodeCase(kind, integers(dtype)) for kind in ("Add", "Sub", "Mul", "Div") for dtype in (np.int8, np.uint8)
}

LARGE = np.array([2**31 - 1, 2**24, 7], np.int32)

BESIDE = np.array([2**31 - 2, 2**24 + 1, 7], np.int32)

NODES: dict[str, NodeCase] = {
    **NARROW,
    "IsNaN of 8-bit floats": NodeCase(
        "IsNaN", {"x": real(2, 3).astype(ml_dtypes.float8_e5m2)}, options=EVALUATED | WITH_RANK | {"opset": 20}
    ),
    "Erf of integers": NodeCase("Erf", {"x": np.arange(-3, 4)}, options=EVALUATED),
    "Cast of negative numbers to u4": NodeCase(
        "Cast", {"x": np.array([-3, -1.5, 0, 7, 20], np.float32)}, attributes={"to": onnx.TensorProto.UINT4}, options=EVALUATED
    ),
    "Mul with nothing": NodeCase("Mul", {"b": real(1, 3)}, {"a": np.zeros((0, 3), np.float32)}, operands="a b", options=DYNAMIC),
    "Cast of f4 to integers": NodeCase(
        "Cast",
        {"x": np.array([-0.5, -2, 3, 6], ml_dtypes.float4_e2m1fn)},
        attributes={"to": 7},
        options=EVALUATED | WITH_RANK | {"opset": 23},
    ),
    "Cast of f8e8m0 to f8": NodeCase(
        "Cast",
        {"x": np.array([0.25, 2, 1024], ml_dtypes.float8_e8m0fnu)},
        attributes={"to": onnx.TensorProto.FLOAT8E5M2},
        options=EVALUATED | WITH_RANK | {"opset": 24},
    ),
    "Cast of integers to f8": NodeCase(
        "Cast",
        {"x": np.array([-(2**31), -7, 448, 500], np.int32)},
        attributes={"to": onnx.TensorProto.FLOAT8E4M3FN},
        options=EVALUATED | WITH_RANK,
    ),
    "Equal of large integers": NodeCase("Equal", {"a": LARGE, "b": BESIDE}, options=COMPLETE | WITHOUT_RANK),
    "Equal to a large constant": NodeCase("Equal", {"a": LARGE}, {"b": BESIDE}, options=COMPLETE | STATIC),
    "Cast of two bits to truth": NodeCase(
        "Cast",
        {"x": np.array([0, 2, 3, 1], ml_dtypes.uint2)},
        attributes={"to": 9},
        options=COMPLETE | STATIC | EVALUATED | {"opset": 25},
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


def test_exponents_that_the_base_has_not() -> None:
    """Of a negative number, a power with an exponent beside 1 is none."""
    x, y = np.array([-2, 2, 3], ml_dtypes.bfloat16), np.array([0.9995, 0.9995, 2], np.float32)
    check([node("Pow", ["x", "y"], ["z"])], {"x": x, "y": y}, expected=[np.array([np.nan, 2, 9], ml_dtypes.bfloat16)])


@pytest.mark.parametrize(
    ("kind", "constants", "inputs", "attributes", "message"),
    [
        ("Conv", {"x": np.zeros((0, 2, 4, 4), np.float32)}, {"w": real(2, 2, 3, 3)}, {"kernel_shape": [3, 3]}, "the data have no elements"),
    ],
)
def test_constants_without_elements_are_refused(
    kind: str, constants: dict[str, Any], inputs: dict[str, Any], attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConversionError, match=message):
        check([node(kind, [*constants, *inputs], ["y"], **attributes)], inputs, constants=constants, forms=["rank"])
