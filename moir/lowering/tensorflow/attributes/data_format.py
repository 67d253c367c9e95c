"""Data formats: the layout of an operand, and the transpositions around an operation on channel-first data.

The opset operations have one layout, [N, C, spatial…]. A channel-last node lowers to

    opset1.Transpose(op(opset1.Transpose(x, [0, rank - 1, 1, …])), [0, 2, …, rank - 1, 1])

Source: the attribute `data_format` of TensorFlow's operations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

CHANNEL_LAST = ("NWC", "NHWC", "NDHWC")
CHANNEL_FIRST = ("NCW", "NCHW", "NCDHW")


def is_channel_last(node: LoweringNode, data_format: str) -> bool:
    """Whether data of a format are channel-last. Raises ConversionError for an unknown format."""
    if data_format not in (*CHANNEL_LAST, *CHANNEL_FIRST):
        node.fail(f"the data format {data_format} is not supported", hint=f"formats are {', '.join((*CHANNEL_LAST, *CHANNEL_FIRST))}")
    return data_format in CHANNEL_LAST


def channel_first(op: OpBuilder, value: SSAValue, rank: int, *, last: bool = True) -> SSAValue:
    """A value [N, spatial…, C] transposed to [N, C, spatial…]; the value itself if `last` is false."""
    return op.Transpose(value, np.array([0, rank - 1, *range(1, rank - 1)], np.int64)) if last else value


def channel_last(op: OpBuilder, value: SSAValue, rank: int, *, last: bool = True) -> SSAValue:
    """A value [N, C, spatial…] transposed to [N, spatial…, C]; the value itself if `last` is false."""
    return op.Transpose(value, np.array([0, *range(2, rank), 1], np.int64)) if last else value


def spatial(entries: Sequence[int], *, last: bool) -> tuple[int, ...]:
    """The elements for the spatial axes of an attribute that has an element for every axis."""
    return tuple(entries[1:-1] if last else entries[2:])
