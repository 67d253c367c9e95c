"""Activations that are not operations in TensorFlow."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.tflite.fused_activation import activated, with_activation
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import value_as
from moir.rewriting.builder import OpBuilder


@tflite.lowers("RELU_N1_TO_1")
def relu_to_one(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tflite.RELU_N1_TO_1(x) -> opset1.Clamp(x) {min = -1, max = 1}"""
    return with_activation(node, op, x, "RELU_N1_TO_1")


tflite.lowers_each(
    {
        "RELU_0_TO_1": lambda op, x: op.Clamp(x, min=0.0, max=1.0),
        "HARD_SWISH": lambda op, x: op.HSwish(x),
        "GELU": lambda op, x, *, approximate=False: op.Gelu(x, approximation_mode="TANH" if approximate else "ERF"),
        "SOFTMAX": lambda op, logits, *, beta=0.0: op.Softmax(logits if beta == 1.0 else op.Multiply(logits, beta), axis=-1),
    }
)


@tflite.lowers("PRELU")
def prelu(op: OpBuilder, x: SSAValue, alpha: SSAValue) -> SSAValue:
    """tflite.PRELU(x, alpha) -> opset1.PRelu(x, alpha)

    This holds for a single slope; opset1.PRelu would apply a 1-D tensor of slopes along dimension 1, not along the last
    dimension. Several slopes become opset1.Select(x < 0, x · alpha, x).
    """
    if (slopes := op.known.constant(alpha)) is not None:
        # Quantized slopes are dequantized for opset1.PRelu.
        alpha = op.constant(slopes)
    shape, rank = shape_of(alpha), rank_of(x)
    if shape is not None and rank is not None and len(shape) < rank:
        alpha = op.Reshape(alpha, [*[1] * (rank - len(shape)), *shape], special_zero=False) if -1 not in shape else alpha
    if shape is not None and all(size == 1 for size in shape):
        return op.PRelu(x, op.Reshape(alpha, [1], special_zero=False))
    return op.Select(op.Less(x, 0.0), op.Multiply(x, alpha), x)


@tflite.lowers("L2_NORMALIZATION")
def normalized(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tflite.L2_NORMALIZATION(x) -> opset1.NormalizeL2(x, -1) {eps = 1e-12, eps_mode = max}, and its activation

    The kernel divides by the maximum of the norm and 1e-6.
    """
    return activated(node, op, op.NormalizeL2(x, [-1], eps=1e-12, eps_mode="max"))


@tflite.lowers("FAKE_QUANT")
def fake_quant(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, min: float = 0.0, max: float = 0.0, num_bits: int = 0, narrow_range: bool = False
) -> SSAValue:
    """tflite.FAKE_QUANT(x) {min, max, num_bits} -> what tf.FakeQuantWithMinMaxArgs lowers to"""
    if not (2 <= num_bits <= 16 and min < max):
        node.fail(f"{num_bits} bits from {min} to {max} are not a quantization")
    return value_as(node, op, "FakeQuantWithMinMaxArgs", x, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range)
