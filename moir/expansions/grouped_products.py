"""Grouped matrix products: consecutive rows form groups, each with its own matrix, such as the tokens of each
expert.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of
from moir.expansions.shape_values import dimension_value
from moir.rewriting.builder import OpBuilder


def group_of_each(op: OpBuilder, ends: SSAValue, x: SSAValue, axis: int) -> SSAValue:
    """Whether each index along an axis of x belongs to each group: booleans [..., groups, size].

    `ends` [..., groups] are the exclusive ends of consecutive groups, the first of which begins at 0.
    """
    stop = op.Unsqueeze(op.convert(ends, si64), [-1])
    first = op.constant(np.zeros((1, 1), np.int64))
    if rank_of(ends) != 1:
        first = op.Multiply(op.Slice(stop, [0], [1], [1], [-2]), first)
    start = op.Concat(first, op.Slice(stop, [0], [-1], [1], [-2]), axis=-2)
    indices = op.Range(op.constant(0), dimension_value(op, x, axis), op.constant(1), output_type=si64)
    return op.LogicalAnd(op.GreaterEqual(indices, start), op.Less(indices, stop))


def select_groups(op: OpBuilder, products: SSAValue, is_member: SSAValue) -> SSAValue:
    """The sum of `products` along the first axis, the groups, where `is_member` is true; elements elsewhere are
    ignored, even NaN.
    """
    return op.ReduceSum(op.Select(is_member, products, op.constant_like(0, products)), [0], keep_dims=False)
