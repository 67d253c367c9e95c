"""Sums, products and maxima of blobs; scales, biases and reductions.

Source: the layers of these names in BVLC Caffe 1.0; Axpy is of SENet.
"""

from __future__ import annotations

from functools import reduce

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32
from moir.dialects.shapes import normalize_axis, rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import LayerParameters, blob, blob_count, bottoms, parameters
from moir.lowering.caffe.table import caffe
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

_ELTWISE = {"PROD": "Multiply", "SUM": "Add", "MAX": "Maximum", "MIN": "Minimum"}


@caffe.lowers("Eltwise")
def eltwise(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Eltwise(a, b, …) {operation = SUM, coeff} -> coeff[0] · a + coeff[1] · b + …, the product or the maximum"""
    given = parameters(node, "eltwise_param")
    operation = given.numbered_choice("operation", {1: "SUM", 0: "PROD", 2: "MAX", 3: "MIN"})
    values, factors = bottoms(node), given.numbers("coeff")
    if factors and (operation != "SUM" or len(factors) != len(values)):
        node.fail(f"{len(factors)} coefficients for the {operation} of {len(values)} blobs")
    values = [
        value if factor == 1 else op.Multiply(value, factor) for value, factor in zip(values, factors or [1.0] * len(values), strict=True)
    ]
    return reduce(getattr(op, _ELTWISE[operation]), values)


@caffe.lowers("Axpy")
def axpy(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Axpy(a [N, C] or [N, C, 1, 1], x, y) -> a · x + y"""
    a, x, y = bottoms(node, 3, 3)
    if rank_of(a) != rank_of(x):
        a = op.Reshape(a, [0, 0, *[1] * (node.known_rank(1) - 2)], special_zero=True)
    return op.Add(op.Multiply(a, x), y)


@caffe.lowers("Scale")
def scale(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Scale(x, w, b) {axis = 1, num_axes = 1} -> opset1.Add(opset1.Multiply(x, w), b)

    The factors are weights or the second bottom; the bias is the next weight. Both apply from `axis` on.
    """
    given = parameters(node, "scale_param")
    x, *others = bottoms(node, 1, 2)
    own = 0 if others else 1
    axes = node.known_rank(1) if others else given.integer("num_axes", 1)
    factor = _aligned_value(node, op, others[0], given) if others else _aligned_blob(node, op, 0, given, axes)
    result = op.Multiply(x, factor)
    return op.Add(result, _aligned_blob(node, op, own, given, axes)) if given.flag("bias_term") or blob_count(node) > own else result


@caffe.lowers("Bias")
def bias(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Bias(x, b) {axis = 1, num_axes = 1} -> opset1.Add(x, b): a weight, or the second bottom"""
    given = parameters(node, "bias_param")
    x, *others = bottoms(node, 1, 2)
    if others:
        return op.Add(x, _aligned_value(node, op, others[0], given))
    return op.Add(x, _aligned_blob(node, op, 0, given, given.integer("num_axes", 1)))


def _dimensions_behind(node: LoweringNode, given: LayerParameters, own: int) -> int:
    """How many dimensions the first operand has behind `own` that begin at `axis`."""
    rank = node.known_rank(0)
    behind = rank - own - normalize_axis(given.integer("axis", 1), rank)
    if behind < 0:
        node.fail(f"{own} dimensions from axis {given.integer('axis', 1)} on do not fit a blob of {rank}")
    return behind


def _aligned_blob(node: LoweringNode, op: OpBuilder, index: int, given: LayerParameters, axes: int) -> SSAValue:
    """A weight with as many dimensions behind it as the operand has behind the `axes` it applies to (-1: all)."""
    array = blob(node, index)
    # Before Caffe 1.0 every weight had four dimensions.
    if axes >= 0 and array.ndim > axes:
        array = array.reshape(array.shape[array.ndim - axes :] if axes else ())
    behind = _dimensions_behind(node, given, array.ndim) if array.ndim else 0
    return op.constant(array.reshape((*array.shape, *[1] * behind)))


def _aligned_value(node: LoweringNode, op: OpBuilder, value: SSAValue, given: LayerParameters) -> SSAValue:
    """The second bottom with such dimensions behind it."""
    own = rank_of(value)
    if own is None:
        node.fail("the rank of operand 1 is unknown", hint="give the model's inputs a known rank")
    behind = _dimensions_behind(node, given, own) if own else 0
    return op.Unsqueeze(value, [own + index for index in range(behind)]) if behind else value


@caffe.lowers("Reduction")
def reduction(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Reduction(x) {operation = SUM, axis = 0, coeff = 1} -> coeff · the reduction of all axes from `axis` on"""
    given = parameters(node, "reduction_param")
    operation = given.numbered_choice("operation", {1: "SUM", 2: "ASUM", 3: "SUMSQ", 4: "MEAN"})
    rank = node.known_rank(0)
    axes = list(range(normalize_axis(given.integer("axis", 0), rank), rank))
    x = node.operand(0)
    x = op.Multiply(x, x) if operation == "SUMSQ" else op.Abs(x) if operation == "ASUM" else x
    result = (op.ReduceMean if operation == "MEAN" else op.ReduceSum)(x, axes, keep_dims=False)
    factor = given.number("coeff", 1.0)
    return result if factor == 1 else op.Multiply(result, factor)


@caffe.lowers("ArgMax")
def arg_max(node: LoweringNode, op: OpBuilder) -> Replacement:
    """caffe.ArgMax(x) {top_k = 1, out_max_val, axis} -> indices, as floats, or values of the largest along `axis`

    Without `axis`: over all elements of a sample, [N, 1, top_k], or [N, 2, top_k] with indices and values. Of equal
    elements the last one is the first, so that the axis is reversed.
    """
    given = parameters(node, "argmax_param")
    count, has_values = given.integer("top_k", 1), given.flag("out_max_val")
    x, along = node.operand(0), given.has("axis")
    axis = normalize_axis(given.integer("axis"), node.known_rank(0)) if along else 2
    if not along:
        x = op.Reshape(x, [0, 1, -1], special_zero=True) if node.known_rank(0) > 1 else op.Reshape(x, [0, 1, 1], special_zero=True)
    reverse = op["opset1.Reverse"](x, [axis], mode="index")
    values, places = op.TopK.results(reverse, op.constant(count), axis=axis, mode="max", sort="value", index_element_type=si32)
    last = op.Subtract(op.Gather(op.ShapeOf(x, output_type=si32), axis, 0), 1)
    indices = op.convert(op.Subtract(last, places), f32)
    if along:
        return values if has_values else indices
    return op.Concat(indices, values, axis=1) if has_values else indices
