"""Operations of the domain com.microsoft whose result has an element for each element of an operand.

    %y = onnx.com.microsoft.SwiGLU(%gate, %up) {activation_alpha = 1.702, activation_beta = 1.0, limit = 7.0}
->  %0 = opset1.Minimum(%gate, 7.0)
    %1 = opset4.Swish(%0, 1.702)
    %2 = opset1.Add(opset1.Clamp(%up), 1.0)
    %y = opset1.Multiply(%1, %2)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.activation import flattened, scaled_swish
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

onnx.lowers_each({"com.microsoft.BiasAdd": lambda op, x, bias, skip: op.Add(op.Add(x, bias), skip)})


@onnx.lowers("com.microsoft.GemmFastGelu")
def product_with_gelu(op: OpBuilder, x: SSAValue, w: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """onnx.com.microsoft.GemmFastGelu(x, w, bias) -> Gelu(MatMul(x, w) + bias) {approximation_mode = "TANH"}"""
    product = op.MatMul(x, w)
    return op.Gelu(product if bias is None else op.Add(product, bias), approximation_mode="TANH")


@onnx.lowers("com.microsoft.BiasSplitGelu")
def bias_split_gelu(op: OpBuilder, x: SSAValue, bias: SSAValue) -> SSAValue:
    """onnx.com.microsoft.BiasSplitGelu(x, bias) -> left * Gelu(right) of the halves of x + bias"""
    left, right = op.Split.parts(2, op.Add(x, bias), -1, num_splits=2)
    return op.Multiply(left, op.Gelu(right))


@onnx.lowers("com.microsoft.BiasSoftmax")
def bias_softmax(node: LoweringNode, op: OpBuilder, data: SSAValue, bias: SSAValue) -> SSAValue:
    """onnx.com.microsoft.BiasSoftmax(data, bias) {axis = 1} -> Softmax(data + bias), over all dimensions from the axis
    on

    `is_inner_broadcast` says which dimensions of the bias are 1, as its shape does.
    """
    total = op.Add(data, bias)
    return flattened(node.with_operands({0: total}), op, total, lambda x, axis: op.Softmax(x, axis=axis))


@onnx.lowers("com.microsoft.SwiGLU")
def swiglu(
    op: OpBuilder,
    gate: SSAValue,
    up: SSAValue | None = None,
    *,
    activation_alpha: float = 1.0,
    activation_beta: float = 0.0,
    limit: float = 0.0,
) -> SSAValue:
    """onnx.com.microsoft.SwiGLU(gate, up) {activation_alpha, activation_beta, limit}
    -> g · sigmoid(activation_alpha · g) · (u + activation_beta), with g = min(gate, limit), u = up clamped to ±limit

    Nothing is clamped if the limit is 0. Without `up`, `gate` has both as halves of its last dimension. The attribute
    `round_activation`, where narrow types are rounded, has no effect.
    """
    if up is None:
        gate, up = op.Split.parts(2, gate, -1, num_splits=2)
    return gated_swish(op, gate, up, activation_alpha, activation_beta, limit if limit > 0 else None)


def gated_swish(op: OpBuilder, gate: SSAValue, up: SSAValue, slope: float, shift: float, limit: float | None) -> SSAValue:
    """The gated activation g · sigmoid(slope · g) · (u + shift), with g = min(gate, limit) and u = up clamped to
    ±limit; with g = gate and u = up if `limit` is None.
    """
    if limit is not None:
        gate, up = op.Minimum(gate, limit), op.Clamp(up, min=-limit, max=limit)
    return op.Multiply(scaled_swish(op, gate, slope), up if shift == 0 else op.Add(up, shift))


@onnx.lowers("com.microsoft.ScaledSiLU")
def scaled_silu(op: OpBuilder, x: SSAValue, scale: SSAValue | None = None, *, alpha: float = 1.0) -> SSAValue:
    """onnx.com.microsoft.ScaledSiLU(x, scale) {alpha} -> Swish(x * scale), or Swish(x * alpha) without a scale"""
    if scale is not None:
        return op.Swish(op.Multiply(x, op.Reshape(scale, [], special_zero=False)))
    return op.Swish(x if alpha == 1 else op.Multiply(x, alpha))


@onnx.lowers("com.microsoft.GatedAdd")
def gated_add(op: OpBuilder, x: SSAValue, y: SSAValue, gate: SSAValue, gate_weight: SSAValue | None = None) -> SSAValue:
    """onnx.com.microsoft.GatedAdd(x, y, gate, gate_weight) -> x + y * gate

    With a weight the gate is Sigmoid(MatMul(gate, gate_weight)).
    """
    factor = gate if gate_weight is None else op.Sigmoid(op.MatMul(gate, gate_weight))
    return op.Add(x, op.Multiply(y, factor))


@onnx.lowers("com.microsoft.LinearAttentionGate")
def linear_attention_gate(
    node: LoweringNode, op: OpBuilder, a: SSAValue, dt_bias: SSAValue, decay_scale: SSAValue, b: SSAValue | None = None
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.LinearAttentionGate(a, dt_bias, decay_scale, b)
    -> decay_scale * SoftPlus(a + dt_bias), computed in f32, and Sigmoid(b)
    """
    wide = op.Multiply(op.SoftPlus(op.Add(op.convert(a, f32), dt_bias)), decay_scale)
    if b is None and node.is_used(1):
        node.fail("its second result needs the operand b")
    return [op.convert(wide, element_of(a)), None if b is None else op.Sigmoid(b)][: node.result_count]
