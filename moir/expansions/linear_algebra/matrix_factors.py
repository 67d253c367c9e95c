"""Triangular factors of matrices, their inverses, and matrices made of diagonals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
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


def pivoted_factors(
    op: OpBuilder, matrices: SSAValue, size: int, rank: int, columns: int | None = None
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The LU factors of matrices [..., size, columns] by Gaussian elimination with a pivot of largest magnitude per
    column.

    Returns both factors in one matrix, the order of the rows [..., M], and for each step the index of the row that was
    swapped with the row of the step [..., min(M, N)], i64, counted from 0. Without `columns` the matrices are square.

    Source: G. Golub and C. Van Loan, "Matrix Computations", section 3.4 (partial pivoting).
    """
    width = size if columns is None else columns
    rows, column_indices, batch = np.arange(size), np.arange(width), rank - 2
    order = op.Broadcast(op.constant(rows, si64), op.Slice(op.ShapeOf(matrices), [0], [-1], [1], [0]))
    exchanged: list[SSAValue] = []
    for step in range(min(size - 1, width)):
        column = op.Slice(matrices, [step], [step + 1], [1], [-1])
        candidates = op.Select(op.constant(rows.reshape(size, 1) >= step), op.Abs(column), op.constant_like(-1, column))
        pivot = op.TopK.results(candidates, op.constant(1), axis=-2, mode="max", sort="value", index_element_type=si64)[1]
        pivot = op.Squeeze(pivot, [-1])
        exchanged.append(pivot)
        # The row of the pivot is exchanged with the first of the remaining rows.
        sources = op.Select(op.Equal(op.constant(rows), pivot), op.constant(step, si64), op.constant(rows, si64))
        sources = op.Select(op.constant(rows == step), pivot, sources)
        matrices = op.Gather(matrices, sources, batch, batch_dims=batch)
        order = op.Gather(order, sources, batch, batch_dims=batch)
        head = op.Slice(matrices, [step, step], [step + 1] * 2, [1, 1], [-2, -1])
        # A column of zeros has no factors.
        head = op.Select(op.Equal(head, 0.0), 1.0, head)
        is_below = op.constant_like(rows.reshape(size, 1) > step, matrices)
        factors = op.Multiply(op.Divide(op.Slice(matrices, [step], [step + 1], [1], [-1]), head), is_below)
        row = op.Multiply(op.Slice(matrices, [step], [step + 1], [1], [-2]), op.constant_like(column_indices > step, matrices))
        matrices = op.Subtract(matrices, op.MatMul(factors, row))
        matrices = op.Select(op.constant((rows.reshape(size, 1) > step) & (column_indices == step)), factors, matrices)
    if size <= width:
        last = op.Concat(op.Slice(op.ShapeOf(matrices), [0], [batch], [1], [0]), [1], axis=0)
        exchanged.append(op.Broadcast(op.constant([size - 1], si64), last))
    return matrices, order, op.Concat(*exchanged, axis=batch) if len(exchanged) > 1 else exchanged[0]


def reflections(op: OpBuilder, matrices: SSAValue, rows: int, columns: int) -> tuple[SSAValue, SSAValue]:
    """The QR factors of matrices [..., rows, columns], by Householder reflections.

    Returns a matrix with r as its upper triangle and, below it, the vectors v of the reflections whose product is q;
    and the factors t [..., K] of the reflections. q is the product of I - t · v · vᵀ, where v begins with a 1 that is
    not stored. A diagonal element of r has the opposite sign of the element that it replaces, or equals it if all
    elements below it are 0.

    Source: G. Golub and C. Van Loan, "Matrix Computations", section 5.2.2 (Householder QR).
    """
    factors: list[SSAValue] = []
    row_indices = np.arange(rows).reshape(rows, 1)
    for step in range(min(rows, columns)):
        column = op.Slice(matrices, [step], [step + 1], [1], [-1])
        head = op.Slice(column, [step], [step + 1], [1], [-2])
        below = op.Multiply(column, op.constant_like(row_indices > step, column))
        square = op.ReduceSum(op.Multiply(below, below), [-2], keep_dims=True)
        is_done = op.LessEqual(square, float(np.finfo(np.float32).tiny))
        norm = op.Sqrt(op.Add(op.Multiply(head, head), square))
        diagonal = op.Select(op.Less(head, 0.0), norm, op.Negative(norm))
        factor = op.Select(is_done, 0.0, op.Divide(op.Subtract(diagonal, head), op.Select(is_done, 1.0, diagonal)))
        tail = op.Divide(below, op.Select(is_done, 1.0, op.Subtract(head, diagonal)))
        vector = op.Add(tail, op.constant_like(row_indices == step, column))
        # Below the diagonal, the first columns have vectors of reflections instead of zeros.
        following = op.constant_like(np.arange(columns) >= step, matrices)
        projected = op.Multiply(op.MatMul(vector, matrices, transpose_a=True), following)
        matrices = op.Subtract(matrices, op.Multiply(op.Multiply(vector, factor), projected))
        matrices = op.Select(op.constant((row_indices > step) & (np.arange(columns) == step)), tail, matrices)
        factors.append(op.Squeeze(factor, [-1]))
    return matrices, op.Concat(*factors, axis=-1)


def product_of_reflections(op: OpBuilder, vectors: SSAValue, factors: SSAValue, rows: int, columns: int, count: int) -> SSAValue:
    """The first `columns` columns of q, the product of `count` reflections on matrices of `rows` rows.

    `vectors` and `factors` are the results of `reflections`.
    """
    row_indices = np.arange(rows).reshape(rows, 1)
    product = op.constant_like(np.eye(rows, columns), vectors)
    for step in range(count - 1, -1, -1):
        column = op.Slice(vectors, [step], [step + 1], [1], [-1])
        vector = op.Add(op.Multiply(column, op.constant_like(row_indices > step, column)), op.constant_like(row_indices == step, column))
        factor = op.Unsqueeze(op.Slice(factors, [step], [step + 1], [1], [-1]), [-1])
        product = op.Subtract(product, op.Multiply(op.Multiply(vector, factor), op.MatMul(vector, product, transpose_a=True)))
    return product


def matrix_of_diagonals(op: OpBuilder, diagonals: Mapping[int, SSAValue]) -> SSAValue:
    """Square matrices a […, M, M] with zeros except on `diagonals`, each a vector […, M] by its offset.

    Element i of diagonal k is a[i, i + k]; an element outside of the matrix is not read.
    """
    some = next(iter(diagonals.values()))
    indices = op.Range(0, dimension_of(op, some, -1), 1, output_type=si64)
    distance = op.Subtract(indices, op.Unsqueeze(indices, [1]))
    matrix = op.constant_like(0, some)
    for k, diagonal in diagonals.items():
        matrix = op.Select(op.Equal(distance, k), op.Unsqueeze(diagonal, [-1]), matrix)
    return matrix
