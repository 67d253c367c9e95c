"""`fuse-one-hot`: comparisons of an index with 0, 1, … up to a depth become a OneHot.

    %1 = opset1.Unsqueeze(%0, [1])                        // %0: [N], integers
    %2 = opset1.Equal(%1, [0, 1, 2, 3])
    %3 = opset1.Convert(%2) {destination_type = f32}
->  %3 = opset16.OneHot(%0, 4, 1.0, 0.0) {axis = 1}

An index out of range is equal to no position, and OneHot has zeros for it. `jax.nn.one_hot` has this form.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.element_types import si32, si64
from moir.dialects.opset.comparison import Equal
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.shape import Unsqueeze
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


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


class ComparedPositions(Pattern):
    """Replaces the conversion of a comparison of indices with 0, 1, … along an axis by a OneHot."""

    roots = (Convert,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, Equal)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        equal = op.operands[0].owner
        assert isinstance(equal, Equal)
        if equal.text("auto_broadcast") != "numpy" or not has_one_live_use(equal.results[0]):
            return
        for value, positions in (equal.operands, reversed(equal.operands)):
            if not isinstance(value.owner, Unsqueeze) or element_of(value) not in (si32, si64):
                continue
            axes, rank = constant_of(value.owner.operands[1]), rank_of(value)
            if axes is None or axes.size != 1 or rank is None:
                continue
            axis = int(axes.ravel()[0]) % rank
            if (count := counted(positions, rank, axis)) is not None:
                build, element = rewriter.op, element_of(op.results[0])
                on, off = (build.constant(number, element) for number in (1, 0))
                rewriter.replace_with(op, build.OneHot(value.owner.operands[0], build.constant(count, si64), on, off, axis=axis))
                return


class FuseOneHotPass(PatternPass):
    """Fuses one-hot encodings."""

    name = "fuse-one-hot"

    PATTERNS = (ComparedPositions,)
