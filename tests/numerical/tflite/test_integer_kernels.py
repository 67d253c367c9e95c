"""Operators whose kernels copy or compare integers, whatever numbers these stand for, against the interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import moir
from moir.dialects.element_types import si8
from moir.dialects.memory_map import Array
from moir.dialects.shapes import element_of
from tests.numerical.runtime import core
from tests.numerical.tflite.files import Operator, Tensor, file_of
from tests.numerical.tflite.models import results_of

pytest.importorskip("tensorflow")


class Case(NamedTuple):
    """An operator.

    Args:
        inputs: the operands; integers of 8 bits are quantized, those of 32 bits constants.
        shape: of its first result.
        options: the table of its options, and its fields.
    """

    inputs: tuple[Array, ...]
    shape: tuple[int, ...]
    options: str = ""
    fields: dict[str, Any] = {}


def integers(*values: int) -> Array:
    return np.array(values, np.int32)


def scalar(value: int, dtype: str = "int32") -> Array:
    return np.array(value, dtype)


X = np.array([[1, 2, -3, 40], [5, -60, 7, 8]], np.int8)
IMAGE = np.arange(16, dtype=np.int8).reshape(1, 4, 4, 1) - np.int8(5)

CASES = {
    "DEPTH_TO_SPACE": Case((IMAGE.reshape(1, 2, 2, 4),), (1, 4, 4, 1), "DepthToSpaceOptions", {"BlockSize": 2}),
    "DYNAMIC_UPDATE_SLICE": Case((X, X[:1, :2], integers(0, 1)), (2, 4)),
    "EMBEDDING_LOOKUP": Case((integers(1, 0), X), (2, 4)),
    "GATHER": Case((X, integers(1, 0)), (2, 4)),
    "GATHER_ND": Case((X, integers(1, 0).reshape(2, 1)), (2, 4)),
    "MATRIX_DIAG": Case((X,), (2, 4, 4)),
    "MATRIX_SET_DIAG": Case((X, X[0, :2]), (2, 4)),
    "MAXIMUM": Case((X, -X), (2, 4)),
    "MINIMUM": Case((X, -X), (2, 4)),
    "NEG": Case((X,), (2, 4)),
    "ONE_HOT": Case((integers(0, 2), scalar(3), scalar(7, "int8"), scalar(-2, "int8")), (2, 3), "OneHotOptions", {"Axis": -1}),
    "RESHAPE": Case((X, integers(4, 2)), (4, 2)),
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
    if kind == "TOPK_V2":
        tensors.append(Tensor("places", np.zeros(case.shape, np.int32)))
        outputs.append("places")
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [Operator(kind, list(inputs), outputs, case.options, case.fields)], list(given), outputs))
    expected = results_of(path, list(given.values()))
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    found = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer(list(given.values()))
    for number, each in enumerate(expected):
        assert found[number].dtype == each.dtype
        np.testing.assert_array_equal(found[number], each)


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
    found = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer([integers(4, 0, 4)])[0]
    np.testing.assert_array_equal(found, results_of(path, [integers(4, 0, 4)])[0])
