"""Graphs of a few nodes, each the smallest that showed a fault, against TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.tensorflow.conversion import Build, check

raw = tf.raw_ops
random = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return random.normal(size=shape).astype(np.float32)


IMAGE, VOLUME = floats(1, 3, 4, 2), floats(1, 4, 2, 5, 2)
PEEPHOLE = np.zeros(2, np.float32)
CELL = {
    "cs_prev": floats(2, 2),
    "h_prev": floats(2, 2),
    "w": floats(5, 8),
    "wci": PEEPHOLE,
    "wcf": PEEPHOLE,
    "wco": PEEPHOLE,
    "b": floats(8),
}

CASES: Mapping[str, tuple[Build, Mapping[str, np.ndarray[Any, Any]]]] = {
    "unique along the second axis": (
        lambda x: raw.UniqueWithCountsV2(x=x, axis=[1]),
        {"x": np.array([[1, 0, 1, 0, 0], [0, 0, 1, 1, 1]], np.int32)},
    ),
    "unique bytes": (lambda x: raw.UniqueWithCountsV2(x=x, axis=[0]), {"x": np.array([[1, 0], [0, 1], [1, 0], [1, 1]], np.int8)}),
    "no class in the top": (
        lambda x, i: raw.InTopKV2(predictions=x, targets=i, k=2),
        {"x": floats(3, 4), "i": np.array([-1, 4, 2], np.int32)},
    ),
    "lstm of no steps": (lambda x: raw.BlockLSTM(seq_len_max=np.int64(0), x=x, **CELL)[6], {"x": floats(4, 2, 3)}),
    "lstm of a part of the steps": (
        lambda steps, n: [raw.BlockLSTMV2(seq_len_max=n, x=steps, **CELL)[index] for index in (1, 6)],
        {"steps": floats(4, 2, 3), "n": np.array(3, np.int64)},
    ),
    "bicubic": (lambda x: raw.ResizeBicubic(images=x, size=[5, 7], half_pixel_centers=True), {"x": IMAGE}),
    "area": (lambda x: raw.ResizeArea(images=x, size=[2, 7]), {"x": IMAGE}),
    "area of a single pixel": (lambda x: raw.ResizeArea(images=x, size=[3, 3], align_corners=True), {"x": IMAGE[:, :1, :1]}),
    "patches of volumes": (
        lambda x: raw.ExtractVolumePatches(input=x, ksizes=[1, 1, 1, 3, 1], strides=[1, 3, 1, 3, 1], padding="VALID"),
        {"x": VOLUME},
    ),
    "patches beyond the stride": (
        lambda x: raw.ExtractVolumePatches(input=x, ksizes=[1, 1, 1, 2, 1], strides=[1, 3, 1, 4, 1], padding="SAME"),
        {"x": VOLUME},
    ),
    "complex numbers of parts of different shapes": (
        lambda x, y: tf.math.real(tf.complex(x, y) * 2j),
        {"x": floats(1, 3), "y": floats(2, 3)},
    ),
    "scaled bessel functions": (
        lambda x: [raw.BesselK0e(x=x), raw.BesselK1e(x=x)],
        {"x": np.array([-0.5, 0.0, 0.5, 3.0], np.float32)},
    ),
    "bits of long integers": (lambda x: raw.PopulationCount(x=x), {"x": np.array([0, 5, -1, -8, 123456], np.int64)}),
    "segments that begin with empty texts": (
        lambda x, i: raw.UnsortedSegmentJoin(inputs=x, segment_ids=i, num_segments=2, separator="-"),
        {"x": np.array(["", "a", "", "b"], object), "i": np.array([0, 0, 1, 0], np.int32)},
    ),
    "product along a computed axis": (lambda x, a: raw.Cumprod(x=x, axis=a), {"x": floats(2, 3, 2), "a": np.array(-2, np.int32)}),
    "transposed convolution of one group": (
        lambda x, w: raw.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[1, 4, 4, 1], filter=w, out_backprop=x, strides=[1, 2, 2, 1], padding="SAME"
        ),
        {"x": floats(1, 2, 2, 2), "w": floats(2, 2, 1, 2)},
    ),
    "unsigned rounding without limits": (
        lambda x: raw.QuantizeAndDequantizeV2(input=x, input_min=0.0, input_max=0.0, signed_input=False),
        {"x": np.array([-1.0, 0.5, 2.55], np.float32)},
    ),
    "narrow unsigned rounding": (
        lambda x: raw.QuantizeAndDequantizeV2(
            input=x, input_min=0.0, input_max=2.55, signed_input=False, narrow_range=True, range_given=True
        ),
        {"x": np.array([0.0, 0.004, 0.011, 2.0], np.float32)},
    ),
    "space to batch with computed padding": (
        lambda x, p: raw.SpaceToBatchND(input=x, block_shape=[2, 2], paddings=p),
        {"x": IMAGE, "p": np.array([[1, 0], [1, 1]], np.int32)},
    ),
    "a product of complex vectors": (
        lambda x, y: tf.abs(raw.BatchMatMulV3(x=tf.complex(x, y), y=tf.complex(y, x), Tout=tf.complex64, adj_y=True)),
        {"x": floats(2, 1, 3), "y": floats(2, 1, 3)},
    ),
}  # fmt: skip


KNOWN = ("p", "a", "w", "n", "steps")
"""Inputs whose shape is said in any case."""


@pytest.mark.parametrize("name", CASES)
def test_graph(name: str) -> None:
    function, inputs = CASES[name]
    check(function, inputs, forms=("static", "dynamic"), fixed=[each for each in inputs if each in KNOWN])


def test_random_numbers_without_dimensions() -> None:
    """The runtime would not write them."""
    shape = {"shape": np.zeros(0, np.int32)}
    check(lambda shape: raw.RandomUniform(shape=shape, dtype=tf.float32, seed=3) < 1.0, shape, forms=("static",))
