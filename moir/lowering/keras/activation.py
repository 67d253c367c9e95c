"""Layers that are activation functions.

%y = keras.ReLU(%x) {max_value = 6.0}  ->  %y = opset1.Clamp(%x) {min = 0.0, max = 6.0}
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f16
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.functions import parametric_relu
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.activation_functions import activated, layer_function
from moir.lowering.keras.attributes import Arguments, axis_list, config_of, variables
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


@keras.lowers("Activation")
def activation_layer(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, activation: object | None = None) -> SSAValue:
    """keras.Activation(x) {activation} -> the function"""
    return activated(node, op, inputs, activation)


@keras.lowers("ReLU", "LeakyReLU", "ELU", "ThresholdedReLU")
def activation_function(node: LoweringNode, op: OpBuilder, inputs: SSAValue) -> SSAValue:
    """keras.ReLU(x) {max_value, negative_slope, threshold} -> opset1.Relu, opset1.Clamp, opset1.PRelu, opset1.Elu

    Likewise LeakyReLU, ELU and ThresholdedReLU.
    """
    activated = layer_function(node, op, inputs, node.op.KIND, config_of(node))
    assert activated is not None
    return activated


@keras.lowers("PReLU")
def parametric_activation(node: LoweringNode, op: OpBuilder, inputs: SSAValue) -> SSAValue:
    """keras.PReLU(x, alpha) -> opset1.Relu(x) - alpha · opset1.Relu(-x)"""
    weights = variables(node)
    if not weights:
        node.fail("its slopes are not in the file")
    slopes = weights[0]
    if rank_of(slopes) == 1 and rank_of(inputs) == 2:
        return op.PRelu(inputs, slopes)
    return parametric_relu(op, inputs, slopes)


@keras.lowers("Softmax")
def softmax(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, axis: object | None = -1) -> SSAValue:
    """keras.Softmax(x) {axis} -> opset8.Softmax(x); elements that a mask excludes become a very low number first"""
    mask = Arguments(node, "inputs", "mask").optional("mask")
    if mask is not None:
        lowest = -3e4 if element_of(inputs) == f16 else -3e38
        inputs = op.Select(op.convert(mask, boolean), inputs, op.constant_like(lowest, inputs))
    axes = axis_list(node, axis, node.known_rank(0))
    if len(axes) == 1:
        return op.Softmax(inputs, axis=axes[0])
    shifted = op.Exp(op.Subtract(inputs, op.ReduceMax(inputs, axes, keep_dims=True)))
    return op.Divide(shifted, op.ReduceSum(shifted, axes, keep_dims=True))
