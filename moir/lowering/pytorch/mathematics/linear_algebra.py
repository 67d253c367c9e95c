"""Products of several tensors, norms of matrices, inverses and determinants.

Source: LinearAlgebra.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.linear_algebra.determinants import determinant_of, sign_and_logarithm_of
from moir.expansions.linear_algebra.jacobi_rotations import singular_values
from moir.expansions.linear_algebra.matrix_diagonals import main_diagonal
from moir.expansions.linear_algebra.matrix_factors import cholesky_factor
from moir.expansions.linear_algebra.matrix_powers import exponential_of, matrix_power
from moir.expansions.linear_algebra.matrix_sizes import matrix_sizes
from moir.expansions.shape_values import all_axes, dimension, dimension_list, dimension_value
from moir.expansions.transposition import transposed
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula, with_handler
from moir.lowering.pytorch.arguments import Scalar, Tensors, axes_from_front, axis_from_front, present
from moir.lowering.pytorch.complex.rules import bilinear_in
from moir.lowering.pytorch.mathematics.distances import norm
from moir.lowering.pytorch.mathematics.factorizations import factors_of, first_zero, solved_by_inverse
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@aten.lowers("tensordot.default", complex=bilinear_in("self", "other"))
def tensordot(
    node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue, *, dims_self: tuple[int, ...], dims_other: tuple[int, ...]
) -> SSAValue:
    """aten.tensordot.default(x, y) {dims_self, dims_other}
    -> opset1.MatMul of x with the summed axes last and y with them first
    """
    x, y = as_element(op, inferred_element(node), self, other)
    first, second = node.known_rank(0), node.known_rank(1)
    summed, also = axes_from_front(node, dims_self, first), axes_from_front(node, dims_other, second)
    if len(summed) != len(also):
        node.fail(f"axes {list(dims_self)} and {list(dims_other)} are not as many")
    for axis, partner in zip(summed, also, strict=True):
        # A dimension of 1 is broadcast to the other one, and so is the factor of its sum.
        mine, its = dimension(op, x, axis), dimension(op, y, partner)
        if mine == 1 != its:
            y = op.ReduceSum(y, [partner], keep_dims=True)
        elif its == 1 != mine:
            x = op.ReduceSum(x, [axis], keep_dims=True)
    kept = [axis for axis in range(first) if axis not in summed]
    others = [axis for axis in range(second) if axis not in also]
    if not kept and not others:
        products = op.Multiply(op.transposed(x, summed), op.transposed(y, also))
        return op.ReduceSum(products, list(range(first)), keep_dims=False)
    shapes = [*(dimension_list(op, x, axis) for axis in kept), *(dimension_list(op, y, axis) for axis in others)]
    count = op.ReduceProd(op.Concat(op.constant([1]), *(dimension_list(op, x, axis) for axis in summed), axis=0), [0], keep_dims=True)
    left = op.Reshape(op.transposed(x, [*kept, *summed]), op.Concat(op.constant([-1]), count, axis=0), special_zero=False)
    right = op.Reshape(op.transposed(y, [*also, *others]), op.Concat(count, op.constant([-1]), axis=0), special_zero=False)
    product = op.MatMul(left, right)
    return op.Reshape(product, op.Concat(*shapes, axis=0) if len(shapes) > 1 else shapes[0], special_zero=False)


@aten.lowers("vdot.default", "linalg_vecdot.default", complex=bilinear_in("self", "other", conjugates=True))
def vdot(node: LoweringNode, op: OpBuilder, *, dim: int = -1) -> SSAValue:
    """aten.vdot.default(x, y) -> the sum of the products of elements; `linalg_vecdot` along `dim`"""
    x, y = as_element(op, inferred_element(node), *node.op.operands[:2])
    products = op.Multiply(x, y)
    return op.ReduceSum(products, [axis_from_front(node, dim, rank_of(products) or 1)], keep_dims=False)


@aten.lowers("addr.default", complex=bilinear_in("vec1", "vec2", "self"))
def addr(
    node: LoweringNode, op: OpBuilder, self: SSAValue, vec1: SSAValue, vec2: SSAValue, *, beta: Scalar = 1, alpha: Scalar = 1
) -> SSAValue:
    """aten.addr.default(x, a, b) {beta, alpha} -> beta · x + alpha · a as a column · b"""
    element = inferred_element(node)
    x, a, b = as_element(op, element, self, vec1, vec2)
    product = op.Multiply(op.Unsqueeze(a, [1]), b)
    if alpha != 1:
        product = op.Multiply(product, as_element(op, element, alpha)[0])
    if beta == 0:
        return op.Add(op.Multiply(op.constant_like(0, x), op.Broadcast(op.constant_like(0, x), op.ShapeOf(product))), product)
    return op.Add(x if beta == 1 else op.Multiply(x, as_element(op, element, beta)[0]), product)


@aten.lowers("kron.default", complex=bilinear_in("self", "other"))
def kron(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue) -> SSAValue:
    """aten.kron.default(x, y) -> the products of all elements, in blocks of the size of y"""
    from moir.expansions.special.divisors import kronecker_product

    x, y = as_element(op, inferred_element(node), self, other)
    return kronecker_product(op, x, y, (node.known_rank(0), node.known_rank(1)))


@aten.lowers("chain_matmul.default", "linalg_multi_dot.default", complex=by_formula("pytorch.complex.arithmetic:multi_dot"))
def chain_matmul(node: LoweringNode, op: OpBuilder, *, matrices: Tensors = (), tensors: Tensors = ()) -> SSAValue:
    """aten.chain_matmul.default([x, y, z]) -> MatMul(MatMul(x, y), z); `linalg_multi_dot` likewise"""
    values = as_element(op, inferred_element(node), *present(node, matrices or tensors))
    product = values[0]
    for value in values[1:]:
        product = op.MatMul(product, value)
    return product


@aten.lowers("matrix_power.default", "linalg_matrix_power.default", complex=with_handler("pytorch.complex.functions:through_real_matrices"))
def power(op: OpBuilder, self: SSAValue, *, n: int) -> SSAValue:
    """aten.matrix_power.default(x) {n} -> opset1.MatMul of x with itself; for negative powers, of
    opset14.Inverse(x)
    """
    return matrix_power(op, self, n)


@aten.lowers(
    "linalg_inv.default",
    "inverse.default",
    "linalg_inv_ex.default",
    complex=with_handler("pytorch.complex.functions:through_real_matrices"),
)
def inverse(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.linalg_inv.default(x) -> opset14.Inverse(x); `linalg_inv_ex` also a status"""
    x = node.op.operands[0]
    return [op.Inverse(x), *_status(node, op, x, 1)]


def _status(node: LoweringNode, op: OpBuilder, x: SSAValue, index: int) -> list[SSAValue | None]:
    """The results of a node from `index` on: the status, 0 where x is invertible, as the last, and the factors of x
    before it.

    All are None if none of them is used.
    """
    others: list[SSAValue | None] = [None] * (node.result_count - index)
    if any(node.is_used(index + offset) for offset in range(len(others))):
        packed, exchanged, _ = factors_of(op, x)
        others = [*([packed, exchanged] if len(others) > 1 else []), first_zero(op, main_diagonal(op, packed, 0))]
    return others


@aten.lowers("linalg_det.default", "det.default", "linalg_slogdet.default", "slogdet.default", "logdet.default")
def determinant(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.linalg_det.default(x) -> the determinant; `slogdet`: its sign and the logarithm of its magnitude"""
    x, kind = node.op.operands[0], node.op.KIND
    if "slogdet" in kind:
        return sign_and_logarithm_of(op, x)
    if kind.startswith("logdet"):
        return [op.Log(determinant_of(op, x))]
    return [determinant_of(op, x)]


@aten.lowers("linalg_cholesky.default", "cholesky.default", "linalg_cholesky_ex.default")
def cholesky(node: LoweringNode, op: OpBuilder, self: SSAValue, *, upper: bool = False) -> Replacement:
    """aten.linalg_cholesky.default(x) {upper} -> the triangle L of x = L · Lᵀ; `linalg_cholesky_ex` also a status"""
    shape, rank = node.shape(0), node.known_rank(0)
    if shape is None or shape[-1] < 0:
        node.fail("the size of its matrices is dynamic")
    # One triangle is read: the upper one if its transpose is asked for.
    factor = cholesky_factor(op, transposed(op, self) if upper else self, shape[-1], rank)
    status = first_zero(op, main_diagonal(op, factor, 0)) if node.is_used(1) else None
    return [transposed(op, factor) if upper else factor, status][: node.result_count]


@aten.lowers(
    "linalg_solve.default", "linalg_solve_ex.default", "_linalg_solve_ex.default", complex=by_formula("pytorch.complex.functions:solved")
)
def solve(node: LoweringNode, op: OpBuilder, A: SSAValue, B: SSAValue, *, left: bool = True) -> Replacement:
    """aten.linalg_solve.default(a, b) {left} -> MatMul(opset14.Inverse(a), b)"""
    is_vector = rank_of(B) == 1 or (rank_of(B) == (rank_of(A) or 0) - 1 and (shape_of(B) == (shape_of(A) or ())[:-1]))
    solution = solved_by_inverse(op, A, B, left=left, is_vector=is_vector)
    return [solution, *_status(node, op, A, 1)]


@aten.lowers("linalg_tensorinv.default")
def tensor_inverse(node: LoweringNode, op: OpBuilder, self: SSAValue, *, ind: int = 2) -> SSAValue:
    """aten.linalg_tensorinv.default(x) {ind} -> opset14.Inverse(x as a matrix of the first axes and the others)"""
    shape = node.shape(0)
    if shape is None or min(shape, default=0) < 0:
        node.fail("the shape of its tensor is dynamic")
    matrix = op.Reshape(self, op.constant([prod(shape[:ind]), prod(shape[ind:])]), special_zero=False)
    return op.Reshape(op.Inverse(matrix), op.constant([*shape[ind:], *shape[:ind]]), special_zero=False)


@aten.lowers("linalg_tensorsolve.default")
def tensor_solve(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue, *, dims: tuple[int, ...] | None = None) -> SSAValue:
    """aten.linalg_tensorsolve.default(a, b) {dims} -> opset14.Inverse(a as a matrix) · b"""
    shape, rank = node.shape(0), node.known_rank(0)
    if shape is None or min(shape, default=0) < 0:
        node.fail("the shape of its tensor is dynamic")
    last = axes_from_front(node, dims or (), rank)
    order = [*(axis for axis in range(rank) if axis not in last), *last]
    sizes = [shape[axis] for axis in order][node.known_rank(1) :]
    matrix = op.Reshape(op.transposed(self, order), op.constant([-1, prod(sizes)]), special_zero=False)
    solution = op.MatMul(op.Inverse(matrix), op.Reshape(other, op.constant([-1, 1]), special_zero=False))
    return op.Reshape(solution, op.constant(sizes), special_zero=False)


@aten.lowers("linalg_matrix_exp.default", "matrix_exp.default", complex=with_handler("pytorch.complex.functions:through_real_matrices"))
def exponential(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.linalg_matrix_exp.default(x) -> the series of x / 2ˢ, squared s times"""
    x = node.op.operands[0]
    rows, _, _ = matrix_sizes(x, 1 << 12)
    return exponential_of(op, x, rows)


@aten.lowers(
    "linalg_norm.default",
    "linalg_norm.ord_str",
    "linalg_matrix_norm.default",
    "linalg_matrix_norm.str_ord",
    "frobenius_norm.dim",
    complex=with_handler("pytorch.complex.functions:of_magnitudes"),
)
@aten.lowers("nuclear_norm.default", "nuclear_norm.dim")
def matrix_norm(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: tuple[int, ...] = (), keepdim: bool = False) -> SSAValue:
    """aten.linalg_matrix_norm.default(x) {ord, dim} -> the norm of matrices, by default Frobenius; `linalg_norm` also
    of vectors, `nuclear_norm` -> the sum of singular values
    """
    rank, kind = node.known_rank(0), node.op.KIND
    x = op.convert(self, inferred_element(node))
    ord_ = node.attribute("ord", None)
    default = "nuc" if kind.startswith("nuclear") else "fro" if "matrix" in kind or kind.startswith("frobenius") else None
    order = default if ord_ is None else ord_
    axes = axes_from_front(node, dim, rank) if dim else [rank - 2, rank - 1] if "matrix" in kind else list(range(rank))
    if order is None:
        return norm(op, x, 2, axes if axes else all_axes(op, x), keep=keepdim)
    if len(axes) != 2:
        return norm(op, x, float(order), axes, keep=keepdim)
    return matrix_norm_of(node, op, x, order, axes, keepdim)


def matrix_norm_of(node: LoweringNode, op: OpBuilder, x: SSAValue, order: str | float, axes: Sequence[int], keep: bool) -> SSAValue:
    """The norm of matrices, whose rows and columns are along two axes: `order` is "fro", "nuc", ±1, ±2 or ±∞.

    With `keep` the axes stay with size 1. Raises ConversionError if a norm needs singular values and sizes are dynamic.
    """
    rows, columns = axes
    if order == "fro":
        return norm(op, x, 2, list(axes), keep=keep)
    if order != "nuc" and abs(float(order)) in (1.0, inf):
        # The largest or smallest sum of a column, for infinity of a row.
        summed, other = (rows, columns) if abs(float(order)) == 1 else (columns, rows)
        sums = op.ReduceSum(op.Abs(x), [summed], keep_dims=True)
        norm_ = (op.ReduceMax if float(order) > 0 else op.ReduceMin)(sums, [other], keep_dims=True)
        return norm_ if keep else op.Squeeze(norm_, sorted(axes))
    rank = rank_of(x) or 2
    others = [axis for axis in range(rank) if axis not in axes]
    matrices = op.transposed(x, [*others, rows, columns])
    height, width = (shape_of(matrices) or (-1, -1))[-2:]
    if height < 0 and width < 0:
        node.fail("the size of its matrices is dynamic")
    if width < 0 or 0 <= height < width:
        matrices, height, width = transposed(op, matrices), width, height
    values = singular_values(op, matrices, width, rank)
    if order == "nuc":
        norm_ = op.ReduceSum(values, [-1], keep_dims=False)
    elif float(order) > 0 or height >= 0:
        norm_ = (op.ReduceMax if float(order) > 0 else op.ReduceMin)(values, [-1], keep_dims=False)
    else:
        # A matrix with fewer rows than columns has as many singular values as rows; the further ones are 0.
        count = op.Minimum(dimension_value(op, matrices, -2), width)
        norm_ = op.Gather(values, op.Subtract(count, 1), -1)
    return op.Unsqueeze(norm_, sorted(axes)) if keep else norm_


@aten.lowers("linalg_cross.default", "cross.default", complex=bilinear_in("self", "other"))
def cross(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue, *, dim: int | None = None) -> SSAValue:
    """aten.linalg_cross.default(x, y) {dim} -> the products x₂y₃ - x₃y₂ and so on along an axis of 3"""
    x, y = as_element(op, inferred_element(node), self, other)
    rank = node.known_rank(0)
    if dim is None:
        shape = node.shape(0) or ()
        axis = next((each for each, size in enumerate(shape) if size == 3), rank - 1) if node.op.KIND.startswith("cross") else rank - 1
    else:
        axis = axis_from_front(node, dim, rank)
    turned = [[op.Gather(each, op.constant(order), axis) for order in ([1, 2, 0], [2, 0, 1])] for each in (x, y)]
    return op.Subtract(op.Multiply(turned[0][0], turned[1][1]), op.Multiply(turned[0][1], turned[1][0]))


@aten.lowers("_weight_norm.default", "_weight_norm_interface.default")
def weight_norm(node: LoweringNode, op: OpBuilder, v: SSAValue, g: SSAValue, *, dim: int = 0) -> Replacement:
    """aten._weight_norm.default(v, g) {dim} -> v · g / the norm of v along the other axes"""
    rank = node.known_rank(0)
    axes = list(range(rank)) if dim == -1 else [axis for axis in range(rank) if axis != axis_from_front(node, dim, rank)]
    size = norm(op, v, 2, axes, keep=True)
    normalized = op.Multiply(v, op.Divide(op.convert(g, element_of(v)), size))
    return [normalized, size][: node.result_count]
