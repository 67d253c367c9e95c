"""Signals of a required length."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of
from moir.expansions.shape_values import dimension, dimension_list
from moir.rewriting.builder import OpBuilder


def lengthened(op: OpBuilder, data: SSAValue, axis: int, length: SSAValue) -> SSAValue:
    """Data padded with zeros at the end of an axis up to a length [1]; unchanged if it is longer, since the runtime's
    RDFT crops data but does not pad it.
    """
    rank, known, size = rank_of(data) or 1, op.known.integers(length), dimension(op, data, axis)
    if known is not None and isinstance(size, int) and known[0] <= size:
        return data
    missing = op.Maximum(op.Subtract(op.convert(length, si64), dimension_list(op, data, axis)), 0)
    ends = op.ScatterUpdate(op.constant([0] * rank), [axis], missing, 0)
    return op.Pad(data, [0] * rank, ends, pad_mode="constant")
