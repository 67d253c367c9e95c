"""Nodes that random testing found to be wrong: quantized values."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(15)
real = normal_numbers(RANDOM)

LEVELS = np.arange(-12, 12).reshape(2, 3, 4)

SCALES = np.array([0.5, 2, 0.25], np.float32)

ZEROS = np.array([2, -1, 3], np.int8)

ZERO_MATRIX = np.zeros((2, 2), np.float32)

QUANTIZATION = {name: np.array(value, np.float32) for name, value in (("xs", 0.25), ("ws", 0.5), ("ys", 2))}

ZERO_POINTS = {"xz": np.array(8, np.uint8), "wz": np.array(-4, np.int8), "yz": np.array(0, np.uint8)}

CASES: dict[str, NodeCase] = {
    "DequantizeLinear to f8e8m0": NodeCase(
        "DequantizeLinear",
        {"x": np.array([3, 9, 17], np.uint16), "scale": np.array(2, ml_dtypes.float8_e8m0fnu)},
        {"zero": np.array(1, np.uint16)},
        operands="x scale zero",
        options=EVALUATED | WITH_RANK | {"opset": 24},
    ),
    "QuantizeLinear of bf16 with scales of f32": NodeCase(
        "QuantizeLinear",
        {"x": np.array([-87.5, 3, 91.5], ml_dtypes.bfloat16)},
        {"s": np.array(0.7, np.float32), "z": np.array(3, np.int8)},
        options=EVALUATED | WITH_RANK | {"opset": 23, "expected": [np.array([-122, 7, 127], np.int8)]},
    ),
    "QLinearMatMul of f16 with one constant scale": NodeCase(
        "QLinearMatMul",
        {
            "a": np.array([[-10, 6, 2, -6, -5]], np.int8),
            "a_scale": np.array(1.02, np.float16),
            "a_zero": np.array(0, np.int8),
            "b": np.array([[1], [-6], [5], [2], [-8]], np.int8),
            "b_scale": np.array(1.819, np.float16),
            "b_zero": np.array(0, np.int8),
        },
        {"y_scale": np.array(1.503, np.float16), "y_zero": np.array(0, np.int8)},
        options={"opset": 21},
    ),
    "QuantizeLinear along the last axis but one": NodeCase(
        "QuantizeLinear", {"x": real(2, 3, 2, 4)}, {"s": np.array([0.02, 1], np.float32)}, attributes={"axis": -2}, options=DYNAMIC
    ),
    "QLinearConv with scales of unknown rank": NodeCase(
        "QLinearConv",
        {"x": RANDOM.integers(-5, 9, (3, 2, 6, 5)).astype(np.int8), "w_scale": np.array([0.5, 0.25], np.float32)},
        {
            "x_scale": np.array(0.2, np.float32),
            "x_zero": np.array(2, np.int8),
            "w": RANDOM.integers(-5, 9, (2, 1, 2, 3)).astype(np.int8),
            "w_zero": np.array(0, np.int8),
            "y_scale": np.array(1.87, np.float32),
            "y_zero": np.array(-1, np.int8),
        },
        operands="x x_scale x_zero w w_scale w_zero y_scale y_zero",
        attributes={"group": 2},
        options=WITHOUT_RANK | {"opset": 13, "fixed": ["x"]},
    ),
    "QuantizeLinear to i16 by 1": NodeCase(
        "QuantizeLinear", {"x": np.array([3.4, -5.9, -0.6], np.float32)}, {"s": np.array(1, np.float32), "z": np.array(0, np.int16)}
    ),
    "DynamicQuantizeLinear of zeros": NodeCase(
        "DynamicQuantizeLinear", {"x": ZERO_MATRIX}, outputs=("y", "s", "z"), options=COMPLETE | STATIC
    ),
    "DequantizeLinear of 16 bits with a scale of f16": NodeCase(
        "DequantizeLinear",
        {"s": np.array(0.02, np.float16)},
        {"x": np.array([65535, 40001], np.uint16), "z": np.array(4, np.uint16)},
        operands="x s z",
        options=COMPLETE | STATIC | EVALUATED | {"opset": 23},
    ),
    "QLinearMatMul with a constant of more dimensions": NodeCase(
        "QLinearMatMul",
        {"a": np.arange(16).reshape(2, 2, 4).astype(np.uint8), "xz": ZERO_POINTS["xz"]},
        {"b": np.arange(-6, 6).reshape(1, 1, 4, 3).astype(np.int8), "wz": ZERO_POINTS["wz"], "yz": ZERO_POINTS["yz"], **QUANTIZATION},
        operands="a xs xz b ws wz ys yz",
        options=COMPLETE | STATIC,
    ),
    "QLinearConv of a padded constant with filters of unknown sizes": NodeCase(
        "QLinearConv",
        {"w": np.arange(-6, 6).reshape(3, 2, 2, 1).astype(np.int8)},
        {"x": np.arange(64).reshape(1, 2, 4, 8).astype(np.uint8), **QUANTIZATION, **ZERO_POINTS},
        operands="x xs xz w ws wz ys yz",
        attributes={"kernel_shape": [2, 1], "pads": [1, 0, 1, 0]},
        options=COMPLETE | DYNAMIC,
    ),
    "QLinearMatMul with a batch of one matrix": NodeCase(
        "QLinearMatMul",
        {"x": np.array([[3, -5, 90]], np.int8)},
        {
            "w": (np.arange(15) * 7 - 50).reshape(1, 1, 3, 5).astype(np.int8),
            **QUANTIZATION,
            "xz": np.array(2, np.int8),
            "wz": np.array(-3, np.int8),
            "yz": np.array(9, np.int8),
        },
        operands="x xs xz w ws wz ys yz",
        options=COMPLETE | WITHOUT_RANK | {"opset": 19},
    ),
    "QuantizeLinear of f16 with limits that f16 does not hold": NodeCase(
        "QuantizeLinear",
        {"x": np.linspace(1, 2, 1024, dtype=np.float16)},
        {"s": np.array(0.01599, np.float16), "z": np.array(0, np.int8)},
        options=COMPLETE | STATIC | {"opset": 21},
    ),
    "QuantizeLinear of f16 to 16 bits": NodeCase(
        "QuantizeLinear",
        {},
        {"x": np.array([-7, 2.5], np.float16), "s": np.array(2, np.float16), "z": np.array(6, np.uint16)},
        options=COMPLETE | STATIC,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("constant", [(), ("scale",), ("zero",)])
@pytest.mark.parametrize("kind", ["QuantizeLinear", "DequantizeLinear"])
def test_quantization_along_an_axis_of_unknown_ranks(kind: str, constant: tuple[str, ...], axis: int) -> None:
    x = (LEVELS * 0.7).astype(np.float32) if kind == "QuantizeLinear" else LEVELS.astype(np.int8)
    operands = {"x": x, "scale": SCALES, "zero": ZEROS}
    inputs = {name: value for name, value in operands.items() if name not in constant}
    constants = {name: operands[name] for name in constant}
    check([node(kind, ["x", "scale", "zero"], ["y"], axis=axis)], inputs, constants=constants, forms=["rank"])


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_one_scale_for_data_of_unknown_ranks(shape: tuple[int, ...]) -> None:
    inputs = {"x": np.full(shape, 5, np.int8), "scale": np.array(0.5, np.float32)}
    check([node("DequantizeLinear", ["x", "scale"], ["y"])], inputs, forms=["rank"])


def test_dequantized_weights_of_four_dimensions() -> None:
    operands = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    inputs = {"x": np.array([[[[1, -3], [5, 7]]]], np.int8), "ys": np.array(0.7, np.float32)}
    constants = {
        "xs": np.array(1.3, np.float32),
        "xz": np.array(2, np.int8),
        "w": np.array([[[[6, 1, -1], [0, -6, 3]]]], np.int8),
        "ws": np.array(0.4, np.float32),
        "wz": np.array(4, np.int8),
        "yz": np.array(-3, np.int8),
    }
    check([node("QLinearMatMul", operands, ["y"])], inputs, constants=constants, **COMPLETE, **STATIC)
