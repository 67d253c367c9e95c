"""Eigenvalues of symmetric matrices and singular values of matrices, by Jacobi's rotations in a Loop.

A step rotates n / 2 disjoint pairs of rows or columns at once: row i of the upper half with row i of the lower one.
Then the order changes like that of the players of a round-robin tournament, so that n - 1 steps, a sweep, rotate each
pair once and restore the order.

Sources: G. Golub and C. Van Loan, "Matrix Computations", sections 8.5 (Jacobi methods) and 8.6.3 (one-sided rotations).
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.expansions.transposition import transposed
from moir.rewriting.builder import OpBuilder

LARGEST_ROTATED = 128
"""The largest number of rows of a matrix."""

SWEEPS = 10
"""The number of sweeps: convergence is quadratic, and 6 to 8 suffice for f32 and matrices of up to LARGEST_ROTATED
rows.
"""


def tournament(size: int) -> tuple[int, ...]:
    """For each row of the next round, its index in the present round; in a round, rows i and i + size / 2 are a pair.

    `size` is even.
    """
    half = size // 2
    # Player 0 stays; the others move around the table: up the first half, down the second one.
    return (0, half, *range(1, half - 1), *range(half + 1, size), half - 1) if half > 1 else (0, 1)


def rotation(op: OpBuilder, p: SSAValue, q: SSAValue, product: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Cosine and sine of the rotations that diagonalize the symmetric matrices [[p, product], [product, q]]."""
    is_zero = op.Equal(product, 0.0)
    ratio = op.Divide(op.Subtract(q, p), op.Select(is_zero, 1.0, op.Multiply(product, 2.0)))
    magnitude = op.Add(op.Abs(ratio), op.Sqrt(op.Add(op.Multiply(ratio, ratio), 1.0)))
    tangent = op.Divide(op.Select(op.Less(ratio, 0.0), op.constant_like(-1, ratio), op.constant_like(1, ratio)), magnitude)
    tangent = op.Select(is_zero, 0.0, tangent)
    cosine = op.Divide(1.0, op.Sqrt(op.Add(op.Multiply(tangent, tangent), 1.0)))
    return cosine, op.Multiply(tangent, cosine)


def halves(op: OpBuilder, value: SSAValue, half: int, axis: int) -> tuple[SSAValue, SSAValue]:
    """The first and the second half of a value along an axis."""
    return op.Slice(value, [0], [half], [1], [axis]), op.Slice(value, [half], [2 * half], [1], [axis])


def rotated(op: OpBuilder, value: SSAValue, cosine: SSAValue, sine: SSAValue, axis: int, size: int) -> SSAValue:
    """The pairs (i, i + size / 2) of rows or columns along `axis`, rotated by the given angles and put in the order of
    the next round.
    """
    first, second = halves(op, value, size // 2, axis)
    turned = (
        op.Subtract(op.Multiply(cosine, first), op.Multiply(sine, second)),
        op.Add(op.Multiply(sine, first), op.Multiply(cosine, second)),
    )
    return op.Gather(op.Concat(*turned, axis=axis), np.array(tournament(size)), axis)


def eigenvalues(op: OpBuilder, matrices: SSAValue, size: int, rank: int) -> SSAValue:
    """The eigenvalues [..., size] of symmetric matrices [..., size, size] of a rank, in ascending order."""
    return eigenvectors(op, matrices, size, rank, with_vectors=False)[0]


def eigenvectors(op: OpBuilder, matrices: SSAValue, size: int, rank: int, *, with_vectors: bool = True) -> tuple[SSAValue, SSAValue | None]:
    """The eigenvalues [..., size] of symmetric matrices, in ascending order, and the eigenvectors as columns.

    The eigenvectors are unique up to their signs, and for equal eigenvalues up to a rotation; None without
    `with_vectors`.
    """
    even = size + size % 2
    half = even // 2

    def step(inside: OpBuilder, states: list[SSAValue], *_: list[SSAValue]) -> Step:
        a, *vectors = states
        diagonal = inside.ReduceSum(inside.Multiply(a, inside.constant_like(np.eye(even), a)), [-1], keep_dims=True)
        mixed = inside.Multiply(a, inside.constant_like(np.eye(even, k=half), a))
        product = halves(inside, inside.ReduceSum(mixed, [-1], keep_dims=True), half, -2)[0]
        cosine, sine = rotation(inside, *halves(inside, diagonal, half, -2), product)
        turned = rotated(inside, a, cosine, sine, -2, even)
        both = transposed(inside, cosine), transposed(inside, sine)
        return Step([rotated(inside, each, *both, -1, even) for each in (turned, *vectors)])

    if even > size:
        matrices = with_zeros(op, matrices, [0, 1, 1], rank)
    states = [matrices, identities(op, matrices, even)] if with_vectors else [matrices]
    if size > 1:
        states = list(repeated_steps(op, step, states, most=SWEEPS * (even - 1)))
    diagonal_values = op.ReduceSum(op.Multiply(states[0], op.constant_like(np.eye(even), matrices)), [-1], keep_dims=False)
    values, order = in_order(op, diagonal_values, size, "min")
    return values, columns_at(op, states[1], order, size, rank) if with_vectors else None


def singular_values(op: OpBuilder, matrices: SSAValue, columns: int, rank: int) -> SSAValue:
    """The singular values [..., columns] of matrices with at least as many rows as columns, in descending order."""
    return singular_vectors(op, matrices, columns, rank, with_vectors=False)[0]


def singular_vectors(
    op: OpBuilder, matrices: SSAValue, columns: int, rank: int, *, with_vectors: bool = True
) -> tuple[SSAValue, SSAValue | None, SSAValue | None]:
    """The singular values [..., columns] of matrices with at least as many rows as columns, in descending order.

    With their left and right vectors as columns, [..., rows, columns] and [..., columns, columns], which are unique up
    to their signs; both None without `with_vectors`. The left vector of a singular value of 0 is 0.
    """
    even = columns + columns % 2
    half = even // 2

    def step(inside: OpBuilder, states: list[SSAValue], *_: list[SSAValue]) -> Step:
        first, second = halves(inside, states[0], half, -1)
        sums = [inside.ReduceSum(inside.Multiply(*pair), [-2], keep_dims=True) for pair in ((first,) * 2, (second,) * 2, (first, second))]
        turn = rotation(inside, *sums)
        return Step([rotated(inside, each, *turn, -1, even) for each in states])

    if even > columns:
        matrices = with_zeros(op, matrices, [0, 0, 1], rank)
    states = [matrices, identities(op, op.MatMul(matrices, matrices, transpose_a=True), even)] if with_vectors else [matrices]
    if columns > 1:
        states = list(repeated_steps(op, step, states, most=SWEEPS * (even - 1)))
    norms = op.ReduceL2(states[0], [-2], keep_dims=False)
    values, order = in_order(op, norms, columns, "max")
    if not with_vectors:
        return values, None, None
    lengths = op.Unsqueeze(values, [-2])
    left = op.Divide(columns_at(op, states[0], order, None, rank), op.Select(op.Equal(lengths, 0.0), 1.0, lengths))
    return values, left, columns_at(op, states[1], order, columns, rank)


def with_zeros(op: OpBuilder, matrices: SSAValue, further: list[int], rank: int) -> SSAValue:
    """Append rows and columns of zeros to matrices; `further` is [0, rows, columns], the numbers of zeros to append
    along each axis.
    """
    ends = [*[0] * (rank - 2), *further[1:]]
    return op.Pad(matrices, [0] * rank, ends, op.constant_like(0, matrices), pad_mode="constant")


def identities(op: OpBuilder, matrices: SSAValue, size: int) -> SSAValue:
    """Identity matrices in the shape of square matrices [..., size, size]."""
    return op.Add(op.Multiply(matrices, 0.0), op.constant_like(np.eye(size), matrices))


def columns_at(op: OpBuilder, matrices: SSAValue, indices: SSAValue, rows: int | None, rank: int) -> SSAValue:
    """The columns of matrices at indices [..., K]; with `rows`, only their first `rows` elements."""
    columns = op.Gather(matrices, indices, rank - 1, batch_dims=rank - 2)
    return columns if rows is None else op.Slice(columns, [0], [rows], [1], [-2])


def in_order(op: OpBuilder, values: SSAValue, count: int, mode: str) -> tuple[SSAValue, SSAValue]:
    """The first `count` values of each row, sorted, and their indices before sorting.

    `mode` is that of TopK: max for descending order, min for ascending.
    """
    first = op.Slice(values, [0], [count], [1], [-1])
    sorted_values = op.TopK.results(first, op.constant(count), axis=-1, mode=mode, sort="value", index_element_type=si64)
    return sorted_values[0], sorted_values[1]
