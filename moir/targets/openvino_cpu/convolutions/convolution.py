"""Convolutions that the CPU plugin computes wrongly or does not compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, weight_of
from moir.dialects.element_types import bf16, f32, si64
from moir.dialects.moir import ModelOp
from moir.dialects.names import name_of
from moir.dialects.opset.convolution import Convolution, ConvolutionBackpropData, GroupConvolution, GroupConvolutionBackpropData
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.shapes import element_count, element_of, is_static, shape_of
from moir.errors import UnsupportedOperationError
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import AVX_512, Fault, Form

if TYPE_CHECKING:
    from moir.expansions.windows import SlidingWindow


class PaddedUnitKernel(Pattern):
    """Puts a zero in front of the kernels [1, 1] of a convolution along the first axis that has a stride and padding.

        %1 = opset1.Convolution(%0, %w) {strides = [2, 2], pads_begin = [1, 1], pads_end = [1, 1]}  // %w: [8, 4, 1, 1]
    ->  %1 = opset1.Convolution(%0, %v) {strides = [2, 2], pads_begin = [2, 1], pads_end = [1, 1]}  // %v: [8, 4, 2, 1]

    The zero is compensated by one more element of padding at the beginning. The plugin moves the strides of kernels of
    one element to the operations before the convolution without regard to the padding, so that the result has another
    size. It reads out of bounds for some sizes if the zero is behind the element, and a window has nothing but padding.
    """

    roots = (Convolution,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Convolution)
        padded = any(op.integers("pads_begin")) or any(op.integers("pads_end"))
        return padded and max(op.integers("strides")) > 1 and op.text("auto_pad") == "explicit"

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Convolution)
        kernel = (shape_of(op.operands[1]) or ())[2:]
        begin, end = (op.axis_property(name, len(op.integers("strides")), 0) for name in ("pads_begin", "pads_end"))
        axes = [
            index
            for index, (stride, before, after) in enumerate(zip(op.integers("strides"), begin, end, strict=True))
            if stride > 1 and before + after > 0
        ]
        if set(kernel) != {1} or not axes:
            return
        axis, more = axes[0], [0] * (len(kernel) + 2)
        more[2 + axis] = 1
        weights, filters = weight_of(op.operands[1]), op.operands[1]
        if weights is None:
            wider = rewriter.op.Pad(filters, more, [0] * len(more), rewriter.op.constant_like(0, filters), pad_mode="constant")
        else:
            wider = rewriter.op.constant(np.pad(np.asarray(weights), [(size, 0) for size in more]), element_of(filters))
        pads = [size + (index == axis) for index, size in enumerate(begin)]
        # A dilation has no effect on a kernel of one element, but it would move the zero beyond its padding.
        properties = {"strides": op.integers("strides"), "dilations": [1] * len(kernel), "pads_begin": pads, "pads_end": end}
        rewriter.replace_with(op, rewriter.op.Convolution(op.operands[0], wider, **properties))


class ConvolutionToOneColumn(Pattern):
    """Sets the stride along the width to that along the height where the result has one column.

        %1 = opset1.Convolution(%0, %w) {strides = [1, 2]}   // %0: [8, 1, 9, 6], %w: [4, 1, 3, 5], %1: [8, 4, 7, 1]
    ->  %2 = opset8.Slice(%0, [0], [5], [1], [-1])
        %1 = opset1.Convolution(%2, %w) {strides = [1, 1]}

    The stride along the width has no effect if the result has one column; columns that the smaller stride would reach
    are cut off. For images of one channel, the plugin uses the stride along the width also along the height, and reads
    out of bounds.
    """

    roots = (Convolution,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Convolution)
        strides = op.integers("strides")
        return len(strides) > 1 and strides[-1] > strides[-2] and op.text("auto_pad") in ("explicit", "valid")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Convolution)
        data, kernel, result = (shape_of(value) for value in (*op.operands, op.results[0]))
        if data is None or kernel is None or result is None or result[-1] != 1 or kernel[1] != 1 or data[-1] < 0:
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


class FiltersOfDynamicShape(Pattern):
    """Replaces a convolution whose filters have dynamic dimensions by a matrix product with unfolded data (im2col).

        %y = opset1.Convolution(%x, %w)                  // %x: [N, C, L], %w: [?, ?, ?]
    ->  %0 = opset8.Gather(%x, the indices of each window, 2)     // [N, C, O, K]
        %y = opset1.MatMul(%w as [M, C * K], %0 as [N, C * K, O])

    The plugin does not compile such a convolution, nor a transposed convolution of data of dynamic shape whose result
    is smaller than a window. Raises UnsupportedOperationError for data that are known to be empty.
    """

    roots = (Convolution, GroupConvolution, ConvolutionBackpropData, GroupConvolutionBackpropData)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[1])
        return shape is None or not is_static(shape) or _is_less_than_a_window(op)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        from moir.expansions.unfolded_convolution import unfolded_convolution, unfolded_transposed_convolution, whole_transposed_convolution
        from moir.expansions.windows import SlidingWindow

        assert isinstance(op, ConvolutionOp)
        build, (data, filters) = rewriter.op, op.operands[:2]
        if isinstance(data.owner, Constant) and element_count(shape_of(data)) == 0:
            reason = "the data have no elements, and the sizes of the filters are unknown"
            raise UnsupportedOperationError(reason, operation=op.name, node=name_of(op), hint="set the shapes of the inputs")
        if (known := rewriter.known.constant(data)) is not None and not isinstance(data.owner, Constant):
            # The plugin fails to compile some Pads of constants that are stored in another type and restored.
            data = build.constant(known, element_of(data))
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
    """The slice of an unpadded transposed convolution that has the spatial sizes of the operand `output_shape`.

    If the total padding is odd, `same_lower` removes one more element at the end and `same_upper` at the beginning.

    Args:
        op: the builder.
        whole: the result without padding.
        window: the window of the transposed convolution, with its padding.
        sizes: the sizes of the spatial axes, a 1-D tensor.
    """
    from moir.expansions.unfolded_convolution import cropped, of_sizes

    targets = [op.Slice(op.convert(sizes, si64), [axis], [axis + 1], [1]) for axis in range(len(window.strides))]
    if window.auto_pad.startswith("same"):
        return of_sizes(op, whole, targets, more_at_end=window.auto_pad == "same_lower")
    begins = window.pads_begin if window.auto_pad == "explicit" else (0,) * len(targets)
    return cropped(op, whole, [op.constant([begin]) for begin in begins], targets)


def _with_groups_joined(op: OpBuilder, convolution: ConvolutionOp) -> tuple[int | SSAValue, SSAValue]:
    """The number of groups of a group convolution, and its filters [groups, M, C, kernel…] reshaped to [groups · M, C,
    kernel…].
    """
    from moir.expansions.unfolded_convolution import LAST

    filters, groups = convolution.operands[1], _groups(convolution)
    sizes = op.ShapeOf(filters)
    number = op.Slice(sizes, [0], [1], [1])
    rows = op.Multiply(number, op.Slice(sizes, [1], [2], [1]))
    joined = op.Reshape(filters, op.Concat(rows, op.Slice(sizes, [2], [LAST], [1]), axis=0), special_zero=False)
    return groups if groups > 0 else number, joined


def _is_less_than_a_window(op: Operation) -> bool:
    """Whether a transposed convolution of dynamic shape may have an output smaller than its kernel, due to cropping."""
    data, kernel = shape_of(op.operands[0]), shape_of(op.operands[1])
    wanted = constant_of(op.operands[2]) if len(op.operands) > 2 else None
    if wanted is None or kernel is None or not isinstance(op, ConvolutionOp):
        return False
    axes = wanted.size
    if data is not None and is_static(data[-axes:]):
        return False
    sizes = zip(wanted.ravel().tolist(), kernel[-axes:], op.integers("dilations"), strict=True)
    return any(size < (length - 1) * step + 1 for size, length, step in sizes)


def _groups(op: ConvolutionOp) -> int:
    """The number of groups of a convolution; -1 if it is dynamic.

    The first dimension of the filters; if that is dynamic, the channels of the data divided by the channels of a group.
    """
    data, filters = shape_of(op.operands[0]), shape_of(op.operands[1])
    if filters is None:
        return -1
    own = filters[1 if isinstance(op, GroupConvolutionBackpropData) else 2]
    if filters[0] > 0 or data is None or own < 1 or data[1] < 1:
        return filters[0]
    return data[1] // own


class SingleGroup(Pattern):
    """Replaces a transposed group convolution with one group by a transposed convolution without groups.

        %y = opset1.GroupConvolutionBackpropData(%x, %w)         // %w: [1, C, M, K]
    ->  %y = opset1.ConvolutionBackpropData(%x, %w as [C, M, K])

    The plugin does not compile a GroupConvolutionBackpropData whose filters are computed.
    """

    roots = (GroupConvolutionBackpropData,)

    def may_match(self, op: Operation) -> bool:
        return (shape_of(op.operands[1]) or (-1,))[0] == 1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, filters, *others = op.operands
        build, weights = rewriter.op, weight_of(filters)
        single = build.Squeeze(filters, [0]) if weights is None else build.constant(np.asarray(weights)[0], element_of(filters))
        result = build.create(ConvolutionBackpropData, [data, single, *others], dict(op.properties))
        rewriter.replace_with(op, result.results)


class TransposedToComputedSizes(Pattern):
    """Slices the unpadded result of a transposed convolution whose output shape is computed.

        %y = opset1.ConvolutionBackpropData(%x, %w, %sizes)      // %x: [1, 3, 8]
    ->  %0 = opset1.ConvolutionBackpropData(%x, %w)              // without pads
        %y = the part of %0 with these sizes

    The plugin does not compile a computed output shape for data of static sizes.
    """

    roots = (ConvolutionBackpropData, GroupConvolutionBackpropData)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        return len(op.operands) > 2 and constant_of(op.operands[2]) is None and shape is not None and is_static(shape)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ConvolutionOp)
        from moir.expansions.windows import SlidingWindow

        data, filters, sizes = op.operands
        if rewriter.known.integers(sizes) is not None:
            return
        none = (0,) * len(op.integers("strides"))
        unpadded = {"strides": op.integers("strides"), "dilations": op.integers("dilations"), "pads_begin": none, "pads_end": none}
        whole = rewriter.op.create(type(op), [data, filters], {**unpadded, "output_padding": none, "auto_pad": "explicit"}).results[0]
        window = SlidingWindow(op.integers("strides"), (), op.integers("pads_begin"), (), op.text("auto_pad"))
        rewriter.replace_with(op, _of_sizes(rewriter.op, whole, window, sizes))


class GapsInBf16(Pattern):
    """Computes a bf16 transposed convolution whose strides exceed its kernel in f32 if its result is an operand of an
    Add.

        %0 = opset1.ConvolutionBackpropData(%x, %w) {strides = [3]}  // bf16, %w: [1, 1, 2]
        %y = opset1.Add(%0, %b)
    ->  %1 = opset1.ConvolutionBackpropData(%x as f32, %w as f32) {strides = [3]}
        %0 = opset1.Convert(%1) {destination_type = bf16}

    In bf16 the plugin does not add the other operand to the zeros between the windows.
    """

    roots = (ConvolutionBackpropData, GroupConvolutionBackpropData)

    def may_match(self, op: Operation) -> bool:
        return element_of(op.operands[0]) == bf16 and any(use.operation.name == "opset1.Add" for use in op.results[0].uses)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ConvolutionOp)
        strides = op.integers("strides")
        kernel = (shape_of(op.operands[1]) or (-1,) * len(strides))[-len(strides) :]
        added = op.integers("output_padding") or (0,) * len(strides)
        sizes = zip(kernel, strides, op.integers("dilations"), added, strict=True)
        if not any(extra + (length - 1) * step + 1 < stride for length, stride, step, extra in sizes):
            return
        build = rewriter.op
        data, filters = (build.convert(each, f32) for each in op.operands[:2])
        wide = build.create(type(op), [data, filters, *op.operands[2:]], dict(op.properties)).results[0]
        rewriter.replace_with(op, build.convert(wide, bf16))


class SingleChannelOfBody(Pattern):
    """Adds a second channel, with filters of zero, to single-channel images in the body of a loop.

        %1 = opset1.Convolution(%0, %w)                      // %0: [?, 1, 5, 5], %w: a constant [8, 1, 3, 3]
    ->  %2 = opset12.Pad(%0, [0, 0, 0, 0], [0, 1, 0, 0], 0.0)
        %1 = opset1.Convolution(%2, %v)                      // %v: [8, 2, 3, 3]

    For a dynamic number of images the plugin returns zeros if the result is added to a state of the loop.
    """

    roots = (Convolution,)

    def may_match(self, op: Operation) -> bool:
        images, block = shape_of(op.operands[0]), op.parent_block()
        if images is None or images[1] != 1 or images[0] >= 0 or block is None or isinstance(block.parent_op(), ModelOp):
            return False
        return weight_of(op.operands[1]) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Convolution)
        build, (images, filters) = rewriter.op, op.operands
        weights = np.asarray(weight_of(filters))
        ends = [1 if axis == 1 else 0 for axis in range(weights.ndim)]
        wider = build.Pad(images, [0] * weights.ndim, ends, build.constant_like(0, images), pad_mode="constant")
        values = build.constant(np.pad(weights, [(0, end) for end in ends]), element_of(filters))
        (result,) = build.create(Convolution, [wider, values], dict(op.properties), 1).results
        rewriter.replace_with(op, result)


FORMS = (
    Form(
        "unfold-convolutions",
        (SingleGroup, FiltersOfDynamicShape, TransposedToComputedSizes, GapsInBf16),
        "Writes convolutions with filters of dynamic shape as matrix products, and crops transposed ones to computed sizes.",
        faults=(
            Fault("unknown-filters", "convolutions with filters of dynamic shape", "are not compiled"),
            Fault("single-group", "GroupConvolutionBackpropData of one group with computed filters", "is not compiled"),
            Fault("computed-sizes", "ConvolutionBackpropData of data of static sizes to computed ones", "is not compiled"),
            Fault("less-than-a-window", "ConvolutionBackpropData of data of dynamic shape to less than a window", "does not run"),
        ),
    ),
    Form(
        "widen-kernels",
        (PaddedUnitKernel,),
        faults=(
            Fault(
                "unit-kernels",
                "Convolution with padding, strides and a kernel of one element after an elementwise operation",
                "moves the strides before that operation, without regard to the padding",
            ),
        ),
    ),
    Form(
        "pair-single-channels",
        (SingleChannelOfBody,),
        faults=(
            Fault(
                "single-channel-loop",
                "Convolution of a dynamic number of images of one channel in a loop, whose result is added to a state",
                "is zero",
                feature=AVX_512,
            ),
        ),
    ),
    Form(
        "align-strides",
        (ConvolutionToOneColumn,),
        faults=(
            Fault(
                "one-column",
                "Convolution of images of one channel to one column, with a stride of columns above that of rows",
                "takes the stride of columns for that of rows",
                feature=AVX_512,
            ),
        ),
    ),
)
