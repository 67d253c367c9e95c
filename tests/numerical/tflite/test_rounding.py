"""Quantized sums, averages and resized images are rounded as the interpreter's default kernels round them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from tests.numerical.runtime import IN_FLOATS, core
from tests.numerical.tflite.files import Operator, Tensor, file_of

tf: Any = pytest.importorskip("tensorflow")

CHANNELS = 1200
FACTORS = (0.3717, 0.2039, 0.1103, 0.0301)
"""Scales of products in integers of the result."""

STEPS = {"StrideW": 1, "StrideH": 1, "Padding": 1}
DILATIONS = {"DilationWFactor": 1, "DilationHFactor": 1}
KINDS: dict[str, tuple[str, dict[str, int], tuple[int, ...], int]] = {
    "CONV_2D": ("Conv2DOptions", STEPS | DILATIONS, (CHANNELS, 1, 1, 1), 0),
    "DEPTHWISE_CONV_2D": ("DepthwiseConv2DOptions", STEPS | DILATIONS | {"DepthMultiplier": CHANNELS}, (1, 1, 1, CHANNELS), 3),
    "TRANSPOSE_CONV": ("TransposeConvOptions", STEPS, (CHANNELS, 1, 1, 1), 0),
    "FULLY_CONNECTED": ("FullyConnectedOptions", {}, (CHANNELS, 1), 0),
}
"""Kind -> the table of options, its fields, the shape of the weights and their dimension of channels."""


def product(kind: str, factor: float) -> bytes:
    """A model of one operator whose result has every sum in some range, by its biases."""
    options, fields, shape, axis = KINDS[kind]
    step, sizes = max(1, int(60 / factor / CHANNELS)), [0.25] * (CHANNELS if kind != "FULLY_CONNECTED" else 1)
    biases = (np.arange(CHANNELS) - CHANNELS // 2).astype(np.int32) * step
    x = np.zeros((1, 1) if kind == "FULLY_CONNECTED" else (1, 1, 1, 1), np.int8)
    tensors = [
        Tensor("shape", np.array([1, 1, 1, CHANNELS], np.int32), is_constant=True),
        Tensor("x", x, scale=[0.5], zero=[3]),
        Tensor("w", np.full(shape, 7, np.int8), is_constant=True, scale=sizes, axis=axis),
        Tensor("b", biases, is_constant=True, scale=[0.5 * each for each in sizes]),
        Tensor("y", np.zeros((*x.shape[:-1], CHANNELS), np.int8), scale=[0.5 * 0.25 / factor], zero=[5]),
    ]
    operands = ["shape", "w", "x", "b"] if kind == "TRANSPOSE_CONV" else ["x", "w", "b"]
    return file_of(tensors, [Operator(kind, operands, ["y"], options, fields)], ["x"], ["y"])


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_rounded_as_the_kernels_round_them(tmp_path: Path, kind: str) -> None:
    for factor in FACTORS:
        path = tmp_path / f"{factor}.tflite"
        path.write_bytes(product(kind, factor))
        moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
        request = core().compile_model(tmp_path / "m.xml", "CPU", dict(IN_FLOATS)).create_infer_request()
        interpreter = interpreter_of(path.read_bytes())
        for value in (-9, 4, 60):
            x = np.full((1, 1) if kind == "FULLY_CONNECTED" else (1, 1, 1, 1), value, np.int8)
            expected = interpreter(x)
            assert len(np.unique(expected)) > 30
            actual = request.infer([x])[0].astype(np.int32)
            # A sum in the very middle between two integers is not what this is about: f32 does not have it exactly.
            assert np.mean(actual != expected) < 0.003


def interpreter_of(model: bytes) -> Any:
    """A function of the input that computes the output of a model."""
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()

    def compute(x: Any) -> Any:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).astype(np.int32)

    return compute


POOL = {"StrideW": 2, "StrideH": 2, "FilterWidth": 2, "FilterHeight": 2, "Padding": 1}
WINDOW = {"StrideW": 1, "StrideH": 1, "FilterWidth": 3, "FilterHeight": 3, "Padding": 0}
INTERPOLATED: dict[str, tuple[str, str, dict[str, Any], tuple[int, ...]]] = {
    "average of four": ("AVERAGE_POOL_2D", "Pool2DOptions", POOL, (1, 8, 6, 4)),
    "average of nine, six or four": ("AVERAGE_POOL_2D", "Pool2DOptions", WINDOW, (1, 16, 12, 4)),
    "resized by centers": ("RESIZE_BILINEAR", "ResizeBilinearOptions", {"HalfPixelCenters": True}, (1, 32, 24, 4)),
    "resized by corners": ("RESIZE_BILINEAR", "ResizeBilinearOptions", {"AlignCorners": True}, (1, 31, 23, 4)),
    "resized by left edges": ("RESIZE_BILINEAR", "ResizeBilinearOptions", {}, (1, 32, 24, 4)),
}
"""Operators that compute many numbers in the middle between two integers, and the shapes of their results."""


@pytest.mark.parametrize("zero", [0, 5, -128])
@pytest.mark.parametrize("case", INTERPOLATED)
def test_the_middle_between_two_integers_is_rounded_as_the_kernels_round_it(tmp_path: Path, case: str, zero: int) -> None:
    kind, options, fields, shape = INTERPOLATED[case]
    x = np.random.default_rng(5).integers(-128, 128, (1, 16, 12, 4)).astype(np.int8)
    tensors = [
        Tensor("x", x, scale=[0.03], zero=[zero]),
        Tensor("size", np.array(shape[1:3], np.int32), is_constant=True),
        Tensor("y", np.zeros(shape, np.int8), scale=[0.03], zero=[zero]),
    ]
    path = tmp_path / "m.tflite"
    operands = ["x", "size"] if kind == "RESIZE_BILINEAR" else ["x"]
    path.write_bytes(file_of(tensors, [Operator(kind, operands, ["y"], options, fields)], ["x"], ["y"]))
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    actual = core().compile_model(tmp_path / "m.xml", "CPU", dict(IN_FLOATS)).create_infer_request().infer([x])[0]
    np.testing.assert_array_equal(actual, interpreter_of(path.read_bytes())(x))
