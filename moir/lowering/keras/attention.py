"""Attention layers. In shapes: B batch, T queries, S keys, N heads, H size of a head.

    %y = keras.MultiHeadAttention(%q, %v, query, key, value and output weights)
->  q · query [B, N, T, H], k · key [B, N, S, H], softmax(q · kᵀ / √H) · (v · value), then · output
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f16, si64
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, is_tensor, values_within, variables
from moir.lowering.keras.projections import projected
from moir.lowering.keras.quantization import mode_of, quantized_product
from moir.lowering.keras.table import keras
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

NAMES = ("query", "value", "key", "query_mask", "value_mask", "key_mask", "attention_mask", "return_attention_scores")


def _projection(node: LoweringNode, op: OpBuilder, x: SSAValue, name: str, count: int = 1) -> SSAValue:
    """The product of x and the weights of a projection (`query`, `key`, `value`, …), plus its bias if it has one.

    `count` is the number of last dimensions of x that are summed over. Raises ConversionError if the weights are
    missing or have an unsuitable shape.
    """
    weights = variables(node, f"{name}_dense/")
    use_bias = node.flag("use_bias", True)
    if mode := mode_of(weights, use_bias=use_bias):
        return quantized_product(node, op, x, weights, mode, use_bias=use_bias, count=count, outer=_outer(node, name))
    if not 1 <= len(weights) <= 2:
        node.fail(f"the weights of its {name} are not in the file")
    result = projected(op, x, weights[0], count)
    if result is None:
        node.fail(f"the weights of its {name} have the shape {shape_of(weights[0])}")
    return op.Add(result, weights[1]) if len(weights) == 2 else result


def _outer(node: LoweringNode, name: str) -> tuple[int, ...] | None:
    """The number of heads and the size of a head of a projection; None for the projection `output`, whose result has no
    heads.
    """
    if name == "output":
        return None
    size = node.integer("value_dim", 0) if name == "value" else 0
    return node.integer("num_heads"), size or node.integer("key_dim")


def _conjunction(op: OpBuilder, masks: Sequence[SSAValue]) -> SSAValue | None:
    """The logical and of masks; None if there are no masks."""
    conjunction: SSAValue | None = None
    for mask in masks:
        conjunction = mask if conjunction is None else op.LogicalAnd(conjunction, mask)
    return conjunction


def positions(op: OpBuilder, value: SSAValue, axis: int) -> SSAValue:
    """The indices 0, 1, … along an axis of a tensor, as a 1-D tensor."""
    size = op.Squeeze(dimension_list(op, value, axis), [0])
    return op.Range(op.constant(0, si64), size, op.constant(1, si64), output_type=si64)


def causal_mask(op: OpBuilder, query: SSAValue, key: SSAValue) -> SSAValue:
    """For each query [T, 1] and key [S], whether the query is at or after the key."""
    return op.GreaterEqual(op.Unsqueeze(positions(op, query, 1), [1]), positions(op, key, 1))


def _masks(node: LoweringNode, op: OpBuilder, arguments: Arguments, query: SSAValue, value: SSAValue) -> SSAValue | None:
    """The conjunction of all masks of a call, in a shape that broadcasts to [B, N, T, S]; None if there is none.

    Raises ConversionError for an attention mask whose rank is not 2, 3 or 4.
    """
    masks: list[SSAValue] = []
    for name, axes in (("query_mask", [1, 3]), ("value_mask", [1, 2]), ("key_mask", [1, 2])):
        mask = arguments.optional(name)
        if mask is not None and not (name == "key_mask" and arguments.optional("key") is None):
            masks.append(op.Unsqueeze(op.convert(mask, boolean), axes))
    attention = arguments.optional("attention_mask")
    if attention is not None:
        rank = rank_of(attention)
        if rank not in (2, 3, 4):
            node.fail(f"an attention_mask of rank {rank}")
        attention = op.convert(attention, boolean)
        masks.append(op.Unsqueeze(attention, [1]) if rank == 3 else attention)
    if arguments.flag("use_causal_mask"):
        masks.append(causal_mask(op, query, value))
    window = node.attribute("sliding_window", 0) or node.attribute("attention_sliding_window", 0)
    if window:
        distance = op.Subtract(op.Unsqueeze(positions(op, query, 1), [1]), positions(op, value, 1))
        masks.append(op.Less(op.Abs(distance), int(window)))
    return _conjunction(op, masks)


def attended(
    op: OpBuilder, query: SSAValue, key: SSAValue, value: SSAValue, scale: float, mask: SSAValue | None
) -> tuple[SSAValue, SSAValue]:
    """softmax(scale · q · kᵀ) · v and the softmax, for q [B, N, T, H], k [B, N, S, H] and v [B, N, S, V].

    `mask` is true where a query may attend to a key; None if there is no mask.
    """
    scores = op.MatMul(op.Multiply(query, scale), key, transpose_a=False, transpose_b=True)
    if mask is not None:
        lowest = -4.5e4 if element_of(scores) == f16 else -2.38e38
        scores = op.Select(mask, scores, op.constant_like(lowest, scores))
    weights = op.Softmax(scores, axis=-1)
    return op.MatMul(weights, value, transpose_a=False, transpose_b=False), weights


@keras.lowers("MultiHeadAttention")
def multi_head_attention(
    node: LoweringNode, op: OpBuilder, *, key_dim: int, attention_axes: tuple[int, ...] = (1,), use_gate: bool = False
) -> Replacement:
    """keras.MultiHeadAttention(query, value, key) -> products with the weights, opset8.Softmax, and products"""
    arguments = Arguments(node, *NAMES)
    query, value = arguments.tensor("query"), arguments.tensor("value")
    key = arguments.optional("key") or value
    scale, gate = 1.0 / math.sqrt(float(key_dim)), op.Sigmoid(_projection(node, op, query, "gate")) if use_gate else None
    rank = rank_of(query)
    if rank is None or rank < 3 or rank_of(value) != rank:
        node.fail(f"its query and its value have the ranks {rank} and {rank_of(value)}")
    axes = axis_list(node, list(attention_axes) or list(range(1, rank - 1)), rank)
    if axes != [1] or rank > 3:
        return _attention_over(node, op, [query, key, value], axes, scale, gate)
    mask = _masks(node, op, arguments, query, value)
    heads = [
        op.transposed(_projection(node, op, each, name), [0, 2, 1, 3]) for each, name in ((query, "query"), (key, "key"), (value, "value"))
    ]
    attended_values, weights = attended(op, heads[0], heads[1], heads[2], scale, mask)
    return _finished(node, op, op.transposed(attended_values, [0, 2, 1, 3]), weights, gate)


def _attention_over(
    node: LoweringNode, op: OpBuilder, inputs: Sequence[SSAValue], axes: list[int], scale: float, gate: SSAValue | None
) -> Replacement:
    """Attention over `axes` of a query, a key and a value [B, …, E]; the other axes are batches.

    `gate` multiplies the results of the heads unless it is None. Raises ConversionError for a mask.
    """
    arguments, rank = Arguments(node, *NAMES), cast(int, rank_of(inputs[0]))
    if any(arguments.optional(name) is not None for name in NAMES[3:7]) or arguments.flag("use_causal_mask"):
        node.fail(f"a mask of attention over the axes {axes} of tensors of rank {rank} is not supported")
    if not axes or not all(0 < axis < rank - 1 for axis in axes) or len(set(axes)) < len(axes):
        node.fail(f"attention over the axes {axes} of tensors of rank {rank}")
    batch = [axis for axis in range(rank - 1) if axis not in axes]
    # In products the heads follow the batches, then the steps, then the elements of a head.
    order = [*batch, rank - 1, *axes, rank]
    heads: list[SSAValue] = []
    for each, name in zip(inputs, ("query", "key", "value"), strict=True):
        head = op.transposed(_projection(node, op, each, name), order)
        size = (shape_of(head) or (-1,))[-1]
        heads.append(head if len(axes) == 1 else op.Reshape(head, [*(0,) * (len(batch) + 1), -1, size], special_zero=True))
    attended_values, weights = attended(op, heads[0], heads[1], heads[2], scale, None)
    if len(axes) > 1:
        outer = [op.constant([0] * (len(batch) + 1))]
        steps, others = ([dimension_list(op, inputs[index], axis) for axis in axes] for index in (0, 1))
        attended_values = op.Reshape(attended_values, op.Concat(*outer, *steps, op.constant([-1]), axis=0), special_zero=True)
        weights = op.Reshape(weights, op.Concat(*outer, *steps, *others, axis=0), special_zero=True)
    return _finished(node, op, op.transposed(attended_values, [order.index(axis) for axis in range(rank + 1)]), weights, gate)


def _finished(node: LoweringNode, op: OpBuilder, heads: SSAValue, weights: SSAValue, gate: SSAValue | None) -> Replacement:
    """The results of a layer: the output projection of the results of its heads [B, T, N, H], and the attention
    weights.

    The results of the heads are multiplied by `gate`, unless it is None.
    """
    if gate is not None:
        heads = op.Multiply(heads, gate)
    result = _projection(node, op, heads, "output", 2)
    return [result, weights][: node.result_count]


@keras.lowers("GroupQueryAttention", "GroupedQueryAttention")
def grouped_query_attention(
    node: LoweringNode,
    op: OpBuilder,
    *,
    head_dim: int,
    num_query_heads: int,
    num_key_value_heads: int,
    use_gate: bool = False,
) -> Replacement:
    """keras.GroupQueryAttention(query, value, key) -> as MultiHeadAttention; several heads of a query share a key"""
    arguments = Arguments(node, *NAMES)
    query, value = arguments.tensor("query"), arguments.tensor("value")
    key = arguments.optional("key") or value
    if num_key_value_heads < 1 or num_query_heads % num_key_value_heads:
        node.fail(f"{num_query_heads} heads of queries for {num_key_value_heads} of keys")
    repeats = num_query_heads // num_key_value_heads
    mask = _masks(node, op, arguments, query, value)
    heads = [
        op.transposed(_projection(node, op, each, name), [0, 2, 1, 3]) for each, name in ((query, "query"), (key, "key"), (value, "value"))
    ]
    if repeats > 1:
        order = [index // repeats for index in range(num_query_heads)]
        heads[1:] = [op.Gather(each, order, 1) for each in heads[1:]]
    attended_values, weights = attended(op, heads[0], heads[1], heads[2], 1.0 / math.sqrt(float(head_dim)), mask)
    gate = op.Sigmoid(_projection(node, op, query, "gate")) if use_gate else None
    return _finished(node, op, op.transposed(attended_values, [0, 2, 1, 3]), weights, gate)


@keras.lowers("Attention", "AdditiveAttention")
def attention(node: LoweringNode, op: OpBuilder, *, use_scale: bool | None = None, score_mode: str = "dot") -> Replacement:
    """keras.Attention([query, value, key], scale) -> softmax(query · keyᵀ · scale) · value

    With `score_mode` concat, and in AdditiveAttention, scores are sums of tanh(query + key) over the features.
    """
    arguments = Arguments(node, "inputs", "mask")
    tensors = values_within(arguments.get("inputs"))
    if len(tensors) not in (2, 3):
        node.fail(f"it has {len(tensors)} tensors instead of a query, a value and perhaps a key")
    query, value, key = tensors[0], tensors[1], tensors[-1] if len(tensors) == 3 else tensors[1]
    is_additive = node.op.KIND == "AdditiveAttention"
    uses_scale = is_additive if use_scale is None else use_scale
    own = variables(node)
    concatenates = is_additive or score_mode == "concat"
    if len(own) < uses_scale + (concatenates and not is_additive):
        node.fail("its scale is not in the file")
    scale = own[0] if uses_scale else None
    if concatenates:
        sums = op.Add(op.Unsqueeze(query, [2]), op.Unsqueeze(key, [1]))
        if is_additive:
            features = op.Tanh(sums)
            scores = op.ReduceSum(features if scale is None else op.Multiply(features, scale), [3], keep_dims=False)
        else:
            scaled = sums if scale is None else op.Multiply(sums, scale)
            scores = op.Multiply(op.ReduceSum(op.Tanh(scaled), [3], keep_dims=False), own[-1])
    else:
        scores = op.MatMul(query, key, transpose_a=False, transpose_b=True)
        scores = scores if scale is None else op.Multiply(scores, scale)
    query_mask, value_mask = _mask_pair(arguments.get("mask"))
    masks = [] if value_mask is None else [op.Unsqueeze(op.convert(value_mask, boolean), [1])]
    if arguments.flag("use_causal_mask") or node.flag("causal"):
        masks.append(causal_mask(op, query, value))
    mask = _conjunction(op, masks)
    if mask is not None:
        least = 65504.0 if element_of(scores) == f16 else 1.0e9
        scores = op.Select(mask, scores, op.Subtract(scores, least))
    weights = op.Softmax(scores, axis=-1)
    result = op.MatMul(weights, value, transpose_a=False, transpose_b=False)
    if query_mask is not None:
        result = op.Multiply(result, op.Unsqueeze(op.convert(query_mask, element_of(result)), [2]))
    return [result, weights][: node.result_count]


def _mask_pair(value: Any) -> tuple[SSAValue | None, SSAValue | None]:
    """The masks of the query and of the value in a `mask` argument, which is a list; None for an absent mask."""
    if not isinstance(value, list):
        return None, None
    masks: list[SSAValue | None] = [each if is_tensor(each) else None for each in (*cast("list[object]", value), None, None)]
    return masks[0], masks[1]
