"""Systems of linear equations: triangular, tridiagonal, banded and overdetermined ones; Cholesky factors.

    %x = tf.MatrixTriangularSolve(%a, %b) {lower = true}
->  %x = opset1.MatMul(opset14.Inverse(the lower triangle of %a), %b)
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of, is_static, shape_of
from moir.expansions.linear_algebra.determinants import size_of_matrices
from moir.expansions.linear_algebra.matrix_factors import cholesky_factor, inverse_of_triangle, matrix_of_diagonals
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("BatchCholesky", "Cholesky")
def cholesky(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.Cholesky(a) -> the lower triangle l with a = l · lᵀ. The number of rows has to be static.

    TensorFlow fails for matrices that are not positive definite; the converted model computes NaN.
    """
    return cholesky_factor(op, input, size_of_matrices(shape_of(input)), node.known_rank(0))


@tf.lowers("BatchMatrixTriangularSolve", "MatrixTriangularSolve")
def triangular_solution(op: OpBuilder, matrix: SSAValue, rhs: SSAValue, *, lower: bool = True, adjoint: bool = False) -> SSAValue:
    """tf.MatrixTriangularSolve(a, b) {lower = true, adjoint}
    -> opset1.MatMul(opset14.Inverse(triangle of a), b) {transpose_a = adjoint}
    """
    inverse = inverse_of_triangle(op, matrix, lower)
    return op.MatMul(inverse, rhs, transpose_a=adjoint)


@tf.lowers("BandedTriangularSolve")
def banded_solution(
    node: LoweringNode, op: OpBuilder, matrix_: SSAValue, rhs: SSAValue, *, lower: bool = True, adjoint: bool = False
) -> SSAValue:
    """tf.BandedTriangularSolve(bands, b) {lower = true, adjoint}
    -> opset1.MatMul(opset14.Inverse(the matrix with these diagonals), b) {transpose_a = adjoint}

    The main diagonal is the first band of a lower triangle, the last band of an upper one.
    """
    shape = shape_of(matrix_)
    count = -1 if shape is None else shape[-2]
    if count < 1:
        node.fail("the number of bands is dynamic", hint="give the model's input this dimension")
    bands = [op.Gather(matrix_, index, -2) for index in range(count)]
    diagonals = [-index for index in range(count)] if lower else list(range(count - 1, -1, -1))
    matrix = matrix_of_diagonals(op, dict(zip(diagonals, bands, strict=True)))
    return op.MatMul(op.Inverse(matrix), rhs, transpose_a=adjoint)


@tf.lowers("TridiagonalSolve")
def tridiagonal_solution(
    node: LoweringNode, op: OpBuilder, diagonals_: SSAValue, rhs: SSAValue, *, perturb_singular: bool = False
) -> SSAValue:
    """tf.TridiagonalSolve(diagonals […, 3, M], b)
    -> opset1.MatMul(opset14.Inverse(the matrix with these diagonals), b)
    """
    if perturb_singular:
        node.fail("with perturb_singular it solves a different system, where the matrix is singular", hint="leave perturb_singular out")
    diagonals = {k: op.Gather(diagonals_, index, -2) for index, k in enumerate((1, 0, -1))}
    return op.MatMul(op.Inverse(matrix_of_diagonals(op, diagonals)), rhs)


@tf.lowers("TridiagonalMatMul")
def tridiagonal_product(
    node: LoweringNode, op: OpBuilder, _superdiag: SSAValue, _maindiag: SSAValue, _subdiag: SSAValue, rhs: SSAValue
) -> SSAValue:
    """tf.TridiagonalMatMul(above, main, below, x […, M, N])
    -> main · x + above · the following rows of x + below · the rows of x before
    """
    above, main, below = (op.Unsqueeze(op.Squeeze(node.operand(index), [-2]), [-1]) for index in range(3))
    x, rank = rhs, node.known_rank(3)
    border = [*[0] * (rank - 2), 1, 0]
    padded = op.Pad(x, border, border, op.constant_like(0, x), pad_mode="constant")
    following = op.Slice(padded, [2], [np.iinfo(np.int64).max], [1], [-2])
    before = op.Slice(padded, [0], [-2], [1], [-2])
    # The last element of `above` and the first one of `below` are not in the matrix; they are multiplied by zero
    # padding.
    return op.Add(op.Add(op.Multiply(main, x), op.Multiply(above, following)), op.Multiply(below, before))


@tf.lowers("BatchMatrixSolveLs", "MatrixSolveLs")
def least_squares(
    node: LoweringNode, op: OpBuilder, matrix: SSAValue, rhs: SSAValue, l2_regularizer: SSAValue, *, fast: bool = True
) -> SSAValue:
    """tf.MatrixSolveLs(a […, M, N], b, λ) {fast = true} -> (aᵀ a + λ I)⁻¹ aᵀ b, or aᵀ (a aᵀ + λ I)⁻¹ b for M < N"""
    if not fast:
        node.fail(
            "with fast = false it finds the rank of a matrix, which the operation sets cannot express",
            hint="set fast = true where the matrices have full rank",
        )
    shape = shape_of(matrix)
    if shape is None or not is_static(shape[-2:]):
        node.fail("the sizes of the matrices are unknown", hint="give the model's input these dimensions")
    rows, columns = shape[-2:]
    is_tall = rows >= columns
    square = op.MatMul(matrix, matrix, transpose_a=is_tall, transpose_b=not is_tall)
    regularizer = op.convert(as_scalar(op, l2_regularizer), element_of(matrix))
    square = op.Add(square, op.Multiply(op.constant_like(np.eye(min(rows, columns)), matrix), regularizer))
    if is_tall:
        return op.MatMul(op.Inverse(square), op.MatMul(matrix, rhs, transpose_a=True))
    return op.MatMul(matrix, op.MatMul(op.Inverse(square), rhs), transpose_a=True)
