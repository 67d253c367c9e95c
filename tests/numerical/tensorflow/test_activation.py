"""Activation functions of TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.tensorflow.conversion import check

X = np.random.default_rng(1).normal(0, 3, (2, 3, 4)).astype(np.float32)

KINDS = {
    "Elu": {},
    "LeakyRelu": {"alpha": 0.3},
    "LogSoftmax": {},
    "Relu": {},
    "Relu6": {},
    "Selu": {},
    "Softmax": {},
    "Softplus": {},
    "Softsign": {},
}


@pytest.mark.parametrize("kind", KINDS)
def test_is_one_operation(kind: str) -> None:
    operand = "logits" if kind.endswith("oftmax") else "features"
    check(lambda x: getattr(tf.raw_ops, kind)(**{operand: x}, **KINDS[kind]), {"x": X}, operations=1)


def test_sigmoid() -> None:
    check(lambda x: tf.raw_ops.Sigmoid(x=x), {"x": X}, operations=1)


def test_default_slope() -> None:
    check(lambda x: tf.raw_ops.LeakyRelu(features=x), {"x": X}, forms=("static",))


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats(dtype: type) -> None:
    def function(x: tf.Tensor) -> list[tf.Tensor]:
        kinds = [kind for kind in KINDS if not kind.endswith("oftmax")]
        return [*(getattr(tf.raw_ops, kind)(features=x) for kind in kinds), tf.raw_ops.Softmax(logits=x), tf.raw_ops.Sigmoid(x=x)]

    tolerance = 5e-3 if dtype is np.float16 else 1e-4
    check(function, {"x": X.astype(dtype)}, forms=("static", "rank"), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_integers(dtype: type) -> None:
    values = np.array([[0, 3, 6, 7, 100]]).astype(dtype)
    signed = values - 5 if np.dtype(dtype).kind == "i" else values
    check(lambda x: [tf.raw_ops.Relu(features=x), tf.raw_ops.Relu6(features=x)], {"x": signed.astype(dtype)}, forms=("static",))


def test_swish_of_keras() -> None:
    check(lambda x: tf.nn.swish(x), {"x": X}, operations=1)


def test_mish_of_softplus() -> None:
    check(lambda x: x * tf.math.tanh(tf.math.softplus(x)), {"x": X}, operations=1)


def test_cross_entropy() -> None:
    x = np.random.default_rng(3).normal(size=(4, 5)).astype(np.float32)
    labels = np.eye(5, dtype=np.float32)[[1, 0, 4, 2]] * 0.7 + 0.06
    check(lambda x, labels: tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=labels), {"x": x, "labels": labels})
    numbers = np.array([1, 0, 4, 2], np.int32)
    inputs = {"x": x, "labels": numbers}
    check(lambda x, labels: tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=labels), inputs, forms=("static", "dynamic"))
