"""Functions of each element, and Softmax.

Source: the layers of these names in BVLC Caffe 1.0; ReLU6, Clip and Swish are of later versions and forks.
"""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import LayerParameters, blob, parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder

_FUNCTIONS = {"AbsVal": "Abs", "BNLL": "SoftPlus", "Sigmoid": "Sigmoid", "TanH": "Tanh"}
"""The operations of the layers without parameters."""


@caffe.lowers(*_FUNCTIONS)
def function(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.TanH(x) -> opset1.Tanh(x), and so on"""
    return getattr(op, _FUNCTIONS[node.op.KIND])(node.operand(0))


@caffe.lowers("ReLU")
def relu(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.ReLU(x) {negative_slope = 0} -> opset1.Relu(x), or opset1.PRelu(x, negative_slope)"""
    slope = parameters(node, "relu_param").number("negative_slope", 0.0)
    return op.PRelu(node.operand(0), [slope]) if slope else op.Relu(node.operand(0))


@caffe.lowers("ReLU6")
def relu6(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.ReLU6(x) -> opset1.Clamp(x) {min = 0, max = 6}"""
    return op.Clamp(node.operand(0), min=0.0, max=parameters(node, "relu6_param").number("threshold", 6.0))


@caffe.lowers("Clip")
def clip(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Clip(x) {min, max} -> opset1.Clamp(x) {min, max}"""
    given = parameters(node, "clip_param")
    return op.Clamp(node.operand(0), min=given.number("min"), max=given.number("max"))


@caffe.lowers("PReLU")
def prelu(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.PReLU(x, slopes [C] or [1]) -> opset1.PRelu(x, slopes)"""
    return op.PRelu(node.operand(0), op.constant(blob(node, 0, (-1,))))


@caffe.lowers("ELU")
def elu(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.ELU(x) {alpha = 1} -> opset1.Elu(x) {alpha}"""
    return op.Elu(node.operand(0), alpha=parameters(node, "elu_param").number("alpha", 1.0))


@caffe.lowers("Swish")
def swish(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Swish(x) {beta = 1} -> opset4.Swish(x, beta)"""
    beta = parameters(node, "swish_param").number("beta", 1.0)
    return op.Swish(node.operand(0)) if beta == 1 else op.Swish(node.operand(0), op.constant(beta, f32))


@caffe.lowers("Power")
def power(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Power(x) {power = 1, scale = 1, shift = 0} -> (shift + scale · x) ^ power"""
    given = parameters(node, "power_param")
    base, exponent = _linear(op, node.operand(0), given), given.number("power", 1.0)
    return base if exponent == 1 else op.Power(base, exponent)


@caffe.lowers("Exp")
def exp(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Exp(x) {base = -1, scale = 1, shift = 0} -> base ^ (shift + scale · x), where -1 is e"""
    given = parameters(node, "exp_param")
    exponent = _linear(op, node.operand(0), given)
    logarithm = _logarithm_of_base(node, given)
    return op.Exp(exponent if logarithm == 1 else op.Multiply(exponent, logarithm))


@caffe.lowers("Log")
def log(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Log(x) {base = -1, scale = 1, shift = 0} -> logarithm of shift + scale · x, where -1 is e"""
    given = parameters(node, "log_param")
    result = op.Log(_linear(op, node.operand(0), given))
    logarithm = _logarithm_of_base(node, given)
    return result if logarithm == 1 else op.Multiply(result, 1 / logarithm)


def _logarithm_of_base(node: LoweringNode, given: LayerParameters) -> float:
    """The natural logarithm of the base."""
    base = given.number("base", -1.0)
    if base == -1:
        return 1.0
    if base <= 0:
        node.fail(f"the base {base} is not positive")
    return math.log(base)


def _linear(op: OpBuilder, x: SSAValue, given: LayerParameters) -> SSAValue:
    """shift + scale · x"""
    scale, shift = given.number("scale", 1.0), given.number("shift", 0.0)
    x = x if scale == 1 else op.Multiply(x, scale)
    return x if shift == 0 else op.Add(x, shift)


@caffe.lowers("Threshold")
def threshold(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Threshold(x) {threshold = 0} -> opset1.Convert(opset1.Greater(x, threshold))"""
    limit = parameters(node, "threshold_param").number("threshold", 0.0)
    return op.convert(op.Greater(node.operand(0), op.constant(limit)), f32)


@caffe.lowers("Softmax")
def softmax(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Softmax(x) {axis = 1} -> opset8.Softmax(x) {axis}"""
    axis = parameters(node, "softmax_param").integer("axis", 1)
    rank = node.rank(0)
    return op.Softmax(node.operand(0), axis=axis if rank is None else normalize_axis(axis, rank))
