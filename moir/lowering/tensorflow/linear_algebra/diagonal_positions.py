"""Positions of the elements of diagonals in matrices.

Diagonal k of a matrix of m rows and n columns has the elements (i, i + k). In the packed form [d, l] of several
diagonals the first row is the highest diagonal. Shorter diagonals are padded; `align` says on which side of the row
their elements are, for diagonals above and for those below the main diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import si64
from moir.dialects.shapes import is_static, shape_of
from moir.errors import InferenceError
from moir.expansions.linear_algebra.matrix_diagonals import dimension_of, require_matrices
from moir.expansions.shape_values import dimension
from moir.rewriting.builder import OpBuilder

ALIGNMENTS = ("LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT")
"""The values of the attribute `align`: the side for the diagonals above the main diagonal, and for the main one and
those below.
"""

MAXIMUM_ELEMENTS = 1 << 22
"""The largest number of elements of a matrix for which the tables of indices are constants."""


def offsets(op: OpBuilder, matrices: SSAValue) -> Array | SSAValue:
    """The column index minus the row index of each element of matrices in the last two dimensions; an array if the
    sizes are static.
    """
    shape = shape_of(matrices)
    require_matrices(shape)
    if shape is not None and is_static(shape[-2:]) and shape[-1] * shape[-2] <= MAXIMUM_ELEMENTS:
        return np.arange(shape[-1])[None, :] - np.arange(shape[-2])[:, None]
    rows, columns = (op.Range(0, dimension_of(op, matrices, axis), 1, output_type=si64) for axis in (-2, -1))
    return op.Subtract(columns, op.Unsqueeze(rows, [1]))


def is_diagonal(op: OpBuilder, size: SSAValue, axis: int) -> SSAValue:
    """The boolean mask of the main diagonal of a square matrix whose size is dimension `axis` of a value."""
    count = dimension(op, size, axis)
    if isinstance(count, int) and count * count <= MAXIMUM_ELEMENTS:
        return op.constant(np.eye(count, dtype=bool))
    indices = op.Range(0, count, 1, output_type=si64)
    return op.Equal(indices, op.Unsqueeze(indices, [1]))


class Band:
    """The diagonals `lower` to `upper` of matrices of a static size.

    Raises InferenceError for diagonals outside of the matrix, an unknown alignment, or matrices too large for
    constants.
    """

    def __init__(self, rows: int, columns: int, lower: int, upper: int, align: str) -> None:
        if align not in ALIGNMENTS:
            raise InferenceError(f"align {align!r} is not one of {', '.join(ALIGNMENTS)}")
        if lower > upper or ((lower, upper) != (0, 0) and not (-rows < lower and upper < columns)):
            raise InferenceError(f"a matrix of {rows} rows and {columns} columns has no diagonals {lower} to {upper}")
        if rows * columns > MAXIMUM_ELEMENTS:
            raise InferenceError(f"matrices of {rows} rows and {columns} columns are too large")
        self.rows, self.columns, self.lower, self.upper, self.align = rows, columns, lower, upper, align

    def length(self, k: int) -> int:
        """Number of elements of a diagonal."""
        return max(0, min(self.rows + min(k, 0), self.columns - max(k, 0)))

    @property
    def width(self) -> int:
        """Number of elements of the longest diagonal."""
        return max(self.length(k) for k in range(self.lower, self.upper + 1))

    @property
    def count(self) -> int:
        """Number of diagonals."""
        return self.upper - self.lower + 1

    def elements(self) -> Iterator[tuple[int, int, int, int]]:
        """For each element of the band: its diagonal, its index in the row of the packed form, its row and its column
        in the matrix.
        """
        above, _, below = self.align.partition("_")
        for row_index, k in enumerate(range(self.upper, self.lower - 1, -1)):
            # No diagonal is longer than the main diagonal if the band contains it, so its alignment is irrelevant.
            side = above if k > 0 else below
            first = self.width - self.length(k) if side == "RIGHT" else 0
            for position in range(self.length(k)):
                yield row_index, first + position, position + max(-k, 0), position + max(k, 0)

    def sources_of_packed(self) -> Array:
        """For each element of the packed form [d, l], its index in the flattened matrix; -1 for padding."""
        sources = np.full((self.count, self.width), -1, np.int64)
        for diagonal, position, row, column in self.elements():
            sources[diagonal, position] = row * self.columns + column
        return sources

    def sources_of_matrix(self) -> Array:
        """For each element of the matrix [m, n] its index in the flattened packed form; -1 outside of the band."""
        sources = np.full((self.rows, self.columns), -1, np.int64)
        for diagonal, position, row, column in self.elements():
            sources[row, column] = diagonal * self.width + position
        return sources


class ComputedBand:
    """The diagonals `lower` to `upper` of matrices of dynamic size.

    Args:
        rows, columns: i64 scalars.

    Raises InferenceError for an unknown alignment.
    """

    def __init__(self, op: OpBuilder, rows: SSAValue, columns: SSAValue, lower: int, upper: int, align: str) -> None:
        if align not in ALIGNMENTS:
            raise InferenceError(f"align {align!r} is not one of {', '.join(ALIGNMENTS)}")
        self.op, self.rows, self.columns, self.lower, self.upper = op, rows, columns, lower, upper
        above, _, below = align.partition("_")
        self.numbers = np.arange(upper, lower - 1, -1)[:, None]
        """The offsets of the diagonals in the order of the packed form, [d, 1]."""
        fits = op.Minimum(op.Add(rows, np.minimum(self.numbers, 0)), op.Subtract(columns, np.maximum(self.numbers, 0)))
        self.lengths = op.Maximum(fits, 0)
        """The number of elements of each diagonal, [d, 1]."""
        self.width = op.ReduceMax(self.lengths, [0, 1], keep_dims=False)
        """Number of elements of the longest diagonal."""
        is_right = np.where(self.numbers > 0, above == "RIGHT", below == "RIGHT")
        self.first = op.Select(op.constant(is_right), op.Subtract(self.width, self.lengths), 0)
        """The index of the first element of each diagonal in its row of the packed form, [d, 1]."""

    def sources_of_packed(self) -> SSAValue:
        """For each element of the packed form [d, l], its index in the flattened matrix; -1 for padding."""
        op = self.op
        position = op.Subtract(op.Range(0, self.width, 1, output_type=si64), self.first)
        row, column = op.Add(position, np.maximum(-self.numbers, 0)), op.Add(position, np.maximum(self.numbers, 0))
        exists = op.LogicalAnd(op.GreaterEqual(position, 0), op.Less(position, self.lengths))
        return op.Select(exists, op.Add(op.Multiply(row, self.columns), column), -1)

    def sources_of_matrix(self) -> SSAValue:
        """For each element of the matrix [m, n] its index in the flattened packed form; -1 outside of the band."""
        op = self.op
        row = op.Unsqueeze(op.Range(0, self.rows, 1, output_type=si64), [1])
        column = op.Range(0, self.columns, 1, output_type=si64)
        diagonal = op.Subtract(column, row)
        diagonal_index = op.Subtract(self.upper, op.Maximum(op.Minimum(diagonal, self.upper), self.lower))
        position = op.Add(op.Minimum(row, column), op.Gather(op.Reshape(self.first, [-1], special_zero=False), diagonal_index, 0))
        within = op.LogicalAnd(op.GreaterEqual(diagonal, self.lower), op.LessEqual(diagonal, self.upper))
        return op.Select(within, op.Add(op.Multiply(diagonal_index, self.width), position), -1)
