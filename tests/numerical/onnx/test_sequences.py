"""Sequences and optional values in ONNX models: they are resolved while converting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.runtime import core

RANDOM = np.random.default_rng(5)
A, B, C = (RANDOM.normal(size=(2, 3)).astype(np.float32) for _ in range(3))
INPUTS = {"a": A, "b": B, "c": C}
POSITIONS = {"zero": np.array(0, np.int64), "last": np.array(-1, np.int64), "two": np.array(2, np.int64)}
TWO = {"a": A, "n": np.array(2)}
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
        ([node("SplitToSequence", ["a", "n"], ["s"]), node("SequenceLength", ["s"], ["y"])], TWO, "number of parts is not known"),
        ([node("SequenceLength", ["a"], ["y"])], {"a": A}, "members of the sequence are not known"),
        ([node("SequenceEmpty", [], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)], {"a": A}, "sequence is empty"),
        ([node("Optional", [], ["o"]), node("OptionalGetElement", ["o"], ["y"])], {"a": A}, "optional value is empty"),
    ],
)
def test_errors(nodes: list[Any], inputs: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        check(nodes, inputs, forms=["dynamic"], opset=18, expected=[])


def sequence_type() -> Any:
    return onnx.helper.make_sequence_type_proto(onnx.helper.make_tensor_type_proto(1, None))


def appending(value: str, kind: str = "Mul") -> Any:
    """The body of a Loop that appends a captured value, combined with the number of the iteration, to a sequence."""
    nodes = [
        node("Cast", ["i"], ["number"], to=1),
        node(kind, [value, "number"], ["element"]),
        node("SequenceInsert", ["s", "element"], ["appended"]),
        node("Identity", ["keep"], ["goes_on"]),
    ]
    inputs = [onnx.helper.make_tensor_value_info("i", 7, []), onnx.helper.make_tensor_value_info("keep", 9, [])]
    inputs.append(onnx.ValueInfoProto(name="s", type=sequence_type()))
    outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in ("goes_on", "appended")]
    return onnx.helper.make_graph(nodes, "body", inputs, outputs)


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize(("axis", "new_axis"), [(0, 0), (-1, 0), (0, 1), (-1, 1), (1, 1)])
def test_a_loop_appends_to_a_sequence(is_known: bool, count: int, axis: int, new_axis: int) -> None:
    """A known number of iterations is unrolled; values of an unknown number are a scan output after the first member."""
    nodes = [
        node("SequenceConstruct", ["b"], ["start"]),
        node("Loop", ["n", "", "start"], ["sequence"], body=appending("a")),
        node("ConcatFromSequence", ["sequence"], ["y"], axis=axis, new_axis=new_axis),
    ]
    trips = {"n": np.array(count)}
    inputs = {"a": A, "b": B} | ({} if is_known else trips)
    check(nodes, inputs, constants=trips if is_known else {}, fixed=["n"], forms=["static", "dynamic"])


@pytest.mark.parametrize("shape", [(1, 0), (1, 3)])
def test_a_loop_appends_rows(shape: tuple[int, int]) -> None:
    """A member that has one row adds a row; the dimension of 1 is removed, as the runtime takes a size of 0 for one to copy."""
    nodes = [
        node("SequenceConstruct", ["a"], ["start"]),
        node("Loop", ["n", "", "start"], ["sequence"], body=appending("a")),
        node("ConcatFromSequence", ["sequence"], ["y"], axis=0),
    ]
    check(nodes, {"a": np.ones(shape, np.float32), "n": np.array(2)}, fixed=["n"], forms=["static", "dynamic"])


@pytest.mark.parametrize("kind", ["SequenceLength", "SequenceAt"])
def test_a_sequence_of_computed_length_is_asked(kind: str) -> None:
    nodes = [
        node("SequenceEmpty", [], ["start"]),
        node("Loop", ["n", "", "start"], ["sequence"], body=appending("a", "Add")),
        node(kind, ["sequence", "p"][: 1 + (kind == "SequenceAt")], ["y"]),
    ]
    inputs = {"a": A, "n": np.array(3)} | ({"p": np.array(1)} if kind == "SequenceAt" else {})
    check(nodes, inputs, fixed=["n", "p"], forms=["static", "dynamic"])


def test_a_function_of_each_member() -> None:
    tensor, result = onnx.helper.make_tensor_value_info("x", 1, None), onnx.helper.make_empty_tensor_value_info("z")
    body = onnx.helper.make_graph(
        [node("Mul", ["x", "f"], ["z"])], "body", [tensor, onnx.helper.make_tensor_value_info("f", 1, None)], [result]
    )
    nodes = [
        CONSTRUCT,
        node("SequenceMap", ["s", "b"], ["t"], body=body),
        node("ConcatFromSequence", ["t"], ["y"], axis=0),
    ]
    expected = [np.concatenate([A * B, B * B, C * B])]
    check(nodes, INPUTS, expected=expected, forms=["static", "dynamic"])


@pytest.mark.parametrize("keepdims", [0, 1])
def test_the_elements_of_an_axis_of_unknown_size(keepdims: int) -> None:
    nodes = [
        node("SplitToSequence", ["a"], ["s"], axis=1, keepdims=keepdims),
        node("ConcatFromSequence", ["s"], ["y"], axis=0, new_axis=1),
    ]
    check(nodes, {"a": A}, forms=["static", "dynamic"])


FLOAT = onnx.TensorProto.FLOAT


def model_of(nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> onnx.ModelProto:
    graph = onnx.helper.make_graph(nodes, "g", inputs, outputs)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)


def tensor_input(name: str) -> Any:
    return onnx.helper.make_tensor_value_info(name, FLOAT, [2, 3])


def converted(model: onnx.ModelProto, folder: Path) -> tuple[Any, Any]:
    """The module and the model of the runtime."""
    onnx.save(model, folder / "model.onnx")
    module = moir.convert_model(folder / "model.onnx")
    return module, moir.to_openvino(module)


def test_the_members_of_a_sequence_that_is_an_output_are_outputs(tmp_path: Path) -> None:
    nodes = [node("Neg", ["b"], ["n"]), node("SequenceConstruct", ["a", "n"], ["s"])]
    outputs = [onnx.helper.make_tensor_sequence_value_info("s", FLOAT, None), tensor_input("n")]
    module, model = converted(model_of(nodes, [tensor_input("a"), tensor_input("b")], outputs), tmp_path)
    assert len(model.outputs) == 3
    results = core().compile_model(model, "CPU")({"a": A, "b": B})
    for name, expected in {"s.0": A, "s.1": -B, "n": -B}.items():
        np.testing.assert_array_equal(results[name], expected)
    assert "output 's' is a sequence: its members are the outputs s.0, s.1" in str(module)


def test_a_sequence_of_computed_length_is_no_output(tmp_path: Path) -> None:
    body = onnx.helper.make_graph(
        [node("SequenceInsert", ["s", "a"], ["t"]), node("Identity", ["go"], ["on"])],
        "body",
        [
            onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
            onnx.helper.make_tensor_value_info("go", onnx.TensorProto.BOOL, []),
            onnx.helper.make_tensor_sequence_value_info("s", FLOAT, None),
        ],
        [
            onnx.helper.make_tensor_value_info("on", onnx.TensorProto.BOOL, []),
            onnx.helper.make_tensor_sequence_value_info("t", FLOAT, None),
        ],
    )
    nodes = [node("SequenceConstruct", ["a"], ["s0"]), node("Loop", ["n", "", "s0"], ["y"], body=body)]
    inputs = [tensor_input("a"), onnx.helper.make_tensor_value_info("n", onnx.TensorProto.INT64, [])]
    model = model_of(nodes, inputs, [onnx.helper.make_tensor_sequence_value_info("y", FLOAT, None)])
    with pytest.raises(ConversionError, match="output 'y' is a sequence of a computed number of members"):
        converted(model, tmp_path)


def test_an_optional_input_is_given(tmp_path: Path) -> None:
    optional = onnx.helper.make_optional_type_proto(onnx.helper.make_tensor_type_proto(FLOAT, [2, 3]))
    nodes = [node("OptionalGetElement", ["x"], ["e"]), node("OptionalHasElement", ["x"], ["h"]), node("Neg", ["e"], ["y"])]
    outputs = [tensor_input("y"), onnx.helper.make_tensor_value_info("h", onnx.TensorProto.BOOL, [])]
    module, model = converted(model_of(nodes, [onnx.helper.make_value_info("x", optional)], outputs), tmp_path)
    results = core().compile_model(model, "CPU")({"x": A})
    np.testing.assert_array_equal(results["y"], -A)
    assert results["h"]
    assert "input 'x' is optional in ONNX: here it is always given" in str(module)


def test_a_sequence_is_no_input(tmp_path: Path) -> None:
    nodes = [node("SequenceAt", ["s", "i"], ["y"])]
    inputs = [
        onnx.helper.make_tensor_sequence_value_info("s", FLOAT, None),
        onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
    ]
    with pytest.raises(ConversionError, match="make its members inputs"):
        converted(model_of(nodes, inputs, [tensor_input("y")]), tmp_path)
