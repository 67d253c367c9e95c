"""Products of matrices and vectors.

Source: matmul_v2_op.cc, matmul_op.cc, mul_op.cc, fc_op.cc, bmm_op.cc and einsum_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

from functools import reduce

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of, shape_of
from moir.expansions.functions import operation
from moir.expansions.linear_algebra.determinants import determinant_of
from moir.expansions.linear_algebra.einstein_sums import einstein_sum
from moir.expansions.linear_algebra.matrix_powers import matrix_power
from moir.expansions.special.divisors import kronecker_product
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import scalar_form
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@paddle.lowers("matmul_v2")
def matmul(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, trans_x: bool = False, trans_y: bool = False) -> SSAValue:
    """paddle.matmul_v2(x, y) {trans_x, trans_y} -> opset1.MatMul(x, y); a vector is not transposed"""
    return _product(node, op, x, y, trans_x and rank_of(x) != 1, trans_y and rank_of(y) != 1)


def _product(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, first: bool, second: bool) -> SSAValue:
    result = op.MatMul(x, y, transpose_a=first, transpose_b=second)
    return scalar_form(node, op, result, 0 if rank_of(x) == 1 and rank_of(y) == 1 else 1)


@paddle.lowers("matmul")
def matmul_v1(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    y: SSAValue,
    *,
    transpose_X: bool = False,
    transpose_Y: bool = False,
    alpha: float = 1.0,
    head_number: int = 1,
) -> SSAValue:
    """paddle.matmul(x, y) {transpose_X, transpose_Y, alpha} -> opset1.MatMul(x, y) · alpha"""
    if head_number != 1:
        node.fail(f"head_number {head_number} is not supported")
    result = _product(node, op, x, y, transpose_X and rank_of(x) != 1, transpose_Y and rank_of(y) != 1)
    return result if alpha == 1 else op.Multiply(result, alpha)


@paddle.lowers("bmm", "mv")
def batched(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """paddle.bmm(x, y) -> opset1.MatMul(x, y); `mv` likewise"""
    return op.MatMul(x, y)


paddle.lowers_each_node(
    {
        # paddle.dot(x, y) -> opset1.ReduceSum(x · y) along the last axis
        "dot": lambda node, op, x, y: scalar_form(node, op, op.ReduceSum(op.Multiply(x, y), [-1], keep_dims=False), node.known_rank(0) - 1),
        # paddle.kron(x, y) -> the products of all elements, in blocks
        "kron": lambda node, op, x, y: kronecker_product(op, x, y, (node.known_rank(0), node.known_rank(1))),
        # paddle.determinant(x) -> the determinants of matrices
        "determinant": lambda node, op, x: scalar_form(node, op, determinant_of(op, x), node.known_rank(0) - 2),
    }
)


def _rows(node: LoweringNode, op: OpBuilder, x: SSAValue, columns: int) -> SSAValue:
    """A tensor as a matrix: its first dimensions are merged into rows, the others into columns."""
    shape = shape_of(x)
    if shape is None:
        node.fail("the rank of its operand is dynamic", hint="give the model's inputs a static rank")
    if not 0 < columns < len(shape):
        node.fail(f"num_col_dims {columns} of a tensor of rank {len(shape)}")
    if len(shape) == 2:
        return x
    inner = 1
    for size in shape[columns:]:
        if size < 0:
            sizes = op.ReduceProd(op.Slice(op.ShapeOf(x), [columns], [len(shape)], [1]), [0], keep_dims=True)
            return op.Reshape(x, op.Concat(op.constant([-1]), sizes, axis=0), special_zero=False)
        inner *= size
    return op.Reshape(x, [-1, inner], special_zero=False)


def flattened_product(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, first: int, second: int) -> SSAValue:
    """The product of x and y as matrices: the first `first` and `second` dimensions become rows, the others columns.

    The result has the shape [first dimensions of x, last dimensions of y]. Raises ConversionError if the rank of y is
    dynamic.
    """
    rank, wide = node.known_rank(0), rank_of(y)
    if wide is None:
        node.fail("the rank of its operand is dynamic", hint="give the model's inputs a static rank")
    if first == rank - 1 and second == 1 and wide == 2:
        return op.MatMul(x, y)
    result = op.MatMul(_rows(node, op, x, first), _rows(node, op, y, second))
    if rank == 2 and wide == 2:
        return result
    lead, tail = op.Slice(op.ShapeOf(x), [0], [first], [1]), op.Slice(op.ShapeOf(y), [second], [wide], [1])
    return op.Reshape(result, op.Concat(lead, tail, axis=0), special_zero=False)


@paddle.lowers("mul")
def product_of_matrices(
    node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1
) -> SSAValue:
    """paddle.mul(x, y) {x_num_col_dims, y_num_col_dims} -> opset1.MatMul of both as matrices"""
    return flattened_product(node, op, x, y, x_num_col_dims, y_num_col_dims)


@paddle.lowers("fc")
def fully_connected(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    weights: SSAValue,
    bias: SSAValue | None = None,
    *,
    in_num_col_dims: int = 1,
    activation_type: str = "",
    padding_weights: bool = False,
) -> SSAValue:
    """paddle.fc(x, weights, bias) {in_num_col_dims, activation_type} -> opset1.MatMul(x, weights) + bias, activated"""
    if padding_weights or activation_type not in ("", "relu"):
        node.fail(f"padded weights, or the activation {activation_type!r}, are not supported")
    result = flattened_product(node, op, x, weights, in_num_col_dims, 1)
    if bias is not None:
        result = op.Add(result, op.Reshape(bias, [-1], special_zero=False))
    return op.Relu(result) if activation_type else result


@paddle.lowers("fused_gemm_epilogue")
def product_with_epilogue(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    y: SSAValue,
    bias: SSAValue,
    *,
    trans_x: bool = False,
    trans_y: bool = False,
    activation: str = "none",
) -> Replacement:
    """paddle.fused_gemm_epilogue(x, y, bias) {activation} -> opset1.MatMul(x, y) + bias, activated"""
    result = op.Add(op.MatMul(x, y, transpose_a=trans_x, transpose_b=trans_y), bias)
    if activation not in ("", "none", "relu", "gelu"):
        node.fail(f"activation {activation!r} does not exist")
    if activation == "gelu":
        result = op.Gelu(result, approximation_mode="ERF")
    elif activation == "relu":
        result = operation(op, activation)(result)
    return [result, *[None] * (node.result_count - 1)]


@paddle.lowers("addmm", "baddbmm")
def addmm(op: OpBuilder, x: SSAValue, a: SSAValue, b: SSAValue, *, Alpha: float = 1.0, Beta: float = 1.0) -> SSAValue:
    """paddle.addmm(x, a, b) {Alpha, Beta} -> Beta · x + Alpha · opset1.MatMul(a, b)"""
    product = op.MatMul(a, b)
    product = product if Alpha == 1 else op.Multiply(product, Alpha)
    return op.Add(x if Beta == 1 else op.Multiply(x, Beta), product)


@paddle.lowers("einsum")
def einsum(node: LoweringNode, op: OpBuilder, *values: SSAValue, equation: str) -> Replacement:
    """paddle.einsum(values…) {equation} -> opset7.Einsum(values…)"""
    return [einstein_sum(op, equation, *values), *[None] * (node.result_count - 1)]


@paddle.lowers("cross")
def cross(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, dim: int = 9) -> SSAValue:
    """paddle.cross(x, y) {dim} -> the vector product, along the first axis of size 3 by default"""
    shape = shape_of(x) or ()
    axis = dim if dim != 9 else next((axis_ for axis_, size in enumerate(shape) if size == 3), None)
    if axis is None:
        node.fail("no axis of size 3 is known", hint="give the model's inputs static shapes")
    (x1, x2), (y1, y2) = ([op.Gather(each, rolled, axis) for rolled in ([1, 2, 0], [2, 0, 1])] for each in (x, y))
    return op.Subtract(op.Multiply(x1, y2), op.Multiply(x2, y1))


@paddle.lowers("inverse")
def inverse(op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.inverse(x) -> opset14.Inverse(x)"""
    return op.Inverse(x)


@paddle.lowers("matrix_power")
def power(op: OpBuilder, x: SSAValue, *, n: int) -> SSAValue:
    """paddle.matrix_power(x) {n} -> opset1.MatMul of x with itself; for negative powers, of opset14.Inverse(x)"""
    return matrix_power(op, x, n)


@paddle.lowers("multi_dot")
def product_of_several(op: OpBuilder, *values: SSAValue) -> SSAValue:
    """paddle.multi_dot(values…) -> opset1.MatMul of each with the product so far"""
    return reduce(op.MatMul, values)
