"""Sequences to which a Loop appends tensors that differ in size, and scan outputs whose sizes may change."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from tests.numerical.onnx.conversion import check, node

RANDOM = np.random.default_rng(5)
A = RANDOM.normal(size=(4, 3)).astype(np.float32)
INFO = onnx.helper.make_tensor_value_info
CONSTANTS = {
    "zero": np.array(0),
    "first": np.array([0]),
    "one": np.array([1]),
    "last": np.array(-1),
    "half": np.array(0.5, np.float32),
    "true": np.array(True),
}

ROWS = [  # as many rows as the number of the iteration says
    node("Add", ["i", "one"], ["end"]),
    node("Slice", ["a", "first", "end", "first"], ["part"]),
    node("Cast", ["i"], ["number"], to=1),
    node("Add", ["part", "number"], ["member"]),
]
SELECTED = [  # the rows whose first element is greater than the number of the iteration
    node("Cast", ["i"], ["number"], to=1),
    node("Gather", ["a", "zero"], ["column"], axis=1),
    node("Mul", ["number", "half"], ["limit"]),
    node("Less", ["column", "limit"], ["less"]),
    node("NonZero", ["less"], ["places"]),
    node("Squeeze", ["places", "first"], ["rows"]),
    node("Gather", ["a", "rows"], ["member"], axis=0),
]
COLUMNS = [*SELECTED[:-1], node("Transpose", ["a"], ["turned"]), node("Gather", ["turned", "rows"], ["member"], axis=1)]
KINDS = {"rows": (ROWS, 0), "selected": (SELECTED, 0), "columns": (COLUMNS, 1)}


def appending(kind: str, early: bool = False) -> onnx.GraphProto:
    goes_on = [node("ReduceSum", ["member"], ["sum"], keepdims=0), node("Less", ["sum", "most"], ["on"])]
    nodes = [*KINDS[kind][0], node("SequenceInsert", ["s", "member"], ["t"]), *(goes_on if early else [node("Identity", ["go"], ["on"])])]
    sequence = onnx.helper.make_tensor_sequence_value_info
    inputs = [INFO("i", onnx.TensorProto.INT64, []), INFO("go", onnx.TensorProto.BOOL, []), sequence("s", 1, None)]
    return onnx.helper.make_graph(nodes, "body", inputs, [INFO("on", onnx.TensorProto.BOOL, []), sequence("t", 1, None)])


def run_loop(uses: list[Any], kind: str, *, count: int = 3, member: bool = False, early: bool = False, **inputs: Any) -> None:
    """Compare a Loop whose sequence is used by nodes, for a number of iterations that the model does not know."""
    start = node("SequenceConstruct", ["known"], ["start"]) if member else node("SequenceEmpty", [], ["start"], dtype=1)
    nodes = [start, node("Loop", ["n", "true", "start"], ["sequence"], body=appending(kind, early)), *uses]
    given = {"a": A, "n": np.array(count), **inputs} | ({"known": A[:2] if kind != "columns" else A.T[:, :2].copy()} if member else {})
    names = {name for each in (*nodes, *appending(kind, early).node) for name in each.input}
    constants = {**CONSTANTS, "most": np.array(4, np.float32)}
    check(
        nodes,
        given,
        constants={name: value for name, value in constants.items() if name in names},
        fixed=["n", "p"],
        forms=["static", "dynamic"],
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("member", [True, False])
@pytest.mark.parametrize("early", [True, False])
def test_concatenated(kind: str, member: bool, early: bool) -> None:
    run_loop([node("ConcatFromSequence", ["sequence"], ["y"], axis=KINDS[kind][1])], kind, member=member, early=early)


@pytest.mark.parametrize("kind", KINDS)
def test_concatenated_along_an_axis_from_the_end(kind: str) -> None:
    run_loop([node("ConcatFromSequence", ["sequence"], ["y"], axis=KINDS[kind][1] - 2)], kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("position", [0, 2, -1])
@pytest.mark.parametrize("member", [True, False])
def test_a_member(kind: str, position: int, member: bool) -> None:
    run_loop([node("SequenceAt", ["sequence", "p"], ["y"])], kind, member=member, p=np.array(position))


@pytest.mark.parametrize("member", [True, False])
def test_the_length(member: bool) -> None:
    run_loop([node("SequenceLength", ["sequence"], ["y"])], "selected", member=member)


def test_a_further_member() -> None:
    uses = [node("SequenceInsert", ["sequence", "a"], ["longer"]), node("ConcatFromSequence", ["longer"], ["y"], axis=0)]
    run_loop(uses, "selected")


def test_both_concatenated_and_read() -> None:
    uses = [
        node("ConcatFromSequence", ["sequence"], ["all"], axis=0),
        node("SequenceAt", ["sequence", "last"], ["some"]),
        node("Concat", ["all", "some"], ["y"], axis=0),
    ]
    run_loop(uses, "rows")


@pytest.mark.parametrize(("axis", "new_axis"), [(0, 1), (1, 1), (-1, 1), (1, 0)])
def test_members_that_are_equal_in_size_after_all(axis: int, new_axis: int) -> None:
    """What selects the rows is computed anew in each iteration, but does not depend on its number."""
    nodes = [
        node("Mul", ["number", "zero_"], ["nothing"]),
        node("Add", ["column", "nothing"], ["same"]),
        node("Less", ["same", "half"], ["less"]),
    ]
    kept = [*SELECTED[:2], *nodes, *SELECTED[4:]]
    sequence = onnx.helper.make_tensor_sequence_value_info
    body = onnx.helper.make_graph(
        [*kept, node("SequenceInsert", ["s", "member"], ["t"]), node("Identity", ["go"], ["on"])],
        "body",
        [INFO("i", onnx.TensorProto.INT64, []), INFO("go", onnx.TensorProto.BOOL, []), sequence("s", 1, None)],
        [INFO("on", onnx.TensorProto.BOOL, []), sequence("t", 1, None)],
    )
    nodes = [
        node("SequenceEmpty", [], ["start"], dtype=1),
        node("Loop", ["n", "true", "start"], ["sequence"], body=body),
        node("ConcatFromSequence", ["sequence"], ["y"], axis=axis, new_axis=new_axis),
    ]
    constants = {name: CONSTANTS[name] for name in ("zero", "first", "half", "true")} | {"zero_": np.array(0, np.float32)}
    check(nodes, {"a": A, "n": np.array(3)}, constants=constants, fixed=["n"], forms=["static", "dynamic"])


@pytest.mark.parametrize("count", [1, 3])
def test_a_scan_output_whose_size_depends_on_the_data(count: int) -> None:
    """ONNX Runtime requires equal sizes; here they are, but the loop could not know."""
    nodes = [
        node("Mul", ["number", "zero_"], ["nothing"]),
        node("Add", ["column", "nothing"], ["same"]),
        node("Less", ["same", "half"], ["less"]),
    ]
    body = onnx.helper.make_graph(
        [*SELECTED[:2], *nodes, *SELECTED[4:], node("Identity", ["go"], ["on"])],
        "body",
        [INFO("i", onnx.TensorProto.INT64, []), INFO("go", onnx.TensorProto.BOOL, [])],
        [INFO("on", onnx.TensorProto.BOOL, []), INFO("member", onnx.TensorProto.FLOAT, None)],
    )
    constants = {name: CONSTANTS[name] for name in ("zero", "first", "half", "true")} | {"zero_": np.array(0, np.float32)}
    loop = node("Loop", ["n", "true"], ["y"], body=body)
    check([loop], {"a": A, "n": np.array(count)}, constants=constants, fixed=["n"], forms=["static", "dynamic"])
