"""Triangular and orthogonal factors of matrices, and systems of equations that they solve.

The sizes of matrices have to be static. Vectors of Householder reflections are LAPACK's.

Source: BatchLinearAlgebra.cpp of PyTorch 2.13.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.linear_algebra.determinants import determinant_of, sign_and_logarithm_of
from moir.expansions.linear_algebra.matrix_diagonals import main_diagonal, triangle_of
from moir.expansions.linear_algebra.matrix_factors import pivoted_factors, product_of_reflections, reflections
from moir.expansions.linear_algebra.matrix_sizes import matrix_sizes
from moir.expansions.linear_algebra.triangles import solved, with_unit_diagonal
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def first_zero(op: OpBuilder, pivots: SSAValue) -> SSAValue:
    """The status of LAPACK: the index, counted from 1, of the first of the pivots [..., K] that is 0 or NaN; 0 if there
    is none.
    """
    is_zero = op.LogicalNot(op.Greater(op.Abs(pivots), 0.0))
    count = (shape_of(pivots) or (-1,))[-1]
    candidates = op.Select(is_zero, op.constant(np.arange(1, count + 1), si32), op.constant(count + 1, si32))
    first = op.ReduceMin(candidates, [-1], keep_dims=False)
    return op.Select(op.Greater(first, count), op.constant(0, si32), first)


def factors_of(op: OpBuilder, a: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The LU factorization of matrices: both triangles in one matrix, the row exchanged in each step (counted from 1,
    i32), and the resulting order of the rows.
    """
    rows, columns, rank = matrix_sizes(a)
    packed, order, exchanged = pivoted_factors(op, a, rows, rank, columns)
    return packed, op.convert(op.Add(exchanged, 1), si32), order


@aten.lowers("linalg_lu_factor.default", "linalg_lu_factor_ex.default", "_lu_with_info.default")
def lu_factor(node: LoweringNode, op: OpBuilder, *, pivot: bool = True) -> Replacement:
    """aten.linalg_lu_factor.default(A) -> both triangles of Gaussian elimination, the rows exchanged, and a status;
    `_lu_with_info` likewise
    """
    if not pivot:
        node.fail("triangular factors without exchanging rows are not supported")
    packed, exchanged, _ = factors_of(op, node.op.operands[0])
    results: list[SSAValue | None] = [packed, exchanged]
    if node.result_count > 2:
        results.append(first_zero(op, main_diagonal(op, packed, 0)) if node.is_used(2) else None)
    return results


def _parts(op: OpBuilder, packed: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The lower triangle [..., M, K], with ones on its diagonal, and the upper triangle [..., K, N] of a packed LU
    factorization.
    """
    rows, columns, _ = matrix_sizes(packed)
    count = min(rows, columns)
    lower = with_unit_diagonal(op, op.Slice(packed, [0], [count], [1], [-1]), is_lower=True)
    return lower, triangle_of(op, op.Slice(packed, [0], [count], [1], [-2]), is_lower=False)


def _order_of(op: OpBuilder, exchanged: SSAValue, rows: int) -> SSAValue:
    """The order of the rows after a sequence of exchanges: step i exchanges row i with row `exchanged[..., i]`, counted
    from 1.
    """
    rows_ = op.constant(np.arange(rows), si64)
    shape = op.Slice(op.ShapeOf(exchanged), [0], [-1], [1], [0])
    order = op.Broadcast(rows_, op.Concat(shape, op.constant([rows]), axis=0))
    others = op.Subtract(op.convert(exchanged, si64), 1)
    batch = len(shape_of(exchanged) or ()) - 1
    for step in range((shape_of(exchanged) or (0,))[-1]):
        other = op.Slice(others, [step], [step + 1], [1], [-1])
        sources = op.Select(op.Equal(rows_, other), op.constant(step, si64), rows_)
        sources = op.Select(op.Equal(rows_, op.constant(step, si64)), other, sources)
        order = op.Gather(order, sources, batch, batch_dims=batch)
    return order


def _permutation(op: OpBuilder, order: SSAValue, rows: int, like: SSAValue) -> SSAValue:
    """The permutation matrix p [..., M, M] that undoes an order of rows, in the element type of `like`: p · (the
    ordered rows) = the original rows.
    """
    return op.convert(op.Equal(op.constant(np.arange(rows).reshape(rows, 1), si64), op.Unsqueeze(order, [-2])), element_of(like))


@aten.lowers("linalg_lu.default")
def lu(node: LoweringNode, op: OpBuilder, A: SSAValue, *, pivot: bool = True) -> Replacement:
    """aten.linalg_lu.default(A) -> a permutation p, a lower triangle l and an upper one u with A = p · l · u"""
    if not pivot:
        node.fail("triangular factors without exchanging rows are not supported")
    packed, _, order = factors_of(op, A)
    return [_permutation(op, order, (shape_of(A) or (0, 0))[-2], A), *_parts(op, packed)]


@aten.lowers("lu_unpack.default")
def lu_unpack(
    op: OpBuilder,
    LU_data: SSAValue,
    LU_pivots: SSAValue,
    *,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> Replacement:
    """aten.lu_unpack.default(LU, pivots) -> the permutation, the lower and the upper triangle"""
    rows, _, _ = matrix_sizes(LU_data)
    permutation = (
        _permutation(op, _order_of(op, LU_pivots, rows), rows, LU_data) if unpack_pivots else op.constant_like(np.zeros(0), LU_data)
    )
    parts = _parts(op, LU_data) if unpack_data else (op.constant_like(np.zeros(0), LU_data),) * 2
    return [permutation, *parts]


def _factors_solved(
    op: OpBuilder, packed: SSAValue, exchanged: SSAValue, b: SSAValue, *, left: bool = True, adjoint: bool = False
) -> SSAValue:
    rows, _, _ = matrix_sizes(packed)
    lower, upper = _parts(op, packed)
    matrix = op.MatMul(_permutation(op, _order_of(op, exchanged, rows), rows, packed), op.MatMul(lower, upper))
    inverse = op.Inverse(matrix)
    return op.MatMul(inverse, b, transpose_a=adjoint) if left else op.MatMul(b, inverse, transpose_b=adjoint)


@aten.lowers("linalg_lu_solve.default")
def linalg_lu_solve(op: OpBuilder, LU: SSAValue, pivots: SSAValue, B: SSAValue, *, left: bool = True, adjoint: bool = False) -> SSAValue:
    """aten.linalg_lu_solve.default(LU, pivots, B) {left, adjoint} -> MatMul(opset14.Inverse(p · l · u), B)"""
    return _factors_solved(op, LU, pivots, B, left=left, adjoint=adjoint)


@aten.lowers("lu_solve.default")
def lu_solve(op: OpBuilder, self: SSAValue, LU_data: SSAValue, LU_pivots: SSAValue) -> SSAValue:
    """aten.lu_solve.default(b, LU, pivots) -> MatMul(opset14.Inverse(p · l · u), b)"""
    return _factors_solved(op, LU_data, LU_pivots, self)


@aten.lowers("linalg_solve_triangular.default", complex=by_formula("pytorch.complex.functions:triangular"))
def solve_triangular(
    op: OpBuilder, self: SSAValue, B: SSAValue, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> SSAValue:
    """aten.linalg_solve_triangular.default(a, b) {upper} -> opset1.MatMul(opset14.Inverse(triangle of a), b)"""
    if unitriangular:
        matrix_sizes(self, 1 << 16)
    return solved(op, self, B, is_left=left, is_lower=not upper, is_transposed=False, has_unit_diagonal=unitriangular)


@aten.lowers("triangular_solve.default", complex=by_formula("pytorch.complex.functions:triangular"))
def triangular_solve(
    op: OpBuilder,
    self: SSAValue,
    A: SSAValue,
    *,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Replacement:
    """aten.triangular_solve.default(b, a) {upper, transpose} -> the solution, and a"""
    if unitriangular:
        matrix_sizes(A, 1 << 16)
    solution = solved(op, A, self, is_left=True, is_lower=not upper, is_transposed=transpose, has_unit_diagonal=unitriangular)
    return [solution, A]


@aten.lowers("cholesky_solve.default", "cholesky_inverse.default")
def cholesky_solve(op: OpBuilder, self: SSAValue, input2: SSAValue | None = None, *, upper: bool = False) -> SSAValue:
    """aten.cholesky_solve.default(b, l) {upper} -> opset14.Inverse(l · lᵀ) · b; `cholesky_inverse` without b"""
    triangle = triangle_of(op, self if input2 is None else input2, is_lower=not upper)
    inverse = op.Inverse(triangle)
    inverse_product = op.MatMul(inverse, inverse, transpose_a=not upper, transpose_b=upper)
    return inverse_product if input2 is None else op.MatMul(inverse_product, self)


@aten.lowers("_linalg_slogdet.default", "_linalg_det.default")
def decomposed_determinant(node: LoweringNode, op: OpBuilder, A: SSAValue) -> Replacement:
    """aten._linalg_slogdet.default(A) -> the determinant, or its sign and logarithm; the factors of A"""
    results: list[SSAValue | None] = []
    if node.op.KIND.startswith("_linalg_slogdet"):
        results += sign_and_logarithm_of(op, A)
    else:
        results.append(determinant_of(op, A))
    count = len(results)
    factors = factors_of(op, A)[:2] if node.is_used(count) or node.is_used(count + 1) else (None, None)
    return [*results, *factors]


# Orthogonal factors


@aten.lowers("linalg_qr.default", "qr.default")
def qr(node: LoweringNode, op: OpBuilder, *, mode: str = "reduced", some: bool = True) -> Replacement:
    """aten.linalg_qr.default(A) {mode} -> q and the upper triangle r with A = q · r, by reflections"""
    a = node.op.operands[0]
    rows, columns, _ = matrix_sizes(a)
    packed, factors = reflections(op, a, rows, columns)
    count = rows if mode == "complete" or not some else min(rows, columns)
    upper = triangle_of(op, op.Slice(packed, [0], [count], [1], [-2]), is_lower=False)
    if mode == "r":
        return [op.constant_like(np.zeros(0), a), upper]
    return [product_of_reflections(op, packed, factors, rows, count, min(rows, columns)), upper]


@aten.lowers("geqrf.default")
def geqrf(op: OpBuilder, self: SSAValue) -> Replacement:
    """aten.geqrf.default(x) -> the upper triangle with vectors of reflections below it, and their factors"""
    rows, columns, _ = matrix_sizes(self)
    return list(reflections(op, self, rows, columns))


def _factor_count(node: LoweringNode, tau: SSAValue) -> int:
    count = (shape_of(tau) or (-1,))[-1]
    if count < 0:
        node.fail("the number of its reflections is dynamic")
    return count


@aten.lowers("linalg_householder_product.default", "orgqr.default")
def householder_product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.linalg_householder_product.default(x, tau) -> the first columns of the product of reflections"""
    x, factors = node.op.operands[0], node.op.operands[1]
    rows, columns, _ = matrix_sizes(x)
    return product_of_reflections(op, x, factors, rows, columns, _factor_count(node, factors))


@aten.lowers("ormqr.default")
def ormqr(node: LoweringNode, op: OpBuilder, *, left: bool = True, transpose: bool = False) -> SSAValue:
    """aten.ormqr.default(x, tau, c) {left, transpose} -> q · c or c · q, where q is the product of reflections"""
    x, factors, other = node.op.operands[:3]
    rows, _, _ = matrix_sizes(x)
    q = product_of_reflections(op, x, factors, rows, rows, _factor_count(node, factors))
    return op.MatMul(q, other, transpose_a=transpose) if left else op.MatMul(other, q, transpose_b=transpose)


def solved_by_inverse(op: OpBuilder, a: SSAValue, b: SSAValue, *, left: bool, is_vector: bool) -> SSAValue:
    """Solve a · x = b if `left`, else x · a = b, by the inverse of a; b may be vectors."""
    column = op.Unsqueeze(b, [-1]) if is_vector else b
    inverse = op.Inverse(a)
    solution = op.MatMul(inverse, column) if left else op.MatMul(column, inverse)
    return op.Squeeze(solution, [-1]) if is_vector else solution


def complete(op: OpBuilder, vectors: SSAValue, rows: int, count: int) -> SSAValue:
    """A square orthogonal matrix [..., rows, rows] whose first `count` columns are the given orthonormal ones [...,
    rows, count].
    """
    packed, factors = reflections(op, vectors, rows, count)
    whole = product_of_reflections(op, packed, factors, rows, rows, count)
    return op.Concat(vectors, op.Slice(whole, [count], [rows], [1], [-1]), axis=-1)
