"""Prior boxes and suppressions that the CPU plugin does not compile, or computes wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.dialects.element_types import to_numpy
from moir.dialects.opset.detection.outputs import PriorBox, PriorBox1
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class PriorsOfDynamicShape(Pattern):
    """Replaces an opset8.PriorBox by an opset1.PriorBox, and reorders the boxes of each cell.

        %y = opset8.PriorBox(%size, %image) {min_max_aspect_ratios_order = false}
    ->  %0 = opset1.PriorBox(%size, %image)
        %1 = opset8.Gather(opset1.Reshape(%0, [2, -1, priors, 4]), [0, 2, 3, 1], 2)
        %y = opset1.Reshape(%1, [2, -1])

    In opset1 the box of the maximum size comes before those of the aspect ratios. Without maximum sizes the order is
    the same. The plugin has no kernel for opset8.PriorBox: it folds it if the sizes are known, and does not compile it
    otherwise.
    """

    roots = (PriorBox,)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.results[0])
        return shape is not None and not is_static(shape)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, PriorBox)
        is_ordered = op.flag("min_max_aspect_ratios_order") or not op.numbers("max_size")
        if not is_ordered and (op.numbers("density") or op.numbers("fixed_size") or not op.flag("scale_all_sizes")):
            return
        properties = {name: value for name, value in op.properties.items() if name != "min_max_aspect_ratios_order"}
        build = rewriter.op
        boxes = build.create(PriorBox1, list(op.operands), properties).results[0]
        if not is_ordered:
            split = build.Reshape(boxes, [2, -1, op.priors(), 4], special_zero=False)
            boxes = build.Reshape(build.Gather(split, _with_largest_last(op), 2), [2, -1], special_zero=False)
        rewriter.replace_with(op, boxes)


def _with_largest_last(op: PriorBox) -> list[int]:
    """For each box of a cell, in the order of an opset8.PriorBox, the index of the same box in the order of an
    opset1.PriorBox.
    """
    places: list[int] = []
    for index in range(len(op.numbers("min_size"))):
        start, ratios = len(places), len(op.aspect_ratios())
        largest = [start + 1] if index < len(op.numbers("max_size")) else []
        first_ratio = start + 1 + len(largest)
        places += [start, *range(first_ratio, first_ratio + ratios - 1), *largest]
    return places


LIMIT = 2
"""The index of the operand of NonMaxSuppression that is the largest number of boxes of a class."""


class SuppressionOfAllBoxes(Pattern):
    """Replaces a NonMaxSuppression that selects no box, as its limit is 0, by constants.

        %rows, %scores, %count = opset9.NonMaxSuppression(%boxes, %all, 0, …)
    ->  %rows, %scores, %count = constants of the shapes [0, 3], [0, 3] and [1]

    The plugin does not write the count, and reads boxes of which there are none.
    """

    roots = ("opset5.NonMaxSuppression", "opset9.NonMaxSuppression")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        limit = rewriter.known.integers(op.operands[LIMIT]) if len(op.operands) > LIMIT else None
        if limit != (0,):
            return
        shapes = (0, 3), (0, 3), (1,)
        elements = [element_of(each) for each in op.results]
        values = [
            rewriter.op.constant(np.zeros(shape, to_numpy(element)), element) for shape, element in zip(shapes, elements, strict=True)
        ]
        rewriter.replace_with(op, values)


FORMS = (
    Form(
        "order-prior-boxes",
        (PriorsOfDynamicShape,),
        faults=(Fault("prior-boxes-of-unknown-sizes", "PriorBox of operation set 8 of dynamic shape", "is not compiled"),),
    ),
    Form(
        "select-no-boxes",
        (SuppressionOfAllBoxes,),
        faults=(Fault("suppression-of-none", "NonMaxSuppression with a limit of 0 boxes", "the number of boxes is garbage"),),
    ),
)
