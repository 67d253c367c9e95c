"""Fused forms of attention and of the layers around it, as PaddlePaddle's own passes and libraries build them.

Source: flash_attn of ops.yaml, multihead_matmul_op.cu and skip_layernorm_op.cu of PaddlePaddle 2.6.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.matrix import flattened_product
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _attended(
    op: OpBuilder, query: SSAValue, key: SSAValue, value: SSAValue, mask: SSAValue | None, *, causal: bool, scale: float | None = None
) -> SSAValue:
    """Build opset13.ScaledDotProductAttention(query, key, value, mask, scale) {causal} of tensors [N, S, H, D]."""
    operands: list[SSAValue | None] = [op.transposed(each, [0, 2, 1, 3]) for each in (query, key, value)]
    if mask is not None or scale is not None:
        operands.append(mask if mask is not None else op.constant_like(0.0, query))
    if scale is not None:
        operands.append(op.constant_like(scale, query))
    return op.transposed(op.ScaledDotProductAttention(*operands, causal=causal), [0, 2, 1, 3])


@paddle.lowers("flash_attn")
def flash_attention(
    node: LoweringNode,
    op: OpBuilder,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    _seed: SSAValue | None = None,
    mask: SSAValue | None = None,
    *,
    causal: bool = False,
) -> Replacement:
    """paddle.flash_attn(query, key, value [N, S, H, D], mask) {causal} -> opset13.ScaledDotProductAttention"""
    return [_attended(op, query, key, value, mask, causal=causal), *[None] * (node.result_count - 1)]


@paddle.lowers("memory_efficient_attention")
def memory_efficient_attention(
    node: LoweringNode,
    op: OpBuilder,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    bias: SSAValue | None = None,
    *,
    causal: bool = False,
    scale: float = -1.0,
) -> Replacement:
    """paddle.memory_efficient_attention(query, key, value, bias) -> opset13.ScaledDotProductAttention"""
    result = _attended(op, query, key, value, bias, causal=causal, scale=scale if scale > 0 else None)
    return [result, *[None] * (node.result_count - 1)]


@paddle.lowers("multihead_matmul")
def multihead_matmul(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    weights: SSAValue,
    bias: SSAValue,
    mask: SSAValue | None = None,
    *,
    head_number: int = 1,
    alpha: float = 1.0,
) -> SSAValue:
    """paddle.multihead_matmul(x [N, S, K], weights [K, 3 · K], bias, mask) -> opset13.ScaledDotProductAttention"""
    width = (shape_of(x) or (-1,))[-1]
    if width < 0 or head_number < 1 or width % head_number:
        node.fail(f"{head_number} heads of {width} numbers", hint="give the model's inputs static sizes")
    product = op.MatMul(x, op.Reshape(weights, [width, -1], special_zero=False))
    sums = op.Add(product, op.Reshape(bias, [-1], special_zero=False))
    apart = op.Reshape(sums, [0, 0, 3, head_number, width // head_number], special_zero=True)
    query, key, value = (op.Gather(apart, index, 2) for index in range(3))
    result = _attended(op, query, key, value, mask, causal=False, scale=alpha)
    return op.Reshape(result, [0, 0, width], special_zero=True)


def _normalized(
    node: LoweringNode, op: OpBuilder, x: SSAValue, scale: SSAValue | None, bias: SSAValue | None, epsilon: float, first: int
) -> SSAValue:
    """Layer normalization of x along its last axis, times `scale`, plus `bias`, where these are given.

    Raises ConversionError if `first`, the first normalized axis, is not the last axis.
    """
    rank = len(shape_of(x) or ())
    if first not in (rank - 1, -1):
        node.fail(f"begin_norm_axis {first} of a tensor of rank {rank} is not supported")
    result = op.MVN(x, op.constant([-1]), eps=epsilon, normalize_variance=True, eps_mode="INSIDE_SQRT")
    result = result if scale is None else op.Multiply(result, scale)
    return result if bias is None else op.Add(result, bias)


@paddle.lowers("skip_layernorm")
def skip_layer_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    y: SSAValue,
    scale: SSAValue,
    bias: SSAValue,
    *,
    epsilon: float = 1e-5,
    begin_norm_axis: int = 1,
) -> SSAValue:
    """paddle.skip_layernorm(x, y, scale, bias) -> the layer normalization of x + y"""
    return _normalized(node, op, op.Add(x, y), scale, bias, epsilon, begin_norm_axis)


@paddle.lowers("fused_fc_elementwise_layernorm")
def fully_connected_layer_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    weights: SSAValue,
    y: SSAValue,
    bias: SSAValue | None = None,
    scale: SSAValue | None = None,
    shift: SSAValue | None = None,
    *,
    x_num_col_dims: int = 1,
    activation_type: str = "",
    epsilon: float = 1e-5,
    begin_norm_axis: int = 1,
) -> Replacement:
    """paddle.fused_fc_elementwise_layernorm(x, weights, y, bias, scale, shift) -> layer normalization of MatMul(x,
    weights) + bias + y
    """
    if activation_type not in ("", "relu"):
        node.fail(f"activation_type {activation_type!r} is not supported")
    result = flattened_product(node, op, x, weights, x_num_col_dims, 1)
    result = result if bias is None else op.Add(result, bias)
    result = op.Relu(result) if activation_type else result
    return [_normalized(node, op, op.Add(result, y), scale, shift, epsilon, begin_norm_axis), *[None] * (node.result_count - 1)]
