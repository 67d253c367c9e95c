"""Matrix products, among them those of GluonNLP's attention.

Source: fully_connected.cc, dot.cc, la_op.cc and contrib/transformer.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.expansions.linear_algebra.einstein_sums import einstein_sum
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("FullyConnected", "_npx_fully_connected")
def fully_connected(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.FullyConnected(x, w [N, K], b) {flatten = true} -> opset1.Add(opset1.MatMul(x as [M, K], w), b)"""
    return connected(node, op)


def connected(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """The product of operand 0, flattened unless `flatten` is false, with the transposed weights, plus the bias if
    there is one.
    """
    x, weights = node.operand(0), node.operand(1)
    if node.flag("flatten", True) and rank_of(x) != 2:
        x = op.Reshape(x, [0, -1], special_zero=True)
    shape = shape_of(weights)
    if shape is not None and len(shape) != 2:
        weights = op.Reshape(weights, [shape[0], -1], special_zero=False)
    result = op.MatMul(x, weights, transpose_b=True)
    return result if node.flag("no_bias") else op.Add(result, node.operand(2))


@mxnet.lowers("dot", "_np_dot", "_npi_dot")
def dot(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, *, transpose_a: bool = False, transpose_b: bool = False) -> SSAValue:
    """mxnet.dot(a, b) {transpose_a, transpose_b} -> opset1.MatMul(a, b)

    The last axis of a is contracted with the first axis of b, so operands of higher rank are flattened to matrices;
    numpy contracts with the last but one axis of b.
    """
    ranks = rank_of_operand(node, 0), rank_of_operand(node, 1)
    if max(ranks) <= 2:
        product = op.MatMul(a, b, transpose_a=transpose_a and ranks[0] == 2, transpose_b=transpose_b and ranks[1] == 2)
        # The product of two 1-D tensors is a 1-D tensor of one element; numpy's is a scalar.
        return op.Unsqueeze(product, [0]) if ranks == (1, 1) and node.op.KIND == "dot" else product
    if node.op.KIND != "dot":
        if ranks[1] == 1:
            return op.MatMul(a, b)
        return _contracted(op, a, b, [ranks[0] - 1], [ranks[1] - 2], ranks)
    # Transposition of an operand of higher rank moves the first axis to the end, or the last axis to the front.
    if transpose_a:
        a = op.transposed(a, [*range(1, ranks[0]), 0])
    if transpose_b:
        b = op.transposed(b, [ranks[1] - 1, *range(ranks[1] - 1)])
    return _contracted(op, a, b, [ranks[0] - 1], [0], ranks)


def _contracted(op: OpBuilder, a: SSAValue, b: SSAValue, own: Sequence[int], other: Sequence[int], ranks: tuple[int, int]) -> SSAValue:
    """The sum of products over axes `own` of a and `other` of b; the result has the remaining axes of a, then those of
    b.
    """
    left = [axis for axis in range(ranks[0]) if axis not in own]
    right = [axis for axis in range(ranks[1]) if axis not in other]
    sizes = [op.Gather(op.ShapeOf(value), axes, 0) for value, axes in ((a, left), (b, right)) if axes]
    inner = op.ReduceProd(op.Gather(op.ShapeOf(b), list(other), 0), [0], keep_dims=True)
    free = op.constant([-1])
    rows = op.Reshape(op.transposed(a, [*left, *own]), op.Concat(free, inner, axis=0), special_zero=False)
    columns = op.Reshape(op.transposed(b, [*other, *right]), op.Concat(inner, free, axis=0), special_zero=False)
    shape = op.Concat(*sizes, axis=0) if len(sizes) > 1 else sizes[0] if sizes else op.constant(np.zeros(0, np.int64))
    return op.Reshape(op.MatMul(rows, columns), shape, special_zero=False)


@mxnet.lowers("_npi_tensordot", "_npi_tensordot_int_axes")
def tensor_dot(
    node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, *, a_axes_summed: tuple[int, ...] = (), b_axes_summed: tuple[int, ...] = ()
) -> SSAValue:
    """mxnet._npi_tensordot(a, b) {a_axes_summed, b_axes_summed} -> the sum of products along pairs of axes

    mxnet._npi_tensordot_int_axes(a, b) {axes}: along the last axes of a and the first ones of b.
    """
    ranks = rank_of_operand(node, 0), rank_of_operand(node, 1)
    if node.op.KIND.endswith("int_axes"):
        count = node.integer("axes")
        own, other = list(range(ranks[0] - count, ranks[0])), list(range(count))
    else:
        own = [normalize_axis(axis, ranks[0]) for axis in a_axes_summed]
        other = [normalize_axis(axis, ranks[1]) for axis in b_axes_summed]
    if not own:
        node.fail("a product of all pairs of elements (axes = 0) is not supported")
    return _contracted(op, a, b, own, other, ranks)


@mxnet.lowers("batch_dot", "_npx_batch_dot", "_npi_matmul")
def batch_dot(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.batch_dot(a, b) {transpose_a, transpose_b} -> opset1.MatMul(a, b)"""
    return _product(node, op)


def _product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    return op.MatMul(node.operand(0), node.operand(1), transpose_a=node.flag("transpose_a"), transpose_b=node.flag("transpose_b"))


@mxnet.lowers("_linalg_gemm2", "linalg_gemm2")
def gemm2(node: LoweringNode, op: OpBuilder, *, axis: int = -2) -> SSAValue:
    """mxnet.linalg_gemm2(a, b) {alpha = 1} -> alpha · opset1.MatMul(a, b)"""
    if axis != -2:
        node.fail("rows along another axis than the last but one are not supported")
    return _scaled_product(node, op)


def _scaled_product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """The product of both operands, multiplied by the attribute `alpha`."""
    result = _product(node, op)
    return result if (factor := node.number("alpha", 1.0)) == 1 else op.Multiply(result, factor)


@mxnet.lowers("_linalg_gemm", "linalg_gemm")
def gemm(node: LoweringNode, op: OpBuilder, _a: SSAValue, _b: SSAValue, addend: SSAValue, *, beta: float = 1.0) -> SSAValue:
    """mxnet.linalg_gemm(a, b, c) {alpha = 1, beta = 1} -> alpha · opset1.MatMul(a, b) + beta · c"""
    return op.Add(_scaled_product(node, op), addend if beta == 1 else op.Multiply(addend, beta))


@mxnet.lowers("_linalg_syrk", "linalg_syrk")
def syrk(op: OpBuilder, a: SSAValue, *, transpose: bool = False, alpha: float = 1.0) -> SSAValue:
    """mxnet.linalg_syrk(a) {alpha = 1, transpose = false} -> alpha · opset1.MatMul(a, aᵀ), with transpose aᵀ · a"""
    result = op.MatMul(a, a, transpose_a=transpose, transpose_b=not transpose)
    return result if (factor := alpha) == 1 else op.Multiply(result, factor)


@mxnet.lowers("khatri_rao")
def khatri_rao(op: OpBuilder, first: SSAValue, *others: SSAValue) -> SSAValue:
    """mxnet.khatri_rao(a [M, K], b [N, K], …) -> the products of all rows [M · N, K]"""
    result = first
    for other in others:
        pairs = op.Multiply(op.Unsqueeze(result, [1]), op.Unsqueeze(other, [0]))
        columns = op.Gather(op.ShapeOf(other), [1], 0)
        result = op.Reshape(pairs, op.Concat(op.constant([-1]), columns, axis=0), special_zero=False)
    return result


@mxnet.lowers("_linalg_inverse", "linalg_inverse", "_npi_inv")
def inverse(op: OpBuilder, a: SSAValue) -> SSAValue:
    """mxnet.linalg_inverse(a) -> opset14.Inverse(a)"""
    return op.Inverse(a)


@mxnet.lowers("_npi_einsum")
def einsum(op: OpBuilder, *operands: SSAValue, subscripts: str) -> SSAValue:
    """mxnet._npi_einsum(a, b, …) {subscripts} -> opset7.Einsum(a, b, …) {equation}"""
    return einstein_sum(op, subscripts, *operands)


def _heads(node: LoweringNode, op: OpBuilder, value: SSAValue, parts: int, part: int) -> SSAValue:
    """Projection `part` of `parts` interleaved ones [T, N, heads · parts · D] -> [N · heads, T, D]"""
    heads = node.integer("heads")
    split = op.Reshape(value, [0, 0, heads, parts, -1], special_zero=True)
    projection = op.Gather(split, part, 3)
    merged = op.transposed(projection, [1, 2, 0, 3])
    sizes = op.ShapeOf(value)
    return op.Reshape(
        merged, op.Concat(op.constant([-1]), op.Gather(sizes, [0], 0), op.constant([_depth(node, parts)]), axis=0), special_zero=False
    )


def _depth(node: LoweringNode, parts: int) -> int:
    """The size D of a head in a tensor of `parts` interleaved projections. Raises ConversionError if it is dynamic."""
    index = 1 if node.op.KIND.endswith("encdec_qk") and parts == 2 else 0
    shape = node.shape(index)
    if shape is None or shape[-1] < 0 or shape[-1] % (parts * node.integer("heads")):
        node.fail("the size of a head is dynamic", hint="give the model's inputs static shapes")
    return shape[-1] // (parts * node.integer("heads"))


@mxnet.lowers("_contrib_interleaved_matmul_selfatt_qk", "_contrib_interleaved_matmul_encdec_qk")
def interleaved_scores(node: LoweringNode, op: OpBuilder, qkv: SSAValue) -> SSAValue:
    """mxnet._contrib_interleaved_matmul_selfatt_qk(qkv [T, N, heads · 3 · D]) -> q · kᵀ / √D [N · heads, T, T]

    Likewise encdec_qk(q [T, N, heads · D], kv [S, N, heads · 2 · D]).
    """
    if node.op.KIND.endswith("selfatt_qk"):
        queries, keys, depth = _heads(node, op, qkv, 3, 0), _heads(node, op, qkv, 3, 1), _depth(node, 3)
    else:
        depth = _depth(node, 1)
        queries, keys = _heads(node, op, qkv, 1, 0), _heads(node, op, node.operand(1), 2, 0)
    return op.MatMul(op.Multiply(queries, depth**-0.5), keys, transpose_b=True)


@mxnet.lowers("_contrib_interleaved_matmul_selfatt_valatt", "_contrib_interleaved_matmul_encdec_valatt")
def interleaved_values(node: LoweringNode, op: OpBuilder, qkv: SSAValue, attention: SSAValue, *, heads: int) -> SSAValue:
    """mxnet._contrib_interleaved_matmul_selfatt_valatt(qkv, attention [N · heads, T, T]) -> [T, N, heads · D]

    Likewise encdec_valatt of interleaved keys and values.
    """
    parts = 3 if node.op.KIND.endswith("selfatt_valatt") else 2
    depth = _depth(node, parts)
    weighted = op.MatMul(attention, _heads(node, op, qkv, parts, parts - 1))
    length = op.Gather(op.ShapeOf(attention), [1], 0)
    split = op.Reshape(weighted, op.Concat(op.constant([-1, heads]), length, op.constant([depth]), axis=0), special_zero=False)
    return op.Reshape(op.transposed(split, [2, 0, 1, 3]), [0, 0, -1], special_zero=True)
