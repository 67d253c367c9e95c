"""Convolutions that the CPU plugin computes otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import weight_of
from moir.dialects.element_types import si64
from moir.dialects.opset.convolution import Convolution, ConvolutionBackpropData, GroupConvolution, GroupConvolutionBackpropData
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

if TYPE_CHECKING:
    from moir.expansions.windows import SlidingWindow


class PaddedUnitKernel(Pattern):
    """Appends a zero to the kernels of a convolution, along the first axis with a stride and padding.

        %1 = opset1.Convolution(%0, %w) {strides = [2, 2], pads_begin = [1, 1], pads_end = [1, 1]}  // %w: [8, 4, 1, 1]
    ->  %1 = opset1.Convolution(%0, %v) {strides = [2, 2], pads_begin = [1, 1], pads_end = [2, 1]}  // %v: [8, 4, 2, 1]

    The second element is 0, and takes one more element of padding. The plugin moves the strides of kernels of one
    element in front of the elementwise operations and convolutions before them, without regard to the padding; the
    result then has another size.
    """

    roots = (Convolution,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Convolution)
        padded = any(op.integers("pads_begin")) or any(op.integers("pads_end"))
        return padded and max(op.integers("strides")) > 1 and op.text("auto_pad") == "explicit"

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Convolution)
        kernel = (shape_of(op.operands[1]) or ())[2:]
        begin, end = op.integers("pads_begin"), op.integers("pads_end")
        places = [
            place
            for place, (stride, before, after) in enumerate(zip(op.integers("strides"), begin, end, strict=True))
            if stride > 1 and before + after > 0
        ]
        if set(kernel) != {1} or not places:
            return
        axis, more = places[0], [0] * (len(kernel) + 2)
        more[2 + axis] = 1
        weights, filters = weight_of(op.operands[1]), op.operands[1]
        if weights is None:
            wider = rewriter.op.Pad(filters, [0] * len(more), more, rewriter.op.constant_like(0, filters), pad_mode="constant")
        else:
            wider = rewriter.op.constant(np.pad(np.asarray(weights), [(0, size) for size in more]), element_of(filters))
        pads = [size + (place == axis) for place, size in enumerate(end)]
        # Dilations, which mean nothing for a single element, would move the second one out of its padding.
        properties = {"strides": op.integers("strides"), "dilations": [1] * len(kernel), "pads_begin": begin, "pads_end": pads}
        rewriter.replace_with(op, rewriter.op.Convolution(op.operands[0], wider, **properties))


class ConvolutionToOneColumn(Pattern):
    """Replaces a larger stride of columns, which has no effect, by that of rows.

        %1 = opset1.Convolution(%0, %w) {strides = [1, 2]}   // %0: [8, 1, 9, 6], %w: [4, 1, 3, 5], %1: [8, 4, 7, 1]
    ->  %2 = opset8.Slice(%0, [0], [5], [1], [-1])
        %1 = opset1.Convolution(%2, %w) {strides = [1, 1]}

    Where there is one column, its stride says nothing; columns that a smaller stride would reach are cut off. The
    plugin takes the stride of columns for that of rows if several images of one channel become one column, and
    reads beyond the data.
    """

    roots = (Convolution,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Convolution)
        strides = op.integers("strides")
        return len(strides) > 1 and strides[-1] > strides[-2] and op.text("auto_pad") in ("explicit", "valid")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Convolution)
        data, kernel, result = (shape_of(value) for value in (*op.operands, op.results[0]))
        if data is None or kernel is None or result is None or result[-1] != 1 or kernel[1] != 1 or data[0] == 1 or data[-1] < 0:
            return
        strides = op.integers("strides")
        none = (0,) * len(strides)
        begins, ends = (op.integers(name) if op.text("auto_pad") == "explicit" else none for name in ("pads_begin", "pads_end"))
        needed = (kernel[-1] - 1) * op.integers("dilations")[-1] + 1 - begins[-1]
        if kernel[-1] < 0 or needed < 1:
            return
        images = op.operands[0]
        if data[-1] > needed:
            images = rewriter.op.Slice(images, [0], [needed], [1], [-1])
        properties = {
            "strides": [*strides[:-1], strides[-2]],
            "dilations": op.integers("dilations"),
            "pads_begin": begins,
            "pads_end": [*ends[:-1], max(needed - data[-1], 0)],
        }
        rewriter.replace_with(op, rewriter.op.Convolution(images, op.operands[1], **properties))


class FiltersOfUnknownSizes(Pattern):
    """Writes a convolution whose filters have unknown sizes as a product of unfolded data.

        %y = opset1.Convolution(%x, %w)                  // %x: [N, C, L], %w: [?, ?, ?]
    ->  %0 = opset8.Gather(%x, the places of each window, 2)     // [N, C, O, K]
        %y = opset1.MatMul(%w as [M, C * K], %0 as [N, C * K, O])

    The plugin does not compile the convolution.
    """

    roots = (Convolution, GroupConvolution, ConvolutionBackpropData, GroupConvolutionBackpropData)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[1])
        return shape is None or not is_static(shape)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        from moir.expansions.unfolded_convolution import unfolded_convolution, unfolded_transposed_convolution, whole_transposed_convolution
        from moir.expansions.windows import SlidingWindow

        assert isinstance(op, ConvolutionOp)
        build, (data, filters) = rewriter.op, op.operands[:2]
        begin, end = op.integers("pads_begin"), op.integers("pads_end")
        window = SlidingWindow(op.integers("strides"), op.integers("dilations"), begin, end, op.text("auto_pad"))
        groups: int | SSAValue = 1
        if isinstance(op, GroupConvolution | GroupConvolutionBackpropData):
            groups, filters = _with_groups_joined(build, op)
        if not isinstance(op, ConvolutionBackpropData | GroupConvolutionBackpropData):
            rewriter.replace_with(op, unfolded_convolution(build, data, filters, window, groups))
            return
        padding = op.integers("output_padding") or (0,) * len(window.strides)
        if len(op.operands) > 2:
            whole = whole_transposed_convolution(build, data, filters, window, padding, groups)
            rewriter.replace_with(op, _of_sizes(build, whole, window, op.operands[2]))
        else:
            rewriter.replace_with(op, unfolded_transposed_convolution(build, data, filters, window, padding, groups))


def _of_sizes(op: OpBuilder, whole: SSAValue, window: SlidingWindow, sizes: SSAValue) -> SSAValue:
    """The part of a transposed convolution without pads that the IR's operation has if its sizes are an operand.

    Of an odd total of pads `same_lower` of the operation has the larger part at the end, `same_upper` at the beginning.
    """
    from moir.expansions.unfolded_convolution import cropped, of_sizes

    targets = [op.Slice(op.convert(sizes, si64), [axis], [axis + 1], [1]) for axis in range(len(window.strides))]
    if window.auto_pad.startswith("same"):
        return of_sizes(op, whole, targets, more_behind=window.auto_pad == "same_lower")
    return cropped(op, whole, [op.constant([begin]) for begin in window.pads_begin], targets)


def _with_groups_joined(op: OpBuilder, convolution: ConvolutionOp) -> tuple[int | SSAValue, SSAValue]:
    """The number of groups, and filters [groups, M, C, kernel…] as [groups · M, C, kernel…]."""
    from moir.expansions.unfolded_convolution import LAST

    filters, groups = convolution.operands[1], _groups(convolution)
    sizes = op.ShapeOf(filters)
    number = op.Slice(sizes, [0], [1], [1])
    rows = op.Multiply(number, op.Slice(sizes, [1], [2], [1]))
    joined = op.Reshape(filters, op.Concat(rows, op.Slice(sizes, [2], [LAST], [1]), axis=0), special_zero=False)
    return groups if groups > 0 else number, joined


def _groups(op: ConvolutionOp) -> int:
    """The number of groups: the first size of the filters, or else the channels by those of a group; -1 if unknown."""
    data, filters = shape_of(op.operands[0]), shape_of(op.operands[1])
    if filters is None:
        return -1
    own = filters[1 if isinstance(op, GroupConvolutionBackpropData) else 2]
    if filters[0] > 0 or data is None or own < 1 or data[1] < 1:
        return filters[0]
    return data[1] // own


FORMS = (
    Form("unfold-convolutions", "Writes convolutions with filters of unknown sizes as products.", lambda: [FiltersOfUnknownSizes()]),
    Form("widen-kernels", "Widens kernels of one element whose strides the plugin would misplace.", lambda: [PaddedUnitKernel()]),
    Form("align-strides", "Gives columns the stride of rows where there is only one column.", lambda: [ConvolutionToOneColumn()]),
)
