"""GroupQueryAttention of the domain com.microsoft: attention whose heads share keys, with a cache of past keys.

    %y, %k, %v = onnx.com.microsoft.GroupQueryAttention(%q, %k, %v, %past_k, %past_v, %last, %total)
->  %k = opset12.ScatterElementsUpdate(%past_k padded to %total, positions, %k, 2)
    %y = opset13.ScaledDotProductAttention(%q, %k with repeated heads, %v, mask)

The sequences of a batch may have different lengths: `last` has the position of the last key of each.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import as_list, as_scalar, dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.attention.operations import Scores, attention, join_heads, lowest, repeated_heads, rotated, split_heads
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

UNSUPPORTED = {9: "positions", 10: "a bias", 11: "sinks", 12: "scales of a quantized cache", 13: "scales of a quantized cache"}
"""The operands that are refused: for each index, what the operand is."""


@onnx.lowers("com.microsoft.GroupQueryAttention")
def group_query_attention(
    node: LoweringNode,
    op: OpBuilder,
    *,
    smooth_softmax: bool = False,
    do_rotary: bool = False,
    num_heads: int,
    kv_num_heads: int,
    softcap: float = 0.0,
    scale: float = 0.0,
    rotary_interleaved: bool = False,
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.GroupQueryAttention(q, k, v, past_k, past_v, last, total, cos, sin) {num_heads, kv_num_heads}
    -> ScaledDotProductAttention(q, k, v, mask) with the keys and values of the cache, which are results, too
    """
    for index, what in UNSUPPORTED.items():
        if node.optional(index) is not None:
            node.fail(f"{what} are not supported")
    if smooth_softmax:
        node.fail("smooth_softmax is not supported")
    if kv_num_heads < 1 or num_heads < 1 or num_heads % kv_num_heads:
        node.fail(f"{num_heads} heads of the query cannot share {kv_num_heads} heads of the key")
    query, key, value = _parts(node, op, num_heads, kv_num_heads)
    count = dimension_value(op, query, 2)
    total = op.convert(as_scalar(op, node.operand(6)), si64)
    # The first tokens of a sequence have no past, whatever its length is.
    past = op.Subtract(op.Add(op.convert(op.Reshape(node.operand(5), [-1, 1], special_zero=False), si64), 1), count)
    past = op.Select(op.Equal(total, count), op.Multiply(past, 0), past)
    positions = op.Add(past, op.Unsqueeze(op.Range(0, count, 1, output_type=si64), [0]))
    if do_rotary:
        cos, sin = (op.Unsqueeze(op.Gather(node.operand(index), positions, 0), [1]) for index in (7, 8))
        size = node.attribute("rotary_embedding_dim", 0)
        if size:
            node.fail("rotary_embedding_dim is not supported")
        query, key = (rotated(op, each, cos, sin, rotary_interleaved) for each in (query, key))
    present = [_cached(op, node.optional(3 + index), each, positions, total) for index, each in enumerate((key, value))]
    key, value = (repeated_heads(op, each, kv_num_heads, num_heads // kv_num_heads) for each in present)
    keys = op.Range(0, dimension_value(op, present[0], 2), 1, output_type=si64)
    query_positions = op.Unsqueeze(positions, [1, 3])
    visible = op.LessEqual(keys, query_positions)
    window = node.attribute("local_window_size", -1)
    if window > 0:
        visible = op.LogicalAnd(visible, op.Greater(keys, op.Subtract(query_positions, window)))
    mask = op.Select(visible, op.constant_like(0, query), lowest(op, query))
    scores = Scores(scale or None, softcap, mask)
    return [join_heads(op, attention(op, query, key, value, scores)), *present][: node.result_count]


def _parts(node: LoweringNode, op: OpBuilder, heads: int, own: int) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Operands split into queries, keys and values [batch, heads, sequence, size]; operand 0 may hold all three.

    `heads` is the number of heads of the queries, `own` the number of heads of keys and values.
    """
    key, value = node.optional(1), node.optional(2)
    if key is None or value is None:
        packed = split_heads(op, node.operand(0), heads + 2 * own)
        query, key, value = op.VariadicSplit.parts(3, packed, op.constant(1, si64), [heads, own, own])
        return query, key, value
    return split_heads(op, node.operand(0), heads), split_heads(op, key, own), split_heads(op, value, own)


def _cached(op: OpBuilder, past: SSAValue | None, new: SSAValue, indices: SSAValue, total: SSAValue) -> SSAValue:
    """The cache `past`, padded to `total` positions, with new keys or values written at `indices`; just `new` if there
    is no cache.
    """
    if past is None:
        return new
    room = op.Maximum(op.Subtract(as_list(op, total), dimension_value(op, past, 2, (1,))), 0)
    zeros = op.constant([0] * 4)
    cache = op.Pad(past, zeros, op.ScatterUpdate(zeros, [2], room, 0), op.constant_like(0, past), pad_mode="constant")
    positions = op.Broadcast(op.Unsqueeze(indices, [1, 3]), op.ShapeOf(new))
    return op.ScatterElementsUpdate(cache, positions, op.convert(new, element_of(past)), 2)
