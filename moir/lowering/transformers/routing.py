"""Which experts compute a token, and the weights of their results."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f32, si64
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.weights import vector
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record

LOWEST = float(np.finfo(np.float32).min)
"""The score of an expert that must not be chosen: finite, so that differences of scores are not NaN."""


class Routing(Record):
    """How a router chooses among experts; the fields are those of `Experts` in `moir/architectures/record.py`."""

    chosen: int
    scores: str
    is_normalized: bool = False
    least_sum: float = 0.0
    scale: float = 1.0
    groups: int = 1
    chosen_groups: int = 1
    group_score: str = "best"
    jitter: float = 0.0


def expert_weights(node: LoweringNode, op: OpBuilder, logits: SSAValue, routing: Routing, correction: SSAValue | None = None) -> SSAValue:
    """The weight of each expert for each token [tokens, experts]; 0 for experts that are not chosen.

    Args:
        node: the node, for errors.
        op: the builder.
        logits: the products of the tokens and the router's matrix [tokens, experts].
        routing: how experts are chosen.
        correction: a bias [experts] that is added to the scores for the choice, but not for the weights.

    Raises ConversionError for unknown score functions.
    """
    if routing.scores == "sparse mixer":
        weights, indices = _sparse_mixer(node, op, logits, routing)
    else:
        weights, indices = _best_experts(node, op, logits, routing, correction)
    if routing.is_normalized:
        total = op.ReduceSum(weights, [-1], keep_dims=True)
        weights = op.Divide(weights, op.Maximum(total, routing.least_sum) if routing.least_sum else total)
    if routing.scale != 1:
        weights = op.Multiply(weights, op.constant(routing.scale, f32))
    return _scattered(op, logits, indices, weights)


def _best_experts(
    node: LoweringNode, op: OpBuilder, logits: SSAValue, routing: Routing, correction: SSAValue | None
) -> tuple[SSAValue, SSAValue]:
    """The weights of the experts with the largest scores [tokens, chosen], and their indices."""
    if routing.scores not in ("softmax", "chosen softmax", "sigmoid", "chosen sigmoid"):
        node.fail(f"scores of the kind {routing.scores!r} are not known")
    scores = logits
    if not routing.scores.startswith("chosen"):
        scores = op.Softmax(logits, axis=-1) if routing.scores == "softmax" else op.Sigmoid(logits)
    ranked = scores if correction is None else op.Add(scores, vector(op, correction))
    if routing.groups > 1:
        ranked = op.Select(_in_best_groups(node, op, ranked, routing), ranked, op.constant(LOWEST, f32))
    best, indices = _top(op, ranked, routing.chosen)
    weights = best if ranked is scores else op.GatherElements(scores, indices, axis=1)
    if routing.scores == "chosen sigmoid":
        weights = op.Sigmoid(weights)
    return (op.Softmax(weights, axis=-1) if routing.scores == "chosen softmax" else weights), indices


def _in_best_groups(node: LoweringNode, op: OpBuilder, ranked: SSAValue, routing: Routing) -> SSAValue:
    """Whether an expert is in one of the groups with the largest scores: booleans [tokens, experts].

    `ranked` are the scores [tokens, experts]. DeepSeek-AI, "DeepSeek-V2", 2024 (the best expert of a group), and
    "DeepSeek-V3", 2024 (the sum of the best two).
    """
    count, groups = (shape_of(ranked) or (-1,))[-1], routing.groups
    if count < 0 or count % groups:
        node.fail(f"{count} experts cannot be in {groups} groups")
    grouped = op.Reshape(ranked, [0, groups, count // groups], special_zero=True)
    if routing.group_score == "best two":
        scores = op.ReduceSum(_top(op, grouped, min(2, count // groups))[0], [-1], keep_dims=False)
    elif routing.group_score == "best":
        scores = op.ReduceMax(grouped, [-1], keep_dims=False)
    else:
        node.fail(f"{routing.group_score!r} is no known score of a group")
    values, indices = _top(op, scores, routing.chosen_groups)
    marks = _scattered(op, scores, indices, op.Broadcast(op.constant(1.0, f32), op.ShapeOf(values)))
    spread = op.Tile(op.Unsqueeze(op.Convert(marks, destination_type=boolean), [2]), [1, 1, count // groups])
    return op.Reshape(spread, [0, count], special_zero=True)


def _sparse_mixer(node: LoweringNode, op: OpBuilder, logits: SSAValue, routing: Routing) -> tuple[SSAValue, SSAValue]:
    """The weights and the indices of two experts, chosen one after the other among those whose logits are close to the
    largest.

    Liu, Kim and others, "GRIN: GRadient-INformed MoE", 2024: an expert takes part if
    (largest - logit) / max(|logit|, largest) <= 2 · jitter; the second choice leaves out the first expert.
    """
    if routing.chosen != 2:
        node.fail(f"the sparse mixer chooses 2 experts, not {routing.chosen}")
    weights: list[SSAValue] = []
    indices: list[SSAValue] = []
    size, remaining = op.Abs(logits), logits
    for _ in range(2):
        largest, index = _top(op, remaining, 1)
        distance = op.Divide(op.Subtract(largest, logits), op.Maximum(size, largest))
        is_far = op.Greater(distance, op.constant(2 * routing.jitter, f32))
        near = op.Softmax(op.Select(is_far, op.constant(LOWEST, f32), remaining), axis=-1)
        weights.append(op.GatherElements(near, index, axis=1))
        indices.append(index)
        lowest = op.Broadcast(op.constant(LOWEST, f32), op.ShapeOf(index))
        remaining = op.ScatterElementsUpdate(logits, index, lowest, op.constant(1))
    return op.Concat(*weights, axis=-1), op.Concat(*indices, axis=-1)


def _top(op: OpBuilder, x: SSAValue, count: int) -> tuple[SSAValue, SSAValue]:
    """The `count` largest values of the last dimension in descending order, and their indices."""
    values, indices = op.TopK.results(x, op.constant(count), axis=-1, mode="max", sort="value", index_element_type=si64)
    return values, indices


def _scattered(op: OpBuilder, like: SSAValue, indices: SSAValue, values: SSAValue) -> SSAValue:
    """`values` at `indices` of the second dimension, and 0 elsewhere, in the shape of `like`."""
    zeros = op.Broadcast(op.constant(0.0, f32), op.ShapeOf(like))
    return op.ScatterElementsUpdate(zeros, indices, values, op.constant(1))
