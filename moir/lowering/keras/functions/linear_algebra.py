"""Factors, inverses and determinants of matrices, systems of equations. The sizes of matrices have to be static.

%y = keras.ops.Solve(%a, %b)  ->  %y = opset1.MatMul(opset14.Inverse(%a), %b)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.shapes import rank_of
from moir.expansions.linear_algebra.determinants import LARGEST_MATRIX, determinant_of, sign_and_logarithm_of
from moir.expansions.linear_algebra.jacobi_rotations import LARGEST_ROTATED, eigenvectors, singular_vectors
from moir.expansions.linear_algebra.matrix_diagonals import triangle_of
from moir.expansions.linear_algebra.matrix_factors import cholesky_factor, pivoted_factors, product_of_reflections, reflections
from moir.expansions.linear_algebra.matrix_sizes import matrix_sizes
from moir.expansions.transposition import transposed
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments
from moir.lowering.keras.functions.elementwise import as_real
from moir.lowering.keras.table import keras
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

SIGNS = "its vectors are those of Keras up to their signs, which nothing determines"


def sizes(node: LoweringNode, x: SSAValue, largest: int, *, square: bool = True) -> tuple[int, int, int]:
    """Rows, columns and rank of matrices x.

    Raises ConversionError if rows or columns are dynamic or 0, if both exceed `largest`, or, with `square`, if they
    differ.
    """
    rows, columns, rank = matrix_sizes(x, largest)
    if square and rows != columns:
        node.fail(f"its matrices have {rows} rows and {columns} columns; square ones are supported")
    return rows, columns, rank


def matrices(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """The matrices of a function, as floats."""
    return as_real(op, Arguments(node, "x").tensor("x"))


@keras.lowers("ops.Cholesky")
def cholesky(node: LoweringNode, op: OpBuilder, *, upper: bool = False) -> SSAValue:
    """keras.ops.Cholesky(a) {upper} -> the triangle l with a = l · lᵀ, or u with a = uᵀ · u"""
    x = matrices(node, op)
    rows, _, rank = sizes(node, x, LARGEST_MATRIX)
    factor = cholesky_factor(op, x, rows, rank)
    return transposed(op, factor) if upper else factor


@keras.lowers("ops.Inv")
def inverse(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Inv(a) -> opset14.Inverse(a)"""
    return op.Inverse(matrices(node, op))


@keras.lowers("ops.CholeskyInverse")
def inverse_of_factor(node: LoweringNode, op: OpBuilder, *, upper: bool = False) -> SSAValue:
    """keras.ops.CholeskyInverse(l) {upper} -> opset14.Inverse(l · lᵀ)"""
    triangle = op.Inverse(triangle_of(op, matrices(node, op), is_lower=not upper))
    return op.MatMul(triangle, triangle, transpose_a=not upper, transpose_b=upper)


@keras.lowers("ops.Det", "ops.Slogdet", "ops.Logdet")
def determinant(node: LoweringNode, op: OpBuilder) -> Replacement:
    """keras.ops.Det(a) -> the product of the pivots of Gaussian elimination

    Slogdet: its sign, and the logarithm of its magnitude; Logdet: this logarithm only.
    """
    x = matrices(node, op)
    if node.op.KIND == "ops.Det":
        return determinant_of(op, x)
    sign, logarithm = sign_and_logarithm_of(op, x)
    return logarithm if node.op.KIND == "ops.Logdet" else [sign, logarithm][: node.result_count]


@keras.lowers("ops.Solve", "ops.SolveTriangular")
def solved(node: LoweringNode, op: OpBuilder, *, lower: bool = False) -> SSAValue:
    """keras.ops.Solve(a, b) -> opset1.MatMul(opset14.Inverse(a), b); b may be one column

    SolveTriangular reads only one triangle of a.
    """
    arguments = Arguments(node, "a", "b")
    a, b = (as_real(op, arguments.tensor(name)) for name in ("a", "b"))
    if node.op.KIND == "ops.SolveTriangular":
        a = triangle_of(op, a, is_lower=lower)
    is_column = rank_of(b) == (rank_of(a) or 0) - 1
    solution = op.MatMul(op.Inverse(a), op.Unsqueeze(b, [-1]) if is_column else b)
    return op.Squeeze(solution, [-1]) if is_column else solution


@keras.lowers("ops.LuFactor")
def triangular_factors(node: LoweringNode, op: OpBuilder) -> Replacement:
    """keras.ops.LuFactor(a) -> both triangles in one matrix, the row that each was exchanged with"""
    x = matrices(node, op)
    rows, _, rank = sizes(node, x, LARGEST_MATRIX)
    packed, _, exchanged = pivoted_factors(op, x, rows, rank)
    return [packed, op.convert(exchanged, si32)][: node.result_count]


@keras.lowers("ops.Qr")
def orthogonal_factors(node: LoweringNode, op: OpBuilder, *, mode: str = "reduced") -> Replacement:
    """keras.ops.Qr(a) {mode} -> q, r of Householder's reflections"""
    x = matrices(node, op)
    rows, columns, _ = sizes(node, x, LARGEST_MATRIX, square=False)
    packed, factors = reflections(op, x, rows, columns)
    count = rows if mode == "complete" else min(rows, columns)
    upper = op.Slice(triangle_of(op, packed, is_lower=False), [0], [count], [1], [-2])
    return [product_of_reflections(op, packed, factors, rows, count, min(rows, columns)), upper][: node.result_count]


@keras.lowers("ops.Eigh")
def eigenvalues(node: LoweringNode, op: OpBuilder) -> Replacement:
    """keras.ops.Eigh(a symmetric) -> its eigenvalues in ascending order, its vectors as columns"""
    x = matrices(node, op)
    rows, _, rank = sizes(node, x, LARGEST_ROTATED)
    values, vectors = eigenvectors(op, x, rows, rank, with_vectors=node.is_used(1))
    if node.is_used(1):
        node.note(SIGNS)
    return [values, vectors][: node.result_count]


@keras.lowers("ops.SVD")
def singular(node: LoweringNode, op: OpBuilder, *, full_matrices: bool = True, compute_uv: bool = True) -> Replacement:
    """keras.ops.SVD(a) {full_matrices, compute_uv} -> left vectors, singular values, right vectors as rows"""
    x = matrices(node, op)
    rows, columns, rank = sizes(node, x, LARGEST_ROTATED, square=False)
    is_tall, with_vectors = rows >= columns, compute_uv and (node.is_used(0) or node.is_used(2))
    if with_vectors and full_matrices and rows != columns:
        node.fail("all vectors of matrices that are not square are not computed", hint="use full_matrices=False")
    values, left, right = singular_vectors(op, x if is_tall else transposed(op, x), min(rows, columns), rank, with_vectors=with_vectors)
    if not compute_uv:
        return values
    if left is None or right is None:
        return [None, values, None]
    node.note(SIGNS)
    outer = (left, transposed(op, right)) if is_tall else (right, transposed(op, left))
    return [outer[0], values, outer[1]]
