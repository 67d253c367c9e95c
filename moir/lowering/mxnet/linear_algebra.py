"""Determinants, factors and products with triangles of matrices.

Source: tensor/la_op.cc of MXNet 1.9.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.expansions.linear_algebra.determinants import determinant_of, sign_and_logarithm_of, size_of_matrices
from moir.expansions.linear_algebra.matrix_diagonals import joined_matrices, main_diagonal, triangle_of
from moir.expansions.linear_algebra.matrix_factors import cholesky_factor, inverse_of_triangle
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size

IntegerArray: TypeAlias = "npt.NDArray[np.integer]"


@mxnet.lowers("_linalg_det", "linalg_det", "_npi_det")
def determinant(node: LoweringNode, op: OpBuilder, a: SSAValue) -> SSAValue:
    """mxnet.linalg_det(a) -> the product of the pivots of an elimination. The number of rows has to be static."""
    return _of_all(node, op, determinant_of(op, a))


@mxnet.lowers("_linalg_slogdet", "linalg_slogdet", "_npi_slogdet")
def logarithm_of_determinant(node: LoweringNode, op: OpBuilder, a: SSAValue) -> Replacement:
    """mxnet.linalg_slogdet(a) -> the product of the signs of the pivots, and the sum of their logarithms"""
    return [_of_all(node, op, value) for value in sign_and_logarithm_of(op, a)]


def _of_all(node: LoweringNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value of one element in the shape that MXNet returns: [1] in the symbol interface, a scalar in numpy's."""
    return op.Reshape(value, [1], special_zero=False) if node.rank(0) == 2 and not node.op.KIND.startswith("_np") else value


@mxnet.lowers("_linalg_sumlogdiag", "linalg_sumlogdiag")
def sum_of_logarithms(node: LoweringNode, op: OpBuilder, a: SSAValue) -> SSAValue:
    """mxnet.linalg_sumlogdiag(a) -> the sum of the logarithms of the diagonal"""
    return _of_all(node, op, op.ReduceSum(op.Log(main_diagonal(op, a, 0)), [-1]))


@mxnet.lowers("_linalg_potrf", "linalg_potrf", "_npi_cholesky")
def cholesky(node: LoweringNode, op: OpBuilder, a: SSAValue) -> SSAValue:
    """mxnet.linalg_potrf(a) -> the lower triangle l with a = l · lᵀ. The number of rows has to be static."""
    return cholesky_factor(op, a, size_of_matrices(shape_of(a)), node.known_rank(0))


@mxnet.lowers("_linalg_potri", "linalg_potri")
def inverse_of_factored(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.linalg_potri(l) -> the inverse of l · lᵀ, computed from the inverse of l"""
    _check_square(node)
    inverse = inverse_of_triangle(op, x)
    return op.MatMul(inverse, inverse, transpose_a=True)


@mxnet.lowers("_linalg_trmm", "linalg_trmm", "_linalg_trsm", "linalg_trsm")
def triangle_product(
    node: LoweringNode,
    op: OpBuilder,
    a: SSAValue,
    other: SSAValue,
    *,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha_: float = 1.0,
) -> SSAValue:
    """mxnet.linalg_trmm(a, b) {lower = true, transpose, rightside, alpha = 1} -> alpha · triangle of a · b

    With `rightside` b is the first factor; linalg_trsm multiplies with the inverse of the triangle.
    """
    _check_square(node)
    build = inverse_of_triangle if node.op.KIND.endswith("trsm") else triangle_of
    factor = build(op, a, is_lower=lower)
    product = op.MatMul(other, factor, transpose_b=transpose) if rightside else op.MatMul(factor, other, transpose_a=transpose)
    return product if (alpha := alpha_) == 1 else op.Multiply(product, alpha)


def _check_square(node: LoweringNode) -> None:
    """Raises ConversionError if the matrices of the first operand are known not to be square."""
    shape = node.shape(0)
    if shape is None or len(shape) < 2:
        return
    rows, columns = shape[-2:]
    if -1 not in (rows, columns) and rows != columns:
        node.fail(f"its matrices have {rows} rows and {columns} columns, but have to be square")


def _triangle_indices(size: int, node: LoweringNode) -> IntegerArray:
    """The flat indices, in matrices of `size` rows, of the triangle that the attributes `offset` and `lower` select.

    A lower triangle is in row-major order, an upper one in column-major order.
    """
    offset = node.integer("offset", 0)
    is_lower = offset < 0 or (offset == 0 and node.flag("lower", True))
    rows, columns = np.tril_indices(size, -abs(offset))
    return rows * size + columns if is_lower else columns * size + rows


@mxnet.lowers("_linalg_extracttrian", "linalg_extracttrian")
def triangle_as_vector(node: LoweringNode, op: OpBuilder, a: SSAValue) -> SSAValue:
    """mxnet.linalg_extracttrian(a […, M, M]) {offset = 0, lower = true} -> the elements of a triangle as a vector"""
    _check_square(node)
    shape = shape_of(a)
    size = -1 if shape is None else shape[-1]
    if size < 0:
        node.fail("the size of the matrices is dynamic", hint="give the model's input this dimension")
    return op.Gather(joined_matrices(op, a), _triangle_indices(size, node), -1)


@mxnet.lowers("_linalg_maketrian", "linalg_maketrian")
def vector_as_triangle(node: LoweringNode, op: OpBuilder, x: SSAValue, *, offset: int = 0) -> SSAValue:
    """mxnet.linalg_maketrian(x […, N]) {offset = 0, lower = true} -> matrices with x as a triangle, 0 elsewhere"""
    shape = shape_of(x)
    count = -1 if shape is None else shape[-1]
    if count < 0:
        node.fail("the number of elements of the triangles is dynamic", hint="give the model's input this dimension")
    # A triangle of s rows has s (s + 1) / 2 elements.
    rows = (math.isqrt(8 * count + 1) - 1) // 2
    if rows * (rows + 1) // 2 != count:
        node.fail(f"{count} elements are not a triangle")
    size = rows + abs(offset)
    check_constant_size(size, size)
    indices = np.full(size * size, count)
    indices[_triangle_indices(size, node)] = np.arange(count)
    rank = node.known_rank(0)
    padded = op.Pad(x, [0] * rank, [*[0] * (rank - 1), 1], op.constant_like(0, x), pad_mode="constant")
    return op.Gather(padded, indices.reshape(size, size), -1)
