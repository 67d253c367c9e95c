"""Grouped convolutions that the CPU plugin computes wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.analysis.constants import constant_of
from moir.dialects.opset.convolution import GroupConvolution
from moir.dialects.shapes import is_static, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.quantized_values import is_quantized
from moir.targets.record import AVX_512, Fault, Form

WRONG_GROUPS = 2
"""The only number of groups for which the plugin computes wrong sums; 3, 4 and 5 groups were always right."""


class FiltersOfOneChannel(Pattern):
    """Repeats quantized channels, so that each filter of a convolution of two channels in two groups has its own.

        %1 = opset1.GroupConvolution(%0, %w)                      // %0: [N, 2, L], %w: [2, 3, 1, K], of int8
    ->  %2 = opset8.Gather(%0, [0, 0, 0, 1, 1, 1], 1)
        %3 = opset1.Reshape(%w, [6, 1, 1, K])
        %1 = opset1.GroupConvolution(%2, %3)

    The plugin computes wrong sums of signed integers of 8 bits, mostly where the result has few elements along the last
    axis. Declines filters that are constants of floats, since these sums are computed in floats.
    """

    roots = (GroupConvolution,)

    def may_match(self, op: Operation) -> bool:
        filters = shape_of(op.operands[1])
        return filters is not None and is_static(filters) and filters[0] == WRONG_GROUPS and filters[2] == 1 < filters[1]

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, filters = op.operands
        if constant_of(filters) is not None or not is_quantized(data):
            return
        shape = shape_of(filters)
        assert shape is not None
        groups, multiplier, *rest = shape
        repeated = rewriter.op.Gather(data, np.repeat(np.arange(groups), multiplier), 1)
        own = rewriter.op.Reshape(filters, [groups * multiplier, 1, *rest], special_zero=False)
        rewriter.replace_with(op, rewriter.op.create(GroupConvolution, [repeated, own], dict(op.properties)).results[0])


FORMS = (
    Form(
        "repeat-group-channels",
        (FiltersOfOneChannel,),
        faults=(
            Fault(
                "filters-of-one-channel",
                "GroupConvolution of signed quantized data of two channels in two groups, with several filters a group",
                "has other sums if the result is short",
                feature=AVX_512,
            ),
        ),
    ),
)
