"""Singular values, eigenvalues of symmetric matrices, and functions of them: ranks, pseudoinverses, conditions.

The sizes of matrices have to be static. Vectors are those of torch up to their signs.

Source: BatchLinearAlgebra.cpp and LinearAlgebra.cpp of PyTorch 2.13.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.linear_algebra.jacobi_rotations import LARGEST_ROTATED, eigenvectors, singular_vectors
from moir.expansions.linear_algebra.matrix_sizes import matrix_sizes
from moir.expansions.linear_algebra.triangles import symmetric
from moir.expansions.transposition import transposed
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import with_handler
from moir.lowering.pytorch.arguments import named_operand
from moir.lowering.pytorch.mathematics.factorizations import complete
from moir.lowering.pytorch.mathematics.linear_algebra import matrix_norm_of
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

SIGNS = "its vectors are those of torch up to their signs, which nothing determines"
EPSILON = float(np.finfo(np.float32).eps)
"""The distance from 1 to the next f32: the accuracy of the results, also for f64."""

Triple = tuple[SSAValue, SSAValue | None, SSAValue | None]


def _singular(op: OpBuilder, a: SSAValue, *, with_vectors: bool) -> Triple:
    """Singular values [..., K], left vectors [..., M, K] and right ones [..., N, K], as columns."""
    rows, columns, rank = matrix_sizes(a, LARGEST_ROTATED)
    is_tall = rows >= columns
    values, left, right = singular_vectors(op, a if is_tall else transposed(op, a), min(rows, columns), rank, with_vectors=with_vectors)
    return (values, left, right) if is_tall else (values, right, left)


@aten.lowers("linalg_svd.default", "svd.default")
@aten.lowers("_linalg_svd.default", complex=with_handler("pytorch.complex.functions:twice"))
def svd(
    node: LoweringNode, op: OpBuilder, *, full_matrices: bool | None = None, compute_uv: bool = True, some: bool | None = None
) -> Replacement:
    """aten.linalg_svd.default(A) {full_matrices} -> left vectors, singular values, right vectors (Jacobi)"""
    a, is_old = node.op.operands[0], not node.op.KIND.lstrip("_").startswith("linalg")
    with_vectors = compute_uv and (node.is_used(0) or node.is_used(2))
    values, left, right = _singular(op, a, with_vectors=with_vectors)
    if left is None or right is None:
        nothing = op.constant_like(np.zeros(0), a)
        return [nothing if node.is_used(0) else None, values, nothing if node.is_used(2) else None]
    node.note(SIGNS)
    rows, columns, _ = matrix_sizes(a, LARGEST_ROTATED)
    # The function before torch.linalg has few vectors by default, and right ones as columns.
    # The decomposed form has few of them by default, too.
    default = node.op.KIND.startswith("linalg")
    has_all = some is False if is_old else default if full_matrices is None else full_matrices
    if has_all and rows != columns:
        if rows > columns:
            left = complete(op, left, rows, columns)
        else:
            right = complete(op, right, columns, rows)
    return [left, values, right if is_old else transposed(op, right)]


@aten.lowers("linalg_svdvals.default", complex=with_handler("pytorch.complex.functions:twice"))
def svdvals(op: OpBuilder, A: SSAValue) -> SSAValue:
    """aten.linalg_svdvals.default(A) -> the singular values in descending order"""
    return _singular(op, A, with_vectors=False)[0]


@aten.lowers("linalg_eigh.default")
@aten.lowers("_linalg_eigh.default", "linalg_eigvalsh.default", complex=with_handler("pytorch.complex.functions:twice"))
def eigh(node: LoweringNode, op: OpBuilder, *, UPLO: str = "L", compute_v: bool = True) -> Replacement:
    """aten.linalg_eigh.default(A) {UPLO} -> the eigenvalues of symmetric matrices, ascending, and their vectors;
    `linalg_eigvalsh` only the eigenvalues
    """
    a = node.op.operands[0]
    rows, _, rank = matrix_sizes(a, LARGEST_ROTATED)
    with_vectors = compute_v and node.result_count > 1 and node.is_used(1)
    values, vectors = eigenvectors(op, symmetric(op, a, is_lower=UPLO.upper() == "L"), rows, rank, with_vectors=with_vectors)
    if with_vectors:
        node.note(SIGNS)
    return [values, vectors][: node.result_count]


def _limit(node: LoweringNode, op: OpBuilder, a: SSAValue, largest: SSAValue) -> SSAValue:
    """The threshold up to which singular values count as 0: the larger of `atol` and `rtol` · the largest singular
    value.
    """
    rows, columns, _ = matrix_sizes(a, LARGEST_ROTATED)
    element = element_of(a)

    def limit_of(*names: str) -> SSAValue | None:
        for name in names:
            if (value := named_operand(node, name)) is not None:
                limit = op.convert(value, element)
                # A threshold for each matrix of a batch broadcasts along its singular values.
                return op.Unsqueeze(limit, [-1]) if rank_of(limit) else limit
            number = node.attribute(name, None)
            if isinstance(number, int | float) and not isinstance(number, bool):
                return op.constant(float(number), element)
        return None

    absolute, relative = limit_of("atol", "tol"), limit_of("rtol", "rcond")
    default = op.constant(EPSILON * max(rows, columns), element)
    if relative is None:
        # A positive absolute threshold replaces the default relative one.
        relative = default if absolute is None else op.Select(op.Greater(absolute, 0.0), op.constant(0.0, element), default)
    limit = op.Multiply(relative, largest)
    return limit if absolute is None else op.Maximum(absolute, limit)


@aten.lowers(
    *("linalg_pinv.default", "linalg_pinv.atol_rtol_tensor", "linalg_pinv.atol_rtol_float", "linalg_pinv.rcond_tensor"),
    "pinverse.default",
    complex=with_handler("pytorch.complex.functions:through_real_matrices"),
)
def pseudoinverse(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.linalg_pinv.default(a) -> right vectors · (1 / singular values above a threshold, else 0) · left vectorsᵀ;
    `pinverse` likewise
    """
    a = node.op.operands[0]
    return _inverse(node, op, symmetric(op, a, is_lower=True) if node.flag("hermitian", False) else a)[0]


def _inverse(node: LoweringNode, op: OpBuilder, a: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The pseudoinverse of matrices, their singular values, and booleans that are true for singular values above the
    threshold.
    """
    values, left, right = _singular(op, a, with_vectors=True)
    assert left is not None
    assert right is not None
    is_there = op.Greater(values, _limit(node, op, a, op.Slice(values, [0], [1], [1], [-1])))
    inverse = op.Select(is_there, op.Divide(op.constant_like(1.0, values), op.Select(is_there, values, 1.0)), 0.0)
    return op.MatMul(op.Multiply(right, op.Unsqueeze(inverse, [-2])), left, transpose_b=True), values, is_there


@aten.lowers("linalg_lstsq.default")
def least_squares(node: LoweringNode, op: OpBuilder, self: SSAValue, b: SSAValue, *, driver: str | None = None) -> Replacement:
    """aten.linalg_lstsq.default(a, b) {rcond, driver} -> the pseudoinverse of a · b, the sums of squares of
    b - a · solution, the rank, and singular values

    Drivers without sums of squares and singular values have empty ones.
    """
    rows, columns, rank = matrix_sizes(self, LARGEST_ROTATED)
    right = node.known_rank(1)
    is_vector = right == 1 or (right == rank - 1 and shape_of(b) == (shape_of(self) or ())[:-1])
    b = op.Unsqueeze(b, [-1]) if is_vector else b
    inverse, values, is_there = _inverse(node, op, self)
    solution = op.MatMul(inverse, b)
    results: list[SSAValue | None] = [op.Squeeze(solution, [-1]) if is_vector else solution, None, None, None]
    nothing = op.constant_like(np.zeros(0), self)
    if node.is_used(1):
        rest = op.Subtract(b, op.MatMul(self, solution))
        has_sums = rows > columns and driver not in (None, "gelsy")
        results[1] = op.ReduceSum(op.Multiply(rest, rest), [-2], keep_dims=False) if has_sums else nothing
    if node.is_used(2):
        results[2] = op.ReduceSum(op.convert(is_there, si64), [-1], keep_dims=False)
    if node.is_used(3):
        results[3] = values if driver in ("gelsd", "gelss") else nothing
    return results[: node.result_count]


@aten.lowers(
    *("linalg_matrix_rank.default", "linalg_matrix_rank.tol_tensor", "linalg_matrix_rank.atol_rtol_tensor"),
    "linalg_matrix_rank.atol_rtol_float",
)
def matrix_rank(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.linalg_matrix_rank.default(a) -> the number of singular values above a threshold"""
    a = node.op.operands[0]
    if node.flag("hermitian", False):
        a = symmetric(op, a, is_lower=True)
    values = _singular(op, a, with_vectors=False)[0]
    above = op.Greater(values, _limit(node, op, a, op.Slice(values, [0], [1], [1], [-1])))
    return op.ReduceSum(op.convert(above, element_of(node.op.results[0])), [-1], keep_dims=False)


@aten.lowers("linalg_cond.default", "linalg_cond.p_str")
def condition(node: LoweringNode, op: OpBuilder, self: SSAValue, *, p: object = None) -> SSAValue:
    """aten.linalg_cond.default(a) {p} -> the largest singular value / the smallest one, or norm(a) · norm(a⁻¹)"""
    if not isinstance(p, str | float | int | None):
        node.fail(f"no norm is of order {p}")
    if p is None or (not isinstance(p, str) and abs(p) == 2):
        values = _singular(op, self, with_vectors=False)[0]
        largest, smallest = (op.Squeeze(op.Slice(values, [start], [stop], [1], [-1]), [-1]) for start, stop in ((0, 1), (-1, 2**31 - 1)))
        return op.Divide(largest, smallest) if p is None or p == 2 else op.Divide(smallest, largest)
    rank = node.known_rank(0)
    axes = (rank - 2, rank - 1)
    return op.Multiply(matrix_norm_of(node, op, self, p, axes, False), matrix_norm_of(node, op, op.Inverse(self), p, axes, False))


@aten.lowers("linalg_polar.default")
def polar(op: OpBuilder, A: SSAValue) -> Replacement:
    """aten.linalg_polar.default(A) -> left · rightᵀ, and right · singular values · rightᵀ, of the singular vectors"""
    values, left, right = _singular(op, A, with_vectors=True)
    assert left is not None
    assert right is not None
    return [
        op.MatMul(left, right, transpose_b=True),
        op.MatMul(op.Multiply(right, op.Unsqueeze(values, [-2])), right, transpose_b=True),
    ]


@aten.lowers("linalg_matrix_sqrth.default", complex=with_handler("pytorch.complex.functions:through_real_matrices"))
def root(op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.linalg_matrix_sqrth.default(x) -> vectors · √eigenvalues · vectorsᵀ, of symmetric matrices"""
    rows, _, rank = matrix_sizes(self, LARGEST_ROTATED)
    values, vectors = eigenvectors(op, symmetric(op, self, is_lower=True), rows, rank)
    assert vectors is not None
    # Rounded eigenvalues of 0 may be negative.
    roots = op.Unsqueeze(op.Sqrt(op.Maximum(values, 0.0)), [-2])
    return op.MatMul(op.Multiply(vectors, roots), vectors, transpose_b=True)
