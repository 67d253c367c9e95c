"""Quantized operations of TensorFlow 1, which have a range beside each tensor of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import build, check, expected_results

RANDOM = np.random.default_rng(51)
raw = tf.raw_ops
STORED: dict[Any, Any] = {tf.quint8: tf.uint8, tf.qint8: tf.int8, tf.qint32: tf.int32}
QUANTIZED: dict[Any, Any] = {np.dtype(stored.as_numpy_dtype): kind for kind, stored in STORED.items()}


def unsigned(*shape: int) -> Array:
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


def signed(*shape: int) -> Array:
    return RANDOM.integers(-127, 128, shape).astype(np.int8)


def wide(*shape: int) -> Array:
    return RANDOM.integers(-(10**6), 10**6, shape).astype(np.int32)


def quantized(value: Any) -> Any:
    """Plain integers as quantized ones; constants as constants, as kernels of oneDNN want filters."""
    if isinstance(value, np.ndarray):
        kind = QUANTIZED[value.dtype]
        return tf.constant(value.view(kind.as_numpy_dtype))
    return tf.bitcast(value, next(kind for kind, stored in STORED.items() if stored == value.dtype))


def plain(results: Any) -> list[Any]:
    """The results of a quantized operation, with plain integers instead of quantized ones."""
    return [tf.bitcast(each, STORED[each.dtype]) if each.dtype in STORED else each for each in results]


def check_levels(function: Callable[..., Any], inputs: Mapping[str, Array], *, levels: int = 1, fixed: Sequence[str] = ()) -> None:
    """Compare with TensorFlow: integers within some levels, ranges within the tolerance of floats."""
    graph, names = build(function, inputs)
    check_against(function, inputs, expected_results(graph, names, inputs), levels=levels, fixed=fixed)


def check_against(
    function: Callable[..., Any], inputs: Mapping[str, Array], expected: Sequence[Array], *, levels: int = 1, fixed: Sequence[str] = ()
) -> None:
    """Compare with arrays: the first result within some levels, ranges within the tolerance of floats."""

    def compared(**tensors: Any) -> list[Any]:
        first, *others = function(**tensors)
        near = tf.abs(tf.cast(first, tf.float32) - tf.constant(expected[0].astype(np.float32))) <= levels
        return [near, *others, tf.zeros([1], first.dtype) * tf.reshape(first, [-1])[:1]]

    wanted = [np.ones(expected[0].shape, bool), *expected[1:], np.zeros(1, expected[0].dtype)]
    check(compared, inputs, expected=wanted, forms=("static", "dynamic"), fixed=fixed)


CONVOLVED: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}
RANGES: dict[str, Any] = {"min_input": 0.0, "max_input": 4.0, "min_filter": -2.0, "max_filter": 1.5}
LOWS, HIGHS = np.array([-2, -1, -3, -0.5], np.float32), np.array([1.5, 1, 2, 0.7], np.float32)
CHANNELS: dict[str, Any] = RANGES | {"min_filter": LOWS, "max_filter": HIGHS}
FROZEN: dict[str, Any] = {"min_freezed_output": -50.0, "max_freezed_output": 40.0}
FILTERS, BIAS, WHOLE_BIAS = signed(3, 3, 3, 4), RANDOM.normal(size=4).astype(np.float32), RANDOM.integers(-3000, 3000, 4).astype(np.int32)


def test_convolution_with_zero_points() -> None:
    ranges = {"min_input": -1.0, "max_input": 4.0, "min_filter": -2.0, "max_filter": 1.5}

    def function(x: Any, w: Any) -> Any:
        return plain(raw.QuantizedConv2D(input=quantized(x), filter=quantized(w), **ranges, strides=[1, 2, 2, 1], padding="VALID"))

    check_levels(function, {"x": unsigned(1, 6, 5, 3), "w": unsigned(3, 3, 3, 4)}, levels=0, fixed=("w",))


def convolved(x: Array, w: Array) -> Array:
    return tf.nn.conv2d(x.astype(np.float64), w.astype(np.float64), 1, "SAME").numpy()


def depthwise(x: Array, w: Array) -> Array:
    return tf.nn.depthwise_conv2d(x.astype(np.float64), w.astype(np.float64), [1, 1, 1, 1], "SAME").numpy()


def scalar(number: float) -> Array:
    return np.array(number, np.float32)


def unit(high: float, full: int, ranges: Mapping[str, Any]) -> Any:
    """What 1 among the sums stands for: the largest numbers of data and filters over the integers that stand for them."""
    return high / full * np.maximum(np.abs(ranges["min_filter"]), np.abs(ranges["max_filter"])) / 127


def sums(real: Array, ranges: Mapping[str, Any], *, relu: bool) -> list[Array]:
    """Sums in units as integers of 32 bits, with the range of these."""
    step = 4 / 255 * (ranges["max_filter"] - np.asarray(ranges["min_filter"])) / 254
    limited = np.maximum(real, 0) if relu else real
    return [np.rint(limited).astype(np.int32), *(np.asarray(step * end, np.float32) for end in (-(2.0**31), 2.0**31))]


def frozen(real: Array, kind: Any) -> list[Array]:
    """Numbers as integers of a range from -50 to 40, whose larger magnitude the largest integer stands for."""
    low, high = (0, 255) if kind is np.uint8 else (-128, 127)
    return [np.clip(np.rint(real * high / 50), low, high).astype(kind), scalar(-50), scalar(40)]


# The kernels of oneDNN, which these tests do not use, give the same results: within one level, and one unit of a sum.


@pytest.mark.parametrize(
    ("kind", "channels"),
    [
        *((kind, False) for kind in ("QuantizedConv2D", "QuantizedConv2DAndRelu", "QuantizedConv2DWithBias")),
        *((kind, True) for kind in ("QuantizedConv2DPerChannel", "QuantizedConv2DWithBias", "QuantizedConv2DWithBiasAndRelu")),
    ],
)
def test_convolution_with_symmetric_filters(kind: str, channels: bool) -> None:
    # Of channels oneDNN gives all sums in units of the widest one, with ranges of their own units.
    x, ranges = unsigned(1, 5, 5, 3), CHANNELS if channels else RANGES
    bias = {"bias": BIAS} if "Bias" in kind else {}
    expected = sums(convolved(x, FILTERS) + (BIAS / unit(4, 255, ranges) if bias else 0), ranges, relu="Relu" in kind)
    check_against(
        lambda x: plain(getattr(raw, kind)(input=quantized(x), filter=quantized(FILTERS), **ranges, **bias, **CONVOLVED)),
        {"x": x},
        expected,
    )


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
@pytest.mark.parametrize("kind", ["AndRequantize", "AndReluAndRequantize"])
def test_convolution_to_a_range(kind: str, stored: Any, whole: bool) -> None:
    x, full = (unsigned(1, 5, 5, 3), 255) if stored is np.uint8 else (signed(1, 5, 5, 3), 127)
    factor = unit(4, full, CHANNELS)
    real = (convolved(x, FILTERS) + WHOLE_BIAS) * factor if whole else convolved(x, FILTERS) * factor + BIAS
    out_type, result = (tf.quint8, np.uint8) if "Relu" in kind else (tf.qint8, np.int8)

    def function(x: Any) -> Any:
        operands = {"input": quantized(x), "filter": quantized(FILTERS), "bias": quantized(WHOLE_BIAS) if whole else BIAS}
        return plain(getattr(raw, f"QuantizedConv2DWithBias{kind}")(**operands, **CHANNELS, **FROZEN, **CONVOLVED, out_type=out_type))

    check_against(function, {"x": x}, frozen(real, result))


def test_convolution_without_bias_to_a_range() -> None:
    x = unsigned(1, 5, 5, 3)

    def function(x: Any) -> Any:
        actual = raw.QuantizedConv2DAndReluAndRequantize(input=quantized(x), filter=quantized(FILTERS), **RANGES, **FROZEN, **CONVOLVED)
        return plain(actual)

    check_against(function, {"x": x}, frozen(convolved(x, FILTERS) * unit(4, 255, RANGES), np.uint8))


@pytest.mark.parametrize("kind", ["Sum", "SignedSum"])
def test_convolution_with_a_summand(kind: str) -> None:
    x, low = unsigned(1, 5, 5, 3), 0.0 if kind == "Sum" else -20.0
    summand, full = (unsigned(1, 5, 5, 4), 255) if kind == "Sum" else (signed(1, 5, 5, 4), 127)
    real = convolved(x, FILTERS) * unit(4, 255, CHANNELS) + BIAS + summand * (30 / full)

    def function(x: Any, summand: Any) -> Any:
        operands = {"input": quantized(x), "filter": quantized(FILTERS), "bias": BIAS, "summand": quantized(summand)}
        ranges = CHANNELS | FROZEN | {"min_summand": low, "max_summand": 30.0}
        return plain(getattr(raw, f"QuantizedConv2DWithBias{kind}AndReluAndRequantize")(**operands, **ranges, **CONVOLVED))

    check_against(function, {"x": x, "summand": summand}, frozen(real, np.uint8))


def test_convolution_with_a_summand_of_floats() -> None:
    x, summand = unsigned(1, 5, 5, 3), RANDOM.normal(size=(1, 5, 5, 4)).astype(np.float32)
    expected = sums(convolved(x, FILTERS) + (BIAS + summand) / unit(4, 255, RANGES), RANGES, relu=True)

    def function(x: Any, summand: Any) -> Any:
        operands = {"input": quantized(x), "filter": quantized(FILTERS), "bias": BIAS, "summand": summand}
        return plain(raw.QuantizedConv2DWithBiasSumAndRelu(**operands, **RANGES, **CONVOLVED))

    check_against(function, {"x": x, "summand": summand}, expected)


@pytest.mark.parametrize("kind", ["", "WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize"])
def test_depthwise_convolution(kind: str) -> None:
    x, filters, factor = unsigned(1, 5, 5, 3), signed(3, 3, 3, 1), unit(4, 255, RANGES)
    bias = {"bias": BIAS[:3]} if kind else {}
    real = depthwise(x, filters) + (BIAS[:3] / factor if kind else 0)
    requantizes = kind.endswith("Requantize")
    expected = frozen(real * factor, np.uint8) if requantizes else sums(real, RANGES, relu="Relu" in kind)

    def function(x: Any) -> Any:
        ranges = RANGES | (FROZEN if requantizes else {})
        operation = getattr(raw, f"QuantizedDepthwiseConv2D{kind}")
        return plain(operation(input=quantized(x), filter=quantized(filters), **bias, **ranges, **CONVOLVED))

    check_against(function, {"x": x}, expected)


@pytest.mark.parametrize("transposed", [False, True])
def test_product_with_zero_points(transposed: bool) -> None:
    ranges = {"min_a": -1.0, "max_a": 4.0, "min_b": -2.0, "max_b": 3.0}
    check_levels(
        lambda a, b: plain(raw.QuantizedMatMul(a=quantized(a), b=quantized(b), **ranges, transpose_b=transposed)),
        {"a": unsigned(3, 5), "b": unsigned(4, 5) if transposed else unsigned(5, 4)},
        levels=0,
    )


MATRIX = signed(5, 4)
FACTORS: dict[str, Any] = {"min_a": 0.0, "max_a": 4.0, "min_b": -2.0, "max_b": 1.5}


@pytest.mark.parametrize(("mode", "low"), [("MIN_FIRST", 0), ("MIN_FIRST", -1), ("SCALED", 0)])
@pytest.mark.parametrize("kind", ["", "AndRelu", "AndRequantize", "AndReluAndRequantize", "AndDequantize"])
def test_product_with_bias(kind: str, mode: str, low: int) -> None:
    # Where the minimum of the data is not 0, oneDNN gives numbers without meaning.
    a, width = unsigned(3, 5), 4 - low
    factor = width / 255 * 2 / 127
    real = (a + 255 * low / width) @ MATRIX.astype(np.float64) + BIAS / factor
    if kind in ("", "AndRelu"):
        expected = sums(real, {"min_filter": -2.0, "max_filter": 1.5}, relu=bool(kind))
        expected[1:] = [each * np.float32(width / 4) for each in expected[1:]]
    elif kind == "AndDequantize":
        expected = [(real * factor).astype(np.float32)]
    else:
        expected = frozen(real * factor, np.uint8)

    def function(a: Any) -> Any:
        given: dict[str, Any] = {"input_quant_mode": mode} | (FROZEN if "quantize" in kind else {})
        given |= {"Toutput": tf.float32} if kind == "AndDequantize" else {}
        operands = {"a": quantized(a), "b": quantized(MATRIX), "bias": BIAS}
        actual = getattr(raw, f"QuantizedMatMulWithBias{kind}")(**operands, **FACTORS | {"min_a": float(low)}, **given)
        return plain([actual] if kind == "AndDequantize" else actual)

    check_against(function, {"a": a}, expected)


def test_bias_for_unsigned_filters_is_refused() -> None:
    with pytest.raises(ConversionError, match="filters are of unsigned integers"):
        check(
            lambda a, b: plain(raw.QuantizedMatMulWithBias(a=quantized(a), b=quantized(b), bias=BIAS, **FACTORS)),
            {"a": unsigned(3, 5), "b": unsigned(5, 4)},
            expected=[unsigned(1)] * 3,
            forms=("static",),
        )


IMAGE = unsigned(2, 5, 6, 3)
POOL: dict[str, Any] = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME", "min_input": -1.0, "max_input": 4.0}
RANGE: dict[str, Any] = {"min_features": -1.0, "max_features": 9.0}
PAIR: dict[str, Any] = {"min_x": -1.0, "max_x": 2.0, "min_y": -1.0, "max_y": 3.0}
SUMS: dict[str, Any] = {"min_input": -1.0, "max_input": 4.0, "min_bias": -2.0, "max_bias": 3.0, "out_type": tf.qint32}
NEW: dict[str, Any] = {"input_min": -5.0, "input_max": 5.0}
CHANNEL_RANGES: dict[str, Any] = {"input_min": LOWS * 1000, "input_max": HIGHS * 1000}
OPERATIONS: dict[str, Any] = {
    # TensorFlow adds with 16 bits: 200 levels of the sum are less than half of one of the operands.
    "QuantizedBiasAdd": (lambda x, b: raw.QuantizedBiasAdd(input=x, bias=b, **SUMS), (IMAGE, unsigned(3)), 2),
    "QuantizedAdd": (lambda x, y: raw.QuantizedAdd(x=x, y=y, **PAIR), (IMAGE, unsigned(3)), 200),
    "QuantizedMul": (lambda x, y: raw.QuantizedMul(x=x, y=y, **PAIR), (IMAGE, unsigned(3)), 0),
    "QuantizedRelu": (lambda x: raw.QuantizedRelu(features=x, **RANGE), (IMAGE,), 0),
    "QuantizedRelu6": (lambda x: raw.QuantizedRelu6(features=x, **RANGE), (IMAGE,), 0),
    "QuantizedMaxPool": (lambda x: raw.QuantizedMaxPool(input=x, **POOL), (IMAGE,), 0),
    "QuantizedMaxPool of signed": (lambda x: raw.QuantizedMaxPool(input=x, **POOL), (signed(2, 5, 6, 3),), 0),
    "QuantizedAvgPool": (lambda x: raw.QuantizedAvgPool(input=x, **POOL), (IMAGE,), 1),
    "QuantizedReshape": (lambda x: raw.QuantizedReshape(tensor=x, shape=[-1, 9], input_min=-1.0, input_max=4.0), (IMAGE,), 0),
    "QuantizedConcat": (
        lambda x, y: raw.QuantizedConcat(concat_dim=1, values=[x, y], input_mins=[-1.0, -2.0], input_maxes=[3.0, 4.0]),
        (unsigned(2, 3), unsigned(2, 4)),
        1,
    ),
    "QuantizedInstanceNorm": (lambda x: raw.QuantizedInstanceNorm(x=x, x_min=-1.0, x_max=2.0), (IMAGE,), 1),
    "QuantizedInstanceNorm to a range": (
        lambda x: raw.QuantizedInstanceNorm(x=x, x_min=-1.0, x_max=2.0, output_range_given=True, given_y_min=-1.5, given_y_max=2.0),
        (IMAGE,),
        1,
    ),
    "QuantizedResizeBilinear": (lambda x: raw.QuantizedResizeBilinear(images=x, size=[7, 4], min=-1.0, max=2.0), (IMAGE,), 2),
    "QuantizedBatchNormWithGlobalNormalization": (
        lambda t, m, v, b, g: raw.QuantizedBatchNormWithGlobalNormalization(
            t=t, t_min=-1.0, t_max=2.0, m=m, m_min=-1.0, m_max=1.0, v=v, v_min=0.0, v_max=1.0, beta=b, beta_min=0.0, beta_max=1.0,
            gamma=g, gamma_min=0.0, gamma_max=1.0, out_type=tf.qint32, variance_epsilon=0.01, scale_after_normalization=True,
        ),
        (IMAGE, *(unsigned(3) for _ in range(4))),
        4,
    ),
    "Requantize": (
        lambda x: raw.Requantize(input=x, **NEW, requested_output_min=-0.001, requested_output_max=0.002, out_type=tf.quint8),
        (wide(3, 4),),
        1,
    ),
    "Requantize to signed": (
        lambda x: raw.Requantize(input=x, **NEW, requested_output_min=-0.001, requested_output_max=0.001, out_type=tf.qint8),
        (wide(3, 4),),
        1,
    ),
    "RequantizePerChannel": (
        lambda x: raw.RequantizePerChannel(
            input=x, **CHANNEL_RANGES, requested_output_min=0.0, requested_output_max=1.2, out_type=tf.quint8
        ),
        (wide(2, 3, 3, 4),),
        1,
    ),
    "RequantizePerChannel to signed": (
        lambda x: raw.RequantizePerChannel(
            input=x, **CHANNEL_RANGES, requested_output_min=-1.2, requested_output_max=1.2, out_type=tf.qint8
        ),
        (wide(2, 3, 3, 4),),
        1,
    ),
    "QuantizeDownAndShrinkRange": (
        lambda x: raw.QuantizeDownAndShrinkRange(input=x, **NEW, out_type=tf.quint8), (wide(3, 4),), 1
    ),
    "QuantizeDownAndShrinkRange of positive numbers": (
        lambda x: raw.QuantizeDownAndShrinkRange(input=x, **NEW, out_type=tf.quint8), (np.abs(wide(3, 4)),), 1
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_on_ranges(name: str) -> None:
    function, operands, levels = OPERATIONS[name]
    inputs = {f"in_{index}": value for index, value in enumerate(operands)}
    check_levels(lambda **tensors: plain(function(*[quantized(each) for each in tensors.values()])), inputs, levels=levels)


def test_relu_to_a_limit() -> None:
    # TensorFlow has no kernel.
    expected = [np.clip(IMAGE, 26, 102), np.array(-1, np.float32), np.array(9, np.float32)]
    check_against(lambda x: plain(raw.QuantizedReluX(features=quantized(x), max_value=3.0, **RANGE)), {"x": IMAGE}, expected)


@pytest.mark.parametrize("positive", [False, True])
def test_ranges_of_numbers(positive: bool) -> None:
    x = wide(2, 3, 3, 4)
    inputs = {"x": np.abs(x) if positive else x}
    check(lambda x: plain(raw.RequantizationRange(input=quantized(x), **NEW)), inputs, forms=("static", "dynamic"), atol=1e-9)
    for limit in (9.0, 0.3):
        check(
            lambda x, limit=limit: plain(raw.RequantizationRangePerChannel(input=quantized(x), **CHANNEL_RANGES, clip_value_max=limit)),
            inputs,
            forms=("static", "dynamic"),
        )
