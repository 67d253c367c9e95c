"""A user's graph computes the filters of its convolutions, and nothing says their sizes before the model runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check

raw = tf.raw_ops
RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


CASES: dict[str, tuple[Callable[..., Any], Mapping[str, Array]]] = {
    "Conv2D": (
        lambda x, w: raw.Conv2D(input=x, filter=w, strides=[1, 2, 1, 1], padding="SAME"),
        {"x": random(1, 5, 6, 3), "w": random(3, 2, 3, 4)},
    ),
    "Conv3D": (
        lambda x, w: raw.Conv3D(input=x, filter=w, strides=[1, 1, 2, 1, 1], padding="SAME"),
        {"x": random(1, 5, 6, 4, 3), "w": random(3, 2, 2, 3, 4)},
    ),
    "DepthwiseConv2dNative": (
        lambda x, w: raw.DepthwiseConv2dNative(input=x, filter=w, strides=[1, 1, 1, 1], padding="SAME"),
        {"x": random(1, 5, 6, 3), "w": random(3, 2, 3, 2)},
    ),
    "Conv2DBackpropInput, SAME": (
        lambda w, y: raw.Conv2DBackpropInput(input_sizes=[1, 6, 7, 3], filter=w, out_backprop=y, strides=[1, 2, 2, 1], padding="SAME"),
        {"w": random(3, 2, 3, 4), "y": random(1, 3, 4, 4)},
    ),
    "Conv2DBackpropInput, VALID": (
        lambda w, y: raw.Conv2DBackpropInput(input_sizes=[1, 8, 9, 3], filter=w, out_backprop=y, strides=[1, 2, 2, 1], padding="VALID"),
        {"w": random(3, 2, 3, 4), "y": random(1, 3, 4, 4)},
    ),
    "Conv2DBackpropInput, EXPLICIT": (
        lambda w, y: raw.Conv2DBackpropInput(
            input_sizes=[1, 6, 7, 3],
            filter=w,
            out_backprop=y,
            strides=[1, 2, 2, 1],
            padding="EXPLICIT",
            explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0],
        ),
        {"w": random(3, 2, 3, 4), "y": random(1, 3, 4, 4)},
    ),
    "Conv2DBackpropInput, sizes": (
        lambda sizes, w, y: raw.Conv2DBackpropInput(input_sizes=sizes, filter=w, out_backprop=y, strides=[1, 2, 2, 1], padding="SAME"),
        {"sizes": np.array([1, 6, 7, 3], np.int32), "w": random(3, 2, 3, 4), "y": random(1, 3, 4, 4)},
    ),
    "Conv3DBackpropInputV2": (
        lambda w, y: raw.Conv3DBackpropInputV2(
            input_sizes=[1, 6, 7, 4, 3], filter=w, out_backprop=y, strides=[1, 2, 2, 1, 1], padding="SAME"
        ),
        {"w": random(3, 2, 2, 3, 4), "y": random(1, 3, 4, 4, 4)},
    ),
    "DepthwiseConv2dNativeBackpropInput": (
        lambda w, y: raw.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[1, 5, 6, 3], filter=w, out_backprop=y, strides=[1, 1, 1, 1], padding="SAME"
        ),
        {"w": random(3, 2, 3, 2), "y": random(1, 5, 6, 6)},
    ),
    "conv2d_transpose": (
        lambda x, w: tf.nn.conv2d_transpose(x, w, tf.concat([tf.shape(x)[:1], tf.shape(x)[1:3] * 2, [3]], 0), [1, 2, 2, 1]),
        {"x": random(1, 3, 4, 4), "w": random(3, 2, 3, 4)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_filters_of_unknown_sizes(name: str) -> None:
    check(*CASES[name])


def test_sizes_in_a_list_of_unknown_length() -> None:
    """The runtime takes the number of spatial axes from the list."""
    weights = random(3, 2, 3, 4)

    def build(sizes: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return raw.Conv2DBackpropInput(input_sizes=sizes, filter=weights, out_backprop=y, strides=[1, 2, 2, 1], padding="SAME")

    check(build, {"sizes": np.array([1, 6, 7, 3], np.int32), "y": random(1, 3, 4, 4)}, forms=("dynamic",))
