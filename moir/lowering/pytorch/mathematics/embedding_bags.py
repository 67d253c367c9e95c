"""Sums, means and maxima of the embeddings of bags of indices, and limits of their norms.

Source: Embedding.cpp and EmbeddingBag.cpp of PyTorch 2.13.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.mathematics.distances import norm
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

SUM, MEAN, MAX = 0, 1, 2


@aten.lowers("embedding_renorm.default")
def embedding_renorm(op: OpBuilder, self: SSAValue, indices: SSAValue, *, max_norm: float, norm_type: float) -> SSAValue:
    """aten.embedding_renorm.default(w, indices) {max_norm, norm_type} -> w with its rows at indices scaled to this norm

    A row whose norm is not above max_norm is unchanged.
    """
    row_indices = op.Reshape(indices, [-1], special_zero=False)
    rows = op.Gather(self, row_indices, 0)
    size = norm(op, rows, norm_type, [1], keep=True)
    scale = op.Select(op.Greater(size, max_norm), op.Divide(max_norm, op.Add(size, 1e-7)), op.constant_like(1, size))
    return op.ScatterUpdate(self, row_indices, op.Multiply(rows, scale), op.constant(0))


@aten.lowers("embedding_bag.default", "embedding_bag.padding_idx", "_embedding_bag.default", "_embedding_bag_forward_only.default")
def embedding_bag(
    node: LoweringNode,
    op: OpBuilder,
    weight: SSAValue,
    indices: SSAValue,
    offsets: SSAValue,
    per_sample_weights: SSAValue | None = None,
    *,
    mode: int = SUM,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Replacement:
    """aten.embedding_bag.default(w, indices, offsets) {mode} -> the sums of rows of w from each offset to the next one

    A matrix of booleans [bags, indices] selects the indices of each bag. The mean and the maximum of an empty bag are
    0.
    """
    if any(node.is_used(index) for index in range(1, node.result_count)):
        node.fail("its results for training are used", hint="export the model for inference")
    starts, indices_ = op.convert(offsets, si64), op.convert(indices, si64)
    count = op.ShapeOf(indices_)
    if include_last_offset:
        ends, starts = op.Slice(starts, [1], [2**31 - 1], [1], [0]), op.Slice(starts, [0], [-1], [1], [0])
    else:
        ends = op.Concat(op.Slice(starts, [1], [2**31 - 1], [1], [0]), count, axis=0)
    positions = op.Range(op.constant(0), op.Squeeze(count, [0]), op.constant(1), output_type=si64)
    inside = op.LogicalAnd(op.GreaterEqual(positions, op.Unsqueeze(starts, [1])), op.Less(positions, op.Unsqueeze(ends, [1])))
    if padding_idx is not None and padding_idx >= 0:
        inside = op.LogicalAnd(inside, op.NotEqual(indices_, padding_idx))
    rows = op.Gather(weight, indices_, 0)
    element = element_of(weight)
    if per_sample_weights is not None:
        rows = op.Multiply(rows, op.Unsqueeze(op.convert(per_sample_weights, element), [1]))
    if mode == MAX:
        held = op.Select(op.Unsqueeze(inside, [2]), rows, op.constant_like(-np.inf, rows))
        bags = op.ReduceMax(held, [1], keep_dims=False)
        filled = op.ReduceLogicalOr(inside, [1], keep_dims=True)
        bags = op.Select(filled, bags, op.constant_like(0, bags))
    else:
        mass = op.convert(inside, element)
        bags = op.MatMul(mass, rows)
        if mode == MEAN:
            bags = op.Divide(bags, op.Maximum(op.ReduceSum(mass, [1], keep_dims=True), 1))
    return [bags, *[None] * (node.result_count - 1)]
