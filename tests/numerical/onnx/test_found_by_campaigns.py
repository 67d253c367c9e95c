"""Single nodes that long campaigns of random testing found, whose other forms were right: mixed known and unknown sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, convert, expected_results, node
from tests.numerical.onnx.test_found_by_fuzzing import Case, real
from tests.numerical.runtime import compare, run

RANDOM = np.random.default_rng(31)
DYNAMIC: dict[str, Any] = {"forms": ["dynamic"]}
EVALUATED: dict[str, Any] = {"reference": "onnx", "forms": ["static", "dynamic"]}

STATES = {
    "LSTM": Case(
        "LSTM",
        {"x": real(3, 2, 4), "h": real(2, 2, 3)},
        {"w": real(2, 12, 4), "r": real(2, 12, 3), "c": real(2, 2, 3)},
        "x w r - - h c",
        DYNAMIC | {"opset": 7},
        {"hidden_size": 3, "direction": "bidirectional"},
    ),
    "GRU": Case(
        "GRU",
        {"x": real(4, 3, 2)},
        {"w": real(1, 6, 2), "r": real(1, 6, 2), "h": real(1, 3, 2)},
        "x w r - - h",
        DYNAMIC,
        {"hidden_size": 2},
    ),
}

CASES: dict[str, Case] = {
    **{f"{name} whose state says the batch": case for name, case in STATES.items()},
    "MatMul of a matrix and constant ones": Case("MatMul", {"a": real(5, 2)}, {"b": real(3, 2, 4)}, options=DYNAMIC),
    "MatMulInteger of a matrix and constant ones": Case(
        "MatMulInteger",
        {"a": RANDOM.integers(-9, 9, (5, 2)).astype(np.int8)},
        {"b": RANDOM.integers(-9, 9, (2, 3, 2, 4)).astype(np.int8)},
        options=DYNAMIC,
    ),
    "AffineGrid of constant transformations": Case(
        "AffineGrid", {"size": np.array([2, 1, 3, 4])}, {"theta": real(2, 2, 3)}, "theta size", DYNAMIC, {"align_corners": 1}
    ),
    "Dropout of f8": Case(
        "Dropout",
        {"x": np.array([1.25, -1.5], ml_dtypes.float8_e5m2), "training": np.array(False)},
        operands="x - training",
        options=EVALUATED | {"opset": 24},
    ),
    "DequantizeLinear to f8e8m0": Case(
        "DequantizeLinear",
        {"x": np.array([3, 9, 17], np.uint16), "scale": np.array(2, ml_dtypes.float8_e8m0fnu)},
        {"zero": np.array(1, np.uint16)},
        "x scale zero",
        EVALUATED | {"opset": 24},
    ),
    "Cast of f4 to integers": Case(
        "Cast", {"x": np.array([-0.5, -2, 3, 6], ml_dtypes.float4_e2m1fn)}, options=EVALUATED | {"opset": 23}, attributes={"to": 7}
    ),
    "Concat with nothing": Case(
        "Concat", {"a": np.zeros((0, 4), np.int16)}, {"b": np.zeros((0, 3), np.int16)}, options=DYNAMIC, attributes={"axis": 1}
    ),
    "Transpose of f4": Case(
        "Transpose",
        {"x": RANDOM.integers(0, 7, (2, 3, 4, 2, 2)).astype(ml_dtypes.float4_e2m1fn)},
        options=EVALUATED | {"opset": 25},
        attributes={"perm": [0, 4, 3, 1, 2]},
    ),
    "Pad of f8 with a computed value": Case(
        "Pad",
        {"x": np.ones((2, 3), ml_dtypes.float8_e5m2), "pads": np.array([1, 0, 0, 2]), "value": np.array(3, ml_dtypes.float8_e5m2)},
        options={"reference": "onnx", "forms": ["static"], "opset": 23},
    ),
    "Expand of a scalar to a scalar": Case("Expand", {"x": np.array(2.5, np.float32)}, {"shape": np.zeros(0, np.int64)}),
    "GatherND of one coordinate": Case(
        "GatherND", {"i": RANDOM.integers(-4, 4, (2, 3, 1))}, {"x": real(2, 4)}, "x i", {"forms": ["dynamic", "rank"]}, {"batch_dims": 1}
    ),
    "LpNormalization of f16": Case(
        "LpNormalization", {"x": np.array([[-1, -0.5, 0, 1]], np.float16)}, options=EVALUATED, attributes={"axis": 0}
    ),
    "ReduceL1 along no computed axis": Case("ReduceL1", {"x": real(3, 2), "axes": np.zeros(0, np.int64)}, options={"forms": ["rank"]}),
    "Gemm whose number of columns is that of a constant": Case(
        "Gemm", {"a": real(2, 3), "b": real(4, 2)}, {"c": real(4)}, options=DYNAMIC, attributes={"transA": 1, "transB": 1}
    ),
    "MaxPool of bf16 with dilations": Case(
        "MaxPool",
        {"x": real(1, 2, 6, 5).astype(ml_dtypes.bfloat16)},
        options={"reference": "onnx", "opset": 22, "forms": ["static", "dynamic"]},
        attributes={"kernel_shape": [2, 2], "dilations": [2, 1]},
    ),
    "NonZero of strings": Case("NonZero", {"x": np.array([["a", ""], ["", "b"]], object)}, options=EVALUATED),
    "NonZero of a scalar": Case(
        "NonZero", {"x": np.array(3, np.int32)}, options={"expected": [np.zeros((0, 1), np.int64)], "forms": ["static"]}
    ),
    "Upsample of strings": Case(
        "Upsample",
        {"x": np.array(["a", "b"], object).reshape(1, 1, 1, 2)},
        {"scales": np.array([1, 1, 2, 1], np.float32)},
        options={"reference": "onnx", "opset": 9, "forms": ["static"]},
    ),
    "StringConcat with a constant without elements": Case(
        "StringConcat", {"b": np.zeros((0, 0), object)}, {"a": np.zeros((0, 1), object)}, "a b", DYNAMIC
    ),
    "QuantizeLinear of bf16 with scales of f32": Case(
        "QuantizeLinear",
        {"x": np.array([-87.5, 3, 91.5], ml_dtypes.bfloat16)},
        {"s": np.array(0.7, np.float32), "z": np.array(3, np.int8)},
        options={"reference": "onnx", "opset": 23, "expected": [np.array([-122, 7, 127], np.int8)]},
    ),
    "QLinearMatMul of f16 with one constant scale": Case(
        "QLinearMatMul",
        {
            "a": np.array([[-10, 6, 2, -6, -5]], np.int8),
            "a_scale": np.array(1.02, np.float16),
            "a_zero": np.array(0, np.int8),
            "b": np.array([[1], [-6], [5], [2], [-8]], np.int8),
            "b_scale": np.array(1.819, np.float16),
            "b_zero": np.array(0, np.int8),
        },
        {"y_scale": np.array(1.503, np.float16), "y_zero": np.array(0, np.int8)},
        options={"opset": 21},
    ),
    **{
        f"ConvTranspose with filters of unknown sizes, {name}": Case(
            "ConvTranspose",
            {"x": real(2, 4, *sizes), "w": real(4, 3, 3, 2)},
            {"b": real(6)},
            options=DYNAMIC | {"opset": 11, "atol": 1e-4},
            attributes={"group": 2, "strides": [2, 3], "kernel_shape": [3, 2]} | given,
        )
        for name, sizes, given in (
            ("to a shape", (4, 5), {"output_shape": [7, 14]}),
            ("to a larger shape", (2, 2), {"output_shape": [6, 5], "auto_pad": "SAME_UPPER"}),
            ("padded automatically", (4, 3), {"auto_pad": "SAME_LOWER", "strides": [1, 2]}),
        )
    },
    **{
        f"TfIdfVectorizer of strings, {mode}": Case(
            "TfIdfVectorizer",
            {"x": np.array([["b", "a", "c", "", "b"], ["b", "Ä", "a", "b", "a"]], object)},
            options={"forms": ["static", "dynamic"]},
            attributes={
                "mode": mode,
                "min_gram_length": 1,
                "max_gram_length": 2,
                "max_skip_count": 1,
                "ngram_counts": [0, 3],
                "ngram_indexes": [1, 0, 2, 4, 3],
                "pool_strings": ["a", "b", "Ä", "b", "a", "a", "b"],
                "weights": [0.5, 1.0, 2.0, 1.5, 3.0],
            },
        )
        for mode in ("TF", "TFIDF")
    },
    "Einsum over nothing": Case(
        "Einsum",
        {"a": np.zeros((4, 0), np.float32)},
        {"b": np.zeros((0, 1), np.float32)},
        options=DYNAMIC,
        attributes={"equation": "ij,jk->ik"},
    ),
    "AveragePool with ceil_mode and padding that counts": Case(
        "AveragePool",
        {"x": real(2, 2, 4, 4, 3)},
        options={"opset": 19, "forms": ["static"]},
        attributes={"ceil_mode": 1, "count_include_pad": 1, "kernel_shape": [3, 2, 1], "pads": [0, 1, 0, 1, 0, 0], "strides": [2, 2, 3]},
    ),
    "BatchNormalization of no channel": Case(
        "BatchNormalization",
        {"x": np.zeros((2, 0), np.float32)},
        {name: np.zeros(0, np.float32) for name in ("scale", "bias", "mean", "variance")},
        options={"opset": 14, "expected": [np.zeros((2, 0), np.float32)]},
    ),
    "Clip of NaN by a computed limit": Case("Clip", {"x": np.array([np.nan, 3, -3], np.float32), "low": np.array(-1, np.float32)}),
    "LSTM whose lengths say the batch": Case(
        "LSTM",
        {"x": real(4, 2, 3), "lengths": np.array([4, 2], np.int32)},
        {"w": real(2, 8, 3), "r": real(2, 8, 2)},
        "x w r - lengths",
        {"opset": 14, "forms": ["dynamic"], "fixed": ["lengths"]},
        {"hidden_size": 2, "direction": "bidirectional"},
    ),
    "QuantizeLinear along the last axis but one": Case(
        "QuantizeLinear",
        {"x": real(2, 3, 2, 4)},
        {"s": np.array([0.02, 1], np.float32)},
        options={"forms": ["dynamic"]},
        attributes={"axis": -2},
    ),
    "ReduceSum of bf16 of an unknown rank": Case(
        "ReduceSum",
        {"x": np.ones((2, 3, 2), ml_dtypes.bfloat16), "axes": np.array([1, -1])},
        options={"reference": "onnx", "opset": 18, "forms": ["rank"]},
        attributes={"noop_with_empty_axes": 1},
    ),
    "TensorScatter of f4": Case(
        "TensorScatter",
        {"x": np.zeros((1, 1, 3, 1), ml_dtypes.float4_e2m1fn), "u": np.full((1, 1, 3, 1), 4, ml_dtypes.float4_e2m1fn), "i": np.array([0])},
        options=EVALUATED | {"opset": 25},
        attributes={"axis": 1, "mode": "circular"},
    ),
    "Squeeze of an unknown rank": Case("Squeeze", {"x": real(3, 1)}, options={"forms": ["static"]}),
    "Flatten of nothing": Case("Flatten", {"x": np.zeros((4, 2, 0, 3), np.float32)}, attributes={"axis": 3}),
    "Resize by computed factors below 1": Case(
        "Resize",
        {"x": real(2, 1, 3, 4), "scales": np.array([2, 1.5, 3, 0.6], np.float32)},
        options={"opset": 10, "forms": ["static", "dynamic"]},
    ),
    "PRelu of a scalar": Case("PRelu", {"x": np.array(-2, np.float32), "slope": np.array(3, np.float32)}, options={"opset": 16}),
    "PRelu of a positive number with NaN": Case(
        "PRelu", {"slope": np.array(np.nan, np.float32)}, {"x": np.array(2, np.float32)}, "x slope", {"opset": 16}
    ),
    "Cast of f8e8m0 to f8": Case(
        "Cast",
        {"x": np.array([0.25, 2, 1024], ml_dtypes.float8_e8m0fnu)},
        options=EVALUATED | {"opset": 24},
        attributes={"to": onnx.TensorProto.FLOAT8E5M2},
    ),
    "ReduceL2 of a scalar along no computed axis": Case(
        "ReduceL2", {"x": np.array(-5.5, np.float32), "axes": np.zeros(0, np.int64)}, options={"forms": ["rank"]}
    ),
    "Resize of a constant in a region of unknown rank": Case(
        "Resize",
        {"roi": np.array([0, 0, 0, 0.1, 1, 1, 0.8, 1], np.float32)},
        {"x": real(1, 1, 3, 3), "scales": np.array([1, 1, 0.6, 0.5], np.float32)},
        "x roi scales",
        {"forms": ["rank"], "opset": 18},
        {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"},
    ),
    "Resize of a volume of unknown rank": Case(
        "Resize",
        {"x": real(1, 2, 3, 4, 2)},
        {"scales": np.array([1, 1.5, 2, 3, 1], np.float32)},
        "x - scales",
        {"opset": 19, "forms": ["rank"]},
        {"nearest_mode": "round_prefer_ceil"},
    ),
    "RoiAlign of constants": Case(
        "RoiAlign",
        {},
        {"x": real(2, 1, 6, 7), "rois": np.array([[0, 1, 4, 5], [1, 0, 6, 3.5]], np.float32), "batch": np.array([1, 0])},
        options={"opset": 16, "forms": ["static"]},
        attributes={"mode": "max", "output_height": 2, "output_width": 3, "sampling_ratio": 2},
    ),
    "Shrink of small unsigned integers": Case(
        "Shrink",
        {"x": np.array([0, 1, 2, 200], np.uint8)},
        options={"expected": [np.array([0, 255, 0, 198], np.uint8)]},
        attributes={"lambd": 0.5, "bias": 2.0},
    ),
    "Where of booleans and a constant": Case(
        "Where", {"x": np.array(True)}, {"c": np.array(True)}, "c x c", {"reference": "onnx", "forms": ["static"]}
    ),
    "QLinearConv with scales of unknown rank": Case(
        "QLinearConv",
        {"x": RANDOM.integers(-5, 9, (3, 2, 6, 5)).astype(np.int8), "w_scale": np.array([0.5, 0.25], np.float32)},
        {
            "x_scale": np.array(0.2, np.float32),
            "x_zero": np.array(2, np.int8),
            "w": RANDOM.integers(-5, 9, (2, 1, 2, 3)).astype(np.int8),
            "w_zero": np.array(0, np.int8),
            "y_scale": np.array(1.87, np.float32),
            "y_zero": np.array(-1, np.int8),
        },
        "x x_scale x_zero w w_scale w_zero y_scale y_zero",
        {"opset": 13, "forms": ["rank"], "fixed": ["x"]},
        {"group": 2},
    ),
    "Gemm of nothing": Case(
        "Gemm", {"b": real(3, 4), "c": real(3)}, {"a": np.zeros((0, 4), np.float32)}, "a b c", {"forms": ["rank"]}, {"transB": 1}
    ),
    "STFT with a window of unknown rank": Case(
        "STFT",
        {"window": real(4)},
        {"x": real(1, 13, 1), "step": np.array(2)},
        "x step window",
        {"opset": 17, "forms": ["rank"]},
        {"onesided": 0},
    ),
    "QuantizeLinear to i16 by 1": Case(
        "QuantizeLinear", {"x": np.array([3.4, -5.9, -0.6], np.float32)}, {"s": np.array(1, np.float32), "z": np.array(0, np.int16)}
    ),
    "Pad of u2 by repetition": Case(
        "Pad",
        {"pads": np.array([1, 0, 0, 2])},
        {"x": RANDOM.integers(0, 3, (2, 3)).astype(ml_dtypes.uint2)},
        "x pads",
        {"reference": "onnx", "forms": ["dynamic"], "opset": 25},
        {"mode": "wrap"},
    ),
    "Relu of large integers": Case("Relu", {"x": np.array([2**31 - 2, -5, 2**31 - 1], np.int32)}),
    "BatchNormalization of no channel, as the bias says": Case(
        "BatchNormalization",
        {
            "x": np.zeros((2, 0), np.float32),
            "scale": np.zeros(0, np.float32),
            "mean": np.zeros(0, np.float32),
            "v": np.zeros(0, np.float32),
        },
        {"bias": np.zeros(0, np.float32)},
        "x scale bias mean v",
        {"opset": 14, "forms": ["dynamic"], "expected": [np.zeros((2, 0), np.float32)]},
    ),
    "Cast of integers to f8": Case(
        "Cast", {"x": np.array([-(2**31), -7, 448, 500], np.int32)}, options=EVALUATED, attributes={"to": onnx.TensorProto.FLOAT8E4M3FN}
    ),
}


TEXTS = np.array([["a", ""], ["Ä", "bc"], ["", "d"]], dtype=object)
CASES |= {
    "Reshape of constant strings to a computed shape": Case(
        "Reshape", {"shape": np.array([2, -1])}, {"x": TEXTS}, "x shape", {"forms": ["static"]}
    ),
    "OneHot of strings": Case(
        "OneHot",
        {"indices": np.array([[0, 2], [-2, 1]]), "depth": np.array(3), "values": np.array(["off", "on"], dtype=object)},
        operands="indices depth values",
        options={"opset": 11},
    ),
    **{
        f"NonZero of {shape} of any rank": Case(
            "NonZero", {"x": np.ones(shape, np.float32)}, options={"forms": ["rank"], "expected": [np.stack(np.nonzero(np.ones(shape)))]}
        )
        for shape in ((2, 3), (4,))
    },
    "NonZero of a scalar of any rank": Case(
        "NonZero", {"x": np.array(2, np.float32)}, options={"forms": ["rank"], "expected": [np.zeros((0, 1), np.int64)]}
    ),
    **{
        f"Slice backwards from in front of {size} rows": Case(
            "Slice",
            {"x": real(size, 3)},
            {"starts": np.array([-2]), "ends": np.array([-2]), "axes": np.array([0]), "steps": np.array([-1])},
            options={"forms": ["static", "dynamic"]},
        )
        for size in (1, 3)
    },
    "NonZero of many constant strings": Case(
        "NonZero", {}, {"x": np.tile(TEXTS, (50, 3))}, "x", {"forms": ["static"], "reference": "onnx"}
    ),
}


@pytest.mark.parametrize(
    ("kind", "operands", "inputs"),
    [
        ("Resize", ["x", "", "", "sizes"], {"x": real(2, 1, 3, 3), "sizes": np.array([4, 1, 6, 6])}),
        ("GridSample", ["x", "grid"], {"x": real(1, 1, 2, 3, 2), "grid": real(1, 2, 2, 2, 3)}),
    ],
)
def test_what_depends_on_an_unknown_rank_is_refused(kind: str, operands: Sequence[str], inputs: dict[str, Any]) -> None:
    with pytest.raises(ConversionError, match="the rank of operand 0 is unknown"):
        check([node(kind, operands, ["y"])], inputs, forms=["rank"], opset=22, expected=[])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: Case) -> None:
    names = ["" if name == "-" else name for name in case.operands.split()] or [*case.inputs, *case.constants]
    check([node(case.kind, names, ["y"], **case.attributes)], case.inputs, constants=case.constants, **case.options)


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_lengths_of_a_batch_of_unknown_size(kind: str, gates: int) -> None:
    """The number of steps is known."""
    inputs = {"x": real(4, 2, 3), "lengths": np.array([4, 2], np.int32)}
    constants = {"w": real(2, gates * 2, 3), "r": real(2, gates * 2, 2)}
    nodes = [node(kind, ["x", "w", "r", "", "lengths"], ["y", "h"], hidden_size=2, direction="bidirectional")]
    expected = expected_results(build(nodes, inputs, constants=constants, opset=14), inputs, "onnxruntime")
    model = build(nodes, inputs, constants=constants, opset=14, form="dynamic")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 4
    with TemporaryDirectory() as folder:
        compare(run(convert(model, Path(folder)), inputs), expected)
