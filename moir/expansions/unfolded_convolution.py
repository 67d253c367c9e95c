"""Convolutions with filters of dynamic shape as products of matrices.

The elements of each window are gathered (im2col) and multiplied with the filters as a matrix:

    x [N, C, L]  ->  [N, C, O, K]  ->  [N, G, C / G * K, O];  [G, M / G, C / G * K] · that  ->  [N, M, O]
"""

from __future__ import annotations

from functools import reduce

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import is_static, shape_of
from moir.expansions.shape_values import dimension
from moir.expansions.windows import SlidingWindow
from moir.rewriting.builder import OpBuilder

LAST = 2**31 - 1


def has_unknown_sizes(filters: SSAValue) -> bool:
    """Whether filters have a dynamic dimension."""
    shape = shape_of(filters)
    return shape is None or not is_static(shape)


def unfolded_convolution(op: OpBuilder, x: SSAValue, filters: SSAValue, window: SlidingWindow, groups: int | SSAValue) -> SSAValue:
    """The convolution of x [N, C, L…] with filters [M, C / groups, K…]: [N, M, O…].

    `groups` is an integer, or a 1-D tensor of one element if it is computed at run time.
    """
    axes = len(window.strides)
    kernel = [_size(op, filters, 2 + axis) for axis in range(axes)]
    extents = [op.Add(op.Multiply(op.Subtract(size, 1), step), 1) for size, step in zip(kernel, window.dilations, strict=True)]
    x = _with_pads(op, x, extents, window)
    counts: list[SSAValue] = []
    for axis in range(axes):
        stride, axis_of_windows = window.strides[axis], 2 + 2 * axis
        room = op.Subtract(_size(op, x, axis_of_windows), extents[axis])
        counts.append(op.Maximum(op.Add(op.Divide(room, stride), 1), 0))
        starts = op.Multiply(op.Range(0, counts[axis], 1, output_type=si64), stride)
        steps = op.Multiply(op.Range(0, kernel[axis], 1, output_type=si64), window.dilations[axis])
        x = op.Gather(x, op.Add(op.Unsqueeze(starts, [1]), op.Unsqueeze(steps, [0])), axis_of_windows)
    x = op.Transpose(x, [0, 1, *range(3, 2 * axes + 2, 2), *range(2, 2 * axes + 2, 2)])
    batch, rows = _as_1d(op, _size(op, x, 0)), _as_1d(op, _size(op, filters, 0))
    indices = _as_1d(op, reduce(op.Multiply, counts))
    depth = _as_1d(op, reduce(op.Multiply, [_size(op, filters, 1), *kernel]))
    count = [groups] if isinstance(groups, int) else groups
    columns = op.Reshape(x, op.Concat(batch, count, depth, indices, axis=0), special_zero=False)
    matrix = op.Reshape(filters, op.Concat(count, op.Divide(rows, groups), depth, axis=0), special_zero=False)
    product = op.MatMul(matrix, columns)
    return op.Reshape(product, op.Concat(batch, rows, *(_as_1d(op, count) for count in counts), axis=0), special_zero=False)


def unfolded_transposed_convolution(
    op: OpBuilder,
    x: SSAValue,
    filters: SSAValue,
    window: SlidingWindow,
    padding: tuple[int, ...],
    groups: int | SSAValue,
    wanted: tuple[int, ...] = (),
) -> SSAValue:
    """The transposed convolution of x [N, C, L…] with filters [C, M / groups, K…].

    It is computed as a convolution with the reversed filters, of data with zeros inserted between the elements. The
    spatial sizes of the result are `wanted`; without them they follow from explicit pads, or are those of x times the
    strides. `padding` are the output paddings, zeros appended to each spatial axis.
    """
    axes = len(window.strides)
    whole = whole_transposed_convolution(op, x, filters, window, padding, groups)
    if wanted or window.auto_pad.startswith("same"):
        targets = [
            op.constant([wanted[axis]]) if wanted else op.Multiply(_as_1d(op, _size(op, x, 2 + axis)), window.strides[axis])
            for axis in range(axes)
        ]
        return of_sizes(op, whole, targets, window.auto_pad == "same_upper")
    if not any((*window.pads_begin, *window.pads_end)):
        return whole
    ends = [-end or LAST for end in window.pads_end]
    return op.Slice(whole, list(window.pads_begin), ends, [1] * axes, list(range(2, 2 + axes)))


def whole_transposed_convolution(
    op: OpBuilder, x: SSAValue, filters: SSAValue, window: SlidingWindow, padding: tuple[int, ...], groups: int | SSAValue
) -> SSAValue:
    """The transposed convolution of x [N, C, L…] with filters [C, M / groups, K…], with all pads still in the result.

    `groups` is an integer, or a 1-D tensor of one element if it is computed at run time; `padding` are the output
    paddings.
    """
    axes = len(window.strides)
    spatial = list(range(2, 2 + axes))
    rows, *kernel = (_as_1d(op, _size(op, filters, axis)) for axis in range(1, 2 + axes))
    if isinstance(groups, int) and groups == 1:
        turned = _reversed(op, op.Transpose(filters, [1, 0, *spatial]), spatial)
    else:
        depth = op.Divide(_as_1d(op, _size(op, filters, 0)), groups)
        split = op.Concat([groups] if isinstance(groups, int) else groups, depth, rows, *kernel, axis=0)
        after = [axis + 1 for axis in spatial]
        swapped = op.Transpose(op.Reshape(filters, split, special_zero=False), [0, 2, 1, *after])
        merged = op.Concat(op.Multiply(rows, groups), depth, *kernel, axis=0)
        turned = op.Reshape(_reversed(op, swapped, after), merged, special_zero=False)
    for axis, stride in zip(spatial, window.strides, strict=True):
        if stride > 1:
            x = _spread(op, x, axis, stride, axes + 2)
    zeros = op.constant([0, 0])
    reach = [op.Multiply(op.Subtract(size, 1), step) for size, step in zip(kernel, window.dilations, strict=True)]
    ends = [op.Add(each, extra) if extra else each for each, extra in zip(reach, padding, strict=True)]
    x = op.Pad(x, op.Concat(zeros, *reach, axis=0), op.Concat(zeros, *ends, axis=0), pad_mode="constant")
    none = (0,) * axes
    return unfolded_convolution(op, x, turned, SlidingWindow((1,) * axes, window.dilations, none, none, "explicit"), groups)


def _reversed(op: OpBuilder, x: SSAValue, axes: list[int]) -> SSAValue:
    """x with its elements in the reverse order along axes."""
    count = len(axes)
    return op.Slice(x, [-1] * count, [-(2**31)] * count, [-1] * count, axes)


def of_sizes(op: OpBuilder, x: SSAValue, targets: list[SSAValue], more_at_end: bool) -> SSAValue:
    """x [N, C, L…] padded or cropped to the spatial sizes `targets`, each a 1-D tensor of one element.

    Surplus elements are removed at both sides; of an odd number, one more at the end with `more_at_end` and at the
    beginning otherwise. Missing elements become zeros at the end.
    """
    begins: list[SSAValue] = []
    for axis, target in enumerate(targets):
        cut = op.Maximum(op.Subtract(_as_1d(op, _size(op, x, 2 + axis)), target), 0)
        begins.append(op.Divide(cut if more_at_end else op.Add(cut, 1), 2))
    return cropped(op, x, begins, targets)


def cropped(op: OpBuilder, x: SSAValue, begins: list[SSAValue], targets: list[SSAValue]) -> SSAValue:
    """x [N, C, L…] sliced from the indices `begins` on to the spatial sizes `targets`, and padded with zeros to reach
    them.

    Both have a 1-D tensor of one element for each spatial axis.
    """
    axes = len(targets)
    ends = [op.Add(begin, target) for begin, target in zip(begins, targets, strict=True)]
    missing = [op.Maximum(op.Subtract(end, _as_1d(op, _size(op, x, 2 + axis))), 0) for axis, end in enumerate(ends)]
    padded = op.Pad(x, [0] * (2 + axes), op.Concat([0, 0], *missing, axis=0), pad_mode="constant")
    return op.Slice(padded, op.Concat(*begins, axis=0), op.Concat(*ends, axis=0), [1] * axes, list(range(2, 2 + axes)))


def _spread(op: OpBuilder, x: SSAValue, axis: int, stride: int, rank: int) -> SSAValue:
    """x with stride - 1 zeros between its elements along an axis."""
    ends = [stride - 1 if each == axis + 1 else 0 for each in range(rank + 1)]
    wide = op.Pad(op.Unsqueeze(x, [axis + 1]), [0] * (rank + 1), ends, pad_mode="constant")
    sizes = [_as_1d(op, op.Multiply(_size(op, x, each), stride if each == axis else 1)) for each in range(rank)]
    return op.Slice(op.Reshape(wide, op.Concat(*sizes, axis=0), special_zero=False), [0], [1 - stride], [1], [axis])


def _with_pads(op: OpBuilder, x: SSAValue, extents: list[SSAValue], window: SlidingWindow) -> SSAValue:
    """x padded with zeros: with the explicit pads of a window, or with the pads that its `auto_pad` implies."""
    if window.auto_pad == "valid" or (window.auto_pad == "explicit" and not any((*window.pads_begin, *window.pads_end))):
        return x
    if window.auto_pad == "explicit":
        return op.Pad(x, [0, 0, *window.pads_begin], [0, 0, *window.pads_end], pad_mode="constant")
    begins: list[SSAValue] = []
    ends: list[SSAValue] = []
    for axis, extent in enumerate(extents):
        size, stride = _size(op, x, 2 + axis), window.strides[axis]
        count = op.Divide(op.Add(size, stride - 1), stride)
        total = op.Maximum(op.Subtract(op.Add(op.Multiply(op.Subtract(count, 1), stride), extent), size), 0)
        half = op.Divide(total, 2)
        first, last = (half, op.Subtract(total, half)) if window.auto_pad == "same_upper" else (op.Subtract(total, half), half)
        begins.append(_as_1d(op, first))
        ends.append(_as_1d(op, last))
    zeros = op.constant([0, 0])
    return op.Pad(x, op.Concat(zeros, *begins, axis=0), op.Concat(zeros, *ends, axis=0), pad_mode="constant")


def _size(op: OpBuilder, value: SSAValue, axis: int) -> SSAValue:
    """The size of an axis as a scalar of type i64."""
    size = dimension(op, value, axis)
    return op.constant(size) if isinstance(size, int) else size


def _as_1d(op: OpBuilder, value: SSAValue) -> SSAValue:
    return op.Reshape(value, [1], special_zero=False)
