"""Fourier transforms that the CPU plugin computes wrongly."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.opset.signal import IRDFT, RDFT
from moir.dialects.shapes import is_static, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


class RealTransformOfComputedLength(Pattern):
    """Slices signals of known sizes to a computed length before the RDFT.

        %y = opset9.RDFT(%x, [-1], %length)                  // %x: [1, 8]
    ->  %0 = opset8.Slice(%x, [0], %length, [1], [-1])
        %y = opset9.RDFT(%0, [-1], %length)

    The plugin does not compile a computed signal length if the data have known sizes.
    """

    roots = (RDFT,)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        return len(op.operands) > 2 and shape is not None and is_static(shape)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        (data, axes, lengths), build = op.operands, rewriter.op
        listed = rewriter.known.integers(axes)
        if listed is None or rewriter.known.integers(lengths) is not None:
            return
        cut = build.Slice(data, [0] * len(listed), build.convert(lengths, si64), [1] * len(listed), axes)
        rewriter.replace_with(op, build.RDFT(cut, axes, lengths))


class InverseOfRealTransform(Pattern):
    """Splits an inverse real transform of several axes: IDFT along all axes but the last, then IRDFT along the last.

        %y = opset9.IRDFT(%x, [0, 1, 2], [2, 3, 6])          // %x: [3, 4, 5, 2]
    ->  %0 = opset7.IDFT(%x, [0, 1], [2, 3])
        %y = opset9.IRDFT(%0, [2], [6])

    The plugin returns wrong numbers for transforms of three axes that crop their data, and does not compile computed
    lengths of data of known sizes. Signals of one axis are sliced to the needed length before the transform.
    """

    roots = (IRDFT,)

    def may_match(self, op: Operation) -> bool:
        return len(op.operands) > 2

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        (data, axes, lengths), build = op.operands, rewriter.op
        listed, known, shape = rewriter.known.integers(axes), rewriter.known.integers(lengths), shape_of(data)
        if listed is None:
            return
        is_computed = known is None and shape is not None and is_static(shape)
        if len(listed) == 1 and is_computed:
            rewriter.replace_with(op, build.IRDFT(_needed(build, data, lengths, listed), axes, lengths))
        elif (len(listed) > 2 and not _are_whole(shape, listed, known)) or (len(listed) > 1 and is_computed):
            last = len(listed) - 1
            first = build.IDFT(data, list(listed[:-1]), build.Slice(lengths, [0], [last], [1], [0]))
            rewriter.replace_with(op, build.IRDFT(first, [listed[-1]], build.Slice(lengths, [last], [last + 1], [1], [0])))


def _needed(op: OpBuilder, data: SSAValue, lengths: SSAValue, axes: tuple[int, ...]) -> SSAValue:
    """The part of a complex signal that the inverse transform to `lengths` real numbers reads."""
    count = op.Add(op.Divide(op.convert(lengths, si64), 2), 1)
    # The last dimension holds the real and the imaginary part.
    return op.Slice(data, [0], count, [1], [axes[0] - 1 if axes[0] < 0 else axes[0]])


def _are_whole(shape: tuple[int, ...] | None, axes: tuple[int, ...], lengths: tuple[int, ...] | None) -> bool:
    """Whether the sizes are known to be those of the transform of real data of the given lengths."""
    if shape is None or lengths is None:
        return False
    sizes = tuple(shape[axis - 1 if axis < 0 else axis] for axis in axes)
    return sizes == (*lengths[:-1], lengths[-1] // 2 + 1)


FORMS = (
    Form(
        "split-transforms",
        (RealTransformOfComputedLength, InverseOfRealTransform),
        "Splits Fourier transforms to real numbers into steps, and crops their data, where the plugin computes wrongly.",
    ),
)
