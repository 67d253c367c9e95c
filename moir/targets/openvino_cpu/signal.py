"""Fourier transforms that the CPU plugin computes wrongly."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.opset.signal import IRDFT, RDFT
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.expansions.shape_values import dimension, dimension_list
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class RealTransformToLength(Pattern):
    """Pads signals that may be shorter than the transform, and slices signals of static sizes to a computed length.

        %y = opset9.RDFT(%x, [-1], %length)                  // %x: [1, 8]
    ->  %0 = opset12.Pad(%x, [0, 0], [0, max(%length - 8, 0)])
        %1 = opset8.Slice(%0, [0], %length, [1], [-1])
        %y = opset9.RDFT(%1, [-1], %length)

    The plugin compiles neither a transform that is longer than the data, nor a computed length of data of static sizes.
    """

    roots = (RDFT,)

    def may_match(self, op: Operation) -> bool:
        return len(op.operands) > 2

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        (data, axes, lengths), build = op.operands, rewriter.op
        listed, shape = rewriter.known.integers(axes), shape_of(data)
        if listed is None or shape is None:
            return
        is_computed = is_static(shape) and rewriter.known.integers(lengths) is None
        padded = _padded(build, data, [axis % len(shape) for axis in listed], lengths)
        if is_computed:
            cut = build.Slice(padded, [0] * len(listed), build.convert(lengths, si64), [1] * len(listed), axes)
            rewriter.replace_with(op, build.RDFT(cut, axes, lengths))
        elif padded is not data:
            rewriter.replace_with(op, build.RDFT(padded, axes, lengths))


class InverseOfRealTransform(Pattern):
    """Splits an inverse real transform of several axes: IDFT along all axes but the last, then IRDFT along the last.

        %y = opset9.IRDFT(%x, [0, 1, 2], [2, 3, 6])          // %x: [3, 4, 5, 2]
    ->  %0 = opset7.IDFT(%x, [0, 1], [2, 3])
        %y = opset9.IRDFT(%0, [2], [6])

    The plugin returns wrong numbers for transforms of three axes that crop their data, and for frequencies that are
    fewer than the transform needs, to which it adds no zeros. It does not compile computed lengths of data of known
    sizes; signals of one axis are sliced to the needed length before the transform.
    """

    roots = (IRDFT,)

    def may_match(self, op: Operation) -> bool:
        return len(op.operands) > 2

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        (data, axes, lengths), build = op.operands, rewriter.op
        listed, known, shape = rewriter.known.integers(axes), rewriter.known.integers(lengths), shape_of(data)
        if listed is None:
            return
        last, is_computed = len(listed) - 1, known is None and shape is not None and is_static(shape)
        # The last dimension holds the real and the imaginary part.
        axis = listed[last] if shape is None else listed[last] % (len(shape) - 1)
        padded = data if shape is None else _padded(build, data, [axis], _part(build, lengths, last), is_halved=True)
        is_split = last > 0 and (is_computed or padded is not data or _may_be_shorter(shape, listed[:-1], known))
        is_split = is_split or (last > 1 and not _are_whole(shape, listed, known))
        if is_split:
            first = build.IDFT(padded, list(listed[:-1]), build.Slice(lengths, [0], [last], [1], [0]))
            rewriter.replace_with(op, build.IRDFT(first, [listed[-1]], _part(build, lengths, last)))
        elif last == 0 and is_computed:
            rewriter.replace_with(op, build.IRDFT(_needed(build, padded, lengths, axis), axes, lengths))
        elif padded is not data:
            rewriter.replace_with(op, build.IRDFT(padded, axes, lengths))


def _part(op: OpBuilder, lengths: SSAValue, index: int) -> SSAValue:
    """Element `index` of a 1-D tensor of lengths, as a tensor of shape [1]."""
    return lengths if shape_of(lengths) == (1,) else op.Slice(lengths, [index], [index + 1], [1], [0])


def _padded(op: OpBuilder, data: SSAValue, axes: list[int], lengths: SSAValue, *, is_halved: bool = False) -> SSAValue:
    """Data padded with zeros along axes to the lengths of a transform; the data itself if it is surely long enough.

    A length of -1 is that of the data. `is_halved` says that the transform reads n // 2 + 1 numbers for a length of n.
    """
    known = op.known.integers(lengths)
    for index, axis in enumerate(axes):
        if known is not None:
            if known[index] >= 0:
                data = _padded_to(op, data, axis, op.constant([known[index] // 2 + 1 if is_halved else known[index]]))
            continue
        length = op.convert(_part(op, lengths, index), si64)
        data = _padded_to(op, data, axis, _needed_count(op, length) if is_halved else length)
    return data


def _padded_to(op: OpBuilder, data: SSAValue, axis: int, length: SSAValue) -> SSAValue:
    """Data padded with zeros at the end of an axis up to a length [1]; unchanged if the data are longer."""
    rank, known, size = rank_of(data) or 1, op.known.integers(length), dimension(op, data, axis)
    if known is not None and isinstance(size, int) and known[0] <= size:
        return data
    missing = op.Maximum(op.Subtract(op.convert(length, si64), dimension_list(op, data, axis)), 0)
    ends = op.ScatterUpdate(op.constant([0] * rank), [axis], missing, 0)
    return op.Pad(data, [0] * rank, ends, pad_mode="constant")


def _needed_count(op: OpBuilder, lengths: SSAValue) -> SSAValue:
    """The number of frequencies that the inverse transform to `lengths` real numbers reads: n // 2 + 1 of each length
    n.
    """
    return op.Add(op.Divide(op.convert(lengths, si64), 2), 1)


def _needed(op: OpBuilder, data: SSAValue, lengths: SSAValue, axis: int) -> SSAValue:
    """The part of a complex signal that the inverse transform to `lengths` real numbers reads."""
    return op.Slice(data, [0], _needed_count(op, lengths), [1], [axis])


def _may_be_shorter(shape: tuple[int, ...] | None, axes: tuple[int, ...], lengths: tuple[int, ...] | None) -> bool:
    """Whether data may have fewer elements than the transform along one of the axes. True for dynamic sizes."""
    if shape is None or lengths is None:
        return True
    return any(shape[axis - 1 if axis < 0 else axis] < length for axis, length in zip(axes, lengths, strict=False))


def _are_whole(shape: tuple[int, ...] | None, axes: tuple[int, ...], lengths: tuple[int, ...] | None) -> bool:
    """Whether the data are known to have as many frequencies as an inverse real transform to these lengths reads."""
    if shape is None or lengths is None:
        return False
    sizes = tuple(shape[axis - 1 if axis < 0 else axis] for axis in axes)
    return sizes == (*lengths[:-1], lengths[-1] // 2 + 1)


FORMS = (
    Form(
        "split-transforms",
        (RealTransformToLength, InverseOfRealTransform),
        "Splits Fourier transforms to real numbers into steps, and crops or pads their data, where the plugin does not.",
        faults=(
            Fault("real-transform-length", "RDFT and IRDFT of data of static sizes with a computed length", "is not compiled"),
            Fault("short-signals", "RDFT that is longer than its data", "is not compiled"),
            Fault("short-spectra", "IRDFT to more numbers than its data are for", "has other numbers"),
            Fault("inverse-volume", "IRDFT of volumes that are cut", "has other numbers"),
        ),
    ),
)
