"""Nodes that random testing found to be wrong: loops, branches and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import normal_numbers

real = normal_numbers(np.random.default_rng(4))


def branch(nodes: list[Any], outputs: list[str]) -> onnx.GraphProto:
    """The body of a branch without inputs."""
    return onnx.helper.make_graph(nodes, "branch", [], [onnx.helper.make_empty_tensor_value_info(name) for name in outputs])


def body_of_loop(nodes: list[Any], outputs: Sequence[str]) -> onnx.GraphProto:
    """The body of a loop with the state `s`, whose nodes may use the condition `go`."""
    value = onnx.helper.make_tensor_value_info
    inputs = [value("i", onnx.TensorProto.INT64, []), value("go", onnx.TensorProto.BOOL, []), value("s", onnx.TensorProto.FLOAT, None)]
    return onnx.helper.make_graph(nodes, "body", inputs, [onnx.helper.make_empty_tensor_value_info(name) for name in outputs])


def test_a_loop_that_may_not_begin_collects_nothing() -> None:
    """A constant number of iterations says nothing about a loop whose condition is computed."""
    body = body_of_loop(
        [node("Add", ["s", "s"], ["t"]), node("Identity", ["go"], ["on"]), node("Identity", ["t"], ["v"])], ("on", "t", "v")
    )
    nodes = [node("Loop", ["n", "c", "x"], ["y", "ys"], body=body)]
    x = real(2, 3)
    for begins, expected in ((True, [4 * x, np.stack([2 * x, 4 * x])]), (False, [x, np.zeros((0, 2, 3), np.float32)])):
        check(nodes, {"x": x, "c": np.array(begins)}, constants={"n": np.array(2)}, fixed=["c"], forms=["static"], expected=expected)


def test_branches_of_different_ranks_that_values_choose_are_refused() -> None:
    then, otherwise = branch([node("Neg", ["x"], ["p"])], ["p"]), branch([node("Unsqueeze", ["x", "axis"], ["q"])], ["q"])
    nodes = [node("If", ["c"], ["y"], then_branch=then, else_branch=otherwise)]
    with pytest.raises(ConversionError, match="2 dimensions in one branch and 3 in the other"):
        check(nodes, {"x": real(2, 3), "c": np.array(True)}, constants={"axis": np.array([0])}, forms=["static"], expected=[])


def test_a_state_whose_rank_changes_is_refused() -> None:
    body = body_of_loop([node("Unsqueeze", ["s", "axis"], ["t"]), node("Identity", ["go"], ["on"])], ("on", "t"))
    inputs = {"x": real(2, 3), "n": np.array(3)}
    with pytest.raises(ConversionError, match="2 dimensions before an iteration and 3 after it"):
        check([node("Loop", ["n", "", "x"], ["y"], body=body)], inputs, constants={"axis": np.array([0])}, forms=["static"], expected=[])


def test_members_without_elements_are_joined() -> None:
    """The runtime leaves out constants without elements, and what it computes of them."""
    nodes = [
        node("SequenceConstruct", ["x", "y"], ["s"]),
        node("ConcatFromSequence", ["s"], ["z"], axis=0),
    ]
    x, y = np.zeros((2, 0), np.float32), np.zeros((4, 0), np.float32)
    check(nodes, {"x": x}, constants={"y": y}, forms=["dynamic"])


@pytest.mark.parametrize(
    ("condition", "inputs", "decides"),
    [([], {"c": np.array(True)}, "values"), ([node("Size", ["x"], ["n"]), node("Equal", ["n", "two"], ["c"])], {"x": real(2)}, "shapes")],
    ids=["values", "shapes"],
)
def test_a_number_or_a_list_that_the_inputs_choose_is_refused(condition: list[Any], inputs: dict[str, Any], decides: str) -> None:
    """In the runtime both are lists."""
    bodies = [branch([node("Identity", [name], ["z"])], ["z"]) for name in ("list", "number")]
    nodes = [*condition, node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1])]
    constants = {"list": real(3), "number": np.array(2, np.float32), "two": np.array(2)}
    with pytest.raises(ConversionError, match=f"1 dimensions in one branch and 0 in the other, which the {decides}"):
        check(nodes, inputs, constants=constants, forms=["dynamic"], fixed=["c"])
