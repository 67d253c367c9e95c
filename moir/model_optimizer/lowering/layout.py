"""Conversion of data between the layout of a model and [N, C, spatial…]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.rewriting.builder import OpBuilder

_CHANNELS_SECOND = frozenset(
    (
        *("DepthToSpace", "SpaceToDepth", "GRN", "ExtractImagePatches", "ROIPooling", "PSROIPooling", "DeformablePSROIPooling", "ROIAlign"),
        *("GroupNormalization", "PRelu"),
    )
)
"""Kinds of operations of operation sets in which the channels are always axis 1 of the data."""


def has_channels_second(node: MoLoweringNode, kind: str) -> bool:
    """Whether channel-last data of a node has to be transposed for the operation `kind`, whose channels are axis 1.

    A PRelu depends on the channels only if it has several slopes.
    """
    if kind not in _CHANNELS_SECOND or not node.is_channel_last or node.get("nchw_layout"):
        return False
    slopes = node.optional(1) if kind == "PRelu" else None
    return kind != "PRelu" or (slopes is not None and rank_of(slopes) == 1)


def channel_first(node: MoLoweringNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """A channel-last value [N, spatial…, C] as [N, C, spatial…]; other values unchanged.

    Raises ConversionError if the rank is dynamic.
    """
    if not node.is_channel_last:
        return value
    rank = node.rank_of_value(value)
    return value if rank < 3 else op.Transpose(value, np.array([0, rank - 1, *range(1, rank - 1)], np.int64))


def as_given(node: MoLoweringNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value in the layout [N, C, spatial…], converted to the layout of the node's data."""
    if not node.is_channel_last:
        return value
    rank = node.rank_of_value(value)
    return value if rank < 3 else op.Transpose(value, np.array([0, *range(2, rank), 1], np.int64))


def spatial_entries(node: MoLoweringNode, entries: Sequence[int], spatial: int) -> list[int]:
    """The entries for the spatial axes of a list with an element for each axis, or for each spatial axis.

    `spatial` is the number of spatial axes. Raises ConversionError for a list of another length.
    """
    if len(entries) == spatial:
        return list(entries)
    if len(entries) != spatial + 2:
        node.fail(f"{list(entries)} has no entry for each of {spatial} spatial axes")
    return list(entries[1:-1] if node.is_channel_last else entries[2:])
