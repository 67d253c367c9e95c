"""Tile, and operations that become one, which the CPU plugin computes wrongly."""

from __future__ import annotations

from itertools import groupby
from typing import cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.opset.activation import Softmax, Softmax1
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Concat
from moir.dialects.opset.pooling import PoolingOp
from moir.dialects.opset.repetition import Broadcast, Broadcast1, Tile
from moir.dialects.shapes import element_count, element_of, is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.record import Fault, Form

MOST_PLANAR = 3
"""The largest rank of data that the plugin never stores with channels last."""

MOST_AXES = 2
"""The largest number of axes along which the plugin repeats data of rank 4 or more correctly if the repeats are
computed.
"""


class ManyRepeatedAxes(Pattern):
    """Repeats two axes at a time where the numbers of repetitions are computed.

        %y = opset1.Tile(%x, %n)                                                    // %x: (?, ?, ?, ?)
    ->  %1 = opset1.Tile(%x, opset1.Concat(opset8.Gather(%n, [0, 1], 0), [1, 1]))
        %y = opset1.Tile(%1, opset1.Concat([1, 1], opset8.Gather(%n, [2, 3], 0)))

    The plugin moves blocks to wrong offsets if a Tile by computed repeats repeats three axes, of data of
    four or more.
    """

    roots = (Tile,)

    def may_match(self, op: Operation) -> bool:
        return not isinstance(op.operands[1].owner, Constant)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (data, repeats) = rewriter.op, op.operands
        count, rank = element_count(shape_of(repeats)), rank_of(data)
        if count is None or rank is None or max(count, rank) <= MOST_AXES + 1:
            return
        axes = [axis for axis in range(count) if axis not in unrepeated(repeats)]
        if len(axes) <= MOST_AXES:
            return
        for start in range(0, len(axes), MOST_AXES):
            pair = axes[start : start + MOST_AXES]
            parts: list[SSAValue] = []
            for is_repeated, run in groupby(range(count), pair.__contains__):
                places = list(run)
                ones = build.constant([1] * len(places), element_of(repeats))
                parts.append(build.Gather(repeats, places, 0) if is_repeated else ones)
            data = build.Tile(data, build.Concat(*parts, axis=0))
        rewriter.replace_with(op, data)


class RepeatedSoftmax(Pattern):
    """Computes an identity between a Softmax and its repetition, for data of four dimensions or more.

        %0 = opset8.Softmax(%x) {axis = 3}                   // [1, 1, 4, 4]
        %y = opset1.Tile(%0, [1, 2, 1, 1])
    ->  %y = opset1.Tile(opset1.Maximum(-inf, %0), [1, 2, 1, 1])

    If a matrix product or a convolution computes %x, the plugin has the Softmax with channels last, and repeats the
    channels in another order than that of the elements. Broadcast, and Concat of one value several times, become Tile.
    """

    roots = (Tile, Broadcast, Broadcast1, Concat)
    companions = ((Softmax, Softmax1),)

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        return _is_repetition(op) and isinstance(data.owner, Softmax | Softmax1) and (rank_of(data) or MOST_PLANAR + 1) > MOST_PLANAR

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data = op.operands[0]
        same = computed_identity(rewriter.op, data)
        operands = [same if each is data else each for each in op.operands]
        rewriter.replace_with(op, rewriter.op.create(type(op), operands, dict(op.properties)).results[0])


def _is_repetition(op: Operation) -> bool:
    """Whether an operation repeats its first operand: a Concat only if it has no other operand."""
    return not isinstance(op, Concat) or (len(op.operands) > 1 and len(set(op.operands)) == 1)


class RepeatedPooledChannel(RepeatedSoftmax):
    """Computes an identity between a pooling of images of one channel and the repetition of its result.

        %0 = opset1.AvgPool(%x)                              // [3, 1, 4, 4]
        %y = opset1.Concat(%0, %0) {axis = 1}
    ->  %1 = opset1.Maximum(-inf, %0)
        %y = opset1.Concat(%1, %1) {axis = 1}

    The plugin has the result of the pooling with channels last, which for one channel are the same data in the same
    order, and so writes the repeated channels in another order. Broadcast, and Concat of one value several times,
    become Tile.
    """

    companions = ((PoolingOp,),)

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        return _is_repetition(op) and isinstance(data.owner, PoolingOp) and (shape_of(data) or (-1, -1))[1] in (1, -1)


def unrepeated(repeats: SSAValue) -> set[int]:
    """The indices at which a 1-D tensor, built by a Concat, has a constant 1; ones that depend on shapes are not
    included.
    """
    axes, place = set[int](), 0
    for part in repeats.owner.operands if isinstance(repeats.owner, Concat) else ():
        length, known = element_count(shape_of(part)), constant_of(part)
        if length is None:
            break
        if known is not None:
            axes.update(place + index for index, entry in enumerate(cast(list[int], np.ravel(known).tolist())) if entry == 1)
        place += length
    return axes


class RepeatedChannel(Pattern):
    """Repeats data of one channel and of dynamic shape with a dimension more.

        %y = opset1.Tile(%x, [1, 2, 2, 1])                       // %x: [?, 1, 5, 3]
    ->  %0 = opset1.Tile(opset1.Unsqueeze(%x, [0]), [1, 1, 2, 2, 1])
        %y = opset15.Squeeze(%0, [0])

    Data of one channel are the same with channels last. The plugin repeats the channel and a later axis as if they were
    so, and writes the result in the usual order.
    """

    roots = (Tile,)

    def may_match(self, op: Operation) -> bool:
        shape, repeats = shape_of(op.operands[0]), constant_of(op.operands[1])
        if shape is None or repeats is None or len(shape) <= MOST_PLANAR or is_static(shape) or shape[1] != 1:
            return False
        counts = repeats.reshape(-1).tolist()
        return len(counts) == len(shape) and counts[1] > 1 and max(counts[2:]) > 1 and (shape[0] != 1 or counts[0] == 1)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (data, repeats) = rewriter.op, op.operands
        counts = constant_of(repeats)
        assert counts is not None
        wide = build.Tile(build.Unsqueeze(data, [0]), [1, *counts.reshape(-1).tolist()])
        rewriter.replace_with(op, build.Squeeze(wide, [0]))


FORMS = (
    Form(
        "repeat-in-pairs",
        (ManyRepeatedAxes, RepeatedChannel),
        "Repeats two axes at a time where the numbers are computed, and one channel of dynamic shape with a dimension more.",
        faults=(
            Fault(
                "repeated-channels",
                "Tile of four dimensions or more of dynamic shape, of one channel, along the channels and a later axis",
                "has its elements in another order",
            ),
            Fault(
                "many-repeated-axes",
                "Tile of four dimensions or more by computed numbers that repeats three axes",
                "moves blocks to wrong offsets",
            ),
        ),
    ),
    Form(
        "separate-repeated-softmax",
        (RepeatedSoftmax, RepeatedPooledChannel),
        "Computes an identity between a Softmax, or a pooling of one channel, and its repetition.",
        faults=(
            Fault(
                "repeated-softmax",
                "Tile, Broadcast, and Concat of one value several times, of a Softmax of four dimensions or more",
                "have the elements of the repeated parts in another order",
            ),
            Fault(
                "repeated-pooled-channel",
                "Tile, Broadcast, and Concat of one value several times, of a MaxPool or AvgPool of one channel that a Convolution reads, "
                "too, or whose batch is dynamic",
                "have the elements of the repeated channels in another order",
            ),
        ),
    ),
)
