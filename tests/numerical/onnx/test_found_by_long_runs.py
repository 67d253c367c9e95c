"""Nodes that tens of thousands of random ones found, converted by all passes: large integers, infinities, unknown sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, expected_results, node
from tests.numerical.onnx.test_found_by_fuzzing import real
from tests.numerical.runtime import compare, core, run

LARGE = np.array([2**31 - 1, 2**24, 7], np.int32)
BESIDE = np.array([2**31 - 2, 2**24 + 1, 7], np.int32)
HALVES = (np.arange(24).reshape(2, 3, 4) * 2).astype(np.float16)
ZEROS = np.zeros((2, 2), np.float32)
LETTERS = np.array(["a", "b", "c"] * 50, object).reshape(5, 30)
QUANTIZATION = {name: np.array(value, np.float32) for name, value in (("xs", 0.25), ("ws", 0.5), ("ys", 2))}
LEVELS = {"xz": np.array(8, np.uint8), "wz": np.array(-4, np.int8), "yz": np.array(0, np.uint8)}


@dataclass(frozen=True)
class Case:
    """A node.

    Args:
        kind: its kind.
        inputs, constants: its operands by name.
        attributes: its attributes.
        operands: the names of its operands, separated by blanks, with nothing for an absent one; by default inputs, then constants.
        outputs: the names of its results.
        options: what `build` is given.
        reference: what computes the results.
    """

    kind: str
    inputs: dict[str, Any]
    constants: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    operands: str = ""
    outputs: Sequence[str] = ("y",)
    options: dict[str, Any] = field(default_factory=dict)
    reference: Any = "onnxruntime"


CASES: dict[str, Case] = {
    "Equal of large integers": Case("Equal", {"a": LARGE, "b": BESIDE}, options={"form": "rank"}),
    "Equal to a large constant": Case("Equal", {"a": LARGE}, {"b": BESIDE}),
    "GlobalLpPool whose powers f16 does not have": Case("GlobalLpPool", {}, {"x": HALVES}, {"p": 3}),
    "LpPool whose powers f16 does not have": Case("LpPool", {}, {"x": HALVES}, {"p": 3, "kernel_shape": [2]}, options={"opset": 22}),
    "LpNormalization of small numbers": Case("LpNormalization", {"x": np.array([3e-26, 0, -1e-26], np.float32)}, attributes={"p": 1}),
    "LpNormalization of zeros": Case("LpNormalization", {"x": ZEROS}, attributes={"p": 1}),
    "DynamicQuantizeLinear of zeros": Case("DynamicQuantizeLinear", {"x": ZEROS}, outputs=("y", "s", "z")),
    "DequantizeLinear of 16 bits with a scale of f16": Case(
        "DequantizeLinear",
        {"s": np.array(0.02, np.float16)},
        {"x": np.array([65535, 40001], np.uint16), "z": np.array(4, np.uint16)},
        operands="x s z",
        options={"opset": 23},
        reference="onnx",
    ),
    "ConvTranspose with filters of unknown sizes": Case(
        "ConvTranspose", {"x": real(2, 2, 3, 4), "w": real(2, 3, 2, 2)}, attributes={"kernel_shape": [2, 2]}, options={"form": "dynamic"}
    ),
    "ConvTranspose in groups with filters of unknown sizes": Case(
        "ConvTranspose",
        {"x": real(2, 4, 3, 4), "w": real(4, 3, 2, 2)},
        attributes={"kernel_shape": [2, 2], "group": 2},
        options={"form": "dynamic"},
    ),
    "Conv of volumes in bf16 to one column": Case(
        "Conv",
        {"x": real(2, 3, 4, 4, 2).astype(ml_dtypes.bfloat16)},
        {"w": real(3, 3, 2, 2, 2).astype(ml_dtypes.bfloat16)},
        {"strides": [1, 1, 2]},
        options={"opset": 22},
        reference="onnx",
    ),
    "Conv of volumes in bf16 in groups to one column": Case(
        "Conv",
        {"x": real(2, 4, 4, 4, 2).astype(ml_dtypes.bfloat16)},
        {"w": real(6, 2, 2, 2, 2).astype(ml_dtypes.bfloat16)},
        {"strides": [1, 1, 2], "group": 2},
        options={"opset": 22},
        reference="onnx",
    ),
    "LSTM with weights of unknown rank": Case(
        "LSTM",
        {"w": real(1, 12, 2), "r": real(1, 12, 3), "p": real(1, 9)},
        {"x": real(4, 2, 2), "b": real(1, 24)},
        {"hidden_size": 3},
        "x w r b    p",
        options={"form": "rank"},
    ),
    "LSTM of unknown input size": Case(
        "LSTM",
        {"x": real(4, 3, 1), "n": np.array([1, 1, 1], np.int32)},
        {"w": real(1, 16, 1), "r": real(1, 16, 4)},
        {"hidden_size": 4, "direction": "reverse"},
        "x w r  n",
        options={"form": "dynamic"},
    ),
    "QLinearMatMul with a constant of more dimensions": Case(
        "QLinearMatMul",
        {"a": np.arange(16).reshape(2, 2, 4).astype(np.uint8), "xz": LEVELS["xz"]},
        {"b": np.arange(-6, 6).reshape(1, 1, 4, 3).astype(np.int8), "wz": LEVELS["wz"], "yz": LEVELS["yz"], **QUANTIZATION},
        operands="a xs xz b ws wz ys yz",
    ),
    "QLinearConv of a padded constant with filters of unknown sizes": Case(
        "QLinearConv",
        {"w": np.arange(-6, 6).reshape(3, 2, 2, 1).astype(np.int8)},
        {"x": np.arange(64).reshape(1, 2, 4, 8).astype(np.uint8), **QUANTIZATION, **LEVELS},
        {"kernel_shape": [2, 1], "pads": [1, 0, 1, 0]},
        "x xs xz w ws wz ys yz",
        options={"form": "dynamic"},
    ),
    "Resize to one element of an axis of unknown rank": Case(
        "Resize",
        {"x": real(2, 2, 3)},
        {"sizes": np.array([1, 3, 2])},
        {"mode": "nearest", "coordinate_transformation_mode": "align_corners", "nearest_mode": "floor"},
        "x   sizes",
        options={"form": "rank"},
    ),
    "Pad that cuts off added elements": Case("Pad", {}, {"x": np.zeros((2, 0), np.float32)}, {"pads": [0, -1, 0, 3]}, options={"opset": 2}),
    "Unsqueeze of constant strings along computed axes": Case("Unsqueeze", {"a": np.array([1])}, {"x": LETTERS}, operands="x a"),
    "Slice of constant strings along computed axes": Case(
        "Slice", {"a": np.array([0])}, {"x": LETTERS, "b": np.array([1]), "e": np.array([3])}, operands="x b e a"
    ),
    "Slice of strings along computed axes": Case(
        "Slice", {"x": LETTERS, "a": np.array([0])}, {"b": np.array([1]), "e": np.array([3])}, operands="x b e a"
    ),
    "Reshape of a constant to sizes that it has": Case("Reshape", {"s": np.array([0, -1, 0])}, {"x": real(3, 2, 5)}, operands="x s"),
    "Resize of a region to its end": Case(
        "Resize",
        {"x": real(1, 2, 4, 4), "r": np.array([0, 0, 1, 1], np.float32)},
        {"s": np.array([0.5, 2], np.float32)},
        {"axes": [2, 3], "coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"},
        "x r s",
        options={"form": "dynamic"},
    ),
    "TfIdfVectorizer of lists that are too short": Case(
        "TfIdfVectorizer",
        {"x": np.array([[2], [7]])},
        attributes={
            "mode": "TF",
            "min_gram_length": 1,
            "max_gram_length": 2,
            "max_skip_count": 0,
            "ngram_counts": [0, 2],
            "ngram_indexes": [0, 1, 2],
            "pool_int64s": [2, 3, 2, 3],
        },
    ),
    "Slice of strings at computed places": Case(
        "Slice",
        {"x": LETTERS, "b": np.array([3]), "s": np.array([-1])},
        {"e": np.array([0]), "a": np.array([0])},
        operands="x b e a s",
        options={"form": "dynamic"},
    ),
    "Resize of the batch to the nearest element": Case(
        "Resize",
        {"x": np.arange(30).reshape(2, 3, 1, 5).astype(np.uint8)},
        {"scales": np.array([0.6, 1, 1, 0.6], np.float32)},
        {"mode": "nearest", "coordinate_transformation_mode": "pytorch_half_pixel", "nearest_mode": "floor"},
        "x  scales",
    ),
    "Attention to one constant key": Case(
        "Attention",
        {"q": real(1, 1, 2, 4), "v": real(1, 1, 1, 3)},
        {"k": real(1, 1, 1, 4), "n": np.array([1])},
        {"softcap": 2.0, "scale": 0.1},
        "q k v    n",
        options={"opset": 24, "form": "dynamic"},
        reference="onnx",
    ),
    "Clip of a constant list with a computed limit": Case(
        "Clip",
        {"m": np.array(0, np.uint16)},
        {"x": np.array([0], np.uint16), "h": np.array(9, np.uint16)},
        operands="x m h",
        reference="onnx",
    ),
    "QLinearMatMul with a batch of one matrix": Case(
        "QLinearMatMul",
        {"x": np.array([[3, -5, 90]], np.int8)},
        {
            "w": (np.arange(15) * 7 - 50).reshape(1, 1, 3, 5).astype(np.int8),
            **QUANTIZATION,
            "xz": np.array(2, np.int8),
            "wz": np.array(-3, np.int8),
            "yz": np.array(9, np.int8),
        },
        {},
        "x xs xz w ws wz ys yz",
        options={"form": "rank", "opset": 19},
    ),
    "Cast of two bits to truth": Case(
        "Cast", {"x": np.array([0, 2, 3, 1], ml_dtypes.uint2)}, attributes={"to": 9}, options={"opset": 25}, reference="onnx"
    ),
    "Resize to fewer elements, the nearest ones": Case(
        "Resize",
        {"x": real(2, 3, 5)},
        {"scales": np.array([0.6, 1, 0.6], np.float32)},
        {"mode": "nearest"},
        options={"opset": 10},
    ),
    "Resize of images of unknown rank to a constant number": Case(
        "Resize",
        {"x": np.arange(80).reshape(1, 4, 5, 4).astype(np.uint8)},
        {"sizes": np.array([2, 12, 10, 4])},
        {"mode": "nearest"},
        "x   sizes",
        options={"form": "rank"},
    ),
    "QuantizeLinear of f16 to 16 bits": Case(
        "QuantizeLinear",
        {},
        {"x": np.array([-7, 2.5], np.float16), "s": np.array(2, np.float16), "z": np.array(6, np.uint16)},
    ),
    "Resize of images of unknown rank to more images": Case(
        "Resize",
        {"x": real(2, 1, 3, 2)},
        {"scales": np.array([2, 1, 1, 3], np.float32)},
        {"mode": "nearest"},
        "x  scales",
        options={"form": "rank"},
    ),
    "Upsample of constant strings": Case(
        "Upsample",
        {},
        {"x": np.array([[["a", "b"]]], object), "s": np.array([1, 3, 2], np.float32)},
        options={"opset": 9},
        reference="onnx",
    ),
    "LabelEncoder of many constants": Case(
        "LabelEncoder",
        {},
        {"x": LETTERS},
        {"keys_strings": ["a", "c"], "values_strings": ["x", "yy"], "default_string": "none", "domain": "ai.onnx.ml"},
        options={"domain_version": 4},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: Case, tmp_path: Path) -> None:
    names = case.operands.split(" ") if case.operands else [*case.inputs, *case.constants]
    nodes = [node(case.kind, names, list(case.outputs), **case.attributes)]
    shown = {name: value for name, value in case.options.items() if name != "form"}
    expected = expected_results(
        build(nodes, case.inputs, constants=case.constants, outputs=case.outputs, **shown), case.inputs, case.reference
    )
    model = build(nodes, case.inputs, constants=case.constants, outputs=case.outputs, **case.options)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    moir.save_model(moir.convert_model(tmp_path / "model.onnx"), tmp_path / "model.xml")
    found = run(core().read_model(tmp_path / "model.xml"), case.inputs)
    compare(found, expected, rtol={"float16": 1e-3, "bfloat16": 2e-2}.get(expected[0].dtype.name, 1e-4))


@pytest.mark.parametrize(
    ("kind", "constants", "inputs", "attributes", "message"),
    [
        ("Sum", {"c": np.zeros((0, 3), np.float32)}, {"a": real(1, 3), "b": real(1, 3)}, {}, "one operand has no elements"),
        ("Conv", {"x": np.zeros((0, 2, 4, 4), np.float32)}, {"w": real(2, 2, 3, 3)}, {"kernel_shape": [3, 3]}, "the data have no elements"),
    ],
)
def test_constants_without_elements_are_refused(
    kind: str, constants: dict[str, Any], inputs: dict[str, Any], attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConversionError, match=message):
        check([node(kind, [*constants, *inputs], ["y"], **attributes)], inputs, constants=constants, forms=["rank"])


def expect_right(nodes: list[Any], inputs: dict[str, Any], constants: dict[str, Any], form: Any, folder: Path) -> None:
    """Convert a graph, whose inputs say as much as `form`, and compare it with ONNX Runtime."""
    model = build(nodes, inputs, constants=constants, form=form)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    moir.save_model(moir.convert_model(folder / "model.onnx"), folder / "model.xml")
    found = run(core().read_model(folder / "model.xml"), inputs)
    compare(found, expected_results(build(nodes, inputs, constants=constants), inputs, "onnxruntime"))


@pytest.mark.parametrize(
    ("factors", "shape", "form"),
    [
        ([[[2.0]], [[2.0]], [[2.0]]], (2, 4), "rank"),
        ([[[2.0]], [[3.0]], [[2.0]]], (2, 4), "rank"),
        ([[[1.0]], [[1.0]]], (4, 1, 3, 2), "dynamic"),
        ([[[2.0]], [[2.0]]], (4, 2, 3, 2), "static"),
    ],
)
def test_swish_with_factors_that_may_add_elements(factors: list[Any], shape: tuple[int, ...], form: str, tmp_path: Path) -> None:
    """Equal ones count as one in the plugin, which then loses the elements."""
    nodes = [node("Mul", ["x", "c"], ["s"]), node("Sigmoid", ["s"], ["g"]), node("Mul", ["x", "g"], ["y"])]
    expect_right(nodes, {"x": real(*shape)}, {"c": np.array(factors, np.float32)}, form, tmp_path)


def test_a_backward_slice_that_ends_in_front_of_the_data(tmp_path: Path) -> None:
    """The runtime infers that it has nothing, once it knows a limit of the size."""
    constants = {name: np.array([value]) for name, value in (("a", 0), ("m", -1), ("e", 2**31 - 1), ("p", 1), ("f", -4))}
    nodes = [node("Slice", ["x", "m", "e", "a", "p"], ["last"]), node("Slice", ["last", "a", "f", "a", "m"], ["y"])]
    expect_right(nodes, {"x": real(6)}, constants, "dynamic", tmp_path)


def test_swish_with_a_computed_factor_of_more_dimensions(tmp_path: Path) -> None:
    nodes = [node("Mul", ["x", "c"], ["s"]), node("Neg", ["s"], ["n"]), node("Exp", ["n"], ["e"])]
    nodes += [node("Add", ["o", "e"], ["d"]), node("Div", ["x", "d"], ["y"])]
    inputs = {"x": real(4), "c": np.array([[1.5]], np.float32)}
    expect_right(nodes, inputs, {"o": np.array(1, np.float32)}, "static", tmp_path)


def test_products_over_nothing_of_an_unknown_number_of_matrices(tmp_path: Path) -> None:
    nodes = [node("Slice", ["x", "o", "o", "i"], ["n"]), node("Einsum", ["c", "n"], ["y"], equation="bqc,bkc->bqk")]
    constants = {"o": np.array([0]), "i": np.array([1]), "c": real(1, 2, 3)}
    expect_right(nodes, {"x": real(4, 5, 3)}, constants, "dynamic", tmp_path)
