"""Functions for `infer` of operations that moir lowers: their results have the types of the lowered operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from moir.dialects.data import Array
from moir.model_optimizer.lowering.operation import infer_by_lowering

crop_infer = infer_by_lowering
roipooling_infer = infer_by_lowering
multi_box_detection_infer = infer_by_lowering
rnn_infer = infer_by_lowering
reduce_infer = infer_by_lowering
arg_ops_infer = infer_by_lowering
onnx_matmul_infer = infer_by_lowering
caffe_inner_product = infer_by_lowering


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
"""`op` of a reduction -> function of an array, `axis` and `keepdims`."""
