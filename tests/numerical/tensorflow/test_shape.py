"""Shapes of TensorFlow, and what changes nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import check

X = np.random.default_rng(5).normal(size=(2, 1, 3, 1)).astype(np.float32)


@pytest.mark.parametrize("kind", ["Identity", "PreventGradient", "Snapshot", "StopGradient", "GuaranteeConst"])
def test_identities(kind: str) -> None:
    check(lambda x: getattr(tf.raw_ops, kind)(input=x) * 2, {"x": X}, operations=1)


def test_further_identities() -> None:
    def function(x: tf.Tensor) -> list[tf.Tensor]:
        shaped = tf.raw_ops.EnsureShape(input=x, shape=[None, 1, 3, 1])
        return [
            shaped * 2,
            tf.raw_ops.CheckNumerics(tensor=x, message="") + 1,
            *(each - 1 for each in tf.raw_ops.IdentityN(input=[x, shaped])),
        ]

    check(function, {"x": X}, operations=4)


def test_default_of_a_placeholder() -> None:
    check(lambda x: x + tf.raw_ops.PlaceholderWithDefault(input=np.float32(3), shape=[]), {"x": X}, operations=1)


@pytest.mark.parametrize("element", [tf.int32, tf.int64])
def test_shapes(element: tf.DType) -> None:
    def function(x: tf.Tensor) -> list[tf.Tensor]:
        pair = tf.raw_ops.ShapeN(input=[x, x[0]], out_type=element)
        return [tf.raw_ops.Shape(input=x, out_type=element), tf.raw_ops.Size(input=x, out_type=element), tf.raw_ops.Rank(input=x), *pair]

    check(function, {"x": X})


def test_shape_of_a_scalar() -> None:
    check(lambda x: [tf.raw_ops.Shape(input=x), tf.raw_ops.Size(input=x), tf.raw_ops.Rank(input=x)], {"x": np.float32(1)})


def test_shapes_of_complex_numbers() -> None:
    def function(x: tf.Tensor) -> list[tf.Tensor]:
        number = tf.complex(x, -x)
        changed = [tf.reshape(number, [3, -1]), tf.squeeze(number, [1, -1]), tf.expand_dims(number, -1), tf.expand_dims(number, 1)]
        shapes = [tf.raw_ops.Shape(input=number), tf.raw_ops.Size(input=number), tf.raw_ops.Rank(input=number)]
        return [*shapes, *(part(each) for each in changed for part in (tf.math.real, tf.math.imag))]

    check(function, {"x": X}, forms=("static", "dynamic"))


@pytest.mark.parametrize("target", [[3, 2], [-1], [1, 2, -1, 3], [6, 1, -1]], ids=str)
def test_reshape(target: list[int]) -> None:
    check(lambda x: tf.raw_ops.Reshape(tensor=x, shape=target), {"x": X}, operations=1)


def test_reshape_to_a_computed_shape() -> None:
    check(lambda x, shape: tf.raw_ops.Reshape(tensor=x, shape=shape), {"x": X, "shape": np.array([-1, 3], np.int64)}, fixed=("shape",))
    check(lambda x: tf.reshape(x, [tf.shape(x)[0], tf.shape(x)[2], -1]), {"x": X})
    check(lambda x: tf.reshape(x, tf.shape(x)), {"x": X}, forms=("static",), operations=0)


@pytest.mark.parametrize("axes", [[], [1], [-1], [1, 3]], ids=str)
def test_squeeze(axes: list[int]) -> None:
    # Which dimensions go without axes must be known for the runtime to know the rank.
    forms = ("static", "dynamic", "rank") if axes else ("static",)
    check(lambda x: tf.raw_ops.Squeeze(input=x, axis=axes), {"x": X}, forms=forms, operations=1)


@pytest.mark.parametrize("axis", [0, 2, -1, -3])
def test_expansion(axis: int) -> None:
    check(lambda x: tf.raw_ops.ExpandDims(input=x, axis=axis), {"x": X}, operations=1)
    check(lambda x, axis: tf.raw_ops.ExpandDims(input=x, axis=axis), {"x": X, "axis": np.int32(axis)})


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_broadcast(dtype: type) -> None:
    x = np.array([[1], [0]]).astype(dtype)
    check(lambda x: tf.raw_ops.BroadcastTo(input=x, shape=[3, 2, 4]), {"x": x}, operations=1)
    check(lambda x, shape: tf.raw_ops.BroadcastTo(input=x, shape=shape), {"x": x, "shape": np.array([2, 4], np.int64)}, fixed=("shape",))


def test_a_scalar_that_is_broadcast_to_one() -> None:
    check(lambda x: tf.raw_ops.BroadcastTo(input=x, shape=tf.zeros(0, tf.int32)), {"x": X[0, 0, 0, 0]})


@pytest.mark.parametrize(("a", "b"), [([2, 1, 3], [4, 1]), ([3], [3]), ([1, 0], [2, 5, 1]), ([], [2])], ids=str)
def test_shapes_broadcast(a: list[int], b: list[int]) -> None:
    check(lambda a, b: tf.raw_ops.BroadcastArgs(s0=a, s1=b), {"a": np.array(a, np.int32), "b": np.array(b, np.int32)})


def test_a_shape_of_unknown_length_is_refused() -> None:
    inputs = {"x": np.zeros((2, 3), np.float32), "s": np.array([3, 2])}
    with pytest.raises(ConversionError, match="dynamic number of entries"):
        check(lambda x, s: tf.raw_ops.Reshape(tensor=x, shape=s), inputs, forms=("dynamic",))
    check(lambda x, s: tf.raw_ops.Reshape(tensor=x, shape=s), inputs, forms=("dynamic",), fixed=["s"])


def test_broadcasting_to_a_shape_of_unknown_length_is_refused() -> None:
    inputs = {"x": np.zeros(1, np.float32), "s": np.array([2, 3])}
    with pytest.raises(ConversionError, match="dynamic number of entries"):
        check(lambda x, s: tf.raw_ops.BroadcastTo(input=x, shape=s), inputs, forms=("dynamic",))


def test_a_squeeze_of_unknown_dimensions_is_refused() -> None:
    inputs = {"x": np.zeros((2, 1, 3), np.float32)}
    with pytest.raises(ConversionError, match="which dimensions are 1 is unknown"):
        check(lambda x: tf.raw_ops.Squeeze(input=x), inputs, forms=("dynamic",))
    check(lambda x: tf.raw_ops.Squeeze(input=x), inputs, forms=("static",))


@pytest.mark.parametrize(("kind", "operand"), [("Copy", "input"), ("CopyHost", "input"), ("DeepCopy", "x")])
def test_copies(kind: str, operand: str) -> None:
    check(lambda x: getattr(tf.raw_ops, kind)(**{operand: x}) * 2, {"x": X}, operations=1)
