"""Reading and writing at computed positions, sorting and one-hot encoding in ONNX models."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import EVALUATED, STATIC, WITH_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(3)


def real(*shape: int) -> Any:
    """Random f32 data."""
    return RANDOM.normal(size=shape).astype(np.float32)


def integers(*values: Any) -> Any:
    """An array of i64."""
    return np.array(values, np.int64)


X = real(3, 4, 5)
ROWS = integers([0, 1, 2, 3], [3, -1, 0, -4])

# kind, attributes, operands, version of the operation set
CASES: list[tuple[str, dict[str, Any], list[Any], int]] = [
    ("Gather", {}, [X, integers(0, 2)], 13),
    ("Gather", {"axis": 1}, [X, integers([0, -1], [2, -4])], 11),
    ("Gather", {"axis": -1}, [X, np.array(-2, np.int32)], 13),
    ("GatherElements", {"axis": 0}, [real(4, 4), ROWS], 13),
    ("GatherElements", {"axis": -1}, [real(2, 4), ROWS], 11),
    ("GatherND", {}, [X, integers([0, 1], [2, -1])], 13),
    ("GatherND", {"batch_dims": 1}, [X, integers([1], [0], [-4])], 12),
    ("Scatter", {"axis": 1}, [real(2, 5), integers([1, 3], [0, 2]), real(2, 2)], 9),
    ("ScatterElements", {"axis": 1}, [real(2, 5), integers([1, -2], [0, 2]), real(2, 2)], 11),
    ("ScatterElements", {}, [real(4, 2), integers([1, 3]), real(1, 2)], 13),
    *[
        ("ScatterElements", {"axis": 1, "reduction": reduction}, [real(2, 5), integers([1, 1], [0, 2]), real(2, 2)], 18)
        for reduction in ("none", "add", "mul", "max", "min")
        if reduction != "none"
    ],
    ("ScatterND", {}, [X, integers([0, 1], [2, -1]), real(2, 5)], 13),
    *[("ScatterND", {"reduction": name}, [X, integers([0, 1], [0, 1]), real(2, 5)], 18) for name in ("add", "mul", "max", "min")],
    ("Where", {}, [np.array([[True], [False]]), real(2, 3), real(3)], 16),
    ("Where", {}, [np.array([True, False]), integers(1, 2), integers(3, 4)], 9),
    ("CumSum", {}, [X, np.array(1, np.int32)], 11),
    ("CumSum", {"exclusive": 1, "reverse": 1}, [X, np.array(-1, np.int64)], 14),
    ("CumSum", {"exclusive": 1}, [integers(1, 2, 3, 4), np.array(0, np.int64)], 14),
    ("NonZero", {}, [np.array([[1, 0, 2], [0, 0, 3]], np.float32)], 13),
    ("NonZero", {}, [np.array([[True, False], [True, True]])], 9),
]


@pytest.mark.parametrize(("kind", "attributes", "operands", "opset"), CASES)
def test_operations(kind: str, attributes: dict[str, Any], operands: list[Any], opset: int) -> None:
    inputs = {f"x{index}": operand for index, operand in enumerate(operands)}
    # The number of coordinates says the rank of the result, without which the runtime compiles nothing.
    fixed = ["x1"] if kind == "GatherND" else []
    check([node(kind, list(inputs), ["y"], **attributes)], inputs, opset=opset, forms=["static", "dynamic"], fixed=fixed, operations=1)


@pytest.mark.parametrize(
    ("attributes", "k", "opset"),
    [
        ({"k": 2}, None, 1),
        ({"k": 3, "axis": 0}, None, 9),
        ({"axis": 1}, 2, 10),
        ({"axis": 1, "largest": 0}, 2, 11),
        ({"largest": 1, "sorted": 1}, 5, 11),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_top_k(attributes: dict[str, Any], k: int | None, opset: int, dtype: Any) -> None:
    if opset < 11 and dtype is np.int64:
        dtype = np.float32
    x = (real(3, 4, 5) * 10).astype(dtype)
    constants = {} if k is None else {"k": integers(k)}
    check(
        [node("TopK", ["x", *constants], ["values", "indices"], **attributes)],
        {"x": x},
        constants=constants,
        opset=opset,
        forms=["static", "dynamic"],
        operations=1,
    )


def test_top_k_orders_equal_elements_by_index_and_takes_a_computed_k() -> None:
    x = np.array([[1, 3, 3, 2, 3, 1]], np.float32)
    check([node("TopK", ["x", "k"], ["values", "indices"])], {"x": x, "k": integers(4)}, forms=["static", "dynamic"])


@pytest.mark.parametrize(
    ("indices", "depth", "values", "attributes", "opset"),
    [
        (integers(0, 2, -1, 5), 3, np.array([0, 1], np.float32), {}, 11),
        (integers([0, 1], [2, 9]), 3, np.array([2, 5], np.int64), {"axis": 1}, 9),
        (np.array([0, 2], np.float32), 3.0, np.array([0, 1], np.float32), {"axis": 0}, 11),
    ],
)
def test_one_hot(indices: Any, depth: float, values: Any, attributes: dict[str, Any], opset: int) -> None:
    constants = {"depth": np.array(depth, indices.dtype), "values": values}
    nodes = [node("OneHot", ["x", "depth", "values"], ["y"], **attributes)]
    check(nodes, {"x": indices}, constants=constants, opset=opset, operations=1 if indices.dtype == np.int64 else 2)


def test_one_hot_of_version_9_takes_no_negative_indices() -> None:
    constants = {"depth": np.array(3, np.int64), "values": np.array([0, 1], np.float32)}
    expected = [np.array([[1, 0, 0], [0, 0, 0]], np.float32)]
    check([node("OneHot", ["x", "depth", "values"], ["y"])], {"x": integers(0, -1)}, constants=constants, opset=9, expected=expected)


def test_one_hot_with_computed_depth_and_values() -> None:
    inputs = {"x": integers(0, 2), "depth": integers(3), "values": np.array([2, 5], np.float32)}
    check([node("OneHot", list(inputs), ["y"])], inputs, forms=["static", "dynamic"])


@pytest.mark.parametrize("attributes", [{}, {"sorted": 0}, {"axis": 0}, {"axis": -1, "sorted": 1}])
def test_unique(attributes: dict[str, Any]) -> None:
    x = np.array([[2, 1, 1], [2, 1, 1], [0, 1, 1]], np.float32)
    outputs = ["y", "indices", "inverse", "counts"]
    most = 3 if "axis" in attributes else 1
    check([node("Unique", ["x"], outputs, **attributes)], {"x": x}, opset=11, forms=["static", "dynamic"], operations=most)


def test_unique_columns_by_first_occurrence() -> None:
    x = np.array([[2, 1, 1, 2], [2, 1, 1, 2], [0, 1, 1, 0]], np.float32)
    outputs = ["y", "indices", "inverse", "counts"]
    check([node("Unique", ["x"], outputs, axis=1, sorted=0)], {"x": x}, opset=11, forms=["static", "dynamic"])


@pytest.mark.parametrize("shape", [(12,), (3, 4)])
def test_unique_elements_without_their_indices(shape: tuple[int, ...]) -> None:
    x = np.array([5, 3, 5, 1, 3, 9, 9, 1, 0, 5, 2, 2], np.float32).reshape(shape)
    check([node("Unique", ["x"], ["y"], sorted=0)], {"x": x}, opset=11, forms=["static", "dynamic"])


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("first", [None, [1, 2]])
def test_tensor_scatter(mode: str, first: list[int] | None) -> None:
    cache, update = real(2, 3, 4, 5), real(2, 3, 2, 5)
    inputs = {"cache": cache, "update": update}
    expected = cache.copy()
    for batch in range(2):
        for position in range(2):
            expected[batch, :, ((first or [0, 0])[batch] + position) % 4] = update[batch, :, position]
    constants = {} if first is None else {"first": integers(*first)}
    nodes = [node("TensorScatter", [*inputs, *constants], ["y"], mode=mode)]
    check(nodes, inputs, constants=constants, opset=24, expected=[expected], forms=["static", "dynamic"])


def test_unknown_reduction() -> None:
    with pytest.raises(ConversionError, match="reduction 'mean' is not one of"):
        check(
            [node("ScatterND", ["x", "i", "u"], ["y"], reduction="mean")],
            {"x": X, "i": integers([0]), "u": real(1, 4, 5)},
            expected=[],
        )


NUMBERS = np.random.default_rng(9)
normal = normal_numbers(NUMBERS)

SMALLER_INDICES = {
    f"GatherElements along {axis}": NodeCase(
        "GatherElements", {"x": normal(3, 4, 5), "i": NUMBERS.integers(0, 3, shape)}, attributes={"axis": axis}
    )
    for axis, shape in ((0, (2, 3, 2)), (1, (2, 6, 5)), (-1, (3, 2, 2)))
}

NODES: dict[str, NodeCase] = {
    **SMALLER_INDICES,
    "GatherND of one coordinate": NodeCase(
        "GatherND",
        {"i": NUMBERS.integers(-4, 4, (2, 3, 1))},
        {"x": normal(2, 4)},
        operands="x i",
        attributes={"batch_dims": 1},
        options={"forms": ["dynamic", "rank"]},
    ),
    "TensorScatter of f4": NodeCase(
        "TensorScatter",
        {"x": np.zeros((1, 1, 3, 1), ml_dtypes.float4_e2m1fn), "u": np.full((1, 1, 3, 1), 4, ml_dtypes.float4_e2m1fn), "i": np.array([0])},
        attributes={"axis": 1, "mode": "circular"},
        options=EVALUATED | WITH_RANK | {"opset": 25},
    ),
    "Where of booleans and a constant": NodeCase(
        "Where", {"x": np.array(True)}, {"c": np.array(True)}, operands="c x c", options=STATIC | EVALUATED
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
