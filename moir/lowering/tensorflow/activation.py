"""Activation functions.

    %y = tf.LeakyRelu(%x) {alpha = 0.1}
->  %y = opset1.PRelu(%x, 0.1)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES
from moir.dialects.shapes import element_of
from moir.expansions import functions
from moir.expansions.functions import operation
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_function
from moir.lowering.ranks import as_result
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

tf.lowers_each_node(
    {
        "Mish Softplus Softsign": lambda node, op, x: operation(op, node.op.KIND)(x),
        "Softmax LogSoftmax": lambda node, op, logits: getattr(op, node.op.KIND)(logits, axis=-1),
    },
    rank=as_result,
)

tf.lowers_each({"Sigmoid": lambda op, x: op.Sigmoid(x)}, rank=as_result, complex=by_function())

tf.lowers_each_node(
    {
        # tf.SoftmaxCrossEntropyWithLogits(x, labels) -> -ReduceSum(labels * opset5.LogSoftmax(x)), opset8.Softmax(x)
        # - labels
        "SoftmaxCrossEntropyWithLogits": lambda node, op, features, labels: losses(op, features, labels)[: node.result_count],
    }
)


tf.lowers_each(
    {
        "Relu": lambda op, features: op.Maximum(features, 0) if element_of(features) in INTEGER_TYPES else op.Relu(features),
        "Relu6": lambda op, features: op.Clamp(features, min=0.0, max=6.0),
        "Elu": lambda op, features: op.Elu(features, alpha=1.0),
        "Selu": lambda op, features: functions.selu(op, features),
        "LeakyRelu": lambda op, features, *, alpha=0.2: op.PRelu(features, op.constant_like([alpha], features)),
    },
    rank=as_result,
)


# A kind that TensorFlow.js fuses from Relu, Neg and Mul.
tf.lowers_each({"Prelu": lambda op, x, alpha: functions.parametric_relu(op, x, alpha)}, rank=as_result)


@tf.lowers("swish_f32")
def swish(op: OpBuilder, x: SSAValue, beta: SSAValue | None = None) -> SSAValue:
    """tf.swish_f32(x, beta) -> opset4.Swish(x, beta)"""
    return op.Swish(x) if beta is None else op.Swish(x, beta)


@tf.lowers("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(node: LoweringNode, op: OpBuilder, features: SSAValue, labels: SSAValue) -> Sequence[SSAValue]:
    """tf.SparseSoftmaxCrossEntropyWithLogits(x, labels): as SoftmaxCrossEntropyWithLogits with opset1.OneHot(labels)"""
    classes = as_scalar(op, op.Gather(op.ShapeOf(features), [-1], 0))
    on, off = (op.constant_like(value, features) for value in (1.0, 0.0))
    return losses(op, features, op.OneHot(labels, classes, on, off, axis=-1))[: node.result_count]


def losses(op: OpBuilder, x: SSAValue, labels: SSAValue) -> list[SSAValue]:
    """The cross entropy of each row, and its derivative with respect to x.

    `x` are logits, `labels` the probabilities of the classes, both [rows, classes].
    """
    entropy = op.Negative(op.ReduceSum(op.Multiply(labels, op.LogSoftmax(x, axis=-1)), [-1], keep_dims=False))
    return [entropy, op.Subtract(op.Softmax(x, axis=-1), labels)]
