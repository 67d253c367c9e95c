"""Matrix products, inverses, cross products, Einstein summation."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.linear_algebra.einstein_sums import einstein_sum
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula
from moir.lowering.ranks import as_factor, as_terms, fixed
from moir.lowering.tensorflow.attributes.fused_operations import with_fused_operations
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_PRODUCT = by_formula("tensorflow.complex.matrices:matrix_product")


@tf.lowers("MatMul", rank=fixed(2, 2), complex=_PRODUCT)
def product(op: OpBuilder, a: SSAValue, b: SSAValue, *, transpose_a: bool = False, transpose_b: bool = False) -> SSAValue:
    """tf.MatMul(a, b) {transpose_a, transpose_b} -> opset1.MatMul(a, b) {transpose_a, transpose_b}"""
    return op.MatMul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


@tf.lowers("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", rank=as_factor, complex=_PRODUCT)
def batch_product(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, adj_x: bool = False, adj_y: bool = False) -> SSAValue:
    """tf.BatchMatMulV2(a, b) {adj_x, adj_y} -> opset1.MatMul(a, b) {transpose_a, transpose_b}"""
    a, b = x, y
    if node.has("Tout"):
        element = node.element_attribute("Tout")
        a, b = op.convert(a, element), op.convert(b, element)
    return op.MatMul(a, b, transpose_a=adj_x, transpose_b=adj_y)


@tf.lowers("_FusedMatMul")
def fused_product(
    node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, *, transpose_a: bool = False, transpose_b: bool = False
) -> SSAValue:
    """tf._FusedMatMul(a, b, bias) {fused_ops} -> opset1.MatMul(a, b), opset1.Add of the bias, then the activation"""
    multiplied = op.MatMul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return with_fused_operations(node, op, multiplied, 2, True)


@tf.lowers("Einsum", "XlaEinsum", rank=as_terms, complex=by_formula("tensorflow.complex.matrices:summation"))
def einstein_summation(op: OpBuilder, *operands: SSAValue, equation: str) -> SSAValue:
    """tf.Einsum(…) {equation}
    -> opset7.Einsum(…) {equation}, where the equation has no blanks and an explicit result
    """
    return einstein_sum(op, equation, *operands)


@tf.lowers("BatchMatrixInverse", "MatrixInverse", complex=by_formula("tensorflow.complex.matrices:inverse"))
def inverse(node: LoweringNode, op: OpBuilder, input: SSAValue, *, adjoint: bool = False) -> SSAValue:
    """tf.MatrixInverse(x) -> opset14.Inverse(x); transposed for `adjoint`, which requires a static rank"""
    inverted = op.Inverse(input)
    if not adjoint:
        return inverted
    rank = node.known_rank(0)
    return op.Transpose(inverted, [*range(rank - 2), rank - 1, rank - 2])


@tf.lowers("BatchMatrixSolve", "MatrixSolve", complex=by_formula("tensorflow.complex.matrices:solution"))
def solution(op: OpBuilder, matrix: SSAValue, rhs: SSAValue, *, adjoint: bool = False) -> SSAValue:
    """tf.MatrixSolve(a, b) {adjoint} -> opset1.MatMul(opset14.Inverse(a), b) {transpose_a = adjoint}"""
    return op.MatMul(op.Inverse(matrix), rhs, transpose_a=adjoint)


@tf.lowers("Cross")
def cross_product(op: OpBuilder, a_: SSAValue, b_: SSAValue) -> SSAValue:
    """tf.Cross(a, b) -> rotated(a · rotated(b) - rotated(a) · b), where rotated is opset8.Gather(…, [1, 2, 0], -1)"""
    rotation = np.array([1, 2, 0], np.int64)

    def product(a: SSAValue, b: SSAValue) -> SSAValue:
        difference = op.Subtract(op.Multiply(a, op.Gather(b, rotation, -1)), op.Multiply(op.Gather(a, rotation, -1), b))
        return op.Gather(difference, rotation, -1)

    return product(a_, b_)
