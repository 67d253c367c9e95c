"""Attention of the domain com.microsoft with quantized or packed operands.

    %y = onnx.com.microsoft.QAttention(%x, %w, %bias, %x_scale, %w_scale) {num_heads = 2}
->  %y = ScaledDotProductAttention of the parts of MatMul(%x * %x_scale, %w * %w_scale) + %bias

In a packed batch the sequences, of different lengths, follow each other without padding: tokens of different sequences
do not see each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.shape_values import dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.attention.operations import attention, join_heads, split_heads
from moir.lowering.onnx.microsoft.attention import UNSUPPORTED, head_count, projected_attention, projected_parts, scores_of
from moir.lowering.onnx.quantization.values import dequantized_operand, quantization
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("com.microsoft.QAttention")
def quantized_attention(
    node: LoweringNode,
    op: OpBuilder,
    x_: SSAValue,
    w_: SSAValue,
    bias: SSAValue,
    x_scale: SSAValue,
    w_scale: SSAValue,
    mask: SSAValue | None = None,
    x_zero: SSAValue | None = None,
    w_zero: SSAValue | None = None,
    past: SSAValue | None = None,
    *,
    past_present_share_buffer: bool = False,
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.QAttention(x, w, bias, x_scale, w_scale, mask, x_zero, w_zero, past) {num_heads}
    -> ScaledDotProductAttention(q, k, v, mask)

    q, k and v are the three parts of MatMul(x, w) + bias of the dequantized operands.
    """
    if past_present_share_buffer:
        node.fail(UNSUPPORTED)
    x = dequantized_operand(node, op, x_, quantization(node, op, element_of(x_), x_scale, x_zero, -1), element_of(x_scale))
    w = dequantized_operand(node, op, w_, quantization(node, op, element_of(w_), w_scale, w_zero, -1), element_of(w_scale))
    projected = op.Add(op.MatMul(x, w), bias)
    return projected_attention(node, op, projected, mask, past, None)


@onnx.lowers("com.microsoft.PackedAttention")
def attention_of_packed_batch(node: LoweringNode, op: OpBuilder, x: SSAValue, weights: SSAValue, bias: SSAValue) -> SSAValue:
    """onnx.com.microsoft.PackedAttention(x, weights, bias, token_offset, cumulative_lengths) {num_heads}
    -> ScaledDotProductAttention(q, k, v, mask), of tokens [tokens, hidden] as a batch of one
    """
    projected = op.Add(op.MatMul(x, weights), bias)
    return _attention_within_sequences(node, op, projected_parts(node, op, projected), 4, 5)


@onnx.lowers("com.microsoft.PackedMultiHeadAttention")
def multi_head_attention_of_packed_batch(
    node: LoweringNode, op: OpBuilder, q: SSAValue, k: SSAValue | None = None, v: SSAValue | None = None, bias: SSAValue | None = None
) -> SSAValue:
    """onnx.com.microsoft.PackedMultiHeadAttention(q, k, v, bias, token_offset, cumulative_lengths) {num_heads}
    -> ScaledDotProductAttention(q, k, v, mask), of tokens [tokens, hidden] as a batch of one

    Without k and v, q is [tokens, heads, 3, size] and contains queries, keys and values.
    """
    parts: Sequence[SSAValue] = [part for part in (q, k, v) if part is not None]
    if len(parts) == 1:
        if rank_of(parts[0]) not in (4, None):
            node.fail(f"operand 0 has {rank_of(parts[0])} dimensions, not 4")
        packed = op.Split.parts(3, parts[0], op.constant(2, si64), num_splits=3)
        parts = [op.Reshape(part, [0, -1], special_zero=True) for part in packed]
    if len(parts) != 3:
        node.fail("there is one of keys and values only")
    if bias is not None:
        biases = op.Split.parts(3, bias, op.constant(0, si64), num_splits=3)
        parts = [op.Add(part, each) for part, each in zip(parts, biases, strict=True)]
    return _attention_within_sequences(node, op, parts, 5, 6)


def _attention_within_sequences(node: LoweringNode, op: OpBuilder, parts: Sequence[SSAValue], ends: int, bias: int) -> SSAValue:
    """The attention of tokens [tokens, hidden], where a token sees only the tokens of its own sequence.

    `parts` are queries, keys and values. Operand `ends` has the number of tokens before each sequence, then the number
    of all tokens. Raises ConversionError if operand `bias` is present.
    """
    if node.optional(bias) is not None:
        node.fail("a bias of the scores of padded sequences is not supported", hint="leave the attention bias out")
    heads = head_count(node)
    query, key, value = (split_heads(op, op.Unsqueeze(part, [0]), heads) for part in parts)
    tokens = op.Range(op.constant(0, si64), dimension_value(op, query, 2), op.constant(1, si64), output_type=si64)
    lengths = op.convert(node.operand(ends), si64)
    sequence = op.ReduceSum(op.convert(op.GreaterEqual(op.Unsqueeze(tokens, [1]), op.Unsqueeze(lengths, [0])), si64), [1], keep_dims=False)
    same = op.Equal(op.Unsqueeze(sequence, [1]), op.Unsqueeze(sequence, [0]))
    return op.Squeeze(join_heads(op, attention(op, query, key, value, scores_of(node, same))), [0])
