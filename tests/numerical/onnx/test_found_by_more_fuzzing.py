"""More nodes that random testing found: of unknown ranks and lengths, without elements, and resized in any axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, node
from tests.numerical.onnx.test_found_by_fuzzing import Case, real
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(23)
DYNAMIC: dict[str, Any] = {"forms": ["dynamic"]}
STATIC: dict[str, Any] = {"forms": ["static"]}
EVALUATED: dict[str, Any] = {"reference": "onnx"}


def resizing(x: Array, constants: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None, **attributes: Any) -> Case:
    """A Resize with scales or sizes, constants or inputs."""
    given = (constants or {}) | (inputs or {})
    operands = ["x", "", "scales" if "scales" in given else "", *(["sizes"] if "sizes" in given else [])]
    options = {"opset": 19, "atol": 1e-4, "forms": ["static", "dynamic"] if inputs else ["static"]}
    return Case("Resize", {"x": x} | (inputs or {}), constants or {}, " ".join(each or "-" for each in operands), options, attributes)


RESIZED = {
    "a batch, nearest": resizing(real(2, 3, 4, 5), {"scales": np.array([2, 1, 1.5, 1], np.float32)}, mode="nearest"),
    "channels": resizing(real(1, 2, 4, 5), {"sizes": np.array([1, 3, 2, 7])}, mode="nearest"),
    "channels by computed sizes": resizing(real(1, 2, 4, 5), inputs={"sizes": np.array([1, 3, 2, 7])}, mode="nearest"),
    "volumes by computed sizes": resizing(real(1, 2, 4, 5, 3), inputs={"sizes": np.array([1, 2, 6, 5, 6])}, mode="nearest"),
    "a single element of three": resizing(
        real(1, 2, 4, 3),
        inputs={"sizes": np.array([1, 2, 1, 4])},
        mode="nearest",
        coordinate_transformation_mode="pytorch_half_pixel",
    ),
    "to one factor for all axes": resizing(
        real(2, 2, 5, 3),
        {"sizes": np.array([2, 1])},
        axes=[2, 3],
        keep_aspect_ratio_policy="not_larger",
        coordinate_transformation_mode="asymmetric",
        mode="linear",
    ),
    "to nothing": resizing(real(1, 2, 1, 3), {"scales": np.array([1, 1, 0.6, 1], np.float32)}, mode="linear"),
}

COLUMNS = {
    "Col2Im of a line": (real(2, 6, 4), [5], [2], {"strides": [1], "dilations": [1]}),
    "Col2Im of images": (real(1, 12, 16), [4, 5], [2, 3], {"pads": [0, 1, 1, 0]}),
    "Col2Im of volumes": (real(1, 12, 8), [3, 4, 3], [1, 3, 2], {"pads": [0, 0, 0, 1, 0, 0], "dilations": [1, 1, 2]}),
}

CASES: dict[str, Case] = {
    **{f"Resize, {name}": case for name, case in RESIZED.items()},
    **{
        f"{name} of {x.dtype}": Case(
            "Col2Im",
            {"x": x, "image": np.array(image), "block": np.array(block)},
            options={"forms": ["static", "dynamic"], **(EVALUATED if x.dtype == np.int32 or len(image) > 2 else {})},
            attributes=given,
        )
        for name, (values, image, block, given) in COLUMNS.items()
        for x in (values, (values * 9).astype(np.int32))
    },
    "Squeeze of computed axes": Case("Squeeze", {"x": real(1, 3, 1), "axes": np.array([0, -1])}, options=STATIC),
    "Squeeze of all axes": Case("Squeeze", {"x": real(1, 1), "axes": np.array([1, 0])}, options=STATIC),
    "Expand to a scalar": Case("Expand", {"x": np.array(3.5, np.float32), "shape": np.zeros(0, np.int64)}, options=STATIC),
    "CenterCropPad of an unknown rank": Case(
        "CenterCropPad",
        {"x": real(3, 4, 5), "shape": np.array([6, 2])},
        options={"forms": ["rank"]} | EVALUATED,
        attributes={"axes": [-1, 0]},
    ),
    "ReduceSum of bf16": Case(
        "ReduceSum",
        {"x": np.ones((4, 2, 3), ml_dtypes.bfloat16), "axes": np.array([0, 2])},
        options=STATIC | EVALUATED,
        attributes={"keepdims": 0},
    ),
    "Attention with a window that leaves queries nothing": Case(
        "Attention",
        {"q": real(1, 2, 6, 4), "k": real(1, 2, 3, 4), "v": real(1, 2, 3, 5)},
        options={"opset": 25, "forms": ["static"]},
        attributes={"left_window_size": 1, "softcap": 2.0},
    ),
    "Cast of negative numbers to u4": Case(
        "Cast", {"x": np.array([-3, -1.5, 0, 7, 20], np.float32)}, options=EVALUATED, attributes={"to": onnx.TensorProto.UINT4}
    ),
    "Pad of f4": Case(
        "Pad",
        {"x": np.array([1, -2, 6], ml_dtypes.float4_e2m1fn), "pads": np.array([1, 1])},
        options={"opset": 25} | EVALUATED,
        attributes={"mode": "edge"},
    ),
    "Transpose of i4": Case(
        "Transpose",
        {"x": np.array(RANDOM.integers(-8, 7, (3, 5, 3)), ml_dtypes.int4)},
        options=STATIC | EVALUATED,
        attributes={"perm": [2, 0, 1]},
    ),
    "MatMul with nothing": Case("MatMul", {"a": real(2, 3)}, {"b": np.zeros((3, 0), np.float32)}, options={"forms": ["static", "dynamic"]}),
    "MatMul over nothing": Case("MatMul", {"a": np.zeros((2, 0), np.float32)}, {"b": np.zeros((3, 0, 4), np.float32)}, options=DYNAMIC),
    "Mul with nothing": Case("Mul", {"b": real(1, 3)}, {"a": np.zeros((0, 3), np.float32)}, operands="a b", options=DYNAMIC),
    "StringConcat with nothing": Case(
        "StringConcat", {"a": np.array(["a"], object)}, {"b": np.zeros((3, 0), object)}, options=STATIC | EVALUATED
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: Case) -> None:
    names = ["" if name == "-" else name for name in case.operands.split()] or [*case.inputs, *case.constants]
    check([node(case.kind, names, ["y"], **case.attributes)], case.inputs, constants=case.constants, **case.options)


@pytest.mark.parametrize(("has_state", "activation"), [(True, "silu"), (False, "none")])
def test_causal_convolution(has_state: bool, activation: str) -> None:
    inputs = {"x": real(2, 3, 5), "w": real(3, 1, 4), "b": real(3)} | ({"past": real(2, 3, 3)} if has_state else {})
    nodes = [node("CausalConvWithState", list(inputs), ["y", "present"], activation=activation)]
    check(nodes, inputs, opset=27, reference="onnx", forms=["static", "dynamic"])
    constants = {name: inputs.pop(name) for name in ("w", "b")}
    check(nodes, inputs, constants=constants, opset=27, reference="onnx", forms=["static", "dynamic"])


def test_lengths_of_parts_in_a_list_of_unknown_length() -> None:
    nodes = [node("Split", ["x", "lengths"], ["a", "b", "c"]), node("Concat", ["c", "a", "b"], ["y"], axis=0)]
    check(nodes, {"x": real(6), "lengths": np.array([1, 3, 2])}, forms=["dynamic", "rank"])


def test_a_loop_that_may_not_begin_collects_nothing() -> None:
    """A constant number of iterations says nothing about a loop whose condition is computed."""
    body = onnx.helper.make_graph(
        [node("Add", ["s", "s"], ["t"]), node("Identity", ["go"], ["on"]), node("Identity", ["t"], ["v"])],
        "body",
        [
            onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
            onnx.helper.make_tensor_value_info("go", onnx.TensorProto.BOOL, []),
            onnx.helper.make_tensor_value_info("s", onnx.TensorProto.FLOAT, None),
        ],
        [onnx.helper.make_empty_tensor_value_info(name) for name in ("on", "t", "v")],
    )
    nodes = [node("Loop", ["n", "c", "x"], ["y", "ys"], body=body)]
    x = real(2, 3)
    for begins, expected in ((True, [4 * x, np.stack([2 * x, 4 * x])]), (False, [x, np.zeros((0, 2, 3), np.float32)])):
        check(nodes, {"x": x, "c": np.array(begins)}, constants={"n": np.array(2)}, fixed=["c"], forms=["static"], expected=expected)


def graph(nodes: list[Any], outputs: list[str]) -> onnx.GraphProto:
    return onnx.helper.make_graph(nodes, "branch", [], [onnx.helper.make_empty_tensor_value_info(name) for name in outputs])


def refusal(nodes: list[Any], inputs: dict[str, Any], folder: Path, **options: Any) -> None:
    (folder / "model.onnx").write_bytes(build(nodes, inputs, **options).SerializeToString())
    moir.convert_model(folder / "model.onnx")


def test_reductions_of_strings_are_refused(tmp_path: Path) -> None:
    inputs = {"x": np.array(["a", "b"], object), "i": np.array([[0]]), "u": np.array(["c"], object)}
    with pytest.raises(ConversionError, match="orders and adds no strings"):
        refusal([node("ScatterND", ["x", "i", "u"], ["y"], reduction="min")], inputs, tmp_path, opset=18)


def test_branches_of_different_ranks_that_values_choose_are_refused(tmp_path: Path) -> None:
    then, otherwise = graph([node("Neg", ["x"], ["p"])], ["p"]), graph([node("Unsqueeze", ["x", "axis"], ["q"])], ["q"])
    nodes = [node("If", ["c"], ["y"], then_branch=then, else_branch=otherwise)]
    with pytest.raises(ConversionError, match="2 dimensions in one branch and 3 in the other"):
        refusal(nodes, {"x": real(2, 3), "c": np.array(True)}, tmp_path, constants={"axis": np.array([0])})


def test_a_state_whose_rank_changes_is_refused(tmp_path: Path) -> None:
    body = onnx.helper.make_graph(
        [node("Unsqueeze", ["s", "axis"], ["t"]), node("Identity", ["go"], ["on"])],
        "body",
        [
            onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
            onnx.helper.make_tensor_value_info("go", onnx.TensorProto.BOOL, []),
            onnx.helper.make_tensor_value_info("s", onnx.TensorProto.FLOAT, None),
        ],
        [onnx.helper.make_empty_tensor_value_info(name) for name in ("on", "t")],
    )
    inputs = {"x": real(2, 3), "n": np.array(3)}
    with pytest.raises(ConversionError, match="2 dimensions before an iteration and 3 after it"):
        refusal([node("Loop", ["n", "", "x"], ["y"], body=body)], inputs, tmp_path, constants={"axis": np.array([0])})
