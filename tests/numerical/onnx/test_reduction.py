"""Reductions of ONNX, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import EVALUATED, STATIC, WITHOUT_RANK, NodeCase, normal_numbers

X = np.random.default_rng(5).uniform(0.5, 3, (2, 3, 4)).astype(np.float32)
KINDS = {
    "ReduceL1": 1,
    "ReduceL2": 1,
    "ReduceLogSum": 2,
    "ReduceLogSumExp": 6,
    "ReduceMax": 1,
    "ReduceMean": 1,
    "ReduceMin": 1,
    "ReduceProd": 1,
    "ReduceSum": 1,
    "ReduceSumSquare": 2,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attributes", [{"axes": [1]}, {"axes": [0, -1], "keepdims": 0}, {}, {"keepdims": 0}])
def test_axes_as_attribute(kind: str, attributes: dict[str, Any]) -> None:
    check([node(kind, ["x"], ["y"], **attributes)], {"x": X}, opset=11, operations=KINDS[kind] + (kind == "ReduceLogSumExp"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_axes_as_constant(kind: str, keepdims: int) -> None:
    model = [node(kind, ["x", "axes"], ["y"], keepdims=keepdims)]
    check(model, {"x": X}, constants={"axes": np.array([-1, 0], np.int64)}, opset=18, operations=KINDS[kind] + (kind == "ReduceLogSumExp"))


def test_axes_of_sum_as_constant() -> None:
    check([node("ReduceSum", ["x", "axes"], ["y"])], {"x": X}, constants={"axes": np.array([1], np.int64)}, opset=13, operations=1)


@pytest.mark.parametrize("kind", KINDS)
def test_axes_as_input(kind: str) -> None:
    check([node(kind, ["x", "axes"], ["y"])], {"x": X, "axes": np.array([1], np.int64)}, opset=18, fixed=["axes"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noop", [0, 1])
@pytest.mark.parametrize("empty", [True, False])
def test_no_axes(kind: str, noop: int, empty: bool) -> None:
    model = [node(kind, ["x", "axes"] if empty else ["x"], ["y"], noop_with_empty_axes=noop)]
    functions = {"ReduceL1": np.abs, "ReduceL2": np.abs, "ReduceLogSum": np.log, "ReduceSumSquare": np.square}
    expected = [functions.get(kind, np.asarray)(X)] if noop else None
    check(model, {"x": X}, constants={"axes": np.array([], np.int64)} if empty else None, opset=18, expected=expected)


@pytest.mark.parametrize("kind", ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceSumSquare", "ReduceMean"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers(kind: str, dtype: type) -> None:
    x = np.array([[2, -3, 4], [5, 1, -3]], dtype)
    functions = {
        "ReduceMax": x.max(1),
        "ReduceMin": x.min(1),
        "ReduceSum": x.sum(1),
        "ReduceProd": x.prod(1),
        "ReduceL1": np.abs(x).sum(1),
        "ReduceSumSquare": (x * x).sum(1),
        "ReduceMean": x.sum(1) // 3,
    }
    check([node(kind, ["x"], ["y"], axes=[1], keepdims=0)], {"x": x}, opset=11, expected=[functions[kind].astype(dtype)])


@pytest.mark.parametrize(("kind", "function"), [("ReduceMax", np.any), ("ReduceMin", np.all)])
@pytest.mark.parametrize("constant", [True, False])
def test_booleans(kind: str, function: Any, constant: bool) -> None:
    x, axes = X > 1.5, {"axes": np.array([1], np.int64)}
    model = [node(kind, ["x", "axes"], ["y"])]
    expected = [function(x, axis=1, keepdims=True)]
    inputs = {"x": x} if constant else {"x": x, **axes}
    check(model, inputs, constants=axes if constant else None, opset=20, expected=expected, fixed=["axes"])


def test_large_exponents_do_not_overflow() -> None:
    x = np.array([[1000, 1001, 999], [-1000, -1001, -999]], np.float32)
    check([node("ReduceLogSumExp", ["x"], ["y"], axes=[1], keepdims=0)], {"x": x}, opset=13)


@pytest.mark.parametrize("kind", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize(
    ("attributes", "opset"),
    [
        ({}, 1),
        ({"axis": 1}, 11),
        ({"axis": -1, "keepdims": 0}, 13),
        ({"axis": 1, "select_last_index": 1}, 12),
        ({"axis": -2, "select_last_index": 1, "keepdims": 0}, 13),
    ],
)
def test_positions(kind: str, attributes: dict[str, Any], opset: int) -> None:
    x = np.array([[[1, 3, 3, 2], [0, 0, 5, 5], [1, 3, 3, 0]], [[2, 2, 2, 2], [0, 1, 0, 1], [7, 1, 1, 7]]], np.float32)
    check([node(kind, ["x"], ["y"], **attributes)], {"x": x}, opset=opset)


real = normal_numbers(np.random.default_rng(17))

NODES: dict[str, NodeCase] = {
    "ReduceSum of bf16": NodeCase(
        "ReduceSum",
        {"x": np.ones((4, 2, 3), ml_dtypes.bfloat16), "axes": np.array([0, 2])},
        attributes={"keepdims": 0},
        options=STATIC | EVALUATED,
    ),
    "ReduceL1 along no computed axis": NodeCase("ReduceL1", {"x": real(3, 2), "axes": np.zeros(0, np.int64)}, options=WITHOUT_RANK),
    "ReduceSum of bf16 of dynamic rank": NodeCase(
        "ReduceSum",
        {"x": np.ones((2, 3, 2), ml_dtypes.bfloat16), "axes": np.array([1, -1])},
        attributes={"noop_with_empty_axes": 1},
        options=WITHOUT_RANK | EVALUATED | {"opset": 18},
    ),
    "ReduceL2 of a scalar along no computed axis": NodeCase(
        "ReduceL2", {"x": np.array(-5.5, np.float32), "axes": np.zeros(0, np.int64)}, options=WITHOUT_RANK
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
