"""`fuse-one-hot`: comparisons of an index with 0, 1, … up to a depth become a OneHot.

    %1 = opset1.Unsqueeze(%0, [1])                        // %0: [N], integers
    %2 = opset1.Equal(%1, [0, 1, 2, 3])
    %3 = opset1.Convert(%2) {destination_type = f32}
->  %3 = opset16.OneHot(%0, 4, 1.0, 0.0) {axis = 1}

An index out of range is equal to no position, and OneHot has zeros for it. `jax.nn.one_hot` has this form.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, RulePass


def counted(value: SSAValue, rank: int, axis: int) -> int | None:
    """The length n of a constant that is 0, 1, …, n - 1 along one axis only; None for other values.

    Args:
        value: the value.
        rank: the rank of the tensor to which it is broadcast.
        axis: the axis of this tensor.
    """
    array = constant_of(value)
    own_axis = axis - rank + (0 if array is None else array.ndim)
    if array is None or array.size == 0 or own_axis < 0 or array.shape[own_axis] != array.size:
        return None
    return array.size if np.array_equal(array.ravel(), np.arange(array.size)) else None


def encode(op: OpBuilder, match: Match) -> SSAValue | None:
    """OneHot of the indices; None unless 0, 1, … along the inserted axis are compared, for this result only."""
    inserted, axes = match.operation("Unsqueeze").results[0], match.constant("axes")
    rank = rank_of(inserted)
    if element_of(inserted) not in (si32, si64) or axes.size != 1 or rank is None:
        return None
    axis = int(axes.ravel()[0]) % rank
    count = counted(match["positions"], rank, axis)
    if count is None or not has_one_live_use(match.operation("Equal").results[0]):
        return None
    on, off = (op.constant(number, element_of(match.root.results[0])) for number in (1, 0))
    return op.OneHot(match["x"], op.constant(count, si64), on, off, axis=axis)


class FuseOneHotPass(RulePass):
    """Fuses one-hot encodings."""

    name = "fuse-one-hot"

    RULES = (
        FusionRule(
            name="ComparedPositions",
            pattern=lambda op, x: op.Convert(op.Equal(op.Unsqueeze(x, op.constant("axes")), op.constant("positions"))),
            rewrite=encode,
            shared=True,  # The Unsqueeze may have other uses.
        ),
    )
