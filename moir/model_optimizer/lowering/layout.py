"""Operations on channel-first data in a model whose data is channel-last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.model_optimizer.lowering.node import ForeignNode
from moir.rewriting.builder import OpBuilder


def channel_first(node: ForeignNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value [N, spatial…, C] as [N, C, spatial…]; the value itself if the node is not channel-last. Raises ConversionError if its rank
    is unknown."""
    if not node.is_channel_last:
        return value
    rank = node.rank_of_value(value)
    return value if rank < 3 else op.Transpose(value, np.array([0, rank - 1, *range(1, rank - 1)], np.int64))


def as_given(node: ForeignNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value [N, C, spatial…] in the layout of the node's data."""
    if not node.is_channel_last:
        return value
    rank = node.rank_of_value(value)
    return value if rank < 3 else op.Transpose(value, np.array([0, *range(2, rank), 1], np.int64))


def spatial_entries(node: ForeignNode, entries: Sequence[int], spatial: int) -> list[int]:
    """The entries of the spatial axes of an attribute that has one for each axis, or for the spatial axes only."""
    if len(entries) == spatial:
        return list(entries)
    if len(entries) != spatial + 2:
        node.fail(f"{list(entries)} has no entry for each of {spatial} spatial axes")
    return list(entries[1:-1] if node.is_channel_last else entries[2:])
