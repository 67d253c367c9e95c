"""Indexing of TensorFlow, drawn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Draw
from tests.fuzz.tensorflow.recipe import Node, index_type, recipe


@recipe("GatherV2", "Tparams")
def gather(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4))
    axis = draw.axis(data.ndim)
    shape = draw.shape(0, 2)
    batch = 0
    if axis % data.ndim and draw.chance(0.3):
        batch = 1
        shape = [data.shape[0], *shape]
    indices = draw.between(index_type(draw), shape, 0, data.shape[axis] - 1)
    return Node({"params": data, "indices": indices, "axis": np.array(axis, np.int32)}, {"batch_dims": batch}, ("axis",))


@recipe("GatherNd", "Tparams")
def gather_elements(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4))
    depth = draw.integer(1, data.ndim)
    shape = draw.shape(0, 2)
    columns = [draw.between(np.int32, shape, 0, data.shape[axis] - 1) for axis in range(depth)]
    return Node({"params": data, "indices": np.stack(columns, -1).astype(index_type(draw))}, fixed=("indices",))


@recipe("Gather", "Tparams")
def gather_rows(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4))
    return Node({"params": data, "indices": draw.between(index_type(draw), draw.shape(0, 3), 0, len(data) - 1)})


@recipe("InvertPermutation")
def inverse(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"x": np.array(draw.permutation(draw.integer(0, 6)), dtype)})


@recipe("DynamicStitch ParallelDynamicStitch")
def stitch(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """Every index occurs; indices that occur twice are those of later data."""
    count, rest = draw.integer(1, 6), draw.filled(0, 2)
    order, cut = draw.permutation(count), draw.integer(0, count)
    parts = [np.array(part, np.int32) for part in (order[:cut], order[cut:])]
    if len(order) % 2 == 0 and draw.chance(0.3):
        parts.append(np.array(order, np.int32).reshape(2, -1))
    return Node({"indices": parts, "data": [draw.array(dtype, [*part.shape, *rest]) for part in parts]})


@recipe("ScatterNdNonAliasingAdd")
def scatter_sums(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = scatter(draw, dtype)
    shape = np.asarray(node.operands["shape"])
    operands = {"input": draw.array(dtype, list(shape), special=0.0), "indices": node.operands["indices"]}
    return Node({**operands, "updates": node.operands["updates"]}, fixed=node.fixed)


@recipe("ScatterNd")
def scatter(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape, index = draw.filled(1, 3), index_type(draw)
    depth, rows = draw.integer(1, len(shape)), draw.shape(1, 2)
    columns = [draw.between(index, rows, 0, shape[axis] - 1) for axis in range(depth)]
    updates = draw.array(dtype, [*rows, *shape[depth:]], special=0.0)
    return Node({"indices": np.stack(columns, -1), "updates": updates, "shape": np.array(shape, index)}, {}, ("shape",), fixed=("indices",))


@recipe("TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin")
def tensor_scatter(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data, index = draw.array(dtype, draw.filled(1, 3), special=0.0), index_type(draw)
    order = draw.permutation(len(data))[: draw.integer(1, len(data))]
    return Node(
        {
            "tensor": data,
            "indices": np.array(order, index)[:, None],
            "updates": draw.array(dtype, [len(order), *data.shape[1:]], special=0.0),
        },
        fixed=("indices",),
    )


@recipe("OneHot")
def one_hot(draw: Draw, dtype: np.dtype[Any]) -> Node:
    indices = draw.between(draw.one_of((np.int32, np.int64, np.uint8, np.int8)), draw.shape(0, 3), 0, 4)
    on, off = draw.array(dtype, []), draw.array(dtype, [])
    node = {"indices": indices, "depth": np.array(draw.integer(0, 6), np.int32), "on_value": on, "off_value": off}
    return Node(node, {"axis": draw.integer(-1, indices.ndim)}, ("depth",))


@recipe("Where")
def where(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"condition": draw.array(dtype, draw.shape(1, 4))})


@recipe("DynamicPartition")
def partition(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 3))
    count = draw.integer(1, 4)
    return Node(
        {"data": data, "partitions": draw.between(np.int32, data.shape[: draw.integer(1, data.ndim)], 0, count - 1)},
        {"num_partitions": count},
    )


@recipe("UnravelIndex", "Tidx")
def unravel(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.integers(draw.integer(1, 3), 1, 5)
    return Node(
        {"indices": draw.between(dtype, draw.filled(0, 1), 0, int(np.prod(shape)) - 1), "dims": np.array(shape, dtype)}, {}, ("dims",)
    )


def changed_rows(draw: Draw, dtype: np.dtype[Any], kind: str) -> Node:
    """Rows of a copy of the operand: TensorFlow changes what it is given."""
    data = draw.array(dtype, draw.filled(1, 3), special=0.0)
    rows = np.array(draw.permutation(len(data))[: draw.integer(1, len(data))], np.int32)
    operands = {"x": data, "i": rows, "v": draw.array(dtype, [len(rows), *data.shape[1:]], special=0.0)}
    return Node(operands, function=lambda x, i, v: getattr(tf.raw_ops, kind)(x=tf.raw_ops.DeepCopy(x=x), i=i, v=v))


for name in ("InplaceAdd", "InplaceSub", "InplaceUpdate"):
    recipe(name)(partial(changed_rows, kind=name))
