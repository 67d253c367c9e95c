"""ArgMax and ArgMin of the frameworks: the index of the largest or smallest element along an axis."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.rewriting.builder import OpBuilder


def first_extremes(op: OpBuilder, x: SSAValue, axis: int, mode: str, index_type: Attribute = si64) -> tuple[SSAValue, SSAValue]:
    """The maximum or minimum along an axis, and the index of its first occurrence; both keep the axis with size 1.

    `mode` is max or min. Built as opset11.TopK(x, 1) {stable}.
    """
    values, indices = op.TopK.results(x, op.constant(1), axis=axis, mode=mode, sort="value", stable=True, index_element_type=index_type)
    return values, indices
