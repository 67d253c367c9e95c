"""`fuse-pads`: zero padding of the data of a convolution or mean becomes padding of the operation.

    %1 = opset12.Pad(%0, [0, 0, 1, 1], [0, 0, 2, 2]) {pad_mode = "constant"}
    %2 = opset1.Convolution(%1, %w) {pads_begin = [0, 0], pads_end = [0, 0], …}
->  %2 = opset1.Convolution(%0, %w) {pads_begin = [1, 1], pads_end = [2, 2], …}

A Transpose may stand between the Pad and the operation. An AvgPool counts these zeros, so it must not already have
padding that it excludes from the mean.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.data import Array
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.slicing import Pad
from moir.rewriting.driver import Pattern, PatternPass, Rewriter
from moir.support.records import Record

CONVOLUTIONS = ("opset1.Convolution", "opset1.GroupConvolution")
MEANS = ("opset14.AvgPool", "opset16.AvgPool")


class Zeros(Record):
    """Zero padding of the spatial axes of an operand: the unpadded data, and the numbers of zeros at both ends of each
    axis.

    `order` is the permutation of a Transpose after the Pad, None if there is none.
    """

    data: SSAValue
    order: Array | None
    begin: list[int]
    end: list[int]


def zeros_around(value: SSAValue) -> Zeros | None:
    """The zero padding of the spatial axes by a Pad, optionally before a Transpose; None for any other value."""
    order = None
    if isinstance(value.owner, Transpose):
        order = constant_of(value.owner.operands[1])
        if order is None or not has_one_live_use(value):
            return None
        value = value.owner.operands[0]
    pad = value.owner
    if not isinstance(pad, Pad) or pad.text("pad_mode") != "constant":
        return None
    begin, end = constant_of(pad.operands[1]), constant_of(pad.operands[2])
    filling = pad.optional_operand(3)
    filled = None if filling is None else constant_of(filling)
    if begin is None or end is None or (filling is not None and (filled is None or filled.any())):
        return None
    if order is not None:
        begin, end = begin[order], end[order]
    if begin.size < 3 or begin[:2].any() or end[:2].any() or (begin < 0).any() or (end < 0).any():
        return None
    return Zeros(pad.operands[0], order, begin[2:].tolist(), end[2:].tolist())


class PadOfWindow(Pattern):
    """Merges zero padding into the convolution or pooling that uses it. The Pad stays if it has other uses."""

    roots = (*CONVOLUTIONS, *MEANS)
    companions = ((Pad,),)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, Pad | Transpose)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        zeros = zeros_around(op.operands[0])
        if zeros is None or op.text("auto_pad") not in ("explicit", "valid"):
            return
        own = [op.integers("pads_begin"), op.integers("pads_end")]
        if op.text("auto_pad") == "valid" or not any(map(any, own)):
            own = [(0,) * len(zeros.begin)] * 2
        if len(own[0]) != len(zeros.begin):
            return
        begin, end = ([a + b for a, b in zip(mine, added, strict=True)] for mine, added in zip(own, (zeros.begin, zeros.end), strict=True))
        properties: dict[str, Any] = {**op.properties, "pads_begin": begin, "pads_end": end, "auto_pad": "explicit"}
        if op.name in MEANS:
            # A window that exists only because sizes are rounded up would extend beyond the zeros, where elements are
            # not counted. Not all targets pad as much as the window.
            fits = all(max(each) < size for each, size in zip(zip(begin, end, strict=True), op.integers("kernel"), strict=True))
            if any(map(any, own)) or op.text("rounding_type") != "floor" or not fits:
                return
            properties["exclude-pad"] = False
        data = zeros.data if zeros.order is None else rewriter.op.Transpose(zeros.data, zeros.order)
        rewriter.replace_with(op, rewriter.op.create(type(op), [data, *op.operands[1:]], properties).results)


class FusePadsPass(PatternPass):
    """Merges zero padding into the operations that use the padded data."""

    name = "fuse-pads"

    PATTERNS = (PadOfWindow,)
