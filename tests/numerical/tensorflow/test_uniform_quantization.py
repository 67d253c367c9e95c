"""Uniform quantization: integers with scales and zero points."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check
from tests.numerical.tensorflow.test_quantized_ranges import check_levels, plain, quantized

RANDOM = np.random.default_rng(61)
raw = tf.raw_ops
MESSAGES: Any = import_module("tensorflow.core.util.quantization.uniform_quant_ops_attr_pb2")
SCALES, ZEROS = np.array([0.1, 0.2, 0.05, 0.3], np.float32), np.array([3, -4, 0, 10], np.int32)
X = RANDOM.normal(0, 3, (2, 3, 4)).astype(np.float32)


def limits(*prefixes: str, bits: int = 8) -> dict[str, int]:
    """The attributes that say the smallest and the largest integer."""
    ends = {"min": -(1 << bits - 1), "max": (1 << bits - 1) - 1}
    return {f"{prefix}quantization_{end}_val": value for prefix in prefixes for end, value in ends.items()}


def signed(*shape: int) -> Array:
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


def wide(*shape: int) -> Array:
    return RANDOM.integers(-5000, 5000, shape).astype(np.int32)


PER_TENSOR: dict[str, Any] = {"scales": np.float32(0.1), "zero_points": np.int32(3)}
PER_AXIS: dict[str, Any] = {"scales": SCALES, "zero_points": ZEROS, "quantization_axis": 2}


@pytest.mark.parametrize("given", [PER_TENSOR, PER_AXIS], ids=["tensor", "axis"])
def test_quantization_and_back(given: dict[str, Any]) -> None:
    forms = ("static", "dynamic")
    check(lambda x: plain([raw.UniformQuantize(input=x, **given, Tout=tf.qint8, **limits(""))]), {"x": X}, forms=forms)
    check(lambda x: raw.UniformDequantize(input=quantized(x), **given, Tout=tf.float32, **limits("")), {"x": signed(2, 3, 4)}, forms=forms)
    check(
        lambda x: raw.UniformDequantize(input=quantized(x), **given, Tout=tf.float32, **limits("", bits=32)),
        {"x": wide(2, 3, 4)},
        forms=forms,
    )


def test_the_middle_is_rounded_up() -> None:
    x = np.array([-1.5, -0.5, 0.5, 1.5, 2.5, -2.5, 200], np.float32)
    one = {"scales": np.float32(1), "zero_points": np.int32(0)}
    check(lambda x: plain([raw.UniformQuantize(input=x, **one, Tout=tf.qint8, **limits(""))]), {"x": x})


INPUT: dict[str, Any] = {"input_scales": np.float32(0.1), "input_zero_points": np.int32(3)}
OUTPUT: dict[str, Any] = {"output_scales": np.float32(0.23), "output_zero_points": np.int32(-7)}
REQUANTIZED: dict[str, Any] = {
    "integers of 8 bits": (signed(2, 3, 4), INPUT | OUTPUT | limits("input_", "output_")),
    "integers of 32 bits": (
        wide(2, 3, 4),
        {"input_scales": np.float32(0.01), "input_zero_points": np.int32(3)} | OUTPUT | limits("input_", bits=32) | limits("output_"),
    ),
    "from an axis": (
        wide(2, 3, 4),
        {"input_scales": SCALES / 10, "input_zero_points": ZEROS, "input_quantization_axis": 2}
        | OUTPUT | limits("input_", bits=32) | limits("output_"),
    ),
    "along an axis": (
        wide(2, 3, 4),
        {"input_scales": SCALES / 10, "input_zero_points": ZEROS, "input_quantization_axis": 2}
        | {"output_scales": SCALES * 3, "output_zero_points": ZEROS - 1, "output_quantization_axis": 2}
        | limits("input_", bits=32) | limits("output_"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUANTIZED)
def test_requantization(name: str) -> None:
    x, given = REQUANTIZED[name]
    check_levels(lambda x: plain([raw.UniformRequantize(input=quantized(x), **given, Tout=tf.qint8)]), {"x": x})


LEFT: dict[str, Any] = {"lhs_scales": np.float32(0.1), "lhs_zero_points": np.int32(3)}
RIGHT: dict[str, Any] = {"rhs_scales": np.float32(0.2), "rhs_zero_points": np.int32(-4)}
RESULT: dict[str, Any] = {"output_scales": np.float32(0.05), "output_zero_points": np.int32(5)}
LIMITS = limits("lhs_", "rhs_") | limits("output_", bits=32)


def of_axis(side: str, axis: int, factor: float = 1) -> dict[str, Any]:
    """Scales and zero points along an axis."""
    return {f"{side}_scales": SCALES * np.float32(factor), f"{side}_zero_points": ZEROS, f"{side}_quantization_axis": axis}


DOTS: dict[str, Mapping[str, Any]] = {
    "of tensors": LEFT | RIGHT | RESULT,
    "of columns": LEFT | of_axis("rhs", 1) | of_axis("output", 1, 0.3),
    "of columns to one scale": LEFT | of_axis("rhs", 1) | RESULT,
}


@pytest.mark.parametrize("name", DOTS)
def test_product(name: str) -> None:
    given: dict[str, Any] = dict(DOTS[name])
    check_levels(
        lambda a, b: plain([raw.UniformQuantizedDot(lhs=quantized(a), rhs=quantized(b), **given, **LIMITS, Tout=tf.qint32)]),
        {"a": signed(3, 5), "b": signed(5, 4)},
        fixed=("b",),
    )


@pytest.mark.parametrize("given", [RIGHT, of_axis("rhs", 1)], ids=["tensor", "columns"])
def test_product_of_floats_and_integers(given: dict[str, Any]) -> None:
    check(
        lambda a, b: raw.UniformQuantizedDotHybrid(lhs=a, rhs=quantized(b), **given, **limits("rhs_"), Tout=tf.float32),
        {"a": RANDOM.normal(size=(3, 5)).astype(np.float32), "b": signed(5, 4)},
        rtol=1e-3,
        atol=1e-3,
        forms=("static", "dynamic"),
    )


NUMBERS = MESSAGES.UniformQuantizedConvolutionDimensionNumbersAttr(
    input_batch_dimension=0, input_feature_dimension=3, input_spatial_dimensions=[1, 2],
    kernel_output_feature_dimension=3, kernel_input_feature_dimension=2, kernel_spatial_dimensions=[0, 1],
    output_batch_dimension=0, output_feature_dimension=3, output_spatial_dimensions=[1, 2],
).SerializeToString()  # fmt: skip
WINDOWS: dict[str, Any] = {
    "valid": {"padding": "VALID", "window_strides": [1, 2]},
    "same": {"padding": "SAME", "window_strides": [2, 1]},
    "explicit": {"padding": "EXPLICIT", "explicit_padding": [1, 0, 2, 1], "rhs_dilation": [1, 2]},
    "spread": {"padding": "VALID", "lhs_dilation": [2, 2]},
}


@pytest.mark.parametrize("name", WINDOWS)
def test_convolution(name: str) -> None:
    x, w = signed(2, 5, 6, 3), signed(2, 2, 3, 4)

    def function(x: Any) -> Any:
        given = LEFT | of_axis("rhs", 3) | of_axis("output", 3, 0.1) | LIMITS | WINDOWS[name]
        actual = raw.UniformQuantizedConvolution(lhs=quantized(x), rhs=quantized(w), **given, dimension_numbers=NUMBERS, Tout=tf.qint32)
        return plain([actual])

    check_levels(function, {"x": x}, fixed=("x",))


@pytest.mark.parametrize("name", ["valid", "same", "explicit"])
def test_convolution_of_floats_and_integers(name: str) -> None:
    w = signed(2, 2, 3, 4)
    given: dict[str, Any] = of_axis("rhs", 3) | limits("rhs_") | WINDOWS[name]
    check(
        lambda x: raw.UniformQuantizedConvolutionHybrid(lhs=x, rhs=quantized(w), **given, dimension_numbers=NUMBERS, Tout=tf.float32),
        {"x": RANDOM.normal(size=(2, 5, 6, 3)).astype(np.float32) * np.array([1, 7], np.float32).reshape(2, 1, 1, 1)},
        rtol=1e-3,
        atol=1e-2,
        forms=("static",),
    )


SUMMED = limits("lhs_", "rhs_", "output_", bits=32)


def test_sum() -> None:
    inputs = {"x": wide(2, 4), "y": wide(4)}
    for given in (LEFT | RIGHT | RESULT, of_axis("lhs", 1) | of_axis("rhs", 0) | of_axis("output", 1)):
        check_levels(
            lambda x, y, given=given: plain([raw.UniformQuantizedAdd(lhs=quantized(x), rhs=quantized(y), **given, **SUMMED)]), inputs
        )


def test_limits() -> None:
    given: dict[str, Any] = PER_TENSOR | limits("", bits=32)
    low, high = np.array(-100, np.int32), np.array(200, np.int32)
    check(
        lambda x: plain([raw.UniformQuantizedClipByValue(operand=quantized(x), min=quantized(low), max=quantized(high), **given)]),
        {"x": wide(2, 3, 4)},
        forms=("static", "dynamic"),
    )
    each: dict[str, Any] = PER_AXIS | limits("", bits=32)
    ends = np.array([-5, -100, 0, 3], np.int32), np.array([5, 300, 7, 30], np.int32)
    check(
        lambda x: plain([raw.UniformQuantizedClipByValue(operand=quantized(x), min=quantized(ends[0]), max=quantized(ends[1]), **each)]),
        {"x": wide(2, 3, 4)},
        forms=("static", "dynamic"),
    )


def test_missing_dimension_numbers_are_refused() -> None:
    given: dict[str, Any] = LEFT | RIGHT | RESULT | LIMITS | {"padding": "VALID"}
    with pytest.raises(ConversionError, match="dimension numbers are missing"):
        check(
            lambda x, w: plain([raw.UniformQuantizedConvolution(lhs=quantized(x), rhs=quantized(w), **given, Tout=tf.qint32)]),
            {"x": signed(1, 3, 5, 5), "w": signed(2, 3, 2, 2)},
            expected=[signed(1)],
            forms=("static",),
        )
