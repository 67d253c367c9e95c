"""Shapes, sequences of numbers and checks of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, index_type, recipe


@recipe("Range", "Tidx")
def numbers(draw: Draw, dtype: np.dtype[Any]) -> Node:
    start, stop = draw.integers(2, 0, 9)
    step = draw.integer(1, 3) * (1 if stop >= start else -1)
    if dtype.kind == "u" and step < 0:
        raise NoCase("no negative steps")
    values = {name: np.array(value, dtype) for name, value in (("start", start), ("limit", stop), ("delta", step))}
    return Node(values)


@recipe("LinSpace")
def even(draw: Draw, dtype: np.dtype[Any]) -> Node:
    values = {name: np.array(draw.integer(-4, 4), dtype) for name in ("start", "stop")}
    return Node({**values, "num": np.array(draw.integer(1, 6), np.int32)}, {}, ("num",))


@recipe("Empty", "dtype")
def empty(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"shape": np.array(draw.shape(), np.int32)}, {"dtype": tf.as_dtype(dtype), "init": True}, ("shape",))


@recipe("BroadcastArgs")
def common_shape(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    return Node({"s0": np.array(draw.broadcasts_to(shape), dtype), "s1": np.array(shape, dtype)})


@recipe("CheckNumerics CheckNumericsV2")
def checked(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"tensor": draw.array(dtype, draw.shape(), special=0.0)}, {"message": "no number"})


@recipe("EnsureShape")
def ensured(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape())
    return Node({"input": data}, {"shape": [None if draw.chance(0.3) else size for size in data.shape]})


@recipe("PlaceholderWithDefault", "dtype")
def default(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape())
    return Node({"input": data}, {"shape": [None if draw.chance(0.3) else size for size in data.shape]}, ("input",))


@recipe("IdentityN", NO_TYPE)
def identities(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": [draw.array(dtype, draw.shape()), draw.array(np.dtype(np.int32), draw.shape())]})


@recipe("ShapeN")
def shapes(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = [draw.array(dtype, draw.shape()) for _ in range(draw.integer(1, 3))]
    return Node({"input": data}, {"out_type": draw.one_of((tf.int32, tf.int64))})


@recipe("RaggedRange", "T")
def ragged_range(draw: Draw, dtype: np.dtype[Any]) -> Node:
    count = draw.integer(1, 4)
    starts, sizes = draw.between(dtype, [count], 0, 3), draw.between(dtype, [count], 0, 4)
    steps = draw.between(dtype, [count] if draw.chance(0.5) else [], 1, 2)
    return Node({"starts": starts, "limits": starts + sizes, "deltas": steps}, {"Tsplits": draw.one_of((tf.int32, tf.int64))})


def row_splits(draw: Draw, rows: int, index: Any) -> Any:
    """Where the rows of a ragged tensor begin and end."""
    return np.concatenate([[0], np.cumsum(draw.integers(rows, 0, 3))]).astype(index)


@recipe("RaggedTensorToSparse")
def ragged_to_sparse(draw: Draw, dtype: np.dtype[Any]) -> Node:
    index = index_type(draw)
    splits = [row_splits(draw, draw.integer(1, 4), index)]
    if draw.chance(0.4):
        splits.append(row_splits(draw, int(splits[0][-1]), index))
    data = draw.array(dtype, [int(splits[-1][-1]), *(draw.filled(0, 1) if draw.chance(0.3) else [])])
    return Node({"rt_nested_splits": splits, "rt_dense_values": data})


@recipe("RaggedTensorToTensor")
def ragged_to_tensor(draw: Draw, dtype: np.dtype[Any]) -> Node:
    index = index_type(draw)
    splits = row_splits(draw, draw.integer(1, 4), index)
    data = draw.array(dtype, [int(splits[-1]), *(draw.filled(0, 1) if draw.chance(0.3) else [])])
    shape = np.full(1 + data.ndim, -1, np.int64)
    if draw.chance(0.4):
        shape[1] = draw.integer(1, 4)
    operands: dict[str, Any] = {"shape": shape, "values": data, "default_value": draw.array(dtype, [], special=0.0)}
    if draw.chance(0.5):
        partition, kinds = [splits], ["ROW_SPLITS"]
    else:
        rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits)).astype(index)
        partition, kinds = [np.array(len(splits) - 1, index), rows], ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
    return Node({**operands, "row_partition_tensors": partition}, {"row_partition_types": kinds}, ("shape", "default_value"))
