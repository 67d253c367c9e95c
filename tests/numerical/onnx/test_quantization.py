"""Quantization of ONNX, against ONNX Runtime or numpy."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.numerical.forms import Form
from tests.numerical.onnx.conversion import build, check, convert, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(8)
X = RANDOM.uniform(-4, 4, (2, 3, 4)).astype(np.float32)
SCALE = np.array(0.031, np.float32)
SCALES = np.array([0.03, 0.02, 0.05], np.float32)


def limits(dtype: np.dtype) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return info.min, info.max


def levels(x: Array, scale: Array, zero: Array) -> Array:
    return np.clip(np.rint(x / scale) + zero.astype(np.float32), *limits(zero.dtype)).astype(zero.dtype)


@pytest.mark.parametrize("zero", [np.array(128, np.uint8), np.array(3, np.int8), np.array(0, np.int8), np.array(-5, np.int16)])
@pytest.mark.parametrize("constant", [True, False])
def test_quantize(zero: Array, constant: bool) -> None:
    parameters = {"s": SCALE, "z": zero}
    check(
        [node("QuantizeLinear", ["x", "s", "z"], ["y"])],
        {"x": X} if constant else {"x": X, **parameters},
        constants=parameters if constant else None,
        expected=[levels(X, SCALE, zero)],
        operations=2 if constant else None,
    )


def test_quantize_without_zero_point() -> None:
    check([node("QuantizeLinear", ["x", "s"], ["y"])], {"x": X}, constants={"s": SCALE}, opset=10, operations=2)


def test_quantize_to_the_type_that_is_asked_for() -> None:
    model = [node("QuantizeLinear", ["x", "s"], ["y"], output_dtype=TensorProto.INT8)]
    check(model, {"x": X}, constants={"s": SCALE}, opset=21, expected=[levels(X, SCALE, np.array(0, np.int8))])


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("axis", [1, -2])
def test_quantize_along_an_axis(constant: bool, axis: int) -> None:
    parameters = {"s": SCALES, "z": np.array([3, 100, 255], np.uint8)}
    model = [node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=axis)]
    expected = [levels(X, SCALES[:, None], parameters["z"][:, None])]
    inputs = {"x": X} if constant else {"x": X, **parameters}
    check(model, inputs, constants=parameters if constant else None, opset=13, expected=expected, fixed=["s", "z"])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint16, np.int32])
@pytest.mark.parametrize("constant", [True, False])
def test_dequantize(dtype: type, constant: bool) -> None:
    low, high = max(-1000, np.iinfo(dtype).min), min(1000, np.iinfo(dtype).max)
    x = RANDOM.integers(low, high, (2, 3, 4)).astype(dtype)
    parameters = {"s": SCALE} if dtype is np.int32 else {"s": SCALE, "z": np.array(7, dtype)}
    check(
        [node("DequantizeLinear", ["x", *parameters], ["y"])],
        {"x": x} if constant else {"x": x, **parameters},
        constants=parameters if constant else None,
        operations=2 + ("z" in parameters) * (1 if constant else 2),
        opset=21,
    )


def test_dequantize_along_an_axis() -> None:
    x = RANDOM.integers(0, 255, (2, 3, 4)).astype(np.uint8)
    parameters = {"s": SCALES, "z": np.array([3, 100, 255], np.uint8)}
    check([node("DequantizeLinear", ["x", "s", "z"], ["y"], axis=1)], {"x": x}, constants=parameters, forms=("static", "dynamic"))


@pytest.mark.parametrize("data_type", [TensorProto.INT4, TensorProto.UINT4])
@pytest.mark.parametrize("block", [0, 4])
def test_weights_of_4_bits(data_type: int, block: int) -> None:
    low = -8 if data_type == TensorProto.INT4 else 0
    weights = RANDOM.integers(low, low + 15, (8, 3))
    scales = RANDOM.uniform(0.1, 1, (2, 3) if block else (3,)).astype(np.float32)
    zeros = RANDOM.integers(low, low + 15, scales.shape)
    spread = (lambda value: np.repeat(value, 4, axis=0)) if block else (lambda value: value)
    matrix = (weights - spread(zeros)) * spread(scales)
    constants = {
        "w": helper.make_tensor("w", data_type, weights.shape, weights.ravel()),
        "s": scales,
        "z": helper.make_tensor("z", data_type, zeros.shape, zeros.ravel()),
    }
    axis = {"axis": 0, "block_size": block} if block else {"axis": 1}
    model = [node("DequantizeLinear", ["w", "s", "z"], ["m"], **axis), node("MatMul", ["x", "m"], ["y"])]
    x = RANDOM.standard_normal((2, 8)).astype(np.float32)
    check(model, {"x": x}, constants=constants, opset=21, expected=[(x @ matrix).astype(np.float32)], operations=5 if block else 4)


def test_quantize_in_blocks() -> None:
    parameters = {"s": RANDOM.uniform(0.02, 0.05, (2, 3, 2)).astype(np.float32), "z": RANDOM.integers(0, 99, (2, 3, 2)).astype(np.uint8)}
    expected = levels(X, np.repeat(parameters["s"], 2, axis=2), np.repeat(parameters["z"], 2, axis=2))
    model = [node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=2, block_size=2)]
    check(model, {"x": X}, constants=parameters, opset=21, expected=[expected], forms=("static", "dynamic"))


@pytest.mark.parametrize("forms", [("static",), ("dynamic",)])
@pytest.mark.parametrize("block", [2, 3])
def test_the_last_block_may_be_shorter(block: int, forms: tuple[Form, ...]) -> None:
    scales = RANDOM.uniform(0.01, 0.03, (2, 3, -(-X.shape[2] // block), *X.shape[3:])).astype(np.float32)
    repeated = scales.repeat(block, axis=2)[:, :, : X.shape[2]]
    levels = np.clip(np.round(X / repeated) + 3, 0, 255).astype(np.uint8)
    zeros = np.full(scales.shape, 3, np.uint8)
    model = [node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=2, block_size=block)]
    check(model, {"x": X}, constants={"s": scales, "z": zeros}, expected=[levels], forms=forms)
    model = [node("DequantizeLinear", ["y", "s", "z"], ["x"], axis=2, block_size=block)]
    check(model, {"y": levels}, constants={"s": scales, "z": zeros}, expected=[(levels - np.float32(3)) * repeated], forms=forms)


@pytest.mark.parametrize("same", [True, False])
def test_a_pair_becomes_one_operation(same: bool) -> None:
    constants = {"s": SCALE, "z": np.array(120, np.uint8), "t": SCALE if same else np.array(0.05, np.float32), "u": np.array(120, np.uint8)}
    model = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "t", "u"], ["y"])]
    check(model, {"x": X}, constants=constants, operations=1)


def test_a_pair_whose_integers_are_used_stays(tmp_path) -> None:
    constants = {"s": SCALE, "z": np.array(120, np.uint8)}
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    model = convert(build(nodes, {"x": X}, constants=constants, outputs=["q", "y"]), tmp_path)
    kinds = [op.get_type_name() for op in model.get_ordered_ops()]
    assert kinds.count("FakeQuantize") == 2
    check(nodes, {"x": X}, constants=constants, outputs=["q", "y"])


@pytest.mark.parametrize("x", [X, np.abs(X), np.array([2.0, -3.1, 1.7], np.float32)])
def test_dynamic_quantize(x: Array) -> None:
    check([node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], {"x": x}, opset=11)


def close(nodes: list, inputs: dict, constants: dict, opset: int = 21, **options) -> None:
    """A level may be one off where the runtime rounds in another order: compared as floats."""
    (result,) = nodes[-1].output
    check(
        [*nodes, node("Cast", [result], ["as_float"], to=TensorProto.FLOAT)], inputs, constants=constants, opset=opset, atol=1.01, **options
    )


@pytest.mark.parametrize("columns", [False, True])
def test_product(columns: bool) -> None:
    a, b = RANDOM.integers(0, 255, (3, 4)).astype(np.uint8), RANDOM.integers(-128, 127, (4, 5)).astype(np.int8)
    b_scale = RANDOM.uniform(0.01, 0.05, 5).astype(np.float32) if columns else np.array(0.02, np.float32)
    constants = {
        "as": np.array(0.02, np.float32),
        "az": np.array(120, np.uint8),
        "b": b,
        "bs": b_scale,
        "bz": np.zeros_like(b_scale, np.int8),
        "ys": np.array(0.1, np.float32),
        "yz": np.array(100, np.uint8),
    }
    close([node("QLinearMatMul", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"])], {"a": a}, constants)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_convolution(group: int, by_channel: bool, bias: bool) -> None:
    x = RANDOM.integers(0, 255, (1, 4, 5, 5)).astype(np.uint8)
    scale = RANDOM.uniform(0.01, 0.05, 6).astype(np.float32) if by_channel else np.array(0.02, np.float32)
    constants = {
        "xs": np.array(0.02, np.float32),
        "xz": np.array(120, np.uint8),
        "w": RANDOM.integers(-128, 127, (6, 4 // group, 3, 3)).astype(np.int8),
        "ws": scale,
        "wz": np.zeros_like(scale, np.int8),
        "ys": np.array(0.2, np.float32),
        "yz": np.array(100, np.uint8),
        "b": RANDOM.integers(-999, 999, 6).astype(np.int32),
    }
    names = ["x", *constants][: 9 if bias else 8]
    if not bias:
        del constants["b"]
    close([node("QLinearConv", names, ["y"], group=group, pads=[1, 1, 1, 1])], {"x": x}, constants)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_convolution_of_integers(group: int, zeros: int) -> None:
    x = RANDOM.integers(0, 255, (1, 4, 5, 5)).astype(np.uint8)
    constants = {
        "w": RANDOM.integers(0, 255, (6, 4 // group, 3, 3)).astype(np.uint8),
        "xz": np.array(9, np.uint8),
        "wz": np.array(7, np.uint8),
    }
    names = ["x", "w", "xz", "wz"][: 2 + zeros]
    given = {name: constants[name] for name in names[1:]}
    check([node("ConvInteger", names, ["y"], group=group, strides=[2, 1])], {"x": x}, constants=given, opset=10)


def test_small_filters_of_groups_stay_quantized(tmp_path: Path) -> None:
    """Their value is known, as they have few elements; stored as floats they were multiplied as such."""
    x = RANDOM.uniform(-1, 1, (1, 4, 5, 5)).astype(np.float32)
    constants = {
        "w": RANDOM.integers(-127, 127, (4, 1, 3, 3)).astype(np.int8),
        "ws": RANDOM.uniform(0.01, 0.05, 4).astype(np.float32),
        "wz": np.zeros(4, np.int8),
    }
    nodes = [node("DequantizeLinear", ["w", "ws", "wz"], ["f"], axis=0), node("Conv", ["x", "f"], ["y"], group=4, pads=[1] * 4)]
    check(nodes, {"x": x}, constants=constants, opset=13)
    model = convert(build(nodes, {"x": x}, constants=constants, opset=13), tmp_path)
    assert [op.get_element_type().to_string() for op in model.get_ops() if op.get_type_name() == "Convert"] == ["f32"]


NUMBERS = np.random.default_rng(15)
real = normal_numbers(NUMBERS)

LEVELS = np.arange(-12, 12).reshape(2, 3, 4)

SCALES_of_nodes = np.array([0.5, 2, 0.25], np.float32)

ZEROS = np.array([2, -1, 3], np.int8)

ZERO_MATRIX = np.zeros((2, 2), np.float32)

QUANTIZATION = {name: np.array(value, np.float32) for name, value in (("xs", 0.25), ("ws", 0.5), ("ys", 2))}

ZERO_POINTS = {"xz": np.array(8, np.uint8), "wz": np.array(-4, np.int8), "yz": np.array(0, np.uint8)}

NODES: dict[str, NodeCase] = {
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
    "QLinearConv with scales of dynamic rank": NodeCase(
        "QLinearConv",
        {"x": NUMBERS.integers(-5, 9, (3, 2, 6, 5)).astype(np.int8), "w_scale": np.array([0.5, 0.25], np.float32)},
        {
            "x_scale": np.array(0.2, np.float32),
            "x_zero": np.array(2, np.int8),
            "w": NUMBERS.integers(-5, 9, (2, 1, 2, 3)).astype(np.int8),
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
    "QLinearConv of a padded constant with filters of dynamic sizes": NodeCase(
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


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("constant", [(), ("scale",), ("zero",)])
@pytest.mark.parametrize("kind", ["QuantizeLinear", "DequantizeLinear"])
def test_quantization_along_an_axis_of_unknown_ranks(kind: str, constant: tuple[str, ...], axis: int) -> None:
    x = (LEVELS * 0.7).astype(np.float32) if kind == "QuantizeLinear" else LEVELS.astype(np.int8)
    operands = {"x": x, "scale": SCALES_of_nodes, "zero": ZEROS}
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
