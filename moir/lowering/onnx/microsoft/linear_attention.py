"""Linear attention of the domain com.microsoft: a state that each token reads and changes, in a loop over the tokens.

    %y, %present = onnx.com.microsoft.LinearAttention(%q, %k, %v, %past, %decay, %beta) {update_rule = "gated_delta", …}
->  %state, %y = opset5.Loop(…): s = exp(decay) · s; s += key · (value - keyᵀ · s) · beta; y = queryᵀ · s

Yang, Kautz and Hatamizadeh, "Gated Delta Networks: Improving Mamba2 with Delta Rule", 2024.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.loops.token_steps import token_steps
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record

RULES = ("linear", "gated", "delta", "gated_delta")

HEADS_FIRST = [0, 2, 1, 3]
"""The permutation that swaps the axes of tokens and heads."""


class Sizes(Record):
    """The sizes of a linear attention.

    Args:
        heads: the number of heads of the state.
        queries: the number of heads of the queries that share one head of the state.
        key, value: the number of elements of a key and of a value.
    """

    heads: int
    queries: int
    key: int
    value: int


@onnx.lowers("com.microsoft.LinearAttention")
def linear_attention(
    node: LoweringNode,
    op: OpBuilder,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    past_state: SSAValue | None = None,
    decay: SSAValue | None = None,
    beta: SSAValue | None = None,
    *,
    q_num_heads: int,
    kv_num_heads: int,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
    state_window: int = 0,
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.LinearAttention(query, key, value, past_state, decay, beta) {update_rule, …}
    -> opset5.Loop over the tokens, and the state after the last one

    `chunk_size` says how kernels divide the tokens.
    """
    if update_rule not in RULES or state_window:
        node.fail(f"update_rule {update_rule!r} with state_window {state_window} is not supported")
    if ("gated" in update_rule and decay is None) or ("delta" in update_rule and beta is None):
        node.fail(f"the operands decay or beta of update_rule {update_rule!r} are missing")
    sizes = _sizes(node, (query, key, value), q_num_heads, kv_num_heads)
    rate = scale or 1 / math.sqrt(sizes.key)
    wide = [op.convert(each, f32) for each in (query, key, value)]
    repeated = max(kv_num_heads // q_num_heads, 1)
    queries = op.Multiply(_by_head(op, wide[0], q_num_heads if repeated > 1 else sizes.heads), rate)
    if repeated > 1:
        # Several heads of the state share a head of the queries.
        spread = op.Tile(op.Unsqueeze(queries, [2]), [1, 1, repeated, 1, 1])
        queries = op.Reshape(spread, op.Concat([0, sizes.heads], op.Gather(op.ShapeOf(query), [1], 0), [-1], axis=0), special_zero=True)
    cuts = [queries, *(_by_head(op, each, sizes.heads) for each in wide[1:])]
    gate = _by_head(op, op.convert(decay, f32), sizes.heads) if decay is not None and "gated" in update_rule else None
    strength = None
    if beta is not None and "delta" in update_rule:
        strength = op.Unsqueeze(op.Transpose(op.convert(beta, f32), [0, 2, 1]), [3])
    cuts += [each for each in (gate, strength) if each is not None]

    def step(inside: OpBuilder, slices: list[SSAValue], state: SSAValue) -> tuple[SSAValue, SSAValue]:
        return _step(inside, slices, state, sizes, has_gate=gate is not None, has_strength=strength is not None)

    batch = op.Gather(op.ShapeOf(query), [0], 0)
    tokens = op.Gather(op.ShapeOf(query), [1], 0)
    zero = op.constant(0.0)
    if past_state is None:
        before = op.Broadcast(zero, op.Concat(batch, [sizes.heads, sizes.key, sizes.value], axis=0))
    else:
        before = op.convert(past_state, f32)
    results = op.Broadcast(zero, op.Concat(batch, [sizes.heads], tokens, [sizes.queries * sizes.value], axis=0))
    outputs, after = token_steps(op, step, cuts, before, results, 2)
    flat = op.Reshape(op.Transpose(outputs, HEADS_FIRST), [0, 0, sizes.heads * sizes.queries * sizes.value], special_zero=True)
    element = element_of(query)
    return [op.convert(flat, element), op.convert(after, element if past_state is None else element_of(past_state))][: node.result_count]


def _sizes(node: LoweringNode, operands: Sequence[SSAValue], queries: int, heads: int) -> Sizes:
    """The sizes of a linear attention.

    Raises ConversionError if they are dynamic, or contradict the numbers of heads.
    """
    widths = [(shape_of(each) or (-1,))[-1] for each in operands]
    if min(queries, heads) < 1 or max(queries, heads) % min(queries, heads) or min(widths) < 0:
        node.fail(f"{queries} heads of queries, {heads} others and widths {widths} are not supported")
    counts = (queries, heads, heads)
    if any(width % count for width, count in zip(widths, counts, strict=True)) or widths[0] // queries != widths[1] // heads:
        node.fail(f"widths {widths} cannot be divided among {queries} and {heads} heads")
    return Sizes(heads, max(queries // heads, 1), widths[1] // heads, widths[2] // heads)


def _by_head(op: OpBuilder, x: SSAValue, heads: int) -> SSAValue:
    """Split heads: data [batch, tokens, heads · size] -> [batch, heads, tokens, size]."""
    return op.Transpose(op.Reshape(x, [0, 0, heads, -1], special_zero=True), HEADS_FIRST)


def _step(
    op: OpBuilder, slices: list[SSAValue], state: SSAValue, sizes: Sizes, *, has_gate: bool, has_strength: bool
) -> tuple[SSAValue, SSAValue]:
    """The state after a token [batch, heads, key, value], and its result [batch, heads, 1, queries · value].

    Args:
        op: the builder.
        slices: queries, key and value of the token, then its gate and its write strength (beta), if there are such.
        state: the state before it.
        sizes: the sizes.
        has_gate, has_strength: whether there are a gate and a strength.
    """
    query, key, value = slices[:3]
    column = op.Transpose(key, [0, 1, 3, 2])
    if has_gate:
        # A gate for each head, or for each element of the keys.
        state = op.Multiply(state, op.Exp(op.Transpose(slices[3], [0, 1, 3, 2])))
    change = op.Subtract(value, op.MatMul(key, state)) if has_strength else value
    if has_strength:
        change = op.Multiply(change, slices[-1])
    after = op.Add(state, op.Multiply(column, change))
    rows = op.Reshape(query, [0, 0, sizes.queries, sizes.key], special_zero=True)
    result = op.Reshape(op.MatMul(rows, after), [0, 0, 1, sizes.queries * sizes.value], special_zero=True)
    return after, result
