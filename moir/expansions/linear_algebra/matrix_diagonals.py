"""The elements of a diagonal of matrices."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import Shape, element_count, is_static, rank_of, shape_of
from moir.errors import InferenceError
from moir.expansions.shape_values import dimension
from moir.rewriting.builder import OpBuilder, Operand


def dimension_of(op: OpBuilder, value: SSAValue, axis: int) -> SSAValue:
    """The size of an axis as a scalar of type i64."""
    size = dimension(op, value, axis)
    return op.constant(size, si64) if isinstance(size, int) else size


def joined_matrices(op: OpBuilder, data: SSAValue) -> SSAValue:
    """Reshape a value so that its last two dimensions become one."""
    rank, shape = rank_of(data), shape_of(data)
    if rank is None or shape is None:
        return op.Reshape(data, op.Concat(op.Slice(op.ShapeOf(data), [0], [-2], [1], [0]), [-1], axis=0), special_zero=False)
    last = element_count(shape[-2:])
    return op.Reshape(data, [*[0] * (rank - 2), -1 if last is None else last], special_zero=True)


def require_matrices(shape: Shape) -> None:
    """Raises InferenceError if a shape has fewer than two dimensions; a dynamic rank passes."""
    if shape is not None and len(shape) < 2:
        raise InferenceError(f"a tensor of rank {len(shape)} holds no matrices")


def main_diagonal(op: OpBuilder, data: SSAValue, k: int) -> SSAValue:
    """Diagonal k of the matrices in the last two dimensions.

    Raises InferenceError if data has fewer than two dimensions, or matrices of static size have no diagonal k.
    """
    shape = shape_of(data)
    require_matrices(shape)
    elements = joined_matrices(op, data)
    if shape is not None and is_static(shape[-2:]):
        rows, columns = shape[-2:]
        if not -max(rows, 1) < k < max(columns, 1):
            raise InferenceError(f"matrices of shape [{rows},{columns}] have no diagonal {k}")
        length = max(0, min(rows + min(k, 0), columns - max(k, 0)))
        return op.Gather(elements, np.arange(length) * (columns + 1) + (k if k > 0 else -k * columns), -1)
    rows, columns = dimension_of(op, data, -2), dimension_of(op, data, -1)
    length = op.Minimum(op.Add(rows, k) if k < 0 else rows, op.Subtract(columns, k) if k > 0 else columns)
    step = op.Add(columns, 1)
    positions = op.Multiply(op.Range(0, length, 1, output_type=si64), step)
    first: Operand = k if k > 0 else op.Multiply(columns, -k)
    return op.Gather(elements, positions if k == 0 else op.Add(positions, first), -1)


def triangle_of(op: OpBuilder, data: SSAValue, k: int = 0, is_lower: bool = True) -> SSAValue:
    """Matrices with 0 above diagonal k, or below it if `is_lower` is false.

    A vector becomes a matrix first, each row of which is the vector.
    """
    rank = rank_of(data)
    columns = op.Range(0, dimension_of(op, data, -1), 1, output_type=si64)
    rows = op.Range(0, dimension_of(op, data, -1 if rank == 1 else -2), 1, output_type=si64)
    ends = op.Add(op.Unsqueeze(rows, [1]), k)
    return op.Select(op.LessEqual(columns, ends) if is_lower else op.GreaterEqual(columns, ends), data, op.constant_like(0, data))
