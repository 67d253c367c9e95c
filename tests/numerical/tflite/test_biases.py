"""Scales of biases, whose dimension old converters wrote wrongly, against the interpreter.

The interpreter of today refuses such files, so that it gets the same file with the right dimension.
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
