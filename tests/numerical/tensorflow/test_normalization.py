"""Normalization of TensorFlow against TensorFlow itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check
from tests.numerical.tensorflow.internal_nodes import internal_node

raw = tf.raw_ops


def normal(*shape: int, kind: str = "float32") -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(kind)


def vectors(size: int) -> dict[str, Array]:
    rng = np.random.default_rng(size)
    scale, offset, mean, variance = rng.random((4, size)).astype(np.float32)
    return {"scale": scale, "offset": offset, "mean": mean, "variance": variance}


@pytest.mark.parametrize("version", ["", "V2", "V3"])
def test_batch_normalization(version: str) -> None:
    kind = getattr(raw, f"FusedBatchNorm{version}")
    check(
        lambda x: kind(x=x, **vectors(4), epsilon=0.01, is_training=False)[:3],
        {"x": normal(2, 3, 5, 4)},
        operations=2,
    )


def test_batch_normalization_by_computed_statistics() -> None:
    check(lambda x, **operands: raw.FusedBatchNormV3(x=x, **operands, is_training=False)[0], {"x": normal(2, 3, 5, 4), **vectors(4)})


def test_batch_normalization_of_half_precision() -> None:
    check(
        lambda x: raw.FusedBatchNormV3(x=x, **vectors(4), is_training=False)[0],
        {"x": normal(2, 3, 5, 4, kind="float16")},
        rtol=1e-2,
        atol=1e-2,
        operations=2,
    )


def test_channel_first_batch_normalization() -> None:
    """TensorFlow has no kernel for it on CPUs."""
    image, operands = normal(2, 4, 3, 5), vectors(4)
    scale, offset, mean, variance = (value[:, None, None] for value in operands.values())
    expected = (image - mean) / np.sqrt(variance + 0.0001) * scale + offset
    check(
        lambda x: raw.FusedBatchNormV3(x=x, **operands, is_training=False, data_format="NCHW")[0],
        {"x": image},
        expected=[expected],
        operations=2,
    )


@pytest.mark.parametrize("factor", [1.0, 0.25])
def test_batch_normalization_by_statistics_of_the_batch(factor: float) -> None:
    operands = vectors(4)
    attributes: dict[str, Any] = {"epsilon": 0.01, "is_training": True, "exponential_avg_factor": factor}
    check(lambda x: raw.FusedBatchNormV3(x=x, **operands, **attributes)[:3], {"x": normal(2, 3, 5, 4)})
    check(lambda x: raw.FusedBatchNormV3(x=x, **operands, **attributes)[0], {"x": normal(2, 3, 5, 4)}, operations=3)


@pytest.mark.parametrize(("side", "activation"), [(False, "Relu"), (True, "Relu"), (True, "Identity")])
def test_batch_normalization_with_fused_operations(side: bool, activation: str) -> None:
    """TensorFlow has no kernel for it on CPUs."""
    image, other, operands = normal(2, 3, 5, 4), normal(2, 3, 5, 4)[::-1].copy(), vectors(4)
    expected = (image - operands["mean"]) / np.sqrt(operands["variance"] + 0.01) * operands["scale"] + operands["offset"]
    expected = expected + other if side else expected
    sides = [other] if side else []
    check(
        lambda x: internal_node(
            "_FusedBatchNormEx",
            x,
            *operands.values(),
            *sides,
            T=tf.float32,
            U=tf.float32,
            epsilon=0.01,
            num_side_inputs=len(sides),
            activation_mode=activation,
            is_training=False,
        ),
        {"x": image},
        expected=[np.maximum(expected, 0) if activation == "Relu" else expected],
        operations=2 + side + (activation == "Relu"),
    )


@pytest.mark.parametrize(("radius", "bias", "alpha", "beta"), [(5, 1.0, 1.0, 0.5), (2, 2.0, 0.3, 0.75), (1, 0.5, 2.0, 0.5)])
def test_local_response_normalization(radius: int, bias: float, alpha: float, beta: float) -> None:
    check(
        lambda x: raw.LRN(input=x, depth_radius=radius, bias=bias, alpha=alpha, beta=beta),
        {"x": normal(2, 3, 4, 9)},
        operations=3 if bias >= 1 else 4,
        # The CPU plugin has no implementation for this window and exponent if the number of channels is unknown.
        forms=("static",) if (radius, beta) == (2, 0.75) else ("static", "dynamic", "rank"),
    )
