"""Products of matrices that the CPU plugin (2026.4) does not compile if sizes are unknown.

    %y = MatMul(%a, %b)                       // %b: [3, 0]
->  %y = ReduceSum(Unsqueeze(%a, -1) * Unsqueeze(%b, -3), -2)

    %y = MatMul(%a, %b)                       // %a: [?, ?], %b: constant [3, 2, 4]
->  %0 = MatMul(%a, %b as [2, 3 * 4])
    %y = Transpose(%0 as [?, 3, 4], [1, 0, 2])
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.errors import InferenceError
from moir.rewriting.builder import OpBuilder


def matrix_product(op: OpBuilder, a: SSAValue, b: SSAValue, transpose_a: bool = False, transpose_b: bool = False) -> SSAValue:
    """MatMul(a, b); for one matrix of unknown sizes and several constant ones the product with these side by side.

    If an operand is known to have no element, it is a sum of products. Matrices of unknown number are repeated as often
    as there are constant ones, as the CPU plugin (2026.4) fails to do.

    Raises:
        InferenceError: an operand is known to have no element, and the other one may be a list or matrices.
    """
    shape, rank = shape_of(a) or (), rank_of(b) or 0
    if len(shape) == 2 < rank and -1 in shape and (matrices := op.known.constant(b)) is not None and matrices.size:
        *lead, depth, columns = (matrices.swapaxes(-1, -2) if transpose_b else matrices).shape
        beside = np.moveaxis(matrices, -1 if transpose_b else -2, 0).reshape(depth, -1)
        product = op.MatMul(a, op.constant(beside, element_of(b)), transpose_a=transpose_a)
        parts = op.Reshape(product, [0, *lead, columns], special_zero=True)
        return op.Transpose(parts, [*range(1, rank - 1), 0, rank - 1])
    if 0 not in shape and 0 not in (shape_of(b) or ()):
        return _batched(op, a, b, transpose_a, transpose_b)
    if None in (rank_of(a), rank_of(b)):
        raise InferenceError("one operand has no element, and the rank of the other one is unknown")
    if 1 in (rank_of(a), rank_of(b)):
        # A list is a row or a column.
        rows, columns = (op.Unsqueeze(a, [0]) if rank_of(a) == 1 else a), (op.Unsqueeze(b, [1]) if rank_of(b) == 1 else b)
        product = matrix_product(op, rows, columns, transpose_a and rank_of(a) != 1, transpose_b and rank_of(b) != 1)
        return op.Squeeze(product, [-2] * (rank_of(a) == 1) + [-1] * (rank_of(b) == 1))
    rows = op.Unsqueeze(transposed(op, a) if transpose_a else a, [-1])
    columns = op.Unsqueeze(transposed(op, b) if transpose_b else b, [-3])
    return op.ReduceSum(op.Multiply(rows, columns), [-2], keep_dims=False)


def _batched(op: OpBuilder, a: SSAValue, b: SSAValue, transpose_a: bool, transpose_b: bool) -> SSAValue:
    """MatMul(a, b), in which matrices of unknown sizes are as many as the constant ones that they are multiplied by."""
    lead, several = (shape_of(a) or ())[:-2], (shape_of(b) or ())[:-2]
    if lead and several and -1 in (shape_of(a) or ()) and op.known.constant(b) is not None:
        if {*lead} == {1} and max(several) > 1:
            found = matrix_product(op, op.Squeeze(a, list(range(len(lead)))), b, transpose_a, transpose_b)
            return op.Unsqueeze(found, list(range(len(lead) - len(several)))) if len(lead) > len(several) else found
        common = min(len(lead), len(several))
        if any(size == -1 and count > 1 for size, count in zip(lead[-common:], several[-common:], strict=True)):
            a = op.Broadcast(a, [*several, 1, 1], mode="bidirectional")
    return op.MatMul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def transposed(op: OpBuilder, matrices: SSAValue) -> SSAValue:
    """Matrices with their last two axes swapped; those of unknown rank are one matrix."""
    rank = rank_of(matrices) or 2
    return op.Transpose(matrices, [*range(rank - 2), rank - 1, rank - 2])
