"""Elementwise arithmetic of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import check

GENERATOR = np.random.default_rng(3)
A = GENERATOR.normal(0, 2, (2, 3, 4)).astype(np.float32)
B = (GENERATOR.uniform(0.5, 3, (3, 1)) * [[1], [-1], [1]]).astype(np.float32)
POSITIVE = np.abs(A) + np.float32(0.1)
INTEGERS = np.array([[-7, -6, -1, 0, 1], [5, 6, 7, 8, 9]])
DIVISORS = np.array([2, -4, 3, 5, -2])


def both(kinds: str) -> Any:
    return lambda a, b: [getattr(tf.raw_ops, kind)(x=a, y=b) for kind in kinds.split()]


RENAMED = "Add AddV2 Sub Mul Maximum Minimum RealDiv SquaredDifference FloorMod Mod TruncateMod"


def test_floats() -> None:
    check(both(RENAMED), {"a": A, "b": B})
    check(both(RENAMED), {"a": B, "b": A}, forms=("static",), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", ["AddV2", "Sub", "Mul", "RealDiv", "FloorMod", "Maximum"])
def test_is_one_operation(kind: str) -> None:
    check(both(kind), {"a": A, "b": B}, forms=("static",), operations=1)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats(dtype: type) -> None:
    kinds = "AddV2 Sub Mul Maximum Minimum RealDiv SquaredDifference Div FloorDiv"
    check(both(kinds), {"a": A.astype(dtype), "b": B.astype(dtype)}, forms=("static",), rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_signed_integers(dtype: type) -> None:
    kinds = "AddV2 Sub Mul Maximum Minimum FloorMod FloorDiv Div TruncateDiv BitwiseAnd BitwiseOr BitwiseXor"
    more = " SquaredDifference Mod TruncateMod" if dtype in (np.int32, np.int64) else ""
    check(both(kinds + more), {"a": INTEGERS.astype(dtype), "b": DIVISORS.astype(dtype)}, forms=("static", "rank"))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_unsigned_integers(dtype: type) -> None:
    kinds = "AddV2 Sub Mul Maximum Minimum FloorDiv FloorMod Div BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift"
    check(both(kinds), {"a": (INTEGERS + 20).astype(dtype), "b": np.array([2, 4, 3, 5, 1], dtype)}, forms=("static",))


def test_shifts_of_signed_integers() -> None:
    check(both("LeftShift RightShift"), {"a": INTEGERS.astype(np.int32), "b": np.array([0, 1, 2, 3, 4], np.int32)})


def test_powers() -> None:
    check(both("Pow"), {"a": POSITIVE, "b": A[0]}, operations=1, rtol=1e-3)
    check(lambda a: [tf.pow(a, 2.0), tf.pow(a, 3.0)], {"a": A}, forms=("static",), rtol=1e-3)
    check(both("Pow"), {"a": INTEGERS.astype(np.int32), "b": np.array([0, 1, 2, 3, 2], np.int32)}, forms=("static",))


def test_floored_quotients() -> None:
    check(both("FloorDiv"), {"a": A, "b": B}, operations=10)
    check(both("FloorDiv"), {"a": INTEGERS.astype(np.int32), "b": DIVISORS.astype(np.int32)}, operations=3)


def test_floored_quotient_of_a_size_is_one_operation() -> None:
    check(lambda a: tf.shape(a)[1] // 2, {"a": A}, forms=("dynamic",))
    check(lambda a: tf.raw_ops.FloorDiv(x=a, y=np.array(3, np.uint8)), {"a": np.array([7, 9], np.uint8)}, forms=("static",), operations=3)


def test_truncated_quotients() -> None:
    a, b = np.array([-7, -7, 7, 8], np.float32), np.array([2, -2, -2, 4], np.float32)
    quotients = np.array([-3, 3, -3, 2], np.float32)
    check(lambda a, b: tf.identity(tf.raw_ops.TruncateDiv(x=a, y=b)), {"a": a, "b": b}, expected=[quotients])


ZEROS = np.array([0, 0, 1, 2, -3], np.float32)
OTHERS = np.array([0, 5, 0, 4, 2], np.float32)


@pytest.mark.parametrize(("kind", "operations"), [("DivNoNan", 3), ("MulNoNan", 3), ("Xdivy", 3), ("Xlogy", 4), ("Xlog1py", 5)])
def test_zero_where_an_operand_is_zero(kind: str, operations: int) -> None:
    check(both(kind), {"a": ZEROS, "b": OTHERS}, operations=operations)
    check(both(kind), {"a": A.astype(np.float64), "b": POSITIVE[0].astype(np.float64)}, forms=("static",))


def test_not_a_number_where_the_factor_is_zero() -> None:
    check(both("MulNoNan"), {"a": np.array([np.nan, np.inf, 2], np.float32), "b": np.array([0, 0, 3], np.float32)})


@pytest.mark.parametrize("kind", ["FloorDiv", "TruncateDiv"])
def test_quotients_that_are_whole_numbers(kind: str) -> None:
    """The runtime divides by multiplying with reciprocals."""
    b = np.arange(1, 200, dtype=np.float32)
    a = b * np.array([[1], [-3], [7], [0], [0.5]], np.float32)
    special = np.array([0, np.inf, -np.inf, 5], np.float32)
    check(lambda a, b: getattr(tf.raw_ops, kind)(x=a, y=b), {"a": a, "b": b})
    check(lambda a: getattr(tf.raw_ops, kind)(x=a, y=b), {"a": a})
    check(lambda a, b: getattr(tf.raw_ops, kind)(x=a, y=b), {"a": special[:, None], "b": special})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_angles(dtype: type) -> None:
    y, x = (each.ravel() for each in np.meshgrid([-np.inf, -2, -1e-3, -0.0, 0, 0.5, 3], [-1.5, -1e-3, -0.0, 0, 2e-3, 4]))
    check(lambda y, x: tf.raw_ops.Atan2(y=y, x=x), {"y": y.astype(dtype), "x": x.astype(dtype)}, operations=16)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_sums_of_several(count: int) -> None:
    inputs = {f"x{index}": A * (index + 1) for index in range(count)}
    check(lambda **x: tf.raw_ops.AddN(inputs=list(x.values())), inputs, operations=count - 1)
    check(lambda **x: tf.raw_ops.AccumulateNV2(inputs=list(x.values()), shape=A.shape), inputs, forms=("static",))


@pytest.mark.parametrize("rank", [2, 3, 4, 5])
@pytest.mark.parametrize("constant", [False, True])
def test_bias(rank: int, constant: bool) -> None:
    x = GENERATOR.normal(size=(2, 3, 2, 4, 3)[:rank]).astype(np.float32)
    last, first = (np.arange(1, size + 1, dtype=np.float32) for size in (x.shape[-1], x.shape[1]))

    def function(x: tf.Tensor, last: Any = last, first: Any = first) -> list[tf.Tensor]:
        results = [tf.raw_ops.BiasAdd(value=x, bias=last), tf.raw_ops.BiasAddV1(value=x, bias=last)]
        return results if rank == 2 else [*results, tf.raw_ops.BiasAdd(value=x, bias=first, data_format="NCHW")]

    check(function, {"x": x} if constant else {"x": x, "last": last, "first": first} if rank > 2 else {"x": x, "last": last})


def test_clip() -> None:
    check(lambda x: tf.raw_ops.ClipByValue(t=x, clip_value_min=-1.0, clip_value_max=1.5), {"x": A}, operations=1)
    limits = {"low": np.float32(-1), "high": np.float32(0.5)}
    check(lambda x, low, high: tf.raw_ops.ClipByValue(t=x, clip_value_min=low, clip_value_max=high), {"x": A, **limits})
    check(lambda x: tf.raw_ops.ClipByValue(t=x, clip_value_min=-2, clip_value_max=6), {"x": INTEGERS.astype(np.int32)}, forms=("static",))


def test_products_of_complex_numbers() -> None:
    def function(a: tf.Tensor, b: tf.Tensor) -> list[tf.Tensor]:
        product = tf.complex(a, b) * tf.complex(b[0], a[0])
        return [tf.math.real(product), tf.math.imag(product)]

    check(function, {"a": A, "b": A[::-1].copy()}, forms=("static", "dynamic"))


def test_strings_are_refused() -> None:
    with pytest.raises(ConversionError, match="strings"):
        check(lambda x: tf.strings.length(tf.raw_ops.Add(x=x, y="b")), {"x": np.array(["a"], object)}, forms=("static",))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_integers_of_8_bits_wrap(dtype: type) -> None:
    info = np.iinfo(dtype)
    a = np.array([info.min, info.max, 100, 7, 90], dtype)
    b = np.array([info.max, 3, 100, 2, info.max], dtype)
    check(lambda a, b: [a + b, a - b, a * b, a // b, a * a, tf.raw_ops.AddN(inputs=[a, b, b])], {"a": a, "b": b})
