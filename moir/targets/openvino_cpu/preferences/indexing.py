"""Selection of single elements, in the form that the CPU plugin copies fastest."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.analysis.constants import scalar_of
from moir.dialects.element_types import REAL_TYPES
from moir.dialects.opset.indexing import Gather
from moir.dialects.opset.slicing import UNBOUNDED
from moir.dialects.shapes import element_of, is_static, normalize_axis, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form
from moir.targets.stages import PREFERRED


class SingleElement(Pattern):
    """Replaces a Gather of one element along an axis by a StridedSlice that removes the axis.

        %y = opset8.Gather(%x, 3, 1)                                 // %x: [2, 8, 16]
    ->  %y = opset1.StridedSlice(%x, [0, 3], [0, 4], [1, 1])
             {begin_mask = [1, 0], end_mask = [1, 0], shrink_axis_mask = [0, 1], …}

    The plugin copies the elements of a slice with fewer instructions than those of a Gather, which reads its indices
    from memory. But the plugin does not copy the result of a Gather at all if the dimensions before the axis are 1, and
    a slice of data of dynamic shape takes longer than a Gather. Only floats are changed: integers may be shapes, which
    the runtime infers through a Gather.
    """

    roots = (Gather,)

    def may_match(self, op: Operation) -> bool:
        return shape_of(op.operands[1]) == () and element_of(op.operands[0]) in REAL_TYPES

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, index, axis = op.operands
        shape, entry, place = shape_of(data), scalar_of(index), scalar_of(axis)
        if shape is None or len(shape) < 2 or not is_static(shape) or entry is None or place is None:
            return
        place = normalize_axis(int(place), len(shape))
        size = shape[place]
        if not -size <= entry < size or set(shape[:place]) <= {1}:
            return
        # An index that is counted from the end remains so, for inputs of other sizes.
        first = int(entry)
        after = first + 1 if first != -1 else UNBOUNDED
        before, none = [1] * place, [0] * (place + 1)
        sliced = rewriter.op.StridedSlice(
            data,
            rewriter.op.constant([*none[1:], first]),
            rewriter.op.constant([*none[1:], after]),
            rewriter.op.constant([1] * (place + 1)),
            begin_mask=[*before, 0],
            end_mask=[*before, 0],
            new_axis_mask=none,
            shrink_axis_mask=[*none[1:], 1],
            ellipsis_mask=none,
        )
        rewriter.replace_with(op, sliced)


FORMS = (Form("slice-single-entries", (SingleElement,), stage=PREFERRED),)
