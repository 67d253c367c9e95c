"""Quantization of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import check

X = np.random.default_rng(6).normal(0, 3, (2, 4, 3)).astype(np.float32)
LOW, HIGH = np.array([-1.5, -4, 0.2], np.float32), np.array([2.5, 1, 6], np.float32)


@pytest.mark.parametrize("limits", [(-6.0, 6.0), (-1.3, 4.7), (0.5, 3.0), (-5.0, -0.5)], ids=str)
@pytest.mark.parametrize(("bits", "narrow"), [(8, False), (8, True), (4, False)])
def test_fake_quantization(limits: tuple[float, float], bits: int, narrow: bool) -> None:
    low, high = limits
    properties = {"num_bits": bits, "narrow_range": narrow}
    check(lambda x: tf.raw_ops.FakeQuantWithMinMaxArgs(inputs=x, min=low, max=high, **properties), {"x": X}, operations=1)
    check(
        lambda x: tf.raw_ops.FakeQuantWithMinMaxVars(inputs=x, min=low, max=high, **properties), {"x": X}, forms=("static",), operations=1
    )


@pytest.mark.parametrize("bits", [2, 4, 5, 8, 12])
@pytest.mark.parametrize("low", [0.0, -8.0])
def test_the_middle_between_levels_is_rounded_up(low: float, bits: int) -> None:
    step = 16 / 2**bits
    high = low + 16 - step
    x = (np.arange(-4, 2 ** (bits + 2) + 4) * step / 4 + low).astype(np.float32)
    check(
        lambda x: tf.raw_ops.FakeQuantWithMinMaxVars(inputs=x, min=low, max=high, num_bits=bits), {"x": x}, operations=1, forms=("static",)
    )
    limits = [np.array([end], np.float32) for end in (low, high)]
    check(
        lambda x: tf.raw_ops.FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=limits[0], max=limits[1], num_bits=bits),
        {"x": x[:, None]},
        forms=("static",),
    )


def test_fake_quantization_to_computed_limits() -> None:
    inputs = {"x": X, "low": np.float32(-1.3), "high": np.float32(4.7)}
    check(lambda x, low, high: tf.raw_ops.FakeQuantWithMinMaxVars(inputs=x, min=low, max=high), inputs, forms=("static", "dynamic"))
    check(lambda x: tf.raw_ops.FakeQuantWithMinMaxVars(inputs=x, min=0.0, max=0.0), {"x": X}, forms=("static",))


def test_fake_quantization_of_channels() -> None:
    # Of unknown dimensions the runtime (2026.4, CPU) takes no constant limits along the third of them.
    x = X[np.newaxis]
    check(lambda x: tf.raw_ops.FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=LOW, max=HIGH), {"x": x}, operations=1)
    check(lambda x: tf.raw_ops.FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=LOW, max=HIGH), {"x": X}, forms=("static",))
    inputs = {"x": x, "low": LOW, "high": HIGH}
    check(lambda x, low, high: tf.raw_ops.FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=low, max=high), inputs, forms=("dynamic", "rank"))


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize("kind", ["QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"])
def test_rounding_to_a_range(kind: str, narrow: bool, signed: bool) -> None:
    bits = {"num_bits": 6} if kind != "QuantizeAndDequantizeV3" else {"num_bits": np.int32(6)}
    properties = {"signed_input": signed, "narrow_range": narrow, "range_given": True, **bits}
    low = -2.0 if signed else 0.0
    check(
        lambda x: getattr(tf.raw_ops, kind)(input=x, input_min=low, input_max=3.0, **properties),
        {"x": X if signed else np.abs(X)},
        operations=1,
    )


@pytest.mark.parametrize("mode", ["HALF_TO_EVEN", "HALF_UP"])
@pytest.mark.parametrize("axis", [-1, 1, 2])
def test_rounding_to_the_range_of_the_numbers(axis: int, mode: str) -> None:
    unused = np.zeros(() if axis < 0 else X.shape[axis], np.float32)
    properties = {"round_mode": mode, "axis": axis, "input_min": unused, "input_max": unused}
    forms = ("static", "dynamic", "rank") if axis < 0 else ("static", "dynamic")
    check(lambda x: tf.raw_ops.QuantizeAndDequantizeV2(input=x, **properties), {"x": X}, forms=forms)


@pytest.mark.parametrize("axis", [1, 2])
def test_rounding_to_ranges_along_an_axis(axis: int) -> None:
    low, high = (np.linspace(first, last, num=X.shape[axis]).astype(np.float32) for first, last in ((-1, -3), (1, 2)))
    properties = {"num_bits": 8, "axis": axis}
    check(
        lambda x: tf.raw_ops.QuantizeAndDequantizeV3(input=x, input_min=low, input_max=high, **properties),
        {"x": X},
        forms=("static", "dynamic") if axis == 1 else ("static",),
        operations=1,
    )


def test_rounding_half_up_to_a_range() -> None:
    x = np.array([-40, -0.375, -0.125, 0.125, 0.375, 9], np.float32)
    properties = {"input_min": -32.0, "input_max": 31.75, "range_given": True, "round_mode": "HALF_UP"}
    check(lambda x: tf.raw_ops.QuantizeAndDequantizeV2(input=x, **properties), {"x": x})


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("x", [[-3, -1, -0.3], [-2, 5, np.inf], [-np.inf, 1, np.inf], [-np.inf, 1, 2], [0.5, 1, 3], [-3, 0, 2]], ids=str)
def test_rounding_to_one_sided_and_infinite_ranges(x: list[float], signed: bool) -> None:
    """Of negative numbers that are rounded to unsigned levels infinities remain, as of infinite ranges NaN."""
    properties = {"input_min": 0.0, "input_max": 0.0, "signed_input": signed}
    check(lambda x: tf.raw_ops.QuantizeAndDequantizeV2(input=x, **properties), {"x": np.array(x, np.float32)})


def test_rounding_of_zeros() -> None:
    check(lambda x: tf.raw_ops.QuantizeAndDequantizeV2(input=x, input_min=0.0, input_max=0.0), {"x": np.zeros((2, 3), np.float32)})


def test_rounding_to_many_bits() -> None:
    check(lambda x: tf.raw_ops.QuantizeAndDequantizeV2(input=x, input_min=0.0, input_max=0.0, num_bits=20), {"x": X}, forms=("static",))


QUANTIZED: dict[str, Any] = {"quint8": tf.uint8, "qint8": tf.int8, "qint32": tf.int32}
MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", QUANTIZED)
def test_dequantization(kind: str, mode: str) -> None:
    x = np.array([[0, 3, 100], [127, 1, 55]]).astype(QUANTIZED[kind].as_numpy_dtype)

    def function(x: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.Dequantize(input=tf.bitcast(x, kind), min_range=-1.5, max_range=3.0, mode=mode)

    check(function, {"x": x}, rtol=1e-3, atol=1e-4, forms=("static", "rank"))


def test_dequantization_along_an_axis() -> None:
    x = np.array([[0, 3, 100], [127, 1, 55]], np.int8)
    check(
        lambda x: tf.raw_ops.Dequantize(input=tf.bitcast(x, "qint8"), min_range=LOW, max_range=HIGH, mode="SCALED", axis=1),
        {"x": x},
        forms=("static", "dynamic"),
    )
    check(
        lambda x: tf.raw_ops.Dequantize(input=tf.bitcast(x, "qint8"), min_range=-2.0, max_range=2.0, mode="SCALED", narrow_range=True),
        {"x": x},
    )


@pytest.mark.parametrize("rounding", ["HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["quint8", "qint8"])
def test_quantization(kind: str, mode: str, rounding: str) -> None:
    properties = {"T": tf.as_dtype(kind), "mode": mode, "round_mode": rounding if mode == "SCALED" else "HALF_AWAY_FROM_ZERO"}

    def function(x: tf.Tensor) -> list[tf.Tensor]:
        actual = tf.raw_ops.QuantizeV2(input=x, min_range=-2.0, max_range=3.1, **properties)
        return [tf.bitcast(actual.output, QUANTIZED[kind]), actual.output_min, actual.output_max]

    check(function, {"x": X}, forms=("static", "dynamic"))


def test_impossible_attributes_are_refused() -> None:
    with pytest.raises(ConversionError, match="computed when the model runs"):
        check(
            lambda x, bits: tf.raw_ops.QuantizeAndDequantizeV3(input=x, input_min=0.0, input_max=1.0, num_bits=bits),
            {"x": X, "bits": np.int32(8)},
            forms=("static",),
        )
