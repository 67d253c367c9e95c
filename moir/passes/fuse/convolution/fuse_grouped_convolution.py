"""`fuse-grouped-convolution`: convolutions of the parts of the channels whose results are joined become one of groups.

    %a, %b = opset1.Split(%x, 1) {num_splits = 2}
    %1 = opset1.Convolution(%a, %v)                             // %v, %w: [8, 4, 3, 3]
    %2 = opset1.Convolution(%b, %w)
    %y = opset1.Concat(%1, %2) {axis = 1}
->  %y = opset1.GroupConvolution(%x, [%v, %w])                  // [2, 8, 4, 3, 3]

So are mixed convolutions (Tan and Le, "MixConv: Mixed Depthwise Convolutional Kernels", 2019) of one kernel, and the
groups of the first convolutional networks. A factor of all channels that follows can then be a factor of the weights.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, OpResult

from moir.analysis.constants import FLOATS, constant_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.data import Array
from moir.dialects.opset.convolution import Convolution
from moir.dialects.opset.movement import Concat, Split
from moir.dialects.shapes import element_of, normalize_axis, rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

CHANNELS = 1
"""The axis of the channels."""

PROPERTIES = ("strides", "pads_begin", "pads_end", "dilations")


class ConvolutionsOfSplit(Pattern):
    """Replaces the convolutions of all parts of a Split, in order, by one convolution with as many groups."""

    roots = (Concat,)
    companions = ((Convolution,), (Split,))

    def may_match(self, op: Operation) -> bool:
        return all(isinstance(operand.owner, Convolution) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Concat)
        rank, convolutions = rank_of(op.results[0]), [each.owner for each in op.operands if isinstance(each.owner, Convolution)]
        split = split_of(convolutions[0])
        if rank is None or normalize_axis(op.integer("axis"), rank) != CHANNELS or split is None:
            return
        if rewriter.known.integers(split.operands[1]) not in ((CHANNELS,), (CHANNELS - rank,)):
            return
        if not all(has_one_live_use(each.results[0]) for each in convolutions) or [each.operands[0] for each in convolutions] != list(
            split.results
        ):
            return
        if len({tuple(str(each.properties.get(name)) for name in (*PROPERTIES, "auto_pad")) for each in convolutions}) > 1:
            return
        filters: list[Array] = []
        for each in convolutions:
            array = constant_of(each.operands[1])
            if array is None or element_of(each.operands[1]) not in FLOATS or (filters and array.shape != filters[0].shape):
                return
            filters.append(array)
        weights = rewriter.op.constant(np.stack(filters), element_of(convolutions[0].operands[1]))
        properties = {name: convolutions[0].integers(name) for name in PROPERTIES}
        grouped = rewriter.op.GroupConvolution(split.operands[0], weights, **properties, auto_pad=convolutions[0].text("auto_pad"))
        if grouped.type == op.results[0].type:
            rewriter.replace_with(op, grouped)


def split_of(op: Convolution) -> Split | None:
    """The Split whose result is the data of a convolution; None if there is none."""
    data = op.operands[0]
    return data.op if isinstance(data, OpResult) and isinstance(data.op, Split) else None


class FuseGroupedConvolutionPass(PatternPass):
    """Fuses the convolutions of parts of the channels."""

    name = "fuse-grouped-convolution"

    PATTERNS = (ConvolutionsOfSplit,)
