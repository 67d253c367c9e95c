"""Integers of few bits: results wrap around as TensorFlow's do, whatever the runtime does with such types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.forms import Form
from tests.numerical.tensorflow.conversion import Build, check

RANDOM = np.random.default_rng(23)
raw = tf.raw_ops
IDS = np.array([0, 0, 1, 3, 3, 3], np.int32)


def images(x: Any) -> Any:
    return raw.Reshape(tensor=x, shape=[1, 6, 3, 1])


def windows(x: Any) -> Any:
    return raw.Reshape(tensor=x[:2, :2], shape=[2, 2, 1])


CASES: dict[str, tuple[Build, str]] = {
    "sums": (lambda x, _: [raw.Sum(input=x, axis=axis) for axis in (0, [0, 1])], "int8 uint8 int16"),
    "products": (lambda x, _: [raw.Prod(input=x, axis=1), raw.Cumprod(x=x, axis=0), raw.Cumsum(x=x, axis=0)], "int8 uint8 int16 int32"),
    "powers": (lambda x, y: [raw.Pow(x=x, y=np.array(3, x.dtype.as_numpy_dtype)), raw.Pow(x=x, y=y % 5)], "int8 int16 int32"),
    "biases": (lambda x, y: raw.BiasAdd(value=x, bias=y[0]), "int8 uint8 int16"),
    "cross": (lambda x, y: raw.Cross(a=x, b=y), "int8 uint8 int16 int32"),
    "relu": (lambda x, _: raw.Relu(features=x), "int8 int16 int32"),
    "segments": (lambda x, _: [getattr(raw, f"Segment{kind}")(data=x, segment_ids=IDS) for kind in ("Sum", "Max")], "int16 uint16"),
    "dilation": (
        lambda x, y: raw.Dilation2D(input=images(x), filter=windows(y), strides=[1] * 4, rates=[1] * 4, padding="SAME"),
        "int8 uint8 int32",
    ),
    "parts": (lambda x, _: raw.DynamicPartition(data=x, partitions=IDS, num_partitions=4), "int16"),
    "resizing": (
        lambda x, _: [raw.ResizeNearestNeighbor(images=images(x), size=[9, 5]), raw.ResizeBilinear(images=images(x), size=[9, 5])],
        "int16 uint16",
    ),
    "bits": (lambda x, _: raw.PopulationCount(x=x), "int8 uint8 int16 uint16 int32"),
}


@pytest.mark.parametrize("form", ["static", "dynamic"])
@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name, (_, dtypes) in CASES.items() for dtype in dtypes.split()])
def test_integers(name: str, dtype: str, form: Form) -> None:
    limits = np.iinfo(dtype if dtype != "float32" else np.int8)
    low, high = max(limits.min, -(2**20)), min(limits.max, 2**20)
    x, y = (RANDOM.integers(low, high, (6, 3), endpoint=True).astype(dtype) for _ in range(2))
    function = CASES[name][0]
    check(lambda x, y: function(x, y), {"x": x, "y": y}, forms=(form,))


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
def test_repeated_elements(dtype: type) -> None:
    x = np.arange(8).reshape(1, 2, 2, 2).astype(dtype)

    def repeated(x: Any) -> Any:
        return tf.concat([part for part in tf.split(x, 2, 1) for _ in range(3)], 1)

    check(repeated, {"x": x}, forms=("static", "dynamic"))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float32])
def test_computed_pad_values(dtype: type) -> None:
    x = RANDOM.integers(-9, 9, (6, 3)).astype(dtype)
    check(lambda x: raw.PadV2(input=x, paddings=[[1, 1], [0, 2]], constant_values=x[0, 0]), {"x": x}, forms=("static",))
