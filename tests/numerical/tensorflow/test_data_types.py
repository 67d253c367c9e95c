"""Conversions of the element type of TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import check

TYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64"
SOURCES = {
    "float32": np.array([[-1.7, -0.3, 0, 0.4, 1.9, 100.6]], np.float32),
    "float64": np.array([0.3, 1.9, 100.6]),
    "float16": np.array([0.3, 1.9, 100.6], np.float16),
    "int32": np.array([-129, -1, 0, 1, 127, 300], np.int32),
    "int64": np.array([-129, -1, 0, 1, 127, 300], np.int64),
    "uint8": np.array([0, 1, 127, 200], np.uint8),
    "bool": np.array([True, False]),
}


@pytest.mark.parametrize("source", SOURCES)
def test_casts(source: str) -> None:
    x = SOURCES[source]
    # What becomes of negative floats in unsigned integers is not defined.
    targets = [target for target in TYPES.split() if not (source == "float32" and target.startswith("u"))]

    def function(x: tf.Tensor) -> list[tf.Tensor]:
        results = [tf.raw_ops.Cast(x=x, DstT=target) for target in targets if target != "bfloat16"]
        return [*results, tf.cast(tf.raw_ops.Cast(x=x, DstT="bfloat16"), tf.float32)]

    check(function, {"x": x}, rtol=1e-2, forms=("static", "rank") if source == "float32" else ("static",))


def test_cast_to_its_own_type_is_left_out() -> None:
    check(lambda x: tf.raw_ops.Cast(x=x, DstT=tf.float32), {"x": SOURCES["float32"]}, operations=0)


def test_casts_of_complex_numbers() -> None:
    def function(x: tf.Tensor) -> list[tf.Tensor]:
        number = tf.cast(x, tf.complex64)
        return [tf.math.real(number), tf.math.imag(number), tf.cast(number, tf.float64), tf.math.real(tf.cast(number, tf.complex128))]

    check(function, {"x": SOURCES["float32"]}, forms=("static", "dynamic"))


@pytest.mark.parametrize(("dtype", "target"), [(np.int32, tf.uint32), (np.uint8, tf.int8), (np.int64, tf.uint64), (np.float32, tf.float32)])
def test_same_bits_of_integers(dtype: type, target: tf.DType) -> None:
    x = np.array([0, 1, 127, -3 if np.dtype(dtype).kind == "i" else 200]).astype(dtype)
    check(lambda x: tf.raw_ops.Bitcast(input=x, type=target), {"x": x}, operations=1)


@pytest.mark.parametrize("target", [tf.int32, tf.uint8, tf.int64])
def test_bits_of_constants(target: tf.DType) -> None:
    # As one number the two must fit into 32 bits, which are all the runtime computes with.
    constant = np.array([[1.5, 0 if target == tf.int64 else -2.25]], np.float32)

    def function(x: tf.Tensor) -> tf.Tensor:
        bits = tf.raw_ops.Bitcast(input=tf.constant(constant), type=target)
        return tf.cast(x, target) + (bits if target != tf.uint8 else bits[..., :1, 0])

    check(function, {"x": np.array([[1.0]], np.float32)}, forms=("static",))


def test_bits_of_computed_values_are_refused() -> None:
    with pytest.raises(ConversionError, match="bits"):
        check(lambda x: tf.raw_ops.Bitcast(input=x, type=tf.int32), {"x": SOURCES["float32"]}, forms=("static",))
