"""Products, inverses and determinants of complex matrices, by formulas on their parts.

    %y = tf.MatMul(%a, %b) {T = complex<f32>}
->  %y = (a.real · b.real - a.imaginary · b.imaginary, a.real · b.imaginary + a.imaginary · b.real)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

from xdsl.ir import SSAValue

from moir.expansions.complex_numbers import (
    Number,
    bilinear,
    block_matrix,
    conjugate,
    direction,
    is_zero,
    magnitude,
    minus,
    over,
    paired,
    parts,
    times,
)
from moir.expansions.linear_algebra.determinants import index_of_largest, remaining, row_at, signed, size_of_matrices
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder


def matrix_product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.MatMul(a, b) -> the sums and differences of opset1.MatMul of real and imaginary parts

    Adjoint matrices are transposed and conjugated.
    """
    a, b = parts(op, node.operand(0)), parts(op, node.operand(1))
    flags = [any(node.flag(name) for name in names) for names in (("transpose_a", "adj_x"), ("transpose_b", "adj_y"))]
    if node.flag("adj_x"):
        a = conjugate(op, a)
    if node.flag("adj_y"):
        b = conjugate(op, b)
    return paired(op, *bilinear(op, partial(op.MatMul, transpose_a=flags[0], transpose_b=flags[1]), a, b))


def sparse_product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.SparseTensorDenseMatMul(coordinates, values, shape, b)
    -> as tf.MatMul of the dense matrix, to which opset15.ScatterNDUpdate writes the values, and b
    """
    from moir.lowering.tensorflow.indexing import as_indices

    values, b = parts(op, node.operand(1)), parts(op, node.operand(3))
    zeros = op.Broadcast(op.constant_like(0, values.real), node.operand(2))
    dense = [op.ScatterNDUpdate(zeros, as_indices(op, node.operand(0)), part, reduction="sum") for part in values]
    a = Number(dense[0], dense[1])
    a = conjugate(op, a) if node.flag("adjoint_a") else a
    b = conjugate(op, b) if node.flag("adjoint_b") else b
    multiply = partial(op.MatMul, transpose_a=node.flag("adjoint_a"), transpose_b=node.flag("adjoint_b"))
    return paired(op, *bilinear(op, multiply, a, b))


def summation(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Einsum(a, b) {equation} -> the summations of the parts. Raises ConversionError for more than two operands."""
    operands = [parts(op, each) for each in node.operands]
    compute = partial(op.Einsum, equation=node.text("equation"))
    if len(operands) > 2:
        node.fail("products of more than two complex tensors are not computed", hint="split the summation into several")
    if len(operands) == 1:
        return paired(op, compute(operands[0].real), compute(operands[0].imaginary))
    return paired(op, *bilinear(op, compute, *operands))


def inverse(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.MatrixInverse(x) {adjoint} -> the left half of the inverse of the real matrix [[real, -imaginary], [imaginary,
    real]]
    """
    a = parts(op, node.operand(0))
    inverted = op.Inverse(block_matrix(op, a), adjoint=False)
    left = op.Split.parts(2, inverted, -1, num_splits=2)[0]
    real, imaginary = op.Split.parts(2, left, -2, num_splits=2)
    if node.flag("adjoint"):
        rank = node.known_rank(0) - 1
        order = [*range(rank - 2), rank - 1, rank - 2]
        real, imaginary = op.Transpose(real, order), op.Negative(op.Transpose(imaginary, order))
    return paired(op, real, imaginary)


def solution(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.MatrixSolve(a, b) {adjoint}
    -> the inverse of the real matrix [[real, -imaginary], [imaginary, real]] of a, times [b.real, b.imaginary]
    """
    a, b = parts(op, node.operand(0)), parts(op, node.operand(1))
    inverted = op.Inverse(block_matrix(op, a), adjoint=False)
    # The transposed block matrix is that of the adjoint matrix.
    product = op.MatMul(inverted, op.Concat(b.real, b.imaginary, axis=-2), transpose_a=node.flag("adjoint"))
    real, imaginary = op.Split.parts(2, product, -2, num_splits=2)
    return paired(op, real, imaginary)


def determinant(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.MatrixDeterminant(x) -> the product of the pivots of Gaussian elimination.

    The number of rows must be static.
    """
    return paired(op, *reduce(partial(times, op), pivots_of(node, op)))


def sign_and_logarithm(node: LoweringNode, op: OpBuilder) -> list[SSAValue]:
    """tf.LogMatrixDeterminant(x)
    -> the product of the directions of the pivots, and the sum of the logarithms of their magnitudes
    """
    pivots = pivots_of(node, op)
    sign = reduce(partial(times, op), [direction(op, pivot) for pivot in pivots])
    logarithm = reduce(op.Add, [op.Log(magnitude(op, pivot)) for pivot in pivots])
    return [paired(op, *sign), paired(op, logarithm, op.Broadcast(op.constant_like(0, logarithm), op.ShapeOf(logarithm)))]


def pivots_of(node: LoweringNode, op: OpBuilder) -> list[Number]:
    """The pivots of Gaussian elimination, with the signs of row exchanges, each of shape [...]; 1 for empty
    matrices.
    """
    size, x, pivots = size_of_matrices((node.shape(0) or ())[:-1]), parts(op, node.operand(0)), list[Number]()
    for count in range(size, 0, -1):
        pivot, x = _eliminated(op, x, count)
        pivots.append(_on_parts(pivot, lambda part: op.Squeeze(part, [-2, -1])))
    if not pivots:
        nothing = op.ReduceSum(x.real, [-2, -1], keep_dims=False)
        return [Number(op.Add(nothing, 1.0), nothing)]
    return pivots


def _on_parts(a: Number, compute: Callable[[SSAValue], SSAValue]) -> Number:
    """A complex matrix with the function `compute` applied to its real and to its imaginary part."""
    return Number(compute(a.real), compute(a.imaginary))


def _eliminated(op: OpBuilder, x: Number, size: int) -> tuple[Number, Number]:
    """One step of Gaussian elimination on matrices [..., size, size].

    Returns the pivot, with the sign of the row exchange, and the matrices that remain, without the row and column of
    the pivot.
    """
    column = _on_parts(x, lambda part: op.Slice(part, [0], [1], [1], [-1]))
    if size == 1:
        return column, x
    pivot_row = index_of_largest(op, magnitude(op, column))
    row = _on_parts(x, lambda part: row_at(op, part, pivot_row, size))
    pivot = _on_parts(row, lambda part: op.Slice(part, [0], [1], [1], [-1]))
    factors = over(op, column, Number(op.Select(is_zero(op, pivot), 1.0, pivot.real), pivot.imaginary))
    rest = minus(op, x, times(op, factors, row))
    return _on_parts(pivot, lambda part: signed(op, part, pivot_row)), _on_parts(rest, lambda part: remaining(op, part, pivot_row, size))
