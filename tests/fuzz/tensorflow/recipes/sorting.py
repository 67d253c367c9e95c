"""Sorting and searching of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Draw
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, index_type, recipe


@recipe("TopKV2")
def top(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 3), special=0.0)
    return Node({"input": data, "k": np.array(draw.integer(0, data.shape[-1]), np.int32)}, {"sorted": True}, ("k",))


@recipe("Unique", "T")
def unique(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"x": draw.between(dtype, draw.shape(1, 1), 0, 4) if dtype.kind != "b" else draw.array(dtype, draw.shape(1, 1))})


@recipe("Bucketize")
def bucketize(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": draw.array(dtype, draw.shape(), special=0.0)}, {"boundaries": sorted(draw.integers(draw.integer(0, 4), -5, 5))})


@recipe("UniqueWithCounts")
def unique_with_counts(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node(unique(draw, dtype).operands, {"out_idx": draw.one_of((tf.int32, tf.int64))})


@recipe("UniqueV2 UniqueWithCountsV2")
def unique_along_axis(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 3)
    data = draw.between(dtype, shape, 0, 1 if len(shape) > 1 else 4)
    axes = [draw.axis(data.ndim)] if data.ndim > 1 or draw.chance(0.5) else []
    return Node({"x": data, "axis": np.array(axes, index_type(draw))}, {"out_idx": draw.one_of((tf.int32, tf.int64))}, ("axis",))


@recipe("ListDiff")
def difference(draw: Draw, dtype: np.dtype[Any]) -> Node:
    x, y = (draw.between(dtype, draw.shape(1, 1), 0, 5) for _ in range(2))
    return Node({"x": x, "y": y}, {"out_idx": draw.one_of((tf.int32, tf.int64))})


@recipe("LowerBound UpperBound")
def bound(draw: Draw, dtype: np.dtype[Any]) -> Node:
    rows = draw.integer(1, 3)
    ordered = np.sort(draw.between(dtype, [rows, draw.integer(1, 6)], 0, 5), axis=1)
    values = draw.between(dtype, [rows, draw.integer(1, 4)], 0, 6)
    return Node({"sorted_inputs": ordered, "values": values}, {"out_type": draw.one_of((tf.int32, tf.int64))})


@recipe("NthElement")
def nth(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 3), special=0.0)
    return Node({"input": data, "n": np.array(draw.integer(0, data.shape[-1] - 1), np.int32)}, {"reverse": draw.chance(0.5)}, ("n",))


@recipe("InTopK", NO_TYPE)
def is_in_top(draw: Draw, dtype: np.dtype[Any]) -> Node:
    rows, classes = draw.integer(1, 4), draw.integer(1, 6)
    targets = draw.between(np.int32, [rows], -1, classes)
    return Node({"predictions": draw.array(dtype, [rows, classes], special=0.0), "targets": targets}, {"k": draw.integer(1, 6)})


@recipe("InTopKV2", NO_TYPE)
def is_in_computed_top(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node, index = is_in_top(draw, dtype), index_type(draw)
    targets = np.asarray(node.operands["targets"]).astype(index)
    return Node({**node.operands, "targets": targets, "k": np.array(draw.integer(1, 6), index)}, {}, ("k",))


@recipe("ApproxTopK")
def approximate_top(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """TensorFlow has a kernel for the largest numbers along the last dimension."""
    data = draw.array(dtype, draw.filled(1, 3), special=0.0)
    return Node({"input": data}, {"k": draw.integer(1, data.shape[-1])}, fixed=("input",))
