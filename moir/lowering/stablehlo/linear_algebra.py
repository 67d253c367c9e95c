"""Factors of matrices, systems of equations, eigenvalues: as operations, and as the functions of LAPACK that JAX calls.

    %l = stablehlo.cholesky(%a) {lower = true}  ->  %l = the lower triangle with %a = %l · %lᵀ

The sizes of matrices have to be static. The status that a function returns is 0, success, except for a Cholesky factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.shapes import is_static, shape_of
from moir.expansions.complex_numbers import Number
from moir.expansions.linear_algebra.determinants import LARGEST_MATRIX
from moir.expansions.linear_algebra.jacobi_rotations import LARGEST_ROTATED, eigenvectors, singular_vectors
from moir.expansions.linear_algebra.matrix_factors import cholesky_factor, pivoted_factors, product_of_reflections, reflections
from moir.expansions.linear_algebra.matrix_sizes import matrix_sizes
from moir.expansions.linear_algebra.triangles import solved, solved_complex, symmetric
from moir.expansions.transposition import transposed
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder

SIGNS = "its vectors are those of JAX up to their signs, which nothing determines"


def _success(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The status 0 for each of the matrices x [..., M, N]: i32 [...]."""
    shape = shape_of(x) or ()
    batch = shape[:-2]
    if not batch:
        return op.constant(0, si32)
    if is_static(batch):
        return op.constant(np.zeros(batch, np.int32))
    return op.Broadcast(op.constant(0, si32), op.Slice(op.ShapeOf(x), [0], [-2], [1], [0]))


# Factors


def _cholesky(op: OpBuilder, x: SSAValue, *, is_lower: bool) -> SSAValue:
    rows, _, rank = matrix_sizes(x, LARGEST_MATRIX)
    if is_lower:
        return cholesky_factor(op, x, rows, rank)
    return transposed(op, cholesky_factor(op, transposed(op, x), rows, rank))


@stablehlo.lowers("cholesky")
def cholesky(op: OpBuilder, a: SSAValue, *, lower: bool = False) -> SSAValue:
    """stablehlo.cholesky(a) {lower} -> the triangle l with a = l · lᵀ, or u with a = uᵀ · u"""
    return _cholesky(op, a, is_lower=lower)


@stablehlo.lowers("triangular_solve")
def triangular_solve(
    op: OpBuilder,
    a: SSAValue,
    b: SSAValue,
    *,
    left_side: bool = True,
    lower: bool = True,
    unit_diagonal: bool = False,
    transpose_a: str = "NO_TRANSPOSE",
) -> SSAValue:
    """stablehlo.triangular_solve(a, b) -> opset1.MatMul(opset14.Inverse(triangle of a), b)"""
    matrix_sizes(a, 1 << 16)
    how = transpose_a in ("TRANSPOSE", "ADJOINT")
    return solved(op, a, b, is_left=left_side, is_lower=lower, is_transposed=how, has_unit_diagonal=unit_diagonal)


@stablehlo.lowers("complex.triangular_solve")
def complex_triangular_solve(
    op: OpBuilder,
    a_real: SSAValue,
    a_imaginary: SSAValue,
    b_real: SSAValue,
    b_imaginary: SSAValue,
    *,
    left_side: bool = True,
    lower: bool = True,
    unit_diagonal: bool = False,
    transpose_a: str = "NO_TRANSPOSE",
) -> Sequence[SSAValue]:
    """stablehlo.complex.triangular_solve(a, b) -> the parts of the solution, by a real matrix of twice the size"""
    matrix_sizes(a_real, 1 << 15)
    return solved_complex(
        op,
        Number(a_real, a_imaginary),
        Number(b_real, b_imaginary),
        is_left=left_side,
        is_lower=lower,
        is_transposed=transpose_a in ("TRANSPOSE", "ADJOINT"),
        is_conjugated=transpose_a == "ADJOINT",
        has_unit_diagonal=unit_diagonal,
    )


# Functions of LAPACK


def _letter(node: LoweringNode, name: str, default: str) -> str:
    """The letter whose character code is the attribute `name`; `default` if the attribute is absent."""
    return chr(node.integer(name, ord(default)) & 0x7F)


def _potrf(node: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """LAPACK's potrf(a) -> the Cholesky factor, and 1 for each matrix that has none because it is not positive
    definite
    """
    factor = _cholesky(op, operands[0], is_lower=_letter(node, "uplo", "L") == "L")
    rows = (shape_of(factor) or (0,))[-1]
    is_positive = op.LogicalOr(op.Greater(factor, 0.0), ~np.eye(rows, dtype=bool))
    has_factor = op.ReduceLogicalAnd(is_positive, [-2, -1], keep_dims=False)
    return [factor, op.convert(op.LogicalNot(has_factor), si32)]


def _trsm(node: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """LAPACK's trsm(a, b) -> the solution of a triangular system"""
    matrix_sizes(operands[0], 1 << 16)
    solution = solved(
        op,
        operands[0],
        operands[1],
        is_left=_letter(node, "side", "L") == "L",
        is_lower=_letter(node, "uplo", "L") == "L",
        is_transposed=_letter(node, "trans_x", "N") != "N",
        has_unit_diagonal=_letter(node, "diag", "N") == "U",
    )
    return [solution]


def _getrf(_: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """LAPACK's getrf(a) -> both LU factors in one matrix, for each row the index from 1 of the row it was swapped with,
    status
    """
    x = operands[0]
    rows, columns, rank = matrix_sizes(x, LARGEST_MATRIX)
    packed, _order, exchanged = pivoted_factors(op, x, rows, rank, columns)
    return [packed, op.convert(op.Add(exchanged, 1), si32), _success(op, x)]


def _geqrf(_: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """LAPACK's geqrf(a) -> r in the upper triangle with Householder vectors below it, and the factors of these"""
    rows, columns = matrix_sizes(operands[0], LARGEST_MATRIX)[:2]
    return [*reflections(op, operands[0], rows, columns), _success(op, operands[0])]


def _orgqr(node: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """LAPACK's orgqr(reflections, their factors) -> the orthogonal matrix"""
    rows, columns, _ = matrix_sizes(operands[0], LARGEST_MATRIX)
    count = (shape_of(operands[1]) or (-1,))[-1]
    if not 0 < count <= columns:
        node.fail(f"{count} factors of reflections of {columns} columns")
    return [product_of_reflections(op, operands[0], operands[1], rows, columns, count)]


def _syevd(node: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue | None]:
    """LAPACK's syevd(a), a symmetric -> its eigenvectors, its eigenvalues in ascending order, status"""
    x = operands[0]
    rows, columns, rank = matrix_sizes(x, LARGEST_ROTATED)
    if rows != columns:
        node.fail(f"matrices of {rows} rows and {columns} columns have no eigenvalues")
    with_vectors = _letter(node, "mode", "V") == "V" and node.is_used(0)
    if with_vectors:
        node.note(SIGNS)
    whole = symmetric(op, x, is_lower=_letter(node, "uplo", "L") == "L")
    values, vectors = eigenvectors(op, whole, rows, rank, with_vectors=with_vectors)
    return [vectors if vectors is not None else x, values, _success(op, x)]


def _gesdd(node: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue | None]:
    """LAPACK's gesdd(a) -> a, its singular values in descending order, left vectors, right vectors as rows, status"""
    x = operands[0]
    rows, columns, rank = matrix_sizes(x, LARGEST_ROTATED)
    mode = _letter(node, "mode", "S")
    with_vectors = mode != "N" and (node.is_used(2) or node.is_used(3))
    if with_vectors and mode == "A" and rows != columns:
        node.fail("all vectors of matrices that are not square are not computed", hint="use full_matrices=False")
    is_tall = rows >= columns
    values, left, right = singular_vectors(op, x if is_tall else transposed(op, x), min(rows, columns), rank, with_vectors=with_vectors)
    if left is None or right is None:
        return [x, values, None, None, _success(op, x)]
    node.note(SIGNS)
    outer = (left, transposed(op, right)) if is_tall else (right, transposed(op, left))
    return [x, values, *outer, _success(op, x)]


LAPACK: Mapping[str, Callable[[LoweringNode, OpBuilder, Sequence[SSAValue]], Sequence[SSAValue | None]]] = {
    "lapack_geqrf": _geqrf,
    "lapack_gesdd": _gesdd,
    "lapack_getrf": _getrf,
    "lapack_orgqr": _orgqr,
    "lapack_potrf": _potrf,
    "lapack_syevd": _syevd,
    "lapack_trsm": _trsm,
}
"""The functions of LAPACK that are lowered, by their names without the letter of the element type."""
