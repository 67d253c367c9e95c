"""Operators whose kernels copy or compare integers, whatever numbers these stand for, against the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import moir
from moir.dialects.element_types import si8
from moir.dialects.memory_map import Array
from moir.dialects.shapes import element_of
from tests.numerical.runtime import IN_FLOATS, core
from tests.numerical.tflite.files import Operator, Tensor, file_of
from tests.numerical.tflite.models import results_of

pytest.importorskip("tensorflow")


RANDOM = np.random.default_rng(3)


class Case(NamedTuple):
    """An operator.

    Args:
        inputs: the operands; integers of 8 bits are quantized, those of 32 bits constants.
        shape: of its first result.
        options: the table of its options, and its fields.
        step: how far results may be off: kernels round a middle away from 0, the runtime to the even number.
    """

    inputs: tuple[Array, ...]
    shape: tuple[int, ...]
    options: str = ""
    fields: dict[str, Any] = {}
    step: int = 0


def integers(*values: int) -> Array:
    return np.array(values, np.int32)


def scalar(value: int, dtype: str = "int32") -> Array:
    return np.array(value, dtype)


X = np.array([[1, 2, -3, 40], [5, -60, 7, 8]], np.int8)
IMAGE = np.arange(16, dtype=np.int8).reshape(1, 4, 4, 1) - np.int8(5)

POOL = {"Padding": 1, "StrideW": 1, "StrideH": 1, "FilterWidth": 2, "FilterHeight": 2}
RELU = POOL | {"FusedActivationFunction": 1}
PADDING = np.array([[0, 1], [1, 0]], np.int32)

CASES = {
    "AVERAGE_POOL_2D": Case((IMAGE,), (1, 3, 3, 1), "Pool2DOptions", RELU, step=1),
    "DEPTH_TO_SPACE": Case((IMAGE.reshape(1, 2, 2, 4),), (1, 4, 4, 1), "DepthToSpaceOptions", {"BlockSize": 2}),
    "DYNAMIC_UPDATE_SLICE": Case((X, X[:1, :2], integers(0, 1)), (2, 4)),
    "EMBEDDING_LOOKUP": Case((integers(1, 0), X), (2, 4)),
    "FLOOR_DIV": Case((X, X[::-1] // 8 + 9), (2, 4)),
    "FLOOR_MOD": Case((X, X[::-1] // 8 + 9), (2, 4)),
    "GATHER": Case((X, integers(1, 0)), (2, 4)),
    "GATHER_ND": Case((X, integers(1, 0).reshape(2, 1)), (2, 4)),
    "MATRIX_DIAG": Case((X,), (2, 4, 4)),
    "MATRIX_SET_DIAG": Case((X, X[0, :2]), (2, 4)),
    "MAXIMUM": Case((X, -X), (2, 4)),
    "MAX_POOL_2D": Case((IMAGE,), (1, 3, 3, 1), "Pool2DOptions", RELU),
    "MINIMUM": Case((X, -X), (2, 4)),
    "NEG": Case((X,), (2, 4)),
    "ONE_HOT": Case((integers(0, 2), scalar(3), scalar(7, "int8"), scalar(-2, "int8")), (2, 3), "OneHotOptions", {"Axis": -1}),
    "PAD": Case((X, PADDING), (3, 5)),
    "RESHAPE": Case((X, integers(4, 2)), (4, 2)),
    "RESIZE_BILINEAR": Case((IMAGE, integers(8, 8)), (1, 8, 8, 1), "ResizeBilinearOptions", step=1),
    "RESIZE_NEAREST_NEIGHBOR": Case((IMAGE, integers(8, 8)), (1, 8, 8, 1)),
    "REVERSE_V2": Case((X, integers(1)), (2, 4)),
    "SCATTER_ND": Case((integers(0, 2, 0).reshape(3, 1), np.concatenate([X, X[:1]]), integers(4, 4)), (4, 4)),
    "SELECT": Case((X > 0, X, -X), (2, 4)),
    "SELECT_V2": Case((X > 0, X, -X[:1]), (2, 4)),
    "SLICE": Case((X, integers(0, 1), integers(2, 2)), (2, 2)),
    "SPACE_TO_DEPTH": Case((IMAGE,), (1, 2, 2, 4), "SpaceToDepthOptions", {"BlockSize": 2}),
    "SPARSE_TO_DENSE": Case((integers(0, 2), integers(4), np.array([7, 8], np.int8), scalar(-3, "int8")), (4,)),
    "SPLIT": Case((scalar(0), X), (2, 4), "SplitOptions", {"NumSplits": 1}),
    "SPLIT_V": Case((X, integers(2), scalar(0)), (2, 4), "SplitVOptions", {"NumSplits": 1}),
    "SQUEEZE": Case((X[None],), (2, 4)),
    "STRIDED_SLICE": Case((X, integers(0, 1), integers(2, 3), integers(1, 1)), (2, 2)),
    "TILE": Case((X, integers(2, 1)), (4, 4)),
    "TOPK_V2": Case((X, scalar(2)), (2, 2)),
    "TRANSPOSE": Case((X, integers(1, 0)), (4, 2)),
    "UNIQUE": Case((X[0],), (4,), "UniqueOptions", {"IdxOutType": 2}),
}


@pytest.mark.parametrize("scale", [0.5, 0.25], ids=["same scale", "other scale"])
@pytest.mark.parametrize("kind", CASES)
def test_kernels_of_integers(tmp_path: Path, kind: str, scale: float) -> None:
    case = CASES[kind]
    inputs = {f"i{number}": np.ascontiguousarray(value) for number, value in enumerate(case.inputs)}
    given = {name: value for name, value in inputs.items() if value.dtype != np.int32}
    tensors = [
        Tensor(name, value, is_constant=name not in given, scale=[0.5] if value.dtype == np.int8 else (), zero=[3])
        for name, value in inputs.items()
    ]
    tensors.append(Tensor("o", np.zeros(case.shape, np.int8), scale=[scale], zero=[3 if scale == 0.5 else -4]))
    outputs = ["o"]
    if kind in ("TOPK_V2", "UNIQUE"):
        tensors.append(Tensor("places", np.zeros(case.shape, np.int32)))
        outputs.append("places")
    check(tmp_path, tensors, Operator(kind, list(inputs), outputs, case.options, case.fields), given, outputs, case.step)


def check(
    folder: Path,
    tensors: list[Tensor],
    operator: Operator,
    given: Mapping[str, Array],
    outputs: list[str],
    step: int = 0,
    properties: Mapping[str, str] = MappingProxyType({}),
) -> list[Array]:
    """The results of an operator, which are not further than a step from those of the interpreter.

    `properties` are those of the plugin.
    """
    path = folder / "m.tflite"
    path.write_bytes(file_of(tensors, [operator], list(given), outputs))
    expected = results_of(path, list(given.values()))
    moir.save_model(moir.convert_model(path), folder / "m.xml")
    results = core().compile_model(folder / "m.xml", "CPU", dict(properties)).create_infer_request().infer(list(given.values()))
    actual = [results[number] for number in range(len(outputs))]
    for result, each in zip(actual, expected, strict=True):
        assert result.dtype == each.dtype
        np.testing.assert_allclose(result, each, rtol=0, atol=step)
    return actual


@pytest.mark.parametrize("kind", ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"])
@pytest.mark.parametrize("scales", [(0.001, 0.001), (0.03728477, 0.04239692), (0.5, 0.5)], ids=str)
def test_numbers_are_compared_when_they_are_rounded(tmp_path: Path, kind: str, scales: tuple[float, float]) -> None:
    x, y = (each.astype(np.int8).ravel() for each in np.meshgrid(np.arange(-128, 128, 3), np.arange(-128, 128, 5)))
    tensors = [
        Tensor("x", x, scale=scales[:1], zero=[-128]),
        Tensor("y", y, scale=scales[1:], zero=[39]),
        Tensor("z", np.zeros(x.shape, bool)),
    ]
    [actual] = check(tmp_path, tensors, Operator(kind, ["x", "y"], ["z"]), {"x": x, "y": y}, ["z"])
    assert actual.any()


def test_logarithms_of_what_is_not_positive_are_the_smallest_number(tmp_path: Path) -> None:
    x = np.arange(-128, 128).astype(np.int8)
    tensors = [Tensor("x", x, scale=[0.5], zero=[3]), Tensor("y", x, scale=[0.05], zero=[-4])]
    [actual] = check(tmp_path, tensors, Operator("LOG", ["x"], ["y"]), {"x": x}, ["y"])
    assert actual[0] == -128


WEIGHTS = {
    "DEPTHWISE_CONV_2D": ("DepthwiseConv2DOptions", (1, 2, 2, 1)),
    "TRANSPOSE_CONV": ("TransposeConvOptions", (2, 2, 2, 1)),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_the_zero_point_of_signed_weights_is_not_read(tmp_path: Path, kind: str) -> None:
    options, shape = WEIGHTS[kind]
    is_transposed = kind == "TRANSPOSE_CONV"
    weights = (np.arange(np.prod(shape)) * 5 - 9).astype(np.int8).reshape(shape)
    channels = shape[0] if kind != "DEPTHWISE_CONV_2D" else 1
    size = (1, 5, 5, channels) if is_transposed else (1, 3, 3, channels)
    tensors = [
        Tensor("x", IMAGE, scale=[0.5], zero=[3]),
        Tensor("w", weights, scale=[0.25], zero=[7]),
        Tensor("b", np.arange(channels, dtype=np.int32) * 40, is_constant=True, scale=[0.125], zero=[0]),
        Tensor("s", integers(*size), is_constant=True),
        Tensor("y", np.zeros(size, np.int8), scale=[2.0], zero=[1]),
    ]
    operands = ["s", "w", "x", "b"] if is_transposed else ["x", "w", "b"]
    fields = {"Padding": 1, "StrideW": 1, "StrideH": 1}
    fields |= {"DepthMultiplier": 1} if kind == "DEPTHWISE_CONV_2D" else {}
    operator = Operator(kind, operands, ["y"], options, fields)
    [actual] = check(tmp_path, tensors, operator, {"x": IMAGE, "w": weights}, ["y"], step=1, properties=IN_FLOATS)
    assert np.unique(actual).size > 3


def test_integers_of_16_bits_are_joined_as_they_are(tmp_path: Path) -> None:
    x = np.array([[100, -200], [300, 4]], np.int16)
    tensors = [Tensor("x", x, scale=[0.5], zero=[0]), Tensor("y", x[:, :1], scale=[0.25], zero=[0])]
    tensors.append(Tensor("z", np.zeros((2, 3), np.int16), scale=[0.25], zero=[0]))
    operator = Operator("CONCATENATION", ["x", "y"], ["z"], "ConcatenationOptions", {"Axis": 1})
    [actual] = check(tmp_path, tensors, operator, {"x": x, "y": x[:, :1]}, ["z"])
    np.testing.assert_array_equal(actual, np.concatenate([x, x[:, :1]], 1))


def test_a_table_of_integers_is_looked_up_before_its_lines_become_numbers(tmp_path: Path) -> None:
    table = np.arange(-12, 12, dtype=np.int8).reshape(6, 4)
    tensors = [
        Tensor("i", integers(4, 0, 4)),
        Tensor("table", table, is_constant=True, scale=[0.5], zero=[3]),
        Tensor("q", np.zeros((3, 4), np.int8), scale=[0.5], zero=[3]),
        Tensor("y", np.zeros((3, 4), np.float32)),
    ]
    operators = [Operator("GATHER", ["table", "i"], ["q"], "GatherOptions"), Operator("DEQUANTIZE", ["q"], ["y"])]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, operators, ["i"], ["y"]))
    module = moir.convert_model(path)
    [gather] = [each for each in module.walk() if each.name == "opset8.Gather"]
    assert element_of(gather.operands[0]) is si8
    moir.save_model(module, tmp_path / "m.xml")
    actual = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer([integers(4, 0, 4)])[0]
    np.testing.assert_array_equal(actual, results_of(path, [integers(4, 0, 4)])[0])


def test_numbers_are_quantized_to_integers_of_32_bits(tmp_path: Path) -> None:
    x = np.array([1, -5, 300, 20000, -32768], np.int16)
    tensors = [Tensor("x", x, scale=[0.01], zero=[0]), Tensor("y", np.zeros(5, np.int32), scale=[0.0021], zero=[0])]
    [actual] = check(tmp_path, tensors, Operator("QUANTIZE", ["x"], ["y"]), {"x": x}, ["y"])
    assert actual[3] == round(200 / 0.0021)


def test_integers_of_16_bits_are_quantized_to_8_bits(tmp_path: Path) -> None:
    x = RANDOM.integers(-12000, 12000, (1, 8)).astype(np.int16)
    weights = RANDOM.integers(-127, 128, (3, 8)).astype(np.int8)
    tensors = [
        Tensor("x", x, scale=[0.0001], zero=[0]),
        Tensor("q", np.zeros((1, 8), np.int8), scale=[0.02], zero=[0]),
        Tensor("w", weights, is_constant=True, scale=[0.01], zero=[0]),
        Tensor("b", RANDOM.integers(-500, 500, 3).astype(np.int32), is_constant=True, scale=[0.0002], zero=[0]),
        Tensor("y", np.zeros((1, 3), np.int8), scale=[0.1], zero=[0]),
    ]
    operators = [Operator("QUANTIZE", ["x"], ["q"]), Operator("FULLY_CONNECTED", ["q", "w", "b"], ["y"], "FullyConnectedOptions", {})]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, operators, ["x"], ["y"]))
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    actual = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer([x])[0]
    assert np.abs(actual.astype(np.int32) - results_of(path, [x])[0]).max() <= 1


def test_a_quantized_output_has_the_name_of_its_tensor(tmp_path: Path) -> None:
    x = np.zeros((1, 4), np.int8)
    tensors = [
        Tensor("x", x, scale=[0.05], zero=[3]),
        Tensor("y", x, scale=[0.1], zero=[1]),
        Tensor("z", x, scale=[1 / 256], zero=[-128]),
    ]
    operators = [Operator("TANH", ["x"], ["y"], "", {}), Operator("LOGISTIC", ["y"], ["z"], "", {})]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, operators, ["x"], ["y", "z"]))
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    model = core().read_model(tmp_path / "m.xml")
    assert [port.get_names() for port in model.outputs] == [{"y"}, {"z"}]
    assert {port.get_element_type().to_string() for port in model.outputs} == {"i8"}
