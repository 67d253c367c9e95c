"""Sequences and optional values in ONNX models: they are resolved while converting."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node

RANDOM = np.random.default_rng(5)
A, B, C = (RANDOM.normal(size=(2, 3)).astype(np.float32) for _ in range(3))
INPUTS = {"a": A, "b": B, "c": C}
POSITIONS = {"zero": np.array(0, np.int64), "last": np.array(-1, np.int64), "two": np.array(2, np.int64)}
CONSTRUCT = node("SequenceConstruct", ["a", "b", "c"], ["s"])

# nodes, most operations
CASES: dict[str, tuple[list[Any], int]] = {
    "at": (
        [CONSTRUCT, node("SequenceAt", ["s", "zero"], ["p"]), node("SequenceAt", ["s", "last"], ["q"]), node("Sub", ["p", "q"], ["y"])],
        1,
    ),
    "length": ([CONSTRUCT, node("SequenceLength", ["s"], ["y"])], 0),
    "insert at the end": (
        [CONSTRUCT, node("SequenceInsert", ["s", "a"], ["t"]), node("ConcatFromSequence", ["t"], ["y"], axis=1)],
        1,
    ),
    "insert": (
        [CONSTRUCT, node("SequenceInsert", ["s", "c", "zero"], ["t"]), node("ConcatFromSequence", ["t"], ["y"], axis=0)],
        1,
    ),
    "erase": (
        [CONSTRUCT, node("SequenceErase", ["s", "zero"], ["t"]), node("ConcatFromSequence", ["t"], ["y"], axis=-1, new_axis=1)],
        3,
    ),
    "erase at the end": ([CONSTRUCT, node("SequenceErase", ["s"], ["t"]), node("ConcatFromSequence", ["t"], ["y"], axis=0)], 1),
    "empty": (
        [
            node("SequenceEmpty", [], ["s"]),
            node("SequenceInsert", ["s", "b"], ["t"]),
            node("SequenceInsert", ["t", "a"], ["u"]),
            node("ConcatFromSequence", ["u"], ["y"], axis=0),
        ],
        1,
    ),
    "unused": ([CONSTRUCT, node("Add", ["a", "b"], ["y"])], 1),
}


@pytest.mark.parametrize("name", CASES)
def test_sequences(name: str) -> None:
    nodes, operations = CASES[name]
    used = {operand for each in nodes for operand in each.input}
    inputs = {key: value for key, value in INPUTS.items() if key in used}
    constants = {key: value for key, value in POSITIONS.items() if key in used}
    check(nodes, inputs, constants=constants, forms=["static", "dynamic"], operations=operations)


@pytest.mark.parametrize(
    ("lengths", "attributes"),
    [
        (None, {"axis": 0}),
        (None, {"axis": 1, "keepdims": 0}),
        (np.array(2, np.int64), {"axis": 1}),
        (np.array([1, 2], np.int64), {"axis": -1}),
    ],
)
def test_split_to_sequence(lengths: Any, attributes: dict[str, Any]) -> None:
    nodes = [
        node("SplitToSequence", ["a"] if lengths is None else ["a", "lengths"], ["s"], **attributes),
        node("SequenceAt", ["s", "one"], ["y"]),
    ]
    constants = {"one": np.array(1, np.int64)} | ({} if lengths is None else {"lengths": lengths})
    static = lengths is None or lengths.ndim == 0
    check(nodes, {"a": A}, constants=constants, forms=["static"] if static else ["static", "dynamic"], operations=2)


def test_optional_values() -> None:
    nodes = [
        node("Optional", ["a"], ["o"]),
        node("OptionalHasElement", ["o"], ["has"]),
        node("OptionalGetElement", ["o"], ["x"]),
        node("Relu", ["x"], ["y"]),
    ]
    check(nodes, {"a": A}, outputs=["y", "has"], opset=18, expected=[np.maximum(A, 0), np.array(True)], operations=1)


def test_empty_optional_value() -> None:
    type_ = onnx.helper.make_optional_type_proto(onnx.helper.make_tensor_type_proto(1, [2, 3]))
    nodes = [
        node("Optional", [], ["o"], type=type_),
        node("OptionalHasElement", ["o"], ["has"]),
        node("Relu", ["a"], ["y"]),
    ]
    check(nodes, {"a": A}, outputs=["y", "has"], opset=18, expected=[np.maximum(A, 0), np.array(False)], operations=1)


@pytest.mark.parametrize(
    ("nodes", "inputs", "reason"),
    [
        (
            [CONSTRUCT, node("SequenceAt", ["s", "i"], ["y"])],
            {**INPUTS, "i": np.array(0, np.int64)},
            "position in the sequence",
        ),
        ([node("SplitToSequence", ["a"], ["s"]), node("SequenceLength", ["s"], ["y"])], {"a": A}, "number of parts is not known"),
        ([node("SequenceLength", ["a"], ["y"])], {"a": A}, "members of the sequence are not known"),
        ([node("SequenceEmpty", [], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)], {"a": A}, "sequence is empty"),
        ([node("Optional", [], ["o"]), node("OptionalGetElement", ["o"], ["y"])], {"a": A}, "optional value is empty"),
        ([CONSTRUCT], INPUTS, "SequenceConstruct"),
    ],
)
def test_errors(nodes: list[Any], inputs: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        check(nodes, inputs, forms=["dynamic"], opset=18, expected=[])
