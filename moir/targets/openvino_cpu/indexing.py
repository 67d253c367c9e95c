"""Gathers that the CPU plugin computes otherwise."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.analysis.constants import constant_of
from moir.dialects.opset.indexing import Gather
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


class GatherOfOneBatch(Pattern):
    """Removes the batch dimensions, all of size 1, from the indices.

        %1 = opset8.Gather(%0, %i, 1) {batch_dims = 1}       // %0: [1, 12, 4], %i: [1, 6]
    ->  %2 = opset15.Squeeze(%i, [0])
        %1 = opset8.Gather(%0, %2, 1)

    The plugin reads out of bounds in the former if it gathers few elements for each index.
    """

    roots = (Gather,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op, Gather) and op.integer("batch_dims") != 0

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Gather)
        data, indices, axis = op.operands
        shape, places = shape_of(data), shape_of(indices)
        if shape is None or places is None:
            return
        count = op.integer("batch_dims")
        count = count + len(places) if count < 0 else count
        if count == 0 or {*shape[:count], *places[:count]} != {1}:
            return
        constant = constant_of(indices)
        if constant is None:
            indices = rewriter.op.Squeeze(indices, np.arange(count))
        else:
            indices = rewriter.op.constant(constant.reshape(constant.shape[count:]), element_of(indices))
        rewriter.replace_with(op, rewriter.op.Gather(data, indices, axis))


FORMS = (Form("unbatch-gather", "Removes batch dimensions of size 1 from Gathers.", lambda: [GatherOfOneBatch()]),)
