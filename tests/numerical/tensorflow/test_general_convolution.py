"""Convolutions of TensorFlow with any number of batch dimensions, and those with a mirrored border."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check

RANDOM = np.random.default_rng(41)
raw = tf.raw_ops


def real(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def whole(*shape: int) -> Array:
    return RANDOM.integers(-4, 4, shape).astype(np.int32)


IMAGES, VOLUMES = real(2, 3, 6, 5, 4), real(2, 3, 6, 5, 2)
FILTERS = real(3, 2, 4, 6)

CASES: dict[str, tuple[Array, Array, dict[str, Any]]] = {
    "image": (IMAGES[0], FILTERS, {"padding": "SAME", "strides": [1, 2, 2, 1]}),
    "dilated": (IMAGES[0], FILTERS, {"padding": "VALID", "dilations": [1, 2, 1, 1]}),
    "explicit pads": (IMAGES[0], FILTERS, {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 3, 0, 0, 0]}),
    "two batch dimensions": (IMAGES, FILTERS, {"padding": "SAME", "strides": [1, 2, 1, 1], "batch_dims": 2}),
    "no batch dimension": (IMAGES[0, 0], FILTERS, {"padding": "VALID", "batch_dims": 0}),
    "volume": (VOLUMES, real(2, 3, 2, 2, 3), {"padding": "SAME", "strides": [1, 1, 2, 2, 1]}),
    "integers": (whole(1, 4, 4, 2), whole(2, 2, 2, 3), {"padding": "SAME"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_convolution(name: str) -> None:
    data, filters, attributes = CASES[name]
    attributes = {"strides": [1] * filters.ndim, **attributes}
    check(lambda x: raw.Conv(input=x, filter=filters, **attributes), {"x": data}, forms=("static", "dynamic"))


def test_groups_and_channels_first() -> None:
    """TensorFlow has no kernels for these on the CPU; Conv2D computes groups that the channels of the filters imply."""
    filters = real(3, 3, 2, 6)
    expected = tf.nn.conv2d(IMAGES[0], filters, 1, "SAME").numpy()
    check(lambda x: raw.Conv(input=x, filter=filters, strides=[1] * 4, padding="SAME", groups=2), {"x": IMAGES[0]}, expected=[expected])
    turned = {"data_format": "CHANNELS_FIRST", "strides": [1, 1, 2, 2], "padding": "VALID"}
    expected = tf.nn.conv2d(IMAGES[0], FILTERS, 2, "VALID").numpy().transpose(0, 3, 1, 2)
    check(
        lambda x: raw.Conv(input=x, filter=FILTERS, **turned),
        {"x": np.ascontiguousarray(IMAGES[0].transpose(0, 3, 1, 2))},
        expected=[expected],
        operations=1,
    )


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_mirrored_border(mode: str, padding: str) -> None:
    """Of several images TensorFlow 2.21 computes the first one several times."""
    image = IMAGES[0, :1]
    borders = np.array([[0, 0], [1, 2], [3, 0], [0, 0]], np.int32)
    attributes = {"mode": mode, "padding": padding, "strides": [1, 2, 1, 1]}
    check(
        lambda x, borders: raw.FusedPadConv2D(input=x, paddings=borders, filter=FILTERS, **attributes),
        {"x": image, "borders": borders},
        forms=("static",),
    )
    check(lambda x: raw.FusedPadConv2D(input=x, paddings=borders, filter=FILTERS, **attributes), {"x": image}, forms=("dynamic",))
    for align in (False, True):
        check(
            lambda x, align=align: raw.FusedResizeAndPadConv2D(
                input=x, size=[9, 7], paddings=borders, filter=FILTERS, resize_align_corners=align, **attributes
            ),
            {"x": image},
            forms=("static", "dynamic"),
        )
