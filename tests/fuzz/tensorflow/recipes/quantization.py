"""Quantization of TensorFlow, drawn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, recipe

QUANTIZED = {np.dtype(np.uint8): tf.quint8, np.dtype(np.int8): tf.qint8}


@recipe("FakeQuantWithMinMaxVars", NO_TYPE)
def fake_quantization(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    bits = draw.integer(2, 8)
    step = 2.0 ** draw.integer(-4, 0)
    low = -draw.integer(0, 2**bits - 1) * step
    data = draw.random.integers(-(2 ** (bits + 2)), 2 ** (bits + 2), tuple(draw.shape())) * step / 4
    limits = {"min": np.array(low, np.float32), "max": np.array(low + (2**bits - 1) * step, np.float32)}
    return Node({"inputs": np.asarray(data, np.float32), **limits}, {"num_bits": bits}, ("min", "max"))


@recipe("FakeQuantWithMinMaxArgs", NO_TYPE)
def fake_quantization_of_attributes(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = fake_quantization(draw, dtype)
    limits = {name: float(np.asarray(node.operands[name])) for name in ("min", "max")}
    return Node({"inputs": node.operands["inputs"]}, {**node.attributes, **limits})


@recipe("FakeQuantWithMinMaxVarsPerChannel", NO_TYPE)
def fake_quantization_of_channels(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = fake_quantization(draw, dtype)
    data = np.asarray(node.operands["inputs"])
    if not data.ndim:
        data = data.reshape(1)
    limits = {name: np.repeat(np.asarray(node.operands[name]), data.shape[-1]) for name in ("min", "max")}
    return Node({"inputs": data, **limits}, node.attributes, node.structural)


def levels(draw: Draw, dtype: np.dtype[Any], shape: list[int], step: float = 0.25) -> Array:
    """Numbers that lie between quantized ones, away from the middle between two."""
    return (np.asarray(draw.random.integers(-40, 41, shape)) * step + step * 0.3).astype(dtype)


@recipe("QuantizeAndDequantizeV2 QuantizeAndDequantizeV4")
def there_and_back(draw: Draw, dtype: np.dtype[Any]) -> Node:
    limits = {"input_min": np.array(-8, dtype), "input_max": np.array(7.9375, dtype)}
    attributes = {
        "signed_input": draw.chance(0.6),
        "num_bits": draw.one_of((8, 8, 4)),
        "range_given": draw.chance(0.6),
        "narrow_range": draw.chance(0.3),
        "round_mode": draw.one_of(("HALF_TO_EVEN", "HALF_UP")),
    }
    return Node({"input": levels(draw, dtype, draw.filled()), **limits}, attributes, ("input_min", "input_max"))


@recipe("QuantizeAndDequantizeV3")
def there_and_back_to_bits(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = there_and_back(draw, dtype)
    operands = {**node.operands, "num_bits": np.array(node.attributes["num_bits"], np.int32)}
    attributes = {name: node.attributes[name] for name in ("signed_input", "range_given", "narrow_range")}
    return Node(operands, attributes, (*node.structural, "num_bits"))


@recipe("QuantizeV2", NO_TYPE)
def quantization(draw: Draw, dtype: np.dtype[Any]) -> Node:
    target, stored = draw.one_of(((tf.quint8, tf.uint8), (tf.qint8, tf.int8)))
    limits = {"min_range": np.array(-8.0, np.float32), "max_range": np.array(7.9375, np.float32)}
    mode = draw.one_of(("MIN_COMBINED", "MIN_FIRST", "SCALED"))

    def function(**operands: Any) -> Any:
        # Half to even is computed by oneDNN in TensorFlow, with another step.
        result, low, high = tf.raw_ops.QuantizeV2(**operands, T=target, mode=mode, round_mode="HALF_AWAY_FROM_ZERO")
        return [tf.bitcast(result, stored), low, high]

    data = levels(draw, dtype, draw.filled())
    if mode == "MIN_FIRST":
        # TensorFlow wraps numbers around that are beyond the limits, unless it computes several of them at once.
        data = np.clip(data, *limits.values())
    return Node({"input": data, **limits}, {}, ("min_range", "max_range"), None, function)


@recipe("Dequantize", NO_TYPE)
def dequantization(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    stored = np.dtype(draw.one_of((np.uint8, np.int8)))
    limits = {"min_range": np.array(-8.0, np.float32), "max_range": np.array(7.9375, np.float32)}
    mode = draw.one_of(("MIN_COMBINED", "MIN_FIRST", "SCALED"))

    def function(input: Any, **limits: Any) -> Any:
        return tf.raw_ops.Dequantize(input=tf.bitcast(input, QUANTIZED[stored]), **limits, mode=mode)

    return Node({"input": draw.array(stored, draw.filled()), **limits}, {}, ("min_range", "max_range"), None, function)


def of_integers(kind: str, names: tuple[str, ...], operands: dict[str, Array], ranges: dict[str, float], **attributes: Any) -> Node:
    """A node on integers of 8 bits with ranges, whose results are compared as plain integers."""

    def function(**tensors: Any) -> Any:
        given = {name: tf.bitcast(value, tf.quint8) if name in names else value for name, value in tensors.items()}
        result, *limits = getattr(tf.raw_ops, kind)(**given, **attributes)
        return [tf.bitcast(result, tf.int32 if result.dtype == tf.qint32 else tf.uint8), *limits]

    limits = {name: np.array(number, np.float32) for name, number in ranges.items()}
    return Node({**operands, **limits}, {}, tuple(limits), None, function)


BYTES = np.dtype(np.uint8)


@recipe("QuantizedMatMul", NO_TYPE)
def quantized_product(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    rows, depth, columns = draw.integers(3, 1, 6)
    flags = {"transpose_a": draw.chance(0.3), "transpose_b": draw.chance(0.3)}
    a = draw.array(BYTES, [depth, rows] if flags["transpose_a"] else [rows, depth])
    b = draw.array(BYTES, [columns, depth] if flags["transpose_b"] else [depth, columns])
    ranges = {"min_a": -float(draw.integer(0, 3)), "max_a": 4.0, "min_b": -float(draw.integer(0, 3)), "max_b": 2.0}
    return of_integers("QuantizedMatMul", ("a", "b"), {"a": a, "b": b}, ranges, **flags)


@recipe("QuantizedMul", NO_TYPE)
def quantized_multiplication(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    shape = draw.filled(1, 4)
    ranges = {"min_x": -float(draw.integer(0, 3)), "max_x": 4.0, "min_y": -float(draw.integer(0, 3)), "max_y": 2.0}
    operands = {"x": draw.array(BYTES, shape), "y": draw.array(BYTES, shape[-1:])}
    return of_integers("QuantizedMul", ("x", "y"), operands, ranges)


def quantized_activation(draw: Draw, dtype: np.dtype[Any], kind: str) -> Node:
    del dtype
    ranges = {"min_features": -float(draw.integer(0, 3)), "max_features": float(draw.integer(1, 9))}
    return of_integers(kind, ("features",), {"features": draw.array(BYTES, draw.filled())}, ranges)


for activation in ("QuantizedRelu", "QuantizedRelu6"):
    recipe(activation, NO_TYPE)(partial(quantized_activation, kind=activation))


@recipe("QuantizedMaxPool", NO_TYPE)
def quantized_pool(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    sizes = [1, *draw.integers(2, 1, 3), 1]
    images = draw.array(BYTES, [draw.integer(1, 2), *draw.integers(2, 3, 8), draw.integer(1, 3)])
    attributes = {"ksize": sizes, "strides": [1, *draw.integers(2, 1, 2), 1], "padding": draw.one_of(("SAME", "VALID"))}
    return of_integers("QuantizedMaxPool", ("input",), {"input": images}, {"min_input": -1.0, "max_input": 4.0}, **attributes)


SIGNED = np.dtype(np.int8)
LIMITS = {"quantization_min_val": -128, "quantization_max_val": 127}


def scales(draw: Draw, count: int | None) -> dict[str, Array]:
    """A scale and a zero point, or lists of them; powers of two, so that no quotient is rounded."""
    shape = () if count is None else (count,)
    exponents, zeros = draw.random.integers(-3, 3, shape), draw.random.integers(-20, 20, shape)
    return {"scales": np.asarray(2.0**exponents, np.float32), "zero_points": np.asarray(zeros, np.int32)}


@recipe("UniformQuantize", NO_TYPE)
def uniform_quantization(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 4)
    axis = draw.integer(0, len(shape) - 1) if draw.chance(0.5) else -1
    operands = scales(draw, None if axis < 0 else shape[axis])

    def function(**tensors: Any) -> Any:
        return tf.bitcast(tf.raw_ops.UniformQuantize(**tensors, Tout=tf.qint8, quantization_axis=axis, **LIMITS), tf.int8)

    return Node({"input": levels(draw, dtype, shape), **operands}, {}, tuple(operands), None, function)


@recipe("UniformDequantize", NO_TYPE)
def uniform_dequantization(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    shape = draw.filled(1, 4)
    axis = draw.integer(0, len(shape) - 1) if draw.chance(0.5) else -1
    operands = scales(draw, None if axis < 0 else shape[axis])

    def function(input: Any, **tensors: Any) -> Any:
        given = {"Tout": tf.float32, "quantization_axis": axis, **LIMITS}
        return tf.raw_ops.UniformDequantize(input=tf.bitcast(input, tf.qint8), **tensors, **given)

    return Node({"input": draw.array(SIGNED, shape), **operands}, {}, tuple(operands), None, function)
