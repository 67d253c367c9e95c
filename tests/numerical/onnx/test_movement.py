"""Movement operations of ONNX: every version-dependent form, static and dynamic shapes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(1)


def real(*shape: int) -> Any:
    """Random f32 data."""
    return RANDOM.normal(size=shape).astype(np.float32)


def integers(*values: Any) -> Any:
    """A list of i64."""
    return np.array(values, np.int64)


X = real(2, 3, 4, 5)

# kind, attributes, data, constants, version of the operation set, most operations
CASES: list[tuple[str, dict[str, Any], Any, list[Any], int, int]] = [
    ("Transpose", {}, X, [], 13, 1),
    ("Transpose", {"perm": [0, 3, 1, 2]}, X, [], 21, 1),
    ("Transpose", {"perm": [0, 1, 2, 3]}, X, [], 21, 0),
    ("Tile", {}, X, [integers(1, 2, 1, 3)], 13, 1),
    ("Tile", {}, X, [integers(1, 1, 1, 1)], 6, 0),
    ("Expand", {}, real(3, 1), [integers(2, 1, 4)], 13, 1),
    ("Expand", {}, real(3, 4), [integers(1, 4)], 8, 0),
    ("DepthToSpace", {"blocksize": 2}, real(1, 8, 3, 4), [], 1, 1),
    ("DepthToSpace", {"blocksize": 2, "mode": "CRD"}, real(1, 8, 3, 4), [], 13, 1),
    ("SpaceToDepth", {"blocksize": 2}, real(1, 2, 4, 6), [], 13, 1),
    ("ReverseSequence", {}, real(4, 3), [integers(4, 2, 1)], 10, 1),
    ("ReverseSequence", {"batch_axis": 0, "time_axis": 1}, real(3, 4), [integers(4, 2, 1)], 10, 1),
    ("Compress", {"axis": 1}, X, [np.array([False, True, True])], 11, 3),
    ("Compress", {}, real(3, 4), [np.array([False, True, True, False, True])], 9, 4),
    ("Slice", {"starts": [1, 0], "ends": [100, -1], "axes": [2, 3]}, X, [], 9, 1),
    ("Slice", {"starts": [0, 1], "ends": [1, 3]}, X, [], 1, 1),
    ("Slice", {}, X, [integers(1, 0), integers(2, 2)], 13, 1),
    ("Slice", {}, X, [integers(-1), integers(-100), integers(-1), integers(-2)], 11, 1),
    ("Slice", {}, X, [np.array([0], np.int32), np.array([2**31 - 1], np.int32), np.array([3], np.int32)], 13, 1),
    ("Pad", {"pads": [0, 0, 1, 2, 0, 0, 3, 4], "value": 1.5}, X, [], 10, 1),
    ("Pad", {"pads": [0, 0, 1, 2, 0, 0, 1, 2], "mode": "reflect"}, X, [], 2, 1),
    ("Pad", {"mode": "edge"}, X, [integers(0, 1, 0, 2, 0, 0, 0, 1)], 13, 1),
    ("Pad", {}, X, [integers(0, 0, 0, 0, 0, 0, 0, 0)], 13, 0),
    ("Pad", {}, X, [integers(0, -1, 0, 2, 0, 0, -1, 1), np.array(0.5, np.float32)], 13, 1),
    ("Pad", {}, X, [integers(1, 2, 0, 1), np.array([0.5], np.float32), integers(-1, 1)], 18, 1),
    ("Pad", {"mode": "wrap"}, X, [integers(0, 0, 1, 2, 0, 0, 3, 7)], 19, 2),
    ("Concat", {"axis": -1}, X, [real(2, 3, 4, 1)], 13, 1),
    ("Concat", {"axis": 0}, X, [], 4, 0),
    ("CenterCropPad", {}, X, [integers(2, 2, 6, 5)], 18, 8),
]


@pytest.mark.parametrize(("kind", "attributes", "data", "constants", "opset", "operations"), CASES)
def test_of_one_operand(kind: str, attributes: dict[str, Any], data: Any, constants: list[Any], opset: int, operations: int) -> None:
    names = [f"c{index}" for index in range(len(constants))]
    forms = ["static", "dynamic"]
    if kind not in ("CenterCropPad", "Pad") and (kind != "Transpose" or attributes):
        forms.append("rank")
    fixed = () if kind != "CenterCropPad" else ("x",)
    check(
        [node(kind, ["x", *names], ["y"], **attributes)],
        {"x": data},
        constants=dict(zip(names, constants, strict=True)),
        opset=opset,
        forms=forms,
        fixed=fixed,
        operations=operations if kind != "CenterCropPad" else None,
    )


# attributes, lengths, number of results, version, most operations
SPLITS: list[tuple[dict[str, Any], list[int] | None, int, int, int]] = [
    ({"axis": 1}, None, 2, 2, 1),
    ({"axis": 1, "split": [1, 4, 1]}, None, 3, 11, 1),
    ({"axis": -2}, [1, 5], 2, 13, 1),
    ({"axis": 1}, [2, 2, 2], 3, 13, 1),
    ({"axis": 1, "num_outputs": 3}, None, 3, 18, 1),
    ({"axis": 2, "num_outputs": 3}, None, 3, 18, 1),
    ({"axis": 1}, [0, 6], 2, 13, 1),
]


@pytest.mark.parametrize(("attributes", "lengths", "count", "opset", "operations"), SPLITS)
def test_split(attributes: dict[str, Any], lengths: list[int] | None, count: int, opset: int, operations: int) -> None:
    inputs = ["x"] if lengths is None else ["x", "lengths"]
    constants = {} if lengths is None else {"lengths": np.array(lengths, np.int64)}
    uneven = attributes["axis"] == 2
    check(
        [node("Split", inputs, [f"y{index}" for index in range(count)], **attributes)],
        {"x": real(2, 6, 5)},
        constants=constants,
        opset=opset,
        forms=["static"] if uneven else ["static", "dynamic"],
        operations=operations,
    )


def test_tile_along_an_axis_in_version_1() -> None:
    x = real(2, 3)
    check(
        [node("Tile", ["x", "tiles", "axis"], ["y"])],
        {"x": x},
        constants={"tiles": np.array(3, np.float32), "axis": np.array(1, np.float32)},
        opset=1,
        expected=[np.tile(x, (1, 3))],
        forms=["static", "dynamic"],
        operations=1,
    )


# What is usually constant, computed by the model.
COMPUTED: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("Expand", {}, {"x": real(3, 1), "shape": integers(2, 1, 4)}, 13),
    ("Tile", {}, {"x": real(2, 3), "repeats": integers(1, 3)}, 13),
    ("Slice", {}, {"x": X, "starts": integers(0, 1), "ends": integers(3, 3)}, 13),
    ("Slice", {}, {"x": X, "starts": integers(3), "ends": integers(0), "axes": integers(3), "steps": integers(-2)}, 13),
    ("Pad", {}, {"x": real(3, 4), "pads": integers(1, 0, 2, 3), "value": np.array(0.5, np.float32)}, 13),
    ("Pad", {}, {"x": real(3, 4), "pads": integers(1, 2), "value": np.array(0.5, np.float32), "axes": integers(-1)}, 18),
    ("Pad", {"mode": "wrap"}, {"x": real(3, 4), "pads": integers(1, 0, 2, 9)}, 19),
    ("Split", {"axis": 1}, {"x": real(3, 4), "split": integers(1, 3)}, 13),
    ("Compress", {"axis": 0}, {"x": real(3, 4), "condition": np.array([True, False, True])}, 11),
    ("Concat", {"axis": 1}, {"x": real(3, 4), "b": real(3, 2), "c": real(3, 1)}, 13),
]


@pytest.mark.parametrize(("kind", "attributes", "inputs", "opset"), COMPUTED)
def test_computed_operands(kind: str, attributes: dict[str, Any], inputs: dict[str, Any], opset: int) -> None:
    outputs = ["y", "z"] if kind == "Split" else ["y"]
    check(
        [node(kind, list(inputs), outputs, **attributes)],
        inputs,
        opset=opset,
        forms=["static", "dynamic"],
        fixed=[name for name in inputs if name != "x"],
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, np.int64, np.uint8, np.bool_])
def test_element_types_stay(dtype: Any) -> None:
    x = (RANDOM.random((2, 3, 4)) * 9).astype(dtype)
    nodes = [
        node("Transpose", ["x"], ["t"], perm=[2, 0, 1]),
        node("Slice", ["t", "starts", "ends"], ["s"]),
        node("Concat", ["s", "s"], ["y"], axis=0),
    ]
    check(nodes, {"x": x}, constants={"starts": integers(1), "ends": integers(3)})


@pytest.mark.parametrize(
    ("kind", "attributes", "constants", "reason"),
    [
        ("Pad", {"mode": "mirror"}, {"c": integers(1, 1, 1, 1)}, "mode 'mirror' is not one of"),
        ("DepthToSpace", {"blocksize": 2, "mode": "ABC"}, {}, "neither DCR nor CRD"),
        ("Split", {"num_outputs": 3}, {}, "num_outputs is 3"),
    ],
)
def test_errors(kind: str, attributes: dict[str, Any], constants: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        check([node(kind, ["x", *constants], ["y"], **attributes)], {"x": real(4, 4)}, constants=constants, expected=[])


NUMBERS = np.random.default_rng(12)
normal = normal_numbers(NUMBERS)

WORDS = np.array([["a", "Bc", ""], ["Ä", "x y", "e"]], dtype=object)

STRINGS = {
    "Split": NodeCase("Split", {"x": WORDS}, attributes={"axis": 0}, options=WITH_RANK | {"opset": 13}),
    "Tile": NodeCase("Tile", {"x": WORDS}, {"n": np.array([2, 1])}, options=EVALUATED | WITH_RANK),
    "Expand": NodeCase("Expand", {"x": WORDS}, {"n": np.array([2, 2, 3])}, options=EVALUATED | WITH_RANK),
    "GatherElements": NodeCase("GatherElements", {"x": WORDS, "i": np.array([[0, 1, 1], [1, 0, 1]])}, options=WITH_RANK),
    "GatherND": NodeCase("GatherND", {"x": WORDS}, {"i": np.array([[0, 2], [1, 0]])}, options=WITH_RANK),
    "ScatterND": NodeCase(
        "ScatterND", {"x": WORDS, "i": np.array([[0, 2], [1, 0]]), "u": np.array(["new", ""], object)}, options=EVALUATED | WITH_RANK
    ),
    "Pad": NodeCase("Pad", {"x": WORDS}, {"p": np.array([0, 1, 1, 0])}, attributes={"mode": "edge"}, options=EVALUATED | WITH_RANK),
}

NODES: dict[str, NodeCase] = {
    **{f"{name} of strings": case for name, case in STRINGS.items()},
    "Compress by nothing": NodeCase("Compress", {"x": normal(2, 3)}, {"c": np.array([False, False])}, attributes={"axis": 1}),
    "CenterCropPad": NodeCase(
        "CenterCropPad",
        {"x": normal(2, 5, 4)},
        {"s": np.array([3, 7], np.int32)},
        attributes={"axes": [1, 2]},
        options=EVALUATED | WITH_RANK | {"opset": 18},
    ),
    "Expand to a scalar": NodeCase("Expand", {"x": np.array(3.5, np.float32), "shape": np.zeros(0, np.int64)}, options=STATIC),
    "CenterCropPad of dynamic rank": NodeCase(
        "CenterCropPad",
        {"x": normal(3, 4, 5), "shape": np.array([6, 2])},
        attributes={"axes": [-1, 0]},
        options=WITHOUT_RANK | EVALUATED,
    ),
    "Pad of f4": NodeCase(
        "Pad",
        {"x": np.array([1, -2, 6], ml_dtypes.float4_e2m1fn), "pads": np.array([1, 1])},
        attributes={"mode": "edge"},
        options={"opset": 25} | EVALUATED,
    ),
    "Transpose of i4": NodeCase(
        "Transpose",
        {"x": np.array(NUMBERS.integers(-8, 7, (3, 5, 3)), ml_dtypes.int4)},
        attributes={"perm": [2, 0, 1]},
        options=STATIC | EVALUATED,
    ),
    "Concat with nothing": NodeCase(
        "Concat", {"a": np.zeros((0, 4), np.int16)}, {"b": np.zeros((0, 3), np.int16)}, attributes={"axis": 1}, options=DYNAMIC
    ),
    "Transpose of f4": NodeCase(
        "Transpose",
        {"x": NUMBERS.integers(0, 7, (2, 3, 4, 2, 2)).astype(ml_dtypes.float4_e2m1fn)},
        attributes={"perm": [0, 4, 3, 1, 2]},
        options=EVALUATED | WITH_RANK | {"opset": 25},
    ),
    "Pad of f8 with a computed value": NodeCase(
        "Pad",
        {"x": np.ones((2, 3), ml_dtypes.float8_e5m2), "pads": np.array([1, 0, 0, 2]), "value": np.array(3, ml_dtypes.float8_e5m2)},
        options=STATIC | EVALUATED | {"opset": 23},
    ),
    "Expand of a scalar to a scalar": NodeCase("Expand", {"x": np.array(2.5, np.float32)}, {"shape": np.zeros(0, np.int64)}),
    "Pad of u2 by repetition": NodeCase(
        "Pad",
        {"pads": np.array([1, 0, 0, 2])},
        {"x": NUMBERS.integers(0, 3, (2, 3)).astype(ml_dtypes.uint2)},
        operands="x pads",
        attributes={"mode": "wrap"},
        options=DYNAMIC | EVALUATED | {"opset": 25},
    ),
    "Pad that cuts off added elements": NodeCase(
        "Pad", {}, {"x": np.zeros((2, 0), np.float32)}, attributes={"pads": [0, -1, 0, 3]}, options=COMPLETE | STATIC | {"opset": 2}
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


def test_lengths_of_parts_in_a_list_of_unknown_length() -> None:
    nodes = [node("Split", ["x", "lengths"], ["a", "b", "c"]), node("Concat", ["c", "a", "b"], ["y"], axis=0)]
    check(nodes, {"x": normal(6), "lengths": np.array([1, 3, 2])}, forms=["dynamic", "rank"])
