"""Reductions, and the indices of the largest elements."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32
from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Reduction")
@with_parameters("reduction_param")
def reduction(node: LoweringNode, op: OpBuilder, x: SSAValue, *, coeff: float = 1.0, axis: int = 0) -> SSAValue:
    """caffe.Reduction(x) {operation = SUM, axis = 0, coeff = 1} -> coeff · the reduction of all axes from `axis` on"""
    parameter = parameters(node, "reduction_param")
    operation = parameter.numbered_choice("operation", {1: "SUM", 2: "ASUM", 3: "SUMSQ", 4: "MEAN"})
    rank = node.known_rank(0)
    axes = list(range(normalize_axis(axis, rank), rank))
    x = op.Multiply(x, x) if operation == "SUMSQ" else op.Abs(x) if operation == "ASUM" else x
    result = (op.ReduceMean if operation == "MEAN" else op.ReduceSum)(x, axes, keep_dims=False)
    return result if coeff == 1 else op.Multiply(result, coeff)


@caffe.lowers("ArgMax")
@with_parameters("argmax_param")
def arg_max(node: LoweringNode, op: OpBuilder, x: SSAValue, *, top_k: int = 1, out_max_val: bool = False) -> Replacement:
    """caffe.ArgMax(x) {top_k = 1, out_max_val, axis} -> indices, as floats, or values of the largest along `axis`

    Without `axis`: over all elements of a sample, [N, 1, top_k], or [N, 2, top_k] with indices and values. Caffe lists
    the last one of equal elements first, so that the axis is reversed.
    """
    parameter = parameters(node, "argmax_param")
    along = parameter.has("axis")
    axis = normalize_axis(parameter.integer("axis"), node.known_rank(0)) if along else 2
    if not along:
        x = op.Reshape(x, [0, 1, -1], special_zero=True) if node.known_rank(0) > 1 else op.Reshape(x, [0, 1, 1], special_zero=True)
    reverse = op["opset1.Reverse"](x, [axis], mode="index")
    values, reversed_indices = op.TopK.results(reverse, op.constant(top_k), axis=axis, mode="max", sort="value", index_element_type=si32)
    last = op.Subtract(op.Gather(op.ShapeOf(x, output_type=si32), axis, 0), 1)
    indices = op.convert(op.Subtract(last, reversed_indices), f32)
    if along:
        return values if out_max_val else indices
    return op.Concat(indices, values, axis=1) if out_max_val else indices
