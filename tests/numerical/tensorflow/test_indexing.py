"""Gather and scatter operations, one-hot encoding, partitions and stitches of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import FORMS, Build, check

RANDOM = np.random.default_rng(7)
raw = tf.raw_ops


def real(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


def i32(*values: Any) -> Any:
    return np.array(values, np.int32)


X = real(3, 4, 5)
NUMBERS = i32(2, 0, 1, 0, 2, 1)

# function, inputs, most operations
READS: dict[str, tuple[Build, dict[str, Any], int]] = {
    "Gather": (lambda x: raw.Gather(params=x, indices=[[2, 0], [1, 1]]), {"x": X}, 1),
    "GatherV2": (lambda x, i: raw.GatherV2(params=x, indices=i, axis=1), {"x": X, "i": i32(3, 0)}, 1),
    "GatherV2 scalar": (lambda x: raw.GatherV2(params=x, indices=2, axis=-1), {"x": X}, 1),
    "GatherV2 i64": (lambda x, i: raw.GatherV2(params=x, indices=i, axis=np.int64(-2)), {"x": X, "i": np.array([[1], [3]])}, 1),
    "GatherV2 batch": (
        lambda x, i: raw.GatherV2(params=x, indices=i, axis=1, batch_dims=1),
        {"x": X, "i": i32([0, 3], [1, 1], [2, 0])},
        1,
    ),
    "GatherV2 batch after": (
        lambda x, i: raw.GatherV2(params=x, indices=i, axis=2, batch_dims=1),
        {"x": X, "i": i32([0, 3], [1, 1], [2, 0])},
        1,
    ),
    "GatherV2 negative batch": (
        lambda x, i: raw.GatherV2(params=x, indices=i, axis=1, batch_dims=-1),
        {"x": X, "i": i32([0, 3], [1, 1], [2, 0])},
        1,
    ),
    "GatherV2 bool": (lambda x, i: raw.GatherV2(params=x, indices=i, axis=0), {"x": X > 0, "i": i32(1, 0)}, 1),
    "GatherNd": (lambda x, i: raw.GatherNd(params=x, indices=i), {"x": X, "i": i32([[0, 1], [2, 3]], [[1, 1], [0, 0]])}, 1),
    "GatherNd elements": (lambda x, i: raw.GatherNd(params=x, indices=i), {"x": X, "i": np.array([[0, 1, 2], [2, 3, 4]])}, 1),
    "GatherNd i32": (lambda x, i: raw.GatherNd(params=x, indices=i), {"x": i32([1, 2], [3, 4]), "i": i32([1])}, 1),
    "InvertPermutation": (lambda x: raw.InvertPermutation(x=x), {"x": i32(3, 0, 2, 1)}, 1),
    "InvertPermutation i64": (lambda x: raw.InvertPermutation(x=x), {"x": np.array([3, 0, 2, 1])}, 1),
    "Where": (lambda x: raw.Where(condition=x), {"x": X > 0.5}, 2),
    "Where f32": (lambda x: raw.Where(condition=x), {"x": np.array([0, 1.5, -2, 0], np.float32)}, 2),
    "Where i32": (lambda x: raw.Where(condition=x), {"x": i32([0, 3], [1, 0])}, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_reading(name: str) -> None:
    function, inputs, operations = READS[name]
    # The runtime needs the rank of what GatherND yields.
    unranked = "Nd" not in name
    check(function, inputs, operations=operations, forms=FORMS if unranked else FORMS[:2], fixed=() if unranked else ("i",))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("indices", [2, [1, 0], [[1], [0]]], ids=str)
def test_gather_along_a_computed_axis(indices: object, axis: int) -> None:
    inputs = {"x": X, "i": np.array(indices, np.int32), "a": np.array(axis, np.int32)}
    check(lambda x, i, a: raw.GatherV2(params=x, indices=i, axis=a), inputs)


def test_no_indices() -> None:
    check(lambda x: raw.GatherV2(params=x, indices=np.zeros((2, 0), np.int32), axis=1), {"x": X}, forms=("static",), operations=0)


ENCODINGS: dict[str, Build] = {
    "last": lambda x: raw.OneHot(indices=x, depth=4, on_value=2.0, off_value=-1.0),
    "first": lambda x: raw.OneHot(indices=x, depth=4, on_value=1, off_value=0, axis=0),
    "bool": lambda x: raw.OneHot(indices=x, depth=4, on_value=True, off_value=False, axis=1),
    "f64": lambda x: raw.OneHot(indices=x, depth=4, on_value=tf.constant(1, tf.float64), off_value=tf.constant(0, tf.float64)),
    "i64": lambda x: raw.OneHot(indices=x, depth=4, on_value=tf.constant(1, tf.int64), off_value=tf.constant(0, tf.int64)),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_one_hot(name: str) -> None:
    """An index out of range, a negative one too, selects nothing."""
    check(ENCODINGS[name], {"x": i32([0, 3, -1], [7, 1, 2])}, operations=1)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int8])
def test_one_hot_indices(dtype: Any) -> None:
    check(ENCODINGS["last"], {"x": np.array([0, 3, 2], dtype)})


def test_one_hot_computed_depth() -> None:
    check(
        lambda x, depth: raw.OneHot(indices=x, depth=depth, on_value=1.0, off_value=0.0),
        {"x": i32(0, 3, 1), "depth": np.array(5, np.int32)},
        fixed=("depth",),
    )


# Writing

INDICES = i32([0, 1], [2, 3], [0, 1])
ADDED = real(3, 5)

WRITES: dict[str, tuple[Build, dict[str, Any], int]] = {
    "TensorScatterUpdate": (
        lambda x, u: raw.TensorScatterUpdate(tensor=x, indices=INDICES[:2], updates=u),
        {"x": X, "u": real(2, 5)},
        1,
    ),
    "TensorScatterAdd": (lambda x, u: raw.TensorScatterAdd(tensor=x, indices=INDICES, updates=u), {"x": X, "u": ADDED}, 1),
    "TensorScatterSub": (lambda x, u: raw.TensorScatterSub(tensor=x, indices=INDICES, updates=u), {"x": X, "u": ADDED}, 1),
    "TensorScatterMax": (lambda x, u: raw.TensorScatterMax(tensor=x, indices=INDICES, updates=u), {"x": X, "u": ADDED}, 1),
    "TensorScatterMin": (lambda x, u: raw.TensorScatterMin(tensor=x, indices=INDICES, updates=u), {"x": X, "u": ADDED}, 1),
    "TensorScatterAdd i32": (
        lambda x, u: raw.TensorScatterAdd(tensor=x, indices=np.array([[1], [1]]), updates=u),
        {"x": i32(1, 2, 3), "u": i32(5, 7)},
        1,
    ),
    "InplaceAdd": (lambda x, u: raw.InplaceAdd(x=x * 1.5, i=[2, 0, 2], v=u), {"x": X, "u": X[::-1]}, 2),
    "InplaceSub": (lambda x, u: raw.InplaceSub(x=x * 1.5, i=[2], v=u), {"x": X, "u": X[:1]}, 2),
    "InplaceUpdate": (lambda x, u: raw.InplaceUpdate(x=x * 1.5, i=[2, 0], v=u), {"x": X, "u": X[:2]}, 2),
    "ScatterNdNonAliasingAdd": (
        lambda x, u: raw.ScatterNdNonAliasingAdd(input=x, indices=INDICES, updates=u),
        {"x": X, "u": ADDED},
        1,
    ),
    "ScatterNd": (lambda i, u: raw.ScatterNd(indices=i, updates=u, shape=[3, 4, 5]), {"i": INDICES, "u": ADDED}, 2),
    "ScatterNd i64": (
        lambda i, u: raw.ScatterNd(indices=i, updates=u, shape=np.array([6])),
        {"i": np.array([[1], [4], [1]]), "u": np.array([3, 4, 5])},
        2,
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_writing(name: str) -> None:
    function, inputs, operations = WRITES[name]
    check(function, inputs, operations=operations)


def test_computed_shape() -> None:
    check(
        lambda i, u, shape: raw.ScatterNd(indices=i, updates=u, shape=shape),
        {"i": INDICES, "u": ADDED, "shape": i32(3, 4, 5)},
        fixed=("shape",),
    )


def test_ignored_bad_indices_are_refused() -> None:
    with pytest.raises(ConversionError, match="IGNORE"):
        check(
            lambda i, u: raw.ScatterNd(indices=i, updates=u, shape=[3, 4, 5], bad_indices_policy="IGNORE"),
            {"i": INDICES, "u": ADDED},
        )


# Partitioning and stitching


PARTITIONS: dict[str, tuple[Build, dict[str, Any]]] = {
    "DynamicPartition": (
        lambda x, p: raw.DynamicPartition(data=x, partitions=p, num_partitions=3),
        {"x": real(6, 2), "p": NUMBERS},
    ),
    "DynamicPartition some": (
        lambda x, p: raw.DynamicPartition(data=x, partitions=p, num_partitions=4)[1::2],
        {"x": real(6), "p": NUMBERS},
    ),
    "DynamicPartition matrix": (
        lambda x, p: raw.DynamicPartition(data=x, partitions=p, num_partitions=3),
        {"x": real(2, 3, 2), "p": NUMBERS.reshape(2, 3)},
    ),
    "DynamicStitch": (
        lambda a, b, i, j: raw.DynamicStitch(indices=[i, j], data=[a, b]),
        {"a": real(3, 2), "b": real(2, 2), "i": i32(4, 0, 2), "j": i32(1, 3)},
    ),
    "DynamicStitch known": (
        lambda a, b: raw.DynamicStitch(indices=[[4, 0, 2], [[1], [3]]], data=[a, b]),
        {"a": real(3, 2), "b": real(2, 1, 2)},
    ),
    "DynamicStitch repeated": (
        lambda a, b: raw.DynamicStitch(indices=[[0, 1, 2], 1], data=[a, b]),
        {"a": real(3, 2), "b": real(2)},
    ),
    "DynamicStitch repeated computed": (
        lambda a, b, i, j: raw.DynamicStitch(indices=[i, j], data=[a, b]),
        {"a": real(2, 2), "b": real(2, 2), "i": i32(0, 1), "j": i32(1, 0)},
    ),
    "DynamicStitch matrix": (
        lambda a, b, i, j: raw.ParallelDynamicStitch(indices=[i, j], data=[a, b]),
        {"a": real(3, 2), "b": real(2, 2, 2), "i": i32(4, 0, 2), "j": i32([1, 3], [6, 5])},
    ),
    "partition and stitch": (
        lambda x, p: raw.DynamicStitch(
            indices=raw.DynamicPartition(data=tf.range(6), partitions=p, num_partitions=3),
            data=raw.DynamicPartition(data=x, partitions=p, num_partitions=3),
        ),
        {"x": real(6, 2), "p": NUMBERS},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions(name: str) -> None:
    function, inputs = PARTITIONS[name]
    check(function, inputs)
