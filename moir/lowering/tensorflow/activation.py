"""Activation functions.

    %y = tf.LeakyRelu(%x) {alpha = 0.1}
->  %y = opset1.PRelu(%x, 0.1)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805
"""The constants of Selu."""

_SAME_MEANING = {
    "Mish": "Mish",
    "Sigmoid": "Sigmoid",
    "Softplus": "SoftPlus",
    "Softsign": "SoftSign",
}


@tf.lowers(*_SAME_MEANING)
def renamed(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Softplus(x) -> opset4.SoftPlus(x)"""
    return getattr(op, _SAME_MEANING[node.op.KIND])(node.operand(0))


@tf.lowers("Relu")
def relu(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Relu(x) -> opset1.Relu(x); of integers opset1.Maximum(x, 0), since the runtime computes Relu in f32"""
    x = node.operand(0)
    return op.Maximum(x, 0) if element_of(x) in INTEGER_TYPES else op.Relu(x)


@tf.lowers("Relu6")
def relu6(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Relu6(x) -> opset1.Clamp(x) {min = 0, max = 6}"""
    return op.Clamp(node.operand(0), min=0.0, max=6.0)


@tf.lowers("Elu")
def elu(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Elu(x) -> opset1.Elu(x) {alpha = 1}"""
    return op.Elu(node.operand(0), alpha=1.0)


@tf.lowers("Selu")
def selu(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Selu(x) -> opset1.Selu(x, alpha, scale)"""
    x = node.operand(0)
    return op.Selu(x, op.constant_like(SELU_ALPHA, x), op.constant_like(SELU_SCALE, x))


@tf.lowers("LeakyRelu")
def leaky_relu(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.LeakyRelu(x) {alpha = 0.2} -> opset1.PRelu(x, alpha)"""
    x = node.operand(0)
    return op.PRelu(x, op.constant_like([node.number("alpha", 0.2)], x))


@tf.lowers("swish_f32")
def swish(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.swish_f32(x, beta) -> opset4.Swish(x, beta)"""
    x, beta = node.operand(0), node.optional(1)
    return op.Swish(x) if beta is None else op.Swish(x, beta)


@tf.lowers("Softmax", "LogSoftmax")
def softmax(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Softmax(x) -> opset8.Softmax(x) {axis = -1}"""
    return getattr(op, node.op.KIND)(node.operand(0), axis=-1)


@tf.lowers("SoftmaxCrossEntropyWithLogits")
def cross_entropy(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """tf.SoftmaxCrossEntropyWithLogits(x, labels)
    -> -ReduceSum(labels * opset5.LogSoftmax(x)), opset8.Softmax(x) - labels
    """
    return losses(op, node.operand(0), node.operand(1))[: node.result_count]


@tf.lowers("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """tf.SparseSoftmaxCrossEntropyWithLogits(x, labels): as SoftmaxCrossEntropyWithLogits with opset1.OneHot(labels)"""
    x = node.operand(0)
    classes = as_scalar(op, op.Gather(op.ShapeOf(x), [-1], 0))
    on, off = (op.constant_like(number, x) for number in (1.0, 0.0))
    return losses(op, x, op.OneHot(node.operand(1), classes, on, off, axis=-1))[: node.result_count]


def losses(op: OpBuilder, x: SSAValue, labels: SSAValue) -> list[SSAValue]:
    """The cross entropy of each row, and its derivatives with respect to x."""
    entropy = op.Negative(op.ReduceSum(op.Multiply(labels, op.LogSoftmax(x, axis=-1)), [-1], keep_dims=False))
    return [entropy, op.Subtract(op.Softmax(x, axis=-1), labels)]
