"""Dilated convolutions as TensorFlow's older versions compute them, fused, against TensorFlow itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.runtime import Array, compare
from tests.numerical.tensorflow.conversion import LOWERING_ALONE, build, convert_graph, expected_results, ordered_results

raw = tf.raw_ops

PASSES = f"{LOWERING_ALONE},fold-constants,fuse-dilated-convolution,eliminate-dead"


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


IMAGE = normal(2, 10, 12, 3)
LINES = normal(2, 12, 3)


def image_parts(inner: str, pads: list[list[int]], crops: list[list[int]], block: tuple[int, int] = (2, 3)) -> Callable[..., tf.Tensor]:
    filters = normal(3, 3, 3, 4)

    def function(x: tf.Tensor) -> tf.Tensor:
        parts = raw.SpaceToBatchND(input=x, block_shape=block, paddings=pads)
        result = raw.Conv2D(input=parts, filter=filters, strides=[1, 1, 1, 1], padding=inner)
        return raw.BatchToSpaceND(input=result, block_shape=block, crops=crops)

    return function


def depthwise(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.depthwise_conv2d(x, normal(3, 3, 3, 2), [1, 1, 1, 1], "SAME", dilations=[2, 2])


def lines(x: tf.Tensor) -> tf.Tensor:
    parts = raw.SpaceToBatchND(input=x, block_shape=[2], paddings=[[4, 0]])
    result = raw.Conv2D(input=tf.expand_dims(parts, 1), filter=normal(1, 3, 3, 4), strides=[1, 1, 1, 1], padding="VALID")
    return raw.BatchToSpaceND(input=tf.squeeze(result, [1]), block_shape=[2], crops=[[0, 0]])


FUSED = {
    "no pads": (image_parts("VALID", [[0, 0], [0, 0]], [[0, 0], [0, 0]]), IMAGE),
    "pads": (image_parts("VALID", [[2, 2], [3, 3]], [[0, 0], [0, 0]]), IMAGE),
    "pads and crops": (image_parts("VALID", [[2, 4], [4, 5]], [[0, 1], [3, 2]]), IMAGE),
    "pads of the parts": (image_parts("SAME", [[0, 0], [1, 2]], [[1, 0], [0, 2]]), IMAGE),
    "depthwise": (depthwise, IMAGE),
    "lines": (lines, LINES),
}


@pytest.mark.parametrize("name", FUSED)
def test_dilated_convolution(name: str, tmp_path: Path) -> None:
    function, data = FUSED[name]
    graph, names = build(function, {"x": data})
    converted = convert_graph(graph, tmp_path, PASSES)
    compare(ordered_results(converted, names, {"x": data}), expected_results(graph, names, {"x": data}), 1e-4, 1e-4)
    kinds = {op.get_type_name() for op in converted.get_ordered_ops()}
    assert not kinds & {"SpaceToBatch", "BatchToSpace"}


def test_crops_that_exceed_the_pads_are_kept(tmp_path: Path) -> None:
    """They would be negative pads."""
    graph, names = build(image_parts("VALID", [[0, 0], [0, 0]], [[1, 0], [0, 0]]), {"x": IMAGE})
    converted = convert_graph(graph, tmp_path, PASSES)
    compare(ordered_results(converted, names, {"x": IMAGE}), expected_results(graph, names, {"x": IMAGE}), 1e-4, 1e-4)
    assert "BatchToSpace" in {op.get_type_name() for op in converted.get_ordered_ops()}
