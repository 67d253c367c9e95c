"""Products of matrices and vectors."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.linear_algebra.einstein_sums import einstein_sum
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula
from moir.lowering.pytorch.arguments import Scalar, Tensors, present
from moir.lowering.pytorch.complex.rules import bilinear_in
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


@aten.lowers("linear.default", complex=bilinear_in("input", "weight", "bias"))
def linear(node: LoweringNode, op: OpBuilder, input: SSAValue, weight: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """aten.linear.default(x, w [N, K], b) -> opset1.MatMul(x, w) {transpose_b = true} + b"""
    x, w = as_element(op, inferred_element(node), input, weight)
    product = op.MatMul(x, w, transpose_b=node.rank(1) != 1)
    return product if bias is None else op.Add(product, as_element(op, inferred_element(node), bias)[0])


@aten.lowers(
    "matmul.default", "mm.default", "bmm.default", "mv.default", "dot.default", complex=by_formula("pytorch.complex.arithmetic:matmul")
)
@aten.lowers("_int_mm.default")
@aten.lowers("inner.default", complex=bilinear_in("self", "other"))
def matmul(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.matmul.default(x, y) -> opset1.MatMul(x, y), of a scalar opset1.Multiply; `mm`, `bmm`, `mv` and `dot`
    likewise
    """
    x, y = as_element(op, inferred_element(node), *node.op.operands[:2])
    if 0 in (rank_of(x), rank_of(y)):
        return op.Multiply(x, y)
    return op.MatMul(x, y, transpose_b=node.op.KIND.startswith("inner"))


@aten.lowers("addmm.default", complex=bilinear_in("mat1", "mat2", "self"))
@aten.lowers("baddbmm.default", "addbmm.default", complex=bilinear_in("batch1", "batch2", "self"))
def addmm(node: LoweringNode, op: OpBuilder, self: SSAValue, *, beta: Scalar = 1, alpha: Scalar = 1) -> SSAValue:
    """aten.addmm.default(x, a, b) {beta, alpha} -> beta · x + alpha · MatMul(a, b); `baddbmm` of batches, `addbmm` of
    their sum
    """
    element = inferred_element(node)
    x, a, b = as_element(op, element, self, *node.op.operands[1:3])
    product = op.MatMul(a, b)
    if node.op.KIND.startswith("addbmm"):
        product = op.ReduceSum(product, [0], keep_dims=False)
    if alpha != 1:
        product = op.Multiply(product, as_element(op, element, alpha)[0])
    if beta == 0:
        return product
    return op.Add(product, x if beta == 1 else op.Multiply(x, as_element(op, element, beta)[0]))


@aten.lowers("outer.default", "ger.default", complex=bilinear_in("self", "vec2"))
def outer(node: LoweringNode, op: OpBuilder, self: SSAValue, vec2: SSAValue) -> SSAValue:
    """aten.outer.default(x, y) -> x as a column · y; of booleans LogicalAnd"""
    x, y = as_element(op, inferred_element(node), self, vec2)
    column = op.Unsqueeze(x, [1])
    return op.LogicalAnd(column, y) if element_of(x) == boolean else op.Multiply(column, y)


@aten.lowers("einsum.default", complex=by_formula("pytorch.complex.arithmetic:einsum"))
def einsum(node: LoweringNode, op: OpBuilder, *, equation: str, tensors: Tensors) -> SSAValue:
    """aten.einsum.default([x, y]) {equation = "bij,bjk->bik"} -> opset7.Einsum(x, y) {equation}"""
    values = as_element(op, inferred_element(node), *present(node, tensors))
    return einstein_sum(op, equation, *values)


@aten.lowers("bilinear.default")
def bilinear(
    node: LoweringNode, op: OpBuilder, input1: SSAValue, input2: SSAValue, weight: SSAValue, bias: SSAValue | None = None
) -> SSAValue:
    """aten.bilinear.default(x, y, w [O, I, J], b) -> MatMul(products of x and y in a row, w as [O, I · J]ᵀ) + b"""
    pairs = op.Multiply(op.Unsqueeze(input1, [-1]), op.Unsqueeze(input2, [-2]))
    rank = rank_of(pairs)
    if rank is None:
        node.fail("the rank of its operands is dynamic")
    rows = op.Reshape(weight, [0, -1], special_zero=True)
    flat = op.Reshape(pairs, [*[0] * (rank - 2), -1], special_zero=True)
    product = op.MatMul(flat, rows, transpose_b=True)
    return product if bias is None else op.Add(product, bias)


@aten.lowers("_trilinear.default")
def trilinear(
    node: LoweringNode,
    op: OpBuilder,
    i1: SSAValue,
    i2: SSAValue,
    i3: SSAValue,
    *,
    expand1: tuple[int, ...] = (),
    expand2: tuple[int, ...] = (),
    expand3: tuple[int, ...] = (),
    sumdim: tuple[int, ...] = (),
) -> SSAValue:
    """aten._trilinear.default(x, y, z) {expand1, expand2, expand3, sumdim} -> ReduceSum(x · y · z, sumdim)

    Each operand has new dimensions of size 1 at its `expand`.
    """
    operands = as_element(op, inferred_element(node), i1, i2, i3)
    x, y, z = (op.Unsqueeze(each, list(axes)) if axes else each for each, axes in zip(operands, (expand1, expand2, expand3), strict=True))
    products = op.Multiply(op.Multiply(x, y), z)
    return op.ReduceSum(products, list(sumdim), keep_dims=False) if sumdim else products
