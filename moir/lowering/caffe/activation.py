"""Activations, and Softmax.

Source: the layers of these names in BVLC Caffe 1.0; ReLU6, Clip and Swish are of later versions and forks.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import normalize_axis, rank_of
from moir.expansions.functions import operation
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import blob, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("BNLL", "Sigmoid")
def function(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """caffe.Sigmoid(x) -> opset1.Sigmoid(x), and so on"""
    return operation(op, node.op.KIND)(x)


@caffe.lowers("ReLU")
@with_parameters("relu_param")
def relu(op: OpBuilder, x: SSAValue, *, negative_slope: float = 0.0) -> SSAValue:
    """caffe.ReLU(x) {negative_slope = 0} -> opset1.Relu(x), or opset1.PRelu(x, negative_slope)"""
    return op.PRelu(x, [negative_slope]) if negative_slope else op.Relu(x)


@caffe.lowers("ReLU6")
@with_parameters("relu6_param")
def relu6(op: OpBuilder, x: SSAValue, *, threshold: float = 6.0) -> SSAValue:
    """caffe.ReLU6(x) -> opset1.Clamp(x) {min = 0, max = 6}"""
    return op.Clamp(x, min=0.0, max=threshold)


@caffe.lowers("Clip")
@with_parameters("clip_param")
def clip(op: OpBuilder, x: SSAValue, *, min: float, max: float) -> SSAValue:
    """caffe.Clip(x) {min, max} -> opset1.Clamp(x) {min, max}"""
    return op.Clamp(x, min=min, max=max)


@caffe.lowers("PReLU")
def prelu(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """caffe.PReLU(x, slopes [C] or [1]) -> opset1.PRelu(x, slopes)"""
    return op.PRelu(x, op.constant(blob(node, 0, (-1,))))


@caffe.lowers("ELU")
@with_parameters("elu_param")
def elu(op: OpBuilder, x: SSAValue, *, alpha: float = 1.0) -> SSAValue:
    """caffe.ELU(x) {alpha = 1} -> opset1.Elu(x) {alpha}"""
    return op.Elu(x, alpha=alpha)


@caffe.lowers("Swish")
@with_parameters("swish_param")
def swish(op: OpBuilder, x: SSAValue, *, beta: float = 1.0) -> SSAValue:
    """caffe.Swish(x) {beta = 1} -> opset4.Swish(x, beta)"""
    return op.Swish(x) if beta == 1 else op.Swish(x, op.constant(beta, f32))


@caffe.lowers("Threshold")
@with_parameters("threshold_param")
def threshold(op: OpBuilder, x: SSAValue, *, threshold: float = 0.0) -> SSAValue:
    """caffe.Threshold(x) {threshold = 0} -> opset1.Convert(opset1.Greater(x, threshold))"""
    return op.convert(op.Greater(x, op.constant(threshold)), f32)


@caffe.lowers("Softmax")
@with_parameters("softmax_param")
def softmax(op: OpBuilder, x: SSAValue, *, axis: int = 1) -> SSAValue:
    """caffe.Softmax(x) {axis = 1} -> opset8.Softmax(x) {axis}"""
    rank = rank_of(x)
    return op.Softmax(x, axis=axis if rank is None else normalize_axis(axis, rank))
