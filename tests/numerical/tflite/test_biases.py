"""Scales of biases, which converters wrote wrongly, against the interpreter.

The interpreter of today refuses files with a wrong dimension, so that it gets the same file with the right one. What the
scales are it does not read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from tests.numerical.runtime import IN_FLOATS, core
from tests.numerical.tflite.files import Operator, Tensor, file_of
from tests.numerical.tflite.models import results_of

tf: Any = pytest.importorskip("tensorflow")

RANDOM = np.random.default_rng(31)

WINDOW: dict[str, Any] = {"Padding": 1, "StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}

KINDS: dict[str, tuple[int, tuple[int, ...], tuple[int, ...], str, dict[str, Any]]] = {
    "CONV_2D": (0, (4, 3, 3, 2), (1, 3, 3, 2), "Conv2DOptions", WINDOW),
    "DEPTHWISE_CONV_2D": (3, (1, 3, 3, 2), (1, 3, 3, 2), "DepthwiseConv2DOptions", WINDOW | {"DepthMultiplier": 1}),
}
"""Kind -> the dimension of the channels of the weights, their shape, that of the data, and the options."""


@pytest.mark.parametrize("axis", [0, 1, 3, -1])
@pytest.mark.parametrize("kind", KINDS)
def test_the_dimension_of_the_scales_of_a_bias_does_not_matter(tmp_path: Path, kind: str, axis: int) -> None:
    weight_axis, shape, data_shape, options, fields = KINDS[kind]
    channels = shape[weight_axis]
    scales = RANDOM.uniform(0.01, 0.02, channels)
    x = RANDOM.integers(-128, 128, data_shape).astype(np.int8)
    weights, bias = RANDOM.integers(-90, 90, shape).astype(np.int8), RANDOM.integers(-900, 900, channels).astype(np.int32)
    zeros = [0] * channels

    def file_with(bias_axis: int) -> bytes:
        tensors = [
            Tensor("x", x, scale=[0.05], zero=[3]),
            Tensor("w", weights, is_constant=True, scale=list(scales), zero=zeros, axis=weight_axis),
            Tensor("b", bias, is_constant=True, scale=list(scales * 0.05), zero=zeros, axis=bias_axis),
            Tensor("y", np.zeros((1, 1, 1, channels), np.int8), scale=[0.1], zero=[1]),
        ]
        return file_of(tensors, [Operator(kind, ["x", "w", "b"], ["y"], options, fields)], ["x"], ["y"])

    path, right = tmp_path / "m.tflite", tmp_path / "right.tflite"
    path.write_bytes(file_with(axis))
    right.write_bytes(file_with(0))
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    result = core().compile_model(tmp_path / "m.xml", "CPU", IN_FLOATS).create_infer_request().infer([x])[0]
    np.testing.assert_allclose(result.astype(int), results_of(right, [x])[0].astype(int), atol=1)


BIASED: dict[str, tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...], str, dict[str, Any]]] = {
    "CONV_2D": (0, (4, 3, 3, 2), (1, 3, 3, 2), (1, 1, 1, 4), "Conv2DOptions", WINDOW),
    "DEPTHWISE_CONV_2D": (3, (1, 3, 3, 2), (1, 3, 3, 2), (1, 1, 1, 2), "DepthwiseConv2DOptions", WINDOW | {"DepthMultiplier": 1}),
    "TRANSPOSE_CONV": (0, (4, 2, 2, 2), (1, 3, 3, 2), (1, 4, 4, 4), "TransposeConvOptions", {"Padding": 1, "StrideH": 1, "StrideW": 1}),
    "FULLY_CONNECTED": (0, (4, 6), (3, 6), (3, 4), "FullyConnectedOptions", {}),
}
"""Kind -> the dimension of the channels of the weights, the shapes of weights, data and result, and the options."""


@pytest.mark.parametrize("part", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("kind", BIASED)
def test_the_scale_of_a_bias_is_that_of_the_products(tmp_path: Path, kind: str, part: float) -> None:
    weight_axis, shape, data_shape, result_shape, options, fields = BIASED[kind]
    channels = shape[weight_axis]
    scales = RANDOM.uniform(0.01, 0.02, channels)
    x = RANDOM.integers(-128, 128, data_shape).astype(np.int8)
    bias = RANDOM.integers(-9000, 9000, channels).astype(np.int32)
    tensors = [
        Tensor("x", x, scale=[0.05], zero=[3]),
        Tensor(
            "w",
            RANDOM.integers(-90, 90, shape).astype(np.int8),
            is_constant=True,
            scale=list(scales),
            zero=[0] * channels,
            axis=weight_axis,
        ),
        Tensor("b", bias, is_constant=True, scale=list(scales * 0.05 * part), zero=[0] * channels),
        Tensor("shape", np.array(result_shape, np.int32), is_constant=True),
        Tensor("y", np.zeros(result_shape, np.int8), scale=[0.1], zero=[1]),
    ]
    operands = ["shape", "w", "x", "b"] if kind == "TRANSPOSE_CONV" else ["x", "w", "b"]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [Operator(kind, operands, ["y"], options, fields)], ["x"], ["y"]))
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    result = core().compile_model(tmp_path / "m.xml", "CPU", IN_FLOATS).create_infer_request().infer([x])[0]
    np.testing.assert_allclose(result.astype(int), results_of(path, [x])[0].astype(int), atol=1)
