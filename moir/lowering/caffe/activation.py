"""Activations, and Softmax.

Source: the layers of these names in BVLC Caffe 1.0; ReLU6, Clip and Swish are of later versions and forks.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import blob, parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder

_FUNCTIONS = {"BNLL": "SoftPlus", "Sigmoid": "Sigmoid"}
"""The operations of the layers without parameters."""


@caffe.lowers(*_FUNCTIONS)
def function(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Sigmoid(x) -> opset1.Sigmoid(x), and so on"""
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
