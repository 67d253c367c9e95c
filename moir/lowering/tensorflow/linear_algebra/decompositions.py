"""Factors, eigenvalues and singular values of matrices, and their exponential. The sizes of matrices have to be static.

    %e, %v = tf.SelfAdjointEigV2(%a)     // %v is not used
->  %e = a Loop of Jacobi's rotations, opset11.TopK {mode = min} of the diagonal
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import is_static, shape_of
from moir.expansions.linear_algebra.determinants import LARGEST_MATRIX, size_of_matrices
from moir.expansions.linear_algebra.jacobi_rotations import LARGEST_ROTATED, eigenvalues, singular_values
from moir.expansions.linear_algebra.matrix_diagonals import triangle_of
from moir.expansions.linear_algebra.matrix_factors import pivoted_factors
from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.expansions.shape_values import all_axes
from moir.expansions.transposition import transposed
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

GIVE_SIZE = "give the model's input these dimensions"


def sizes_of_matrices(node: LoweringNode, largest: int) -> tuple[int, int]:
    """The numbers of rows and columns of operand 0.

    Raises ConversionError if one of them is dynamic or 0, or if the smaller one exceeds `largest`.
    """
    shape = node.shape(0)
    if shape is None or not is_static(shape[-2:]):
        node.fail("the sizes of the matrices are unknown", hint=GIVE_SIZE)
    rows, columns = shape[-2:]
    if not rows or not columns:
        node.fail("the matrices have no elements")
    if min(rows, columns) > largest:
        node.fail(f"the matrices have {rows} rows and {columns} columns; one of both must be at most {largest}")
    return rows, columns


@tf.lowers("Qr")
def orthogonal_and_upper(node: LoweringNode, op: OpBuilder, input: SSAValue, *, full_matrices: bool = False) -> Sequence[SSAValue]:
    """tf.Qr(a […, M, N]) {full_matrices} -> q, r with a = q · r, by a reflection for each column

    The reflections have the signs of LAPACK: a diagonal element of r has the opposite sign of the element that it
    replaces, or equals it if all elements below are 0.

    Source: G. Golub and C. Van Loan, "Matrix Computations", section 5.2.2 (Householder QR).
    """
    upper, (rows, columns) = input, sizes_of_matrices(node, LARGEST_MATRIX)
    q = op.constant_like(np.eye(rows), upper)
    for diagonal in range(min(rows - 1, columns)):
        column = op.Slice(upper, [diagonal], [diagonal + 1], [1], [-1])
        below = op.Multiply(column, op.constant_like(np.arange(rows).reshape(rows, 1) > diagonal, column))
        head = op.Slice(column, [diagonal], [diagonal + 1], [1], [-2])
        square = op.ReduceSum(op.Multiply(below, below), [-2], keep_dims=True)
        norm = op.Sqrt(op.Add(op.Multiply(head, head), square))
        # The first element of the Householder vector: the pivot minus the new diagonal element, without cancellation.
        first = op.Add(head, op.Select(op.Less(head, 0.0), op.Negative(norm), norm))
        vector = op.Add(below, op.Multiply(first, op.constant_like(np.eye(rows)[:, diagonal : diagonal + 1], column)))
        is_done = op.LessEqual(square, float(np.finfo(np.float32).tiny))
        divisor = op.Select(is_done, 1.0, op.Add(square, op.Multiply(first, first)))
        scaled = op.Multiply(vector, op.Select(is_done, 0.0, op.Divide(2.0, divisor)))
        upper = op.Subtract(upper, op.MatMul(scaled, op.MatMul(vector, upper, transpose_a=True)))
        q = op.Subtract(q, op.MatMul(op.MatMul(q, scaled), vector, transpose_b=True))
    if rows == 1 and node.known_rank(0) > 2:
        # The reflection is the identity here, so that q is the same as LAPACK's.
        q = op.Broadcast(q, op.Concat(op.Slice(op.ShapeOf(upper), [0], [-2], [1], [0]), [1, 1], axis=0))
    upper, size = triangle_of(op, upper, is_lower=False), min(rows, columns)
    if not full_matrices and size < rows:
        q, upper = op.Slice(q, [0], [size], [1], [-1]), op.Slice(upper, [0], [size], [1], [-2])
    return [q, upper][: node.result_count]


@tf.lowers("Lu")
def lower_and_upper(node: LoweringNode, op: OpBuilder, input: SSAValue, *, output_idx_type: Attribute = si32) -> Sequence[SSAValue]:
    """tf.Lu(a) -> both triangles in one matrix, and the permutation of the rows, by Gaussian elimination with row
    pivots
    """
    packed, order, _ = pivoted_factors(op, input, size_of_matrices(shape_of(input)), node.known_rank(0))
    return [packed, op.convert(order, output_idx_type)][: node.result_count]


VECTORS = "vectors are determined up to their signs only, and a Loop cannot find those that TensorFlow finds"
ASK_VALUES = "use the values alone, or cut the model after this node"


@tf.lowers("SelfAdjointEigV2")
def eigenvalues_of_symmetric(node: LoweringNode, op: OpBuilder, input: SSAValue) -> Sequence[SSAValue | None]:
    """tf.SelfAdjointEigV2(a) -> the eigenvalues; refused if the vectors are used. Only the lower triangle is read."""
    if node.is_used(1):
        node.fail(VECTORS, hint=ASK_VALUES)
    a, (rows, columns) = input, sizes_of_matrices(node, LARGEST_ROTATED)
    if rows != columns:
        node.fail(f"matrices of {rows} rows and {columns} columns have no eigenvalues")
    symmetric = op.Add(triangle_of(op, a), transposed(op, triangle_of(op, a, -1)))
    return [eigenvalues(op, symmetric, rows, node.known_rank(0)), None][: node.result_count]


@tf.lowers("Svd")
def values_of_matrices(node: LoweringNode, op: OpBuilder, input: SSAValue) -> Sequence[SSAValue | None]:
    """tf.Svd(a) -> the singular values; refused if the vectors are used"""
    if node.is_used(1) or node.is_used(2):
        node.fail(VECTORS, hint=ASK_VALUES)
    a, (rows, columns) = input, sizes_of_matrices(node, LARGEST_ROTATED)
    if rows < columns:
        a = transposed(op, a)
    return [singular_values(op, a, min(rows, columns), node.known_rank(0)), None, None][: node.result_count]


# The exponential

PADE = (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1)
"""Coefficients of the Padé approximant of degree 7, in ascending order of powers."""

PADE_LIMIT = 3.925724783138660
"""The norm of a matrix up to which the approximant has the precision of f32; larger matrices are scaled."""


@tf.lowers("MatrixExponential")
def exponential(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.MatrixExponential(a) -> (v - u)⁻¹ (v + u), squared s times in a Loop; u and v are polynomials of a / 2ˢ

    Source: N. Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited" (2005), degree 7.
    """
    a, size = input, size_of_matrices(shape_of(input))
    norm = op.ReduceMax(op.ReduceSum(op.Abs(a), [-2], keep_dims=False), [-1], keep_dims=False)
    ratio = op.Divide(op.Log(op.Maximum(op.Divide(norm, PADE_LIMIT), 1.0)), math.log(2))
    count = op.Ceiling(ratio)
    count = op.Unsqueeze(count, [-1, -2]) if node.known_rank(0) > 2 else count
    a = op.Divide(a, op.Power(2.0, count))
    one = op.constant_like(np.eye(size), a)
    square = op.MatMul(a, a)
    powers = [one, square, fourth := op.MatMul(square, square), op.MatMul(fourth, square)]
    odd, even = (sum_of(op, [op.Multiply(power, float(PADE[2 * index + first])) for index, power in enumerate(powers)]) for first in (1, 0))
    odd = op.MatMul(a, odd)
    quotient = op.MatMul(op.Inverse(op.Subtract(even, odd)), op.Add(even, odd))

    def step(inside: OpBuilder, states: list[SSAValue], *_: list[SSAValue]) -> Step:
        matrix, left = states
        squared = inside.Select(inside.Greater(left, 0.0), inside.MatMul(matrix, matrix), matrix)
        return Step([squared, inside.Subtract(left, 1.0)])

    most = op.convert(op.ReduceMax(count, all_axes(op, count), keep_dims=False), si64)
    return repeated_steps(op, step, [quotient, count], most=most)[0]


def sum_of(op: OpBuilder, values: Sequence[SSAValue]) -> SSAValue:
    """The sum of values."""
    first, *rest = values
    for value in rest:
        first = op.Add(first, value)
    return first


# Refusals

REASONS = {
    "BatchSelfAdjointEig": VECTORS,
    "BatchSelfAdjointEigV2": VECTORS,
    "BatchSvd": VECTORS,
    "Eig": "eigenvalues of matrices that are not symmetric are found by a search whose number of steps is not known before",
    "MatrixLogarithm": "it needs the Schur decomposition, which is found by a search whose number of steps is not known before",
    "MatrixSquareRoot": "it needs the Schur decomposition, which is found by a search whose number of steps is not known before",
    "SelfAdjointEig": VECTORS,
}
"""For each kind, the reason why the operation sets cannot express it."""


@tf.lowers(*REASONS, complex=PAIRS)
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """tf.MatrixSquareRoot(a), likewise the other kinds of `REASONS`: raises ConversionError with the reason."""
    node.fail(REASONS[node.op.KIND], hint="cut the model after this node, and compute this function outside")
