"""Functions of boxes: overlaps, and boxes from offsets.

Source: contrib/bounding_box.cc of MXNet 1.9.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import rank_of_operand
from moir.lowering.mxnet.detection.operations import centres, corners
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


def _format(node: LoweringNode, name: str, default: str) -> str:
    format_ = node.text(name, default)
    if format_ not in ("corner", "center"):
        node.fail(f"{name} {format_!r} is neither corner nor center")
    return format_


@mxnet.lowers("_contrib_box_iou")
def box_iou(node: LoweringNode, op: OpBuilder, first: SSAValue, second: SSAValue) -> SSAValue:
    """mxnet._contrib_box_iou(a [M…, 4], b [N…, 4]) {format = "corner"} -> the overlaps of all pairs [M…, N…]

    The overlap of two boxes is the area of their intersection divided by that of their union.
    """
    ranks = [rank_of_operand(node, index) for index in (0, 1)]
    is_centre = _format(node, "format", "corner") == "center"
    a, b = (corners(op, each) if is_centre else each for each in (first, second))
    own, other = list(range(ranks[0] - 1)), list(range(ranks[1] - 1))
    parts: list[SSAValue] = []
    for value, rank, axes in ((a, ranks[0], [ranks[0] - 1 + index for index in other]), (b, ranks[1], own)):
        for half in op.Split.parts(2, value, op.constant(rank - 1), num_splits=2):
            parts.append(op.Unsqueeze(half, axes) if axes else half)
    low_a, high_a, low_b, high_b = parts
    last = [len(own) + len(other)]

    def area(sides: SSAValue) -> SSAValue:
        return op.ReduceProd(op.Maximum(sides, 0.0), last)

    shared = area(op.Subtract(op.Minimum(high_a, high_b), op.Maximum(low_a, low_b)))
    total = op.Subtract(op.Add(area(op.Subtract(high_a, low_a)), area(op.Subtract(high_b, low_b))), shared)
    return op.Select(op.Greater(shared, 0.0), op.Divide(shared, total), 0.0)


@mxnet.lowers("_contrib_box_decode")
def box_decode(node: LoweringNode, op: OpBuilder, offsets: SSAValue, anchors: SSAValue, *, clip: float = -1.0) -> SSAValue:
    """mxnet._contrib_box_decode(offsets [N, A, 4], anchors [1, A, 4]) {std0 …, clip, format} -> corners"""
    if _format(node, "format", "center") == "corner":
        anchors = centres(op, anchors)
    scaled = op.Multiply(offsets, op.constant([node.number(f"std{index}", 1.0) for index in range(4)]))
    moves, scales = op.Split.parts(2, scaled, op.constant(2), num_splits=2)
    centre, size = op.Split.parts(2, anchors, op.constant(2), num_splits=2)
    if (limit := clip) > 0:
        scales = op.Minimum(scales, limit)
    half = op.Divide(op.Multiply(op.Exp(scales), size), 2.0)
    middle = op.Add(op.Multiply(moves, size), centre)
    return op.Concat(op.Subtract(middle, half), op.Add(middle, half), axis=2)
