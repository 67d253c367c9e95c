"""Reductions of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Draw
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, index_type, recipe


@recipe("Sum Prod Max Min Mean EuclideanNorm")
def reduction(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape(), special=0.1 if dtype.kind == "f" else 0.0)
    axes = np.array(draw.axes(data.ndim), index_type(draw))
    if len(axes) == 1 and draw.chance(0.5):
        axes = axes.reshape(())
    return Node({"input": data, "axis": axes}, {"keep_dims": draw.chance(0.5)}, ("axis",))


@recipe("All Any", NO_TYPE)
def logical_reduction(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return reduction(draw, np.dtype(bool))


@recipe("ArgMax ArgMin")
def position(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4), special=0.0)
    return Node(
        {"input": data, "dimension": np.array(draw.axis(data.ndim), index_type(draw))},
        {"output_type": draw.one_of((tf.int32, tf.int64))},
        ("dimension",),
    )


@recipe("Cumsum Cumprod CumulativeLogsumexp")
def cumulation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape(1, 4), special=0.0)
    axis = np.array(draw.axis(data.ndim), index_type(draw))
    return Node({"x": data, "axis": axis}, {"exclusive": draw.chance(0.5), "reverse": draw.chance(0.5)}, ("axis",))


@recipe("SegmentSum SegmentMean SegmentProd SegmentMax SegmentMin")
def segments(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4), special=0.0)
    return Node({"data": data, "segment_ids": np.sort(draw.between(index_type(draw), data.shape[:1], 0, 4))})


@recipe("UnsortedSegmentSum UnsortedSegmentProd UnsortedSegmentMax UnsortedSegmentMin")
def unsorted_segments(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4), special=0.0)
    count = draw.integer(1, 5)
    ids = draw.between(index_type(draw), data.shape[: draw.integer(1, data.ndim)], -1, count - 1)
    return Node({"data": data, "segment_ids": ids, "num_segments": np.array(count, np.int32)}, {}, ("num_segments",))


@recipe("SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN")
def sparse_segments(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 3), special=0.0)
    count = draw.integer(1, 5)
    ids = np.sort(draw.between(np.int32, [count], 0, 3))
    return Node({"data": data, "indices": draw.between(index_type(draw), [count], 0, len(data) - 1), "segment_ids": ids})


@recipe("SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments")
def counted_sparse_segments(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = sparse_segments(draw, dtype)
    return Node({**node.operands, "num_segments": np.array(draw.integer(4, 6), index_type(draw))}, {}, ("num_segments",))


@recipe("L2Loss")
def half_sum_of_squares(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"t": draw.array(dtype, draw.shape(), special=0.0)})


@recipe("HistogramFixedWidth")
def histogram(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = np.round(draw.array(dtype, draw.filled(), special=0.0) * 2) / 2
    low = -2.25 if dtype.kind == "f" else 0
    return Node(
        {"values": data.astype(dtype), "value_range": np.array([low, low + 4.5], dtype), "nbins": np.array(draw.integer(1, 6), np.int32)}
    )


@recipe("Bincount")
def counts(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.between(np.int32, draw.filled(1, 2), 0, 6)
    return Node(
        {"arr": data, "size": np.array(draw.integer(1, 7), np.int32), "weights": draw.array(dtype, data.shape, special=0.0)}, {}, ("size",)
    )


@recipe("DenseBincount")
def dense_counts(draw: Draw, dtype: np.dtype[Any]) -> Node:
    index = index_type(draw)
    data = draw.between(index, draw.filled(1, 2), 0, 6)
    weights = draw.array(dtype, data.shape if draw.chance(0.5) else [0], special=0.0)
    return Node(
        {"input": data, "size": np.array(draw.integer(1, 7), index), "weights": weights}, {"binary_output": draw.chance(0.3)}, ("size",)
    )
