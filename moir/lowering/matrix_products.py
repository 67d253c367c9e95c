"""Products of matrices without elements, which the CPU plugin (2026.4) does not compile with others of unknown sizes.

    %y = MatMul(%a, %b)                       // %b: [3, 0]
->  %y = ReduceSum(Unsqueeze(%a, -1) * Unsqueeze(%b, -3), -2)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.builder import OpBuilder


def matrix_product(op: OpBuilder, a: SSAValue, b: SSAValue, transpose_a: bool = False, transpose_b: bool = False) -> SSAValue:
    """MatMul(a, b); a sum of products if an operand is known to have no element, and both ranks are known."""
    is_empty = 0 in (shape_of(a) or ()) or 0 in (shape_of(b) or ())
    if not is_empty or min(rank_of(a) or 0, rank_of(b) or 0) < 2:
        return op.MatMul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    rows = op.Unsqueeze(transposed(op, a) if transpose_a else a, [-1])
    columns = op.Unsqueeze(transposed(op, b) if transpose_b else b, [-3])
    return op.ReduceSum(op.Multiply(rows, columns), [-2], keep_dims=False)


def transposed(op: OpBuilder, matrices: SSAValue) -> SSAValue:
    """Matrices of a known rank, with their last two axes swapped."""
    rank = rank_of(matrices) or 0
    return op.Transpose(matrices, [*range(rank - 2), rank - 1, rank - 2])
