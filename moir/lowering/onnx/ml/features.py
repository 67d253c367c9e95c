"""Preparation of features: scaling, normalization, replacement of missing values, selection and joining of columns.

    %y = onnx.ai.onnx.ml.Scaler(%x) {offset, scale}
->  %y = Multiply(Subtract(%x, offset), scale)
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import REAL_TYPES, f32
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


def _by_feature(node: LoweringNode, values: Array) -> Array:
    """The values of an attribute, one for each feature or one for all, reshaped to broadcast with the operand.

    Features are columns, axis 1. Raises ConversionError for an operand of more than two dimensions.
    """
    if values.size > 1 and (node.rank(0) or 0) > 2:
        node.fail(f"values of {values.size} features for an operand of rank {node.rank(0)}")
    return values


@onnx.lowers("ai.onnx.ml.Scaler")
def scaler(node: LoweringNode, op: OpBuilder, x_: SSAValue) -> SSAValue:
    """onnx.ai.onnx.ml.Scaler(x) {offset, scale} -> Multiply(Subtract(x, offset), scale)"""
    offset, scale = (np.array(node.numbers(name, ()), np.float32) for name in ("offset", "scale"))
    if not offset.size == scale.size > 0:
        node.fail(f"it has {offset.size} offsets and {scale.size} scales")
    x = op.convert(x_, f32)
    return op.Multiply(op.Subtract(x, _by_feature(node, offset)), _by_feature(node, scale))


@onnx.lowers("ai.onnx.ml.Normalizer")
def normalizer(node: LoweringNode, op: OpBuilder, x_: SSAValue, *, norm: str = "MAX") -> SSAValue:
    """onnx.ai.onnx.ml.Normalizer(x) {norm} -> Divide(x, norm of the row), where that is not 0"""
    kinds = {"MAX": "ReduceMax", "L1": "ReduceL1", "L2": "ReduceL2"}
    x = op.convert(x_, f32)
    if norm not in kinds:
        node.fail(f"norm {norm!r} does not exist")
    if (rank := rank_of(x_)) is not None and not 1 <= rank <= 2:
        node.fail(f"its operand has rank {rank} instead of 1 or 2")
    size = getattr(op, kinds[norm])(x, [-1], keep_dims=True)
    return op.Divide(x, op.Select(op.Equal(size, 0.0), op.constant(1.0), size))


@onnx.lowers("ai.onnx.ml.Imputer")
def imputer(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, replaced_value_int64: int = 0, replaced_value_float: float = 0.0
) -> SSAValue:
    """onnx.ai.onnx.ml.Imputer(x) -> Select(Equal(x, replaced value), imputed values, x), with IsNaN if that is NaN"""
    real = element_of(x) in REAL_TYPES
    own, other = ("imputed_value_floats", "imputed_value_int64s") if real else ("imputed_value_int64s", "imputed_value_floats")
    values = node.numbers(own, ()) if real else node.integers(own, ())
    if not values:
        node.fail(f"it has no {own}" + (f", and its {other} are of another type than its operand" if node.has(other) else ""))
    replaced = float(np.float32(replaced_value_float)) if real else replaced_value_int64
    shape = shape_of(x)
    width = -1 if not shape else shape[min(1, len(shape) - 1)]
    if len(values) > 1 and width >= 0 and width != len(values):
        values = values[:1]
    imputed = _by_feature(node, np.array(values, np.float32 if real else np.int64))
    is_missing = op.IsNaN(x) if math.isnan(replaced) else op.Equal(x, replaced)
    return op.Select(is_missing, op.constant_like(imputed, x), x)


@onnx.lowers("ai.onnx.ml.Binarizer")
def binarizer(op: OpBuilder, x: SSAValue, *, threshold_: float = 0.0) -> SSAValue:
    """onnx.ai.onnx.ml.Binarizer(x) {threshold} -> Convert(Less(threshold, x))"""
    threshold = float(np.float32(threshold_))
    if element_of(x) not in REAL_TYPES:
        # An integer is larger than a float if it is larger than the float rounded down.
        threshold = math.floor(threshold)
    return op.Convert(op.Less(threshold, x), destination_type=element_of(x))


@onnx.lowers("ai.onnx.ml.ArrayFeatureExtractor")
def extractor(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """onnx.ai.onnx.ml.ArrayFeatureExtractor(x, y) -> Gather(x, y, -1); for one dimension a row"""
    indices = y
    array = op.known.constant(y)
    if array is not None:
        indices = op.constant(array.reshape(-1))
    elif rank_of(y) != 1:
        indices = op.Reshape(indices, [-1], special_zero=False)
    columns = op.Gather(x, indices, -1)
    return op.Unsqueeze(columns, [0]) if node.known_rank(0) == 1 else columns


@onnx.lowers("ai.onnx.ml.FeatureVectorizer")
def vectorizer(node: LoweringNode, op: OpBuilder, *x: SSAValue, inputdimensions: tuple[int, ...] = ()) -> SSAValue:
    """onnx.ai.onnx.ml.FeatureVectorizer(x…) {inputdimensions} -> Concat(x…), each with its number of columns"""
    operands = x
    if len(operands) != len(inputdimensions) or not operands:
        node.fail(f"it has {len(operands)} operands and {len(inputdimensions)} inputdimensions")
    parts: list[SSAValue] = []
    for index, (value, size) in enumerate(zip(operands, inputdimensions, strict=True)):
        part, rank = op.convert(value, f32), node.known_rank(index)
        if rank == 1:
            part = op.Unsqueeze(part, [0])
        elif rank != 2:
            part = op.Reshape(part, [0, -1], special_zero=True)
        parts.append(_with_columns(op, part, size))
    return op.Concat(*parts, axis=1)


def _with_columns(op: OpBuilder, x: SSAValue, size: int) -> SSAValue:
    """The first columns of x [N, …], with zeros after them if there are fewer than `size`."""
    shape = shape_of(x)
    width = -1 if shape is None else shape[1]
    if width == size:
        return x
    if not width > size:
        x = op.Pad(x, [0, 0], [0, size - max(width, 0)], op.constant(0.0), pad_mode="constant")
    return op.Slice(x, [0], [size], [1], [1]) if not 0 <= width < size else x
