"""Slices, strided slices with every mask, and updates of strided slices of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import Build, check

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(3, 4, 5)).astype(np.float32)
N = np.newaxis
raw = tf.raw_ops

STRIDED: dict[str, tuple[Build, int]] = {
    "x[1:]": (lambda x: x[1:], 1),
    "x[:]": (lambda x: x[:], 0),
    "x[0:3, 0:4]": (lambda x: x[0:3, 0:4], 0),
    "x[:, 1:-1, ::2]": (lambda x: x[:, 1:-1, ::2], 1),
    "x[..., 1:3]": (lambda x: x[..., 1:3], 1),
    "x[1, ...]": (lambda x: x[1, ...], 1),
    "x[..., -1]": (lambda x: x[..., -1], 1),
    "x[:, -2]": (lambda x: x[:, -2], 1),
    "x[0, 1]": (lambda x: x[0, 1], 1),
    "x[-1, :, -1]": (lambda x: x[-1, :, -1], 1),
    "x[1, 2, 3]": (lambda x: x[1, 2, 3], 1),
    "x[::-1]": (lambda x: x[::-1], 1),
    "x[::-1, 3:0:-2, -2::-1]": (lambda x: x[::-1, 3:0:-2, -2::-1], 1),
    "x[5:-100:-1]": (lambda x: x[5:-100:-1], 1),
    "x[-100:1:-1]": (lambda x: x[-100:1:-1], 1),
    "x[2:1]": (lambda x: x[2:1], 1),
    "x[100:]": (lambda x: x[100:], 1),
    "x[N]": (lambda x: x[N], 1),
    "x[..., N]": (lambda x: x[..., N], 1),
    "x[:, N, ..., N]": (lambda x: x[:, N, ..., N], 1),
    "x[N, 1:, N, 2]": (lambda x: x[N, 1:, N, 2], 2),
    "x[0, N, ..., 1:4:2]": (lambda x: x[0, N, ..., 1:4:2], 1),
    "x[..., N, 0]": (lambda x: x[..., N, 0], 2),
    "x[1:, ..., N, ::-1]": (lambda x: x[1:, ..., N, ::-1], 1),
    "x[N, N, 0, N]": (lambda x: x[N, N, 0, N], 2),
    "masked bounds": (lambda x: raw.StridedSlice(input=x, begin=[2, 2], end=[1, 1], strides=[1, 1], begin_mask=1, end_mask=2), 1),
    "begin mask of a single element": (
        lambda x: raw.StridedSlice(input=x, begin=[1, 2], end=[0, 0], strides=[1, 1], begin_mask=3, shrink_axis_mask=3),
        1,
    ),
    "new axis before single element": (
        lambda x: raw.StridedSlice(input=x, begin=[1, 1], end=[2, 2], strides=[1, 1], new_axis_mask=1, shrink_axis_mask=3),
        2,
    ),
    "i64 bounds": (
        lambda x: raw.StridedSlice(input=x, begin=np.array([1]), end=np.array([2**40]), strides=np.array([2])),
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STRIDED)
def test_strided_slice(name: str) -> None:
    function, operations = STRIDED[name]
    check(function, {"x": X}, operations=operations)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.bool_, np.float16, np.float64])
def test_element_types(dtype: Any) -> None:
    x = RANDOM.integers(0, 2, (3, 4, 5)).astype(dtype)
    check(lambda x: (x[1:, ::-2], x[0, N, ..., 1:], x[:, 1], x[1, :, 0]), {"x": x}, forms=("static", "dynamic"))


def i32(*values: int) -> Any:
    return np.array(values, np.int32)


BOUNDS = {"begin": i32(0, 1), "end": i32(2, 3), "strides": i32(1, 1)}

COMPUTED: dict[str, tuple[Build, dict[str, Any]]] = {
    "bounds": (
        lambda x, begin, end: raw.StridedSlice(input=x, begin=begin, end=end, strides=[1, 2]),
        {"begin": i32(1, 0), "end": i32(3, 3)},
    ),
    "bounds and masks": (
        lambda x, begin, end: raw.StridedSlice(input=x, begin=begin, end=end, strides=[1, 1], begin_mask=2, end_mask=1),
        {"begin": i32(1, 2), "end": i32(2, 3)},
    ),
    "strides": (
        lambda x, begin, end, strides: raw.StridedSlice(input=x, begin=begin, end=end, strides=strides, end_mask=1),
        {**BOUNDS, "strides": i32(2, 1)},
    ),
    "ellipsis": (
        lambda x, begin, end: raw.StridedSlice(input=x, begin=begin, end=end, strides=[1, 1], ellipsis_mask=1),
        {"begin": i32(0, 1), "end": i32(0, 3)},
    ),
    "single": (
        lambda x, begin, end: raw.StridedSlice(input=x, begin=begin, end=end, strides=[1, 1], shrink_axis_mask=2),
        {"begin": i32(1, -1), "end": i32(3, 0)},
    ),
    "single elements with other ends and strides": (
        lambda x, begin: raw.StridedSlice(input=x, begin=begin, end=[6, -1], strides=[2, 1], shrink_axis_mask=3),
        {"begin": i32(0, 1)},
    ),
    "single elements around an ellipsis": (
        lambda x, begin: raw.StridedSlice(
            input=tf.stack([x, x + 1]), begin=begin, end=[0, 0, 0, 9], strides=[1, 1, 1, 1], shrink_axis_mask=13, ellipsis_mask=2
        ),
        {"begin": i32(1, 0, -2, 3)},
    ),
    "single elements between slices": (
        lambda x, begin: raw.StridedSlice(
            input=x, begin=begin, end=[0, 9, 3, 0], strides=[1, 1, 2, 1], begin_mask=8, end_mask=8, shrink_axis_mask=1, new_axis_mask=2
        ),
        {"begin": i32(-1, 0, 1, 0)},
    ),
    "scalar index": (lambda x, i: x[:, i], {"i": np.array(2, np.int32)}),
    "negative scalar index": (lambda x, i: x[i], {"i": np.array(-1, np.int32)}),
    "to a scalar": (lambda x, i: x[:, :i, N], {"i": np.array(3, np.int32)}),
    "from the shape": (lambda x, y: x[: tf.shape(y)[0], ..., 1 : tf.shape(y)[1]], {"y": np.zeros((2, 4), np.float32)}),
    "Slice": (lambda x, begin, size: raw.Slice(input=x, begin=begin, size=size), {"begin": i32(1, 0, 2), "size": i32(2, -1, 2)}),
    "Slice size": (lambda x, size: raw.Slice(input=x, begin=[0, 0, 0], size=size), {"size": i32(2, 3, -1)}),
    "Slice begin": (lambda x, begin: raw.Slice(input=x, begin=begin, size=[1, -1, 2]), {"begin": i32(1, 1, 2)}),
    "Slice like": (lambda x, y: raw.Slice(input=x, begin=[0, 0, 0], size=tf.shape(y)), {"y": np.zeros((2, 3, 1), np.float32)}),
    "Slice i64": (
        lambda x, begin, size: raw.Slice(input=x, begin=begin, size=size),
        {"begin": np.array([1, 0, 2]), "size": np.array([-1, 2, -1])},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_computed_bounds(name: str) -> None:
    function, inputs = COMPUTED[name]
    check(function, {"x": X, **inputs}, fixed=tuple(key for key, value in inputs.items() if value.ndim < 2))


SLICES: dict[str, tuple[Build, int]] = {
    "all": (lambda x: raw.Slice(input=x, begin=[0, 0, 0], size=[-1, -1, -1]), 0),
    "whole sizes": (lambda x: raw.Slice(input=x, begin=[0, 0, 0], size=[3, 4, 5]), 0),
    "one axis": (lambda x: raw.Slice(input=x, begin=[0, 1, 0], size=[-1, 2, -1]), 1),
    "every axis": (lambda x: raw.Slice(input=x, begin=[1, 1, 2], size=[2, -1, 1]), 1),
    "nothing": (lambda x: raw.Slice(input=x, begin=[1, 0, 0], size=[0, -1, -1]), 1),
}


@pytest.mark.parametrize("name", SLICES)
def test_slice(name: str) -> None:
    function, operations = SLICES[name]
    check(function, {"x": X}, operations=operations)


def update(x: Any, value: Any, begin: list[int], end: list[int], strides: list[int], **masks: int) -> Any:
    return raw.TensorStridedSliceUpdate(input=x, begin=begin, end=end, strides=strides, value=value, **masks)


UPDATES: dict[str, tuple[Build, tuple[int, ...], int]] = {
    "slices": (lambda x, v: update(x, v, [1, 0], [3, 2], [1, 1]), (2, 2, 5), 1),
    "single": (lambda x, v: update(x, v, [0, 2], [0, 3], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2), (3, 5), 2),
    "single last": (lambda x, v: update(x, v, [-1], [0], [1], shrink_axis_mask=1), (4, 5), 2),
    "ellipsis": (lambda x, v: update(x, v, [0, 1], [0, 4], [1, 2], ellipsis_mask=1), (3, 4, 2), 1),
    "new": (lambda x, v: update(x, v, [0, 1], [0, 3], [1, 1], new_axis_mask=1), (1, 2, 4, 5), 2),
    "everything": (lambda x, v: update(x, v, [0], [0], [1], ellipsis_mask=1), (3, 4, 5), 0),
}


@pytest.mark.parametrize("name", UPDATES)
def test_update(name: str) -> None:
    function, shape, operations = UPDATES[name]
    check(function, {"x": X, "v": RANDOM.normal(size=shape).astype(np.float32)}, operations=operations, forms=("static", "dynamic"))


def test_unknown_length_of_masked_index_is_refused() -> None:
    with pytest.raises(ConversionError, match="length is dynamic"):
        check(
            lambda x, begin, end, strides: raw.StridedSlice(input=x, begin=begin, end=end, strides=strides, begin_mask=1),
            {"x": X, **BOUNDS},
            forms=("dynamic",),
        )


def test_unknown_length_without_masks() -> None:
    check(
        lambda x, begin, end, strides: raw.StridedSlice(input=x, begin=begin, end=end, strides=strides),
        {"x": X, **BOUNDS},
        forms=("dynamic",),
    )
