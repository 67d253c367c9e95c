"""Sums, products, maxima and powers of blobs; scales and biases.

Source: the layers of these names in BVLC Caffe 1.0; Axpy is of SENet.
"""

from __future__ import annotations

from functools import reduce
from math import prod

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis, rank_of
from moir.expansions import functions
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import LayerParameters, blob, blob_count, bottoms, parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Eltwise")
@with_parameters("eltwise_param")
def eltwise(node: LoweringNode, op: OpBuilder, *, coeff: tuple[float, ...] = ()) -> SSAValue:
    """caffe.Eltwise(a, b, …) {operation = SUM, coeff} -> coeff[0] · a + coeff[1] · b + …, the product or the maximum"""
    parameter = parameters(node, "eltwise_param")
    operation = parameter.numbered_choice("operation", {1: "SUM", 0: "PROD", 2: "MAX", 3: "MIN"})
    values, factors = bottoms(node), coeff
    if factors and (operation != "SUM" or len(factors) != len(values)):
        node.fail(f"{len(factors)} coefficients for the {operation} of {len(values)} blobs")
    return reduce(functions.operation(op, operation), functions.weighted(op, values, factors) if factors else values)


@caffe.lowers("Axpy")
def axpy(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Axpy(a [N, C] or [N, C, 1, 1], x, y) -> a · x + y"""
    a, x, y = bottoms(node, 3, 3)
    if rank_of(a) != rank_of(x):
        a = op.Reshape(a, [0, 0, *[1] * (node.known_rank(1) - 2)], special_zero=True)
    return op.Add(op.Multiply(a, x), y)


@caffe.lowers("Scale")
@with_parameters("scale_param")
def scale(node: LoweringNode, op: OpBuilder, *, num_axes: int = 1, bias_term: bool = False) -> SSAValue:
    """caffe.Scale(x, w, b) {axis = 1, num_axes = 1} -> opset1.Add(opset1.Multiply(x, w), b)

    The factors are weights or the second bottom; the bias is the next weight. Both broadcast from `axis` on.
    """
    parameter = parameters(node, "scale_param")
    x, *others = bottoms(node, 1, 2)
    own = 0 if others else 1
    axes = node.known_rank(1) if others else num_axes
    factor = _aligned_value(node, op, others[0], parameter) if others else _aligned_blob(node, op, 0, parameter, axes)
    result = op.Multiply(x, factor)
    return op.Add(result, _aligned_blob(node, op, own, parameter, axes)) if bias_term or blob_count(node) > own else result


@caffe.lowers("Bias")
@with_parameters("bias_param")
def bias(node: LoweringNode, op: OpBuilder, *, num_axes: int = 1) -> SSAValue:
    """caffe.Bias(x, b) {axis = 1, num_axes = 1} -> opset1.Add(x, b): a weight, or the second bottom"""
    parameter = parameters(node, "bias_param")
    x, *others = bottoms(node, 1, 2)
    if others:
        return op.Add(x, _aligned_value(node, op, others[0], parameter))
    return op.Add(x, _aligned_blob(node, op, 0, parameter, num_axes))


def _dimensions_after(node: LoweringNode, parameter: LayerParameters, own: int) -> int:
    """The number of dimensions of the first operand after the `own` dimensions that begin at the parameter `axis`.

    Raises ConversionError if the operand has too few dimensions.
    """
    rank = node.known_rank(0)
    after = rank - own - normalize_axis(parameter.integer("axis", 1), rank)
    if after < 0:
        node.fail(f"{own} dimensions from axis {parameter.integer('axis', 1)} on do not fit a blob of {rank}")
    return after


def _aligned_blob(node: LoweringNode, op: OpBuilder, index: int, parameter: LayerParameters, axes: int) -> SSAValue:
    """Weight `index` of a layer, with dimensions of 1 appended so that it broadcasts to the operand from the parameter
    `axis` on.

    `axes` is the number of the operand's dimensions that the weight covers; -1 for as many as the weight has. Raises
    ConversionError if the weight has more dimensions.
    """
    array = blob(node, index)
    # Before Caffe 1.0 every weight had four dimensions.
    if axes >= 0 and array.ndim > axes:
        if prod(array.shape[: array.ndim - axes]) != 1:
            node.fail(f"a weight of shape {list(array.shape)} is given for {axes} dimensions")
        array = array.reshape(array.shape[array.ndim - axes :] if axes else ())
    after = _dimensions_after(node, parameter, array.ndim) if array.ndim else 0
    return op.constant(array.reshape((*array.shape, *[1] * after)))


def _aligned_value(node: LoweringNode, op: OpBuilder, value: SSAValue, parameter: LayerParameters) -> SSAValue:
    """The second bottom with dimensions of 1 appended, so that its first dimension is aligned with dimension `axis` of
    the first.

    Raises ConversionError if its rank is dynamic.
    """
    own = rank_of(value)
    if own is None:
        node.fail("the rank of operand 1 is dynamic", hint="give the model's inputs a static rank")
    after = _dimensions_after(node, parameter, own) if own else 0
    return op.Unsqueeze(value, [own + index for index in range(after)]) if after else value


@caffe.lowers("Power")
@with_parameters("power_param")
def power(op: OpBuilder, x: SSAValue, *, power: float = 1.0, scale: float = 1.0, shift: float = 0.0) -> SSAValue:
    """caffe.Power(x) {power = 1, scale = 1, shift = 0} -> (shift + scale · x) ^ power"""
    return functions.power_of_linear(op, x, scale, shift, power)


def scaled(op: OpBuilder, x: SSAValue, parameter: LayerParameters) -> SSAValue:
    """shift + scale · x"""
    return functions.linear(op, x, parameter.number("scale", 1.0), parameter.number("shift", 0.0))
