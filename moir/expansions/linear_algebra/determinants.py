"""Determinants of matrices by Gaussian elimination, with a pivot of largest magnitude in each column.

For matrices of few rows the steps are unrolled; for more rows, or a dynamic number of rows, they are a Loop.

Source: G. Golub and C. Van Loan, "Matrix Computations", section 3.4 (partial pivoting).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import Shape, rank_of, shape_of
from moir.errors import UnsupportedOperationError
from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.rewriting.builder import OpBuilder

LARGEST_MATRIX = 32
"""The largest number of rows for which the steps are unrolled; each step takes about 20 operations."""

Combine = Callable[[OpBuilder, Sequence[SSAValue], SSAValue], Sequence[SSAValue]]
"""Builds the accumulated values after a step, given those before the step and the step's pivot."""


def determinant_of(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The determinants [...] of matrices [..., M, M].

    The determinant is the product of the pivots, each with the sign of its row. Raises ConversionError if the rank is
    dynamic.
    """
    if has_few_rows(x):
        determinant = reduce(op.Multiply, pivots_of(op, x))
    else:
        (determinant,) = _accumulated(op, x, [1.0], lambda op, before, pivot: [op.Multiply(before[0], pivot)])
    return op.Squeeze(determinant, [-2, -1])


def sign_and_logarithm_of(op: OpBuilder, x: SSAValue) -> list[SSAValue]:
    """The signs and the logarithms of the absolute values of the determinants, [...] each, of matrices [..., M, M].

    The logarithm is the sum of the pivots' logarithms, which is finite even where the determinant itself overflows.
    Raises ConversionError if the rank is dynamic.
    """

    def combine(op: OpBuilder, before: Sequence[SSAValue], pivot: SSAValue) -> list[SSAValue]:
        return [op.Multiply(before[0], op.Sign(pivot)), op.Add(before[1], op.Log(op.Abs(pivot)))]

    if has_few_rows(x):
        pivots = pivots_of(op, x)
        sign = reduce(op.Multiply, [op.Sign(pivot) for pivot in pivots])
        logarithm = reduce(op.Add, [op.Log(op.Abs(pivot)) for pivot in pivots])
    else:
        sign, logarithm = _accumulated(op, x, [1.0, 0.0], combine)
    return [op.Squeeze(sign, [-2, -1]), op.Squeeze(logarithm, [-2, -1])]


def size_of_matrices(shape: Shape) -> int:
    """M of the shape [..., M, M] of matrices. Raises ConversionError if it is unknown or above LARGEST_MATRIX."""
    size = _known_size(shape)
    if size is None:
        raise UnsupportedOperationError("the size of the matrices is unknown", hint="give the model's input this dimension")
    if size > LARGEST_MATRIX:
        raise UnsupportedOperationError(f"the matrices have {size} rows; up to {LARGEST_MATRIX} are supported")
    return size


def has_few_rows(x: SSAValue) -> bool:
    """Whether matrices [..., M, M] are known to have few enough rows for unrolled steps."""
    size = _known_size(shape_of(x))
    return size is not None and size <= LARGEST_MATRIX


def _known_size(shape: Shape) -> int | None:
    sizes = (shape or ())[-2:]
    size = max(sizes, default=-1)
    return size if len(sizes) == 2 and size >= 0 else None


def _accumulated(op: OpBuilder, x: SSAValue, initial: Sequence[float], combine: Combine) -> list[SSAValue]:
    """Values [..., 1, 1] accumulated over the signed pivots of matrices [..., M, M].

    Args:
        op: the builder.
        x: the matrices.
        initial: the values before the first step.
        combine: builds the values after a step from those before it and a pivot.
    """
    rank = rank_of(x)
    if rank is None:
        raise UnsupportedOperationError("the rank of the matrices is dynamic", hint="give the model's inputs a static rank")
    size = op.Gather(op.ShapeOf(x), np.array(-1), np.array(0))
    indices = op.Range(0, size, 1, output_type=si64)
    batch = op.Slice(op.ShapeOf(x), [0], [rank - 2], [1], [0])
    shape = op.Concat(batch, op.constant(np.array([1, 1])), axis=0)
    states = [op.constant(np.array([0])), x, *(op.Broadcast(op.constant_like(value, x), shape) for value in initial)]

    def body(op: OpBuilder, states: list[SSAValue], _: list[SSAValue], fixed: list[SSAValue]) -> Step:
        step, x, *before = states
        rows = op.Unsqueeze(fixed[0], [1])
        column = op.Gather(x, step, np.array(-1))
        candidates = op.Select(op.GreaterEqual(rows, step), op.Abs(column), -1.0)
        pivot_row = index_of_largest(op, candidates)
        chosen = op.Equal(rows, pivot_row)
        row = op.ReduceSum(op.Select(chosen, x, 0.0), [-2], keep_dims=True)
        pivot = op.Gather(row, step, np.array(-1))
        # The row of this step is moved to the index of the pivot's row.
        exchanged = op.Select(chosen, op.Gather(x, step, np.array(-2)), x)
        below = op.Select(op.Greater(rows, step), op.Gather(exchanged, step, np.array(-1)), 0.0)
        factors = op.Divide(below, op.Select(op.Equal(pivot, 0.0), 1.0, pivot))
        rest = op.Subtract(exchanged, op.Multiply(factors, row))
        signed = op.Select(op.Equal(pivot_row, step), pivot, op.Negative(pivot))
        return Step([op.Add(step, 1), rest, *combine(op, before, signed)])

    return repeated_steps(op, body, states, invariants=[indices], most=size)[2:]


def pivots_of(op: OpBuilder, x: SSAValue) -> list[SSAValue]:
    """The pivots [..., 1, 1] of elimination, each with the sign of its row; a single 1 for matrices without
    elements.
    """
    size, pivots = size_of_matrices(shape_of(x)), list[SSAValue]()
    for count in range(size, 0, -1):
        pivot, x = _eliminated(op, x, count)
        pivots.append(pivot)
    return pivots or [op.Add(op.ReduceSum(x, [-2, -1], keep_dims=True), 1.0)]


def _eliminated(op: OpBuilder, x: SSAValue, size: int) -> tuple[SSAValue, SSAValue]:
    """One step of Gaussian elimination on matrices [..., size, size].

    Returns the pivot with the sign of its row, [..., 1, 1], and the matrices without its row and column.
    """
    column = op.Slice(x, [0], [1], [1], [-1])
    if size == 1:
        return column, x
    pivot_row = index_of_largest(op, op.Abs(column))
    row = row_at(op, x, pivot_row, size)
    pivot = op.Slice(row, [0], [1], [1], [-1])
    factors = op.Divide(column, op.Select(op.Equal(pivot, 0.0), 1.0, pivot))
    return signed(op, pivot, pivot_row), remaining(op, op.Subtract(x, op.Multiply(factors, row)), pivot_row, size)


def index_of_largest(op: OpBuilder, magnitudes: SSAValue) -> SSAValue:
    """The row index [..., 1, 1] of the largest element of columns [..., size, 1]."""
    return op.TopK.results(magnitudes, op.constant(1, si64), axis=-2, mode="max", sort="value", index_element_type=si64)[1]


def row_at(op: OpBuilder, x: SSAValue, index: SSAValue, size: int) -> SSAValue:
    """Row `index` [..., 1, 1] of matrices [..., size, size], as [..., 1, size]."""
    chosen = op.Equal(index, op.constant(np.arange(size).reshape(size, 1)))
    return op.ReduceSum(op.Select(chosen, x, 0.0), [-2], keep_dims=True)


def remaining(op: OpBuilder, x: SSAValue, index: SSAValue, size: int) -> SSAValue:
    """Matrices [..., size, size] without their first column and without the row `index` of the pivot."""
    rest = op.Slice(x, [1], [size], [1], [-1])
    # Row i of the remaining matrix is row i, or from the pivot's row on row i + 1.
    after = op.GreaterEqual(op.constant(np.arange(size - 1).reshape(size - 1, 1)), index)
    return op.Select(after, op.Slice(rest, [1], [size], [1], [-2]), op.Slice(rest, [0], [size - 1], [1], [-2]))


def signed(op: OpBuilder, pivot: SSAValue, index: SSAValue) -> SSAValue:
    """The pivot times (-1)^index: with the sign of its row in the expansion of the determinant."""
    return op.Select(op.Equal(op.FloorMod(index, 2), 1), op.Negative(pivot), pivot)
