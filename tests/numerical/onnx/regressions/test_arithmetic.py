"""Nodes that random testing found to be wrong: elementwise arithmetic and casts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(2)
real = normal_numbers(RANDOM)


def integers(dtype: type) -> dict[str, Any]:
    """Two operands whose sums, differences and products overflow 8 bits."""
    info = np.iinfo(dtype)
    a, b = (RANDOM.integers(info.min, info.max, 40, endpoint=True).astype(dtype) for _ in range(2))
    a[:2] = (info.min, info.max)
    return {"a": a, "b": np.where(b == 0, 3, b).astype(dtype)}


NARROW = {
    f"{kind} of {dtype.__name__}": NodeCase(kind, integers(dtype)) for kind in ("Add", "Sub", "Mul", "Div") for dtype in (np.int8, np.uint8)
}

LARGE = np.array([2**31 - 1, 2**24, 7], np.int32)

BESIDE = np.array([2**31 - 2, 2**24 + 1, 7], np.int32)

CASES: dict[str, NodeCase] = {
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


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


def test_exponents_that_the_base_has_not() -> None:
    """Of a negative number, a power with an exponent beside 1 is none."""
    x, y = np.array([-2, 2, 3], ml_dtypes.bfloat16), np.array([0.9995, 0.9995, 2], np.float32)
    check([node("Pow", ["x", "y"], ["z"])], {"x": x, "y": y}, expected=[np.array([np.nan, 2, 9], ml_dtypes.bfloat16)])


@pytest.mark.parametrize(
    ("kind", "constants", "inputs", "attributes", "message"),
    [
        ("Sum", {"c": np.zeros((0, 3), np.float32)}, {"a": real(1, 3), "b": real(1, 3)}, {}, "one operand has no elements"),
        ("Conv", {"x": np.zeros((0, 2, 4, 4), np.float32)}, {"w": real(2, 2, 3, 3)}, {"kernel_shape": [3, 3]}, "the data have no elements"),
    ],
)
def test_constants_without_elements_are_refused(
    kind: str, constants: dict[str, Any], inputs: dict[str, Any], attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConversionError, match=message):
        check([node(kind, [*constants, *inputs], ["y"], **attributes)], inputs, constants=constants, forms=["rank"])
