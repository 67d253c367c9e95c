"""Shape operations of ONNX: every version-dependent form, static and dynamic shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.numerical.onnx.conversion import build, check, convert, node
from tests.numerical.onnx.node_case import COMPLETE, STATIC, NodeCase, normal_numbers
from tests.numerical.runtime import run

RANDOM = np.random.default_rng(2)


def real(*shape: int) -> Any:
    """Random f32 data."""
    return RANDOM.normal(size=shape).astype(np.float32)


def integers(*values: int) -> Any:
    """A list of i64."""
    return np.array(values, np.int64)


X = real(2, 3, 4, 5)

# kind, attributes, data, constants, version of the operation set, most operations
CASES: list[tuple[str, dict[str, Any], Any, list[Any], int, int]] = [
    ("Identity", {}, X, [], 13, 0),
    ("Reshape", {}, X, [integers(0, -1, 5)], 5, 1),
    ("Reshape", {}, X, [integers(2, 3, 4, 5)], 13, 0),
    ("Reshape", {}, X, [integers(4, 30)], 21, 1),
    ("Reshape", {"allowzero": 1}, real(0, 3), [integers(3, 0)], 14, 1),
    ("Squeeze", {}, real(1, 3, 1), [], 11, 1),
    ("Squeeze", {"axes": [0, 2]}, real(1, 3, 1), [], 1, 1),
    ("Squeeze", {}, real(1, 3, 1), [integers(-1)], 13, 1),
    ("Unsqueeze", {"axes": [0, 3]}, real(2, 3), [], 11, 1),
    ("Unsqueeze", {}, real(2, 3), [integers(-1, 1)], 13, 1),
    *[("Flatten", {"axis": axis}, X, [], 13, 5) for axis in (0, 1, 2, 3, 4, -1, -2)],
    ("Flatten", {}, real(2, 0, 3), [], 9, 9),
    ("Flatten", {"axis": 0}, np.array(3, np.float32), [], 13, 1),
    ("Shape", {}, X, [], 13, 1),
    ("Shape", {"start": 1, "end": -1}, X, [], 15, 2),
    ("Shape", {"start": -10}, X, [], 15, 2),
    ("Size", {}, X, [], 13, 2),
    ("Size", {}, np.array(3, np.float32), [], 13, 0),
]


@pytest.mark.parametrize(("kind", "attributes", "data", "constants", "opset", "operations"), CASES)
def test_forms(kind: str, attributes: dict[str, Any], data: Any, constants: list[Any], opset: int, operations: int) -> None:
    names = [f"c{index}" for index in range(len(constants))]
    # The runtime compiles no model with a Squeeze or Unsqueeze of unknown rank.
    forms = ["static"] if kind == "Squeeze" and not constants and not attributes else ["static", "dynamic"]
    if kind in ("Identity", "Reshape", "Shape", "Size") or (kind == "Flatten" and attributes.get("axis", 1) >= 0):
        forms.append("rank")
    check(
        [node(kind, ["x", *names], ["y"], **attributes)],
        {"x": data},
        constants=dict(zip(names, constants, strict=True)),
        opset=opset,
        forms=forms,
        operations=operations,
    )


def test_flatten_of_no_elements() -> None:
    check([node("Flatten", ["x"], ["y"], axis=2)], {"x": real(2, 0, 3)}, forms=["static"], operations=9)


def test_reshape_attribute_of_version_1() -> None:
    x = real(2, 6)
    check([node("Reshape", ["x"], ["y"], shape=[0, 3, -1])], {"x": x}, opset=1, expected=[x.reshape(2, 3, 2)], operations=1)


def test_computed_target_shape() -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["batch"]),
        node("Unsqueeze", ["batch", "axes"], ["batches"]),
        node("Concat", ["batches", "rest"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
    ]
    constants = {"zero": np.array(0, np.int64), "axes": integers(0), "rest": integers(-1, 5)}
    check(nodes, {"x": X}, constants=constants, forms=["static", "dynamic"])


def test_computed_axes() -> None:
    check([node("Squeeze", ["x", "axes"], ["y"])], {"x": real(1, 3, 1)}, constants={"axes": integers(0, 2)}, forms=["static", "dynamic"])


@pytest.mark.parametrize("axes", [[1], [-1], [0, 2], [3, -4]])
def test_unsqueeze_of_axes_that_are_an_input(axes: list[int]) -> None:
    check(
        [node("Unsqueeze", ["x", "axes"], ["y"])], {"x": real(2, 3), "axes": integers(*axes)}, forms=["static", "dynamic"], fixed=["axes"]
    )


def test_models_stay_reshapable(tmp_path: Any) -> None:
    """A Flatten and a Shape of an unknown batch do not contain the size of the example."""
    model = build([node("Flatten", ["x"], ["y"], axis=2)], {"x": X}, form="dynamic")
    other = real(5, 1, 2, 2)
    assert run(convert(model, tmp_path), {"x": other})[0].shape == (5, 4)


normal = normal_numbers(np.random.default_rng(19))

NODES: dict[str, NodeCase] = {
    "Squeeze of computed axes": NodeCase("Squeeze", {"x": normal(1, 3, 1), "axes": np.array([0, -1])}, options=STATIC),
    "Squeeze of all axes": NodeCase("Squeeze", {"x": normal(1, 1), "axes": np.array([1, 0])}, options=STATIC),
    "Squeeze of dynamic rank": NodeCase("Squeeze", {"x": normal(3, 1)}, options=STATIC),
    "Flatten of an empty tensor": NodeCase("Flatten", {"x": np.zeros((4, 2, 0, 3), np.float32)}, attributes={"axis": 3}),
    "Reshape of a constant to sizes that it has": NodeCase(
        "Reshape", {"s": np.array([0, -1, 0])}, {"x": normal(3, 2, 5)}, operands="x s", options=COMPLETE | STATIC
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
