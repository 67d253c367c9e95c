"""Systems of equations with triangular matrices, and symmetric matrices of which one triangle is read."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.expansions.complex_numbers import Number, block_matrix
from moir.expansions.linear_algebra.matrix_diagonals import triangle_of
from moir.expansions.transposition import transposed
from moir.rewriting.builder import OpBuilder


def symmetric(op: OpBuilder, x: SSAValue, *, is_lower: bool) -> SSAValue:
    """Symmetric matrices, built from their lower or upper triangle; the other one is not read."""
    return op.Add(triangle_of(op, x, is_lower=is_lower), transposed(op, triangle_of(op, x, -1 if is_lower else 1, is_lower=is_lower)))


def with_unit_diagonal(op: OpBuilder, a: SSAValue, *, is_lower: bool) -> SSAValue:
    """The lower or upper triangles of matrices of static size, with ones as their diagonal."""
    triangle = triangle_of(op, a, -1 if is_lower else 1, is_lower=is_lower)
    rows, columns = (shape_of(a) or (1, 1))[-2:]
    return op.Add(triangle, op.constant_like(np.eye(rows, columns), a))


def solved(
    op: OpBuilder, a: SSAValue, b: SSAValue, *, is_left: bool, is_lower: bool, is_transposed: bool, has_unit_diagonal: bool
) -> SSAValue:
    """The solution x of t · x = b, or of x · t = b unless `is_left`.

    t is the lower or upper triangle of a, transposed if `is_transposed`; its diagonal is ones if `has_unit_diagonal`.
    """
    triangle = with_unit_diagonal(op, a, is_lower=is_lower) if has_unit_diagonal else triangle_of(op, a, is_lower=is_lower)
    inverse = op.Inverse(triangle)
    return op.MatMul(inverse, b, transpose_a=is_transposed) if is_left else op.MatMul(b, inverse, transpose_b=is_transposed)


def solved_complex(
    op: OpBuilder,
    a: Number,
    b: Number,
    *,
    is_left: bool,
    is_lower: bool,
    is_transposed: bool,
    is_conjugated: bool,
    has_unit_diagonal: bool,
) -> Number:
    """The complex solution x of t · x = b, or of x · t = b unless `is_left`.

    t is a triangle of a, or its transpose or adjoint. The real matrix [[real, -imaginary], [imaginary, real]] of twice
    the size is inverted.
    """
    skipped = (-1 if is_lower else 1) if has_unit_diagonal else 0
    real = with_unit_diagonal(op, a.real, is_lower=is_lower) if has_unit_diagonal else triangle_of(op, a.real, is_lower=is_lower)
    imaginary = triangle_of(op, a.imaginary, skipped, is_lower=is_lower)
    if is_transposed:
        real, imaginary = transposed(op, real), transposed(op, imaginary)
    # Rows are multiplied from the left by the matrix [[real, imaginary], [-imaginary, real]].
    negated = is_conjugated == is_left
    inverse = op.Inverse(block_matrix(op, Number(real, op.Negative(imaginary) if negated else imaginary)))
    axis = -2 if is_left else -1
    right = op.Concat(b.real, b.imaginary, axis=axis)
    solution = op.MatMul(inverse, right) if is_left else op.MatMul(right, inverse)
    return Number(*op.Split.results(solution, axis, num_splits=2))
