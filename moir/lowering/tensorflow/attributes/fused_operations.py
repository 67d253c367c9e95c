"""The operations that TensorFlow's optimizer fuses into a node: attribute `fused_ops` of _FusedConv2D, _FusedMatMul, …

["BiasAdd", "Relu"] is relu(result + bias); the operands of fused operations, such as the bias, follow those of the
node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of, rank_of
from moir.expansions.functions import parametric_relu
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

ACTIVATIONS: dict[str, Callable[[OpBuilder, SSAValue], SSAValue]] = {
    "Relu": lambda op, x: op.Relu(x),
    "Relu6": lambda op, x: op.Clamp(x, min=0.0, max=6.0),
    "Elu": lambda op, x: op.Elu(x, alpha=1.0),
    "Tanh": lambda op, x: op.Tanh(x),
    "Sigmoid": lambda op, x: op.Sigmoid(x),
    "GeluExact": lambda op, x: op.Gelu(x, approximation_mode="ERF"),
    "GeluApproximate": lambda op, x: op.Gelu(x, approximation_mode="TANH"),
    "_FusedHardSwish": lambda op, x: op.HSwish(x),
    "_FusedSwish": lambda op, x: op.Swish(x),
    "_MklSwish": lambda op, x: op.Swish(x),
}


def with_fused_operations(node: LoweringNode, op: OpBuilder, result: SSAValue, first: int, last: bool) -> SSAValue:
    """The result of a node with the operations of its attribute `fused_ops` applied; `result` itself if there are none.

    Args:
        node: the node.
        op: the builder.
        result: the result of the node's own operation.
        first: the index of the first operand of the fused operations, such as the bias.
        last: whether `result` is channel-last. 1-D operands broadcast along its last axis if so, else along axis 1 of
            four.

    Raises ConversionError for a fused operation that is not known.
    """
    following = first

    def vectors(count: int) -> Sequence[SSAValue]:
        nonlocal following
        values = [node.operand(following + index) for index in range(count)]
        following += count
        return [value if last else op.Reshape(value, [1, -1, 1, 1], special_zero=False) for value in values]

    for name in node.texts("fused_ops", ()):
        if name == "BiasAdd":
            result = op.Add(result, vectors(1)[0])
        elif name == "Add":
            result = op.Add(result, node.operand(following))
            following += 1
        elif name == "FusedBatchNorm":
            result = normalized(op, result, vectors(4), node.number("epsilon", 0.0001))
        elif name == "LeakyRelu":
            result = op.PRelu(result, op.constant_like(node.number("leakyrelu_alpha", 0.2), result))
        elif name == "Prelu":  # of TensorFlow.js
            slopes = node.operand(following)
            result = parametric_relu(op, result, vectors(1)[0] if rank_of(slopes) == 1 else slopes)
            following += rank_of(slopes) != 1
        elif name in ACTIVATIONS:
            result = ACTIVATIONS[name](op, result)
        else:
            node.fail(f"the operation {name} is fused into it", hint="convert the model before TensorFlow's optimizer has remapped it")
    return result


def normalized(op: OpBuilder, data: SSAValue, vectors: Sequence[SSAValue], epsilon: float) -> SSAValue:
    """(data - mean) / sqrt(variance + epsilon) · scale + offset

    The vectors are scale, offset, mean and variance, and broadcast to the data. The total factor and shift are computed
    from the vectors, so that for constants one Multiply and one Add remain.
    """
    scale, offset, mean, variance = vectors
    factor = op.Divide(scale, op.Sqrt(op.Add(variance, epsilon)))
    shift = op.Subtract(offset, op.Multiply(mean, factor))
    element = element_of(data)
    return op.Add(op.Multiply(data, op.convert(factor, element)), op.convert(shift, element))
