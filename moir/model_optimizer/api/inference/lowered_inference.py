"""Functions for `infer` of operations that moir lowers: their results have the types of the lowered operations.

An operation of a user is inferred as the operation that the function is named after, any other by its own definition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from moir.dialects.data import Array
from moir.model_optimizer.api.operations.description import inferred_as

crop_infer = inferred_as("Crop")
roipooling_infer = inferred_as("ROIPooling")
multi_box_detection_infer = inferred_as("DetectionOutput")
rnn_infer = inferred_as("LSTMSequence")
reduce_infer = inferred_as("ReduceSum")
arg_ops_infer = inferred_as("ArgMax")
onnx_matmul_infer = inferred_as("MatMul")
caffe_inner_product = inferred_as("FullyConnected")


def _absolute_sum(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
    return np.sum(np.abs(x), axis=axis, keepdims=keepdims)


def _norm(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
    return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keepdims))


reduce_map: dict[str, Callable[..., Any]] = {
    "ReduceSum": np.sum,
    "ReduceProd": np.prod,
    "ReduceL1": _absolute_sum,
    "ReduceL2": _norm,
    "ReduceMax": np.max,
    "ReduceMin": np.min,
    "ReduceMean": np.mean,
    "ReduceAnd": np.all,
    "ReduceLogicalAnd": np.all,
    "ReduceLogicalOr": np.any,
}
"""`op` of a reduction -> the function that computes it, of an array, `axis` and `keepdims`."""
