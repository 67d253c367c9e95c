"""Triangular factors of matrices, their inverses, and matrices made of diagonals."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.expansions.linear_algebra.matrix_diagonals import dimension_of, triangle_of
from moir.rewriting.builder import OpBuilder


def cholesky_factor(op: OpBuilder, matrices: SSAValue, size: int, rank: int) -> SSAValue:
    """The lower triangles l with a = l · lᵀ of matrices a of `size` rows, of which only the lower triangle is read.

    A column of l is the first column of the remaining matrix, divided by the root of its first element; the outer
    product of the column with itself is subtracted from the remaining matrix.

    Source: G. Golub and C. Van Loan, "Matrix Computations", section 4.2 (outer product Cholesky).
    """
    rest, columns = matrices, list[SSAValue]()
    for row in range(size):
        first = op.Slice(rest, [0], [1], [1], [-1])
        column = op.Divide(first, op.Sqrt(op.Slice(first, [0], [1], [1], [-2])))
        above = [*[0] * (rank - 2), row, 0]
        columns.append(op.Pad(column, above, [0] * rank, op.constant_like(0, column), pad_mode="constant"))
        rest = op.Subtract(rest, op.MatMul(column, column, transpose_b=True))
        rest = op.Slice(rest, [1, 1], [size - row, size - row], [1, 1], [-2, -1])
    return op.Concat(*columns, axis=rank - 1) if size > 1 else columns[0] if columns else matrices


def inverse_of_triangle(op: OpBuilder, matrices: SSAValue, is_lower: bool = True) -> SSAValue:
    """The inverses of the lower or upper triangles of matrices; the other elements are not read."""
    return op.Inverse(triangle_of(op, matrices, is_lower=is_lower))


def matrix_of_diagonals(op: OpBuilder, diagonals: Mapping[int, SSAValue]) -> SSAValue:
    """Square matrices a […, M, M] with the given diagonals […, M] and zeros elsewhere.

    Entry i of diagonal k is a[i, i + k]; an entry without a place in the matrix is not read.
    """
    some = next(iter(diagonals.values()))
    places = op.Range(0, dimension_of(op, some, -1), 1, output_type=si64)
    distance = op.Subtract(places, op.Unsqueeze(places, [1]))
    found = op.constant_like(0, some)
    for k, diagonal in diagonals.items():
        found = op.Select(op.Equal(distance, k), op.Unsqueeze(diagonal, [-1]), found)
    return found
