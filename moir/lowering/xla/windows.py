"""Reductions over windows.

Sums are lowered to averages times the size of a window, or to a CumSum if each window contains all elements before an
index. If no pooling fits, strided slices, one for each element of a window, are combined along one axis after the
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f64
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import as_scalar, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.xla.padding import with_edges, with_interior
from moir.lowering.xla.reduction import COMBINATIONS, is_neutral, neutral
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record

LAST = 2**31 - 1
"""The stop of a slice after the last element."""

MAXIMUM_TAPS = 1024
"""Largest number of window elements for which slices are combined."""

MAXIMUM_POOLED = 3
"""Largest number of spatial axes of opset14.MaxPool."""

POOLED = ("max", "min", "sum")


class AxisWindow(Record):
    """The windows along an axis: size, stride, dilation of the data, dilation of the window, padding."""

    size: int
    stride: int
    base_dilation: int
    dilation: int
    low: int
    high: int

    @property
    def extent(self) -> int:
        """The number of elements from the first to the last element of a window."""
        return (self.size - 1) * self.dilation + 1

    @property
    def is_trivial(self) -> bool:
        """Whether each window contains one element only, and there is one for each element."""
        return (self.size, self.stride, self.base_dilation, self.low, self.high) == (1, 1, 1, 0, 0)

    @property
    def is_pooled(self) -> bool:
        """Whether a pooling operation accepts these windows: each contains at least one element of the data."""
        return self.base_dilation == 1 and min(self.low, self.high) >= 0 and max(self.low, self.high) < self.extent


def reduced_windows(node: LoweringNode, op: OpBuilder, kind: str, init_value: SSAValue, windows: Sequence[AxisWindow]) -> SSAValue:
    """Operand 0 of a node reduced over windows by the combination `kind`.

    It becomes opset14.MaxPool, opset14.AvgPool times the size, opset3.CumSum, or slices that are combined.
    """
    init = as_scalar(op, init_value)
    axes = [axis for axis, window in enumerate(windows) if not window.is_trivial]
    reduced = _running_sum(node, op, kind, windows, axes)
    if reduced is None:
        pools = _is_pooled(node, kind, [windows[axis] for axis in axes])
        reduced = pooled(node, op, kind, windows, axes) if pools else combined(node, op, kind, windows)
    return reduced if is_neutral(op, kind, init) else COMBINATIONS[kind].of(op, reduced, init)


def _running_sum(node: LoweringNode, op: OpBuilder, kind: str, windows: Sequence[AxisWindow], axes: Sequence[int]) -> SSAValue | None:
    """Running sums of operand 0 along an axis, from the first element on or up to the last one.

    Returns None unless `kind` is a sum and the windows have this form.
    """
    if kind != "sum" or len(axes) != 1:
        return None
    axis, size = axes[0], (node.shape(0) or ())[axes[0]]
    window = windows[axis]
    if (window.size, window.stride, window.base_dilation, window.dilation) != (size, 1, 1, 1):
        return None
    if (window.low, window.high) not in ((size - 1, 0), (0, size - 1)):
        return None
    return op.CumSum(node.operand(0), axis, exclusive=False, reverse=window.high > 0)


# Pooling


def _is_pooled(node: LoweringNode, kind: str, windows: Sequence[AxisWindow]) -> bool:
    """Whether a pooling operation can reduce over these windows by `kind`: floats other than f64; sums without dilation
    only.
    """
    if kind not in POOLED or node.element(0) not in REAL_TYPES or node.element(0) == f64:
        return False
    if kind == "sum" and any(window.dilation > 1 for window in windows):
        return False
    return 1 <= len(windows) <= MAXIMUM_POOLED and all(window.is_pooled for window in windows)


def pooled(node: LoweringNode, op: OpBuilder, kind: str, windows: Sequence[AxisWindow], axes: Sequence[int]) -> SSAValue:
    """The data pooled over windows along some axes, which are moved to the end for the pooling."""
    data, rank = node.operand(0), len(windows)
    others = [axis for axis in range(rank) if axis not in axes]
    order = [*others, *axes]
    data = op.transposed(data, order)
    missing = 2 - len(others)
    before: SSAValue | None = None
    if missing > 0:
        data = op.Unsqueeze(data, list(range(missing)))
    elif missing < 0:
        before = data
        sizes = [dimension_list(op, data, axis) for axis in range(len(others), rank)]
        data = op.Reshape(data, op.Concat([-1, 1], *sizes, axis=0), special_zero=False)
    result = pooling(op, kind, data, [windows[axis] for axis in axes])
    if before is not None:
        outer = [dimension_list(op, before, axis) for axis in range(len(others))]
        inner = [dimension_list(op, result, axis) for axis in range(2, 2 + len(axes))]
        result = op.Reshape(result, op.Concat(*outer, *inner, axis=0), special_zero=False)
    elif missing > 0:
        result = op.Squeeze(result, list(range(missing)))
    return op.transposed(result, [order.index(axis) for axis in range(rank)])


def pooling(op: OpBuilder, kind: str, data: SSAValue, windows: Sequence[AxisWindow]) -> SSAValue:
    """The pooling of data [N, C, …] by `kind`: a minimum is the negated maximum of the negated data, a sum the mean
    times the size.
    """
    properties = {
        "kernel": [window.size for window in windows],
        "strides": [window.stride for window in windows],
        "pads_begin": [window.low for window in windows],
        "pads_end": [window.high for window in windows],
        "auto_pad": "explicit",
    }
    if kind == "sum":
        mean = op["opset14.AvgPool"](data, **properties, exclude_pad=False, rounding_type="floor")
        count = prod(window.size for window in windows)
        return mean if count == 1 else op.Multiply(mean, float(count))
    dilations = [window.dilation for window in windows]
    signed = op.Negative(data) if kind == "min" else data
    maxima = op.MaxPool(signed, **properties, dilations=dilations)
    return op.Negative(maxima) if kind == "min" else maxima


# Combined slices of window elements


def combined(node: LoweringNode, op: OpBuilder, kind: str, windows: Sequence[AxisWindow]) -> SSAValue:
    """Operand 0 of a node reduced over windows by combining slices, along one axis after the other.

    Padding is the neutral element of the combination `kind`.
    """
    if sum(window.size for window in windows) > MAXIMUM_TAPS:
        node.fail(f"windows of more than {MAXIMUM_TAPS} elements are not supported for this function")
    data = node.operand(0)
    filler = op.constant_like(neutral(kind, element_of(data)), data)
    data = with_interior(op, data, [window.base_dilation - 1 for window in windows], filler)
    data = with_edges(op, data, [window.low for window in windows], [window.high for window in windows], filler)
    for axis, window in enumerate(windows):
        taps = [tap_of(op, data, axis, window, element * window.dilation) for element in range(window.size)]
        data = taps[0]
        for tap in taps[1:]:
            data = COMBINATIONS[kind].of(op, data, tap)
    return data


def tap_of(op: OpBuilder, data: SSAValue, axis: int, window: AxisWindow, offset: int) -> SSAValue:
    """The elements at `offset` within each window along an axis, a strided slice of the data."""
    if window.size == window.stride == 1:
        return data
    # The last window ends with the data, so the slice ends before the end of the data by the distance of this position
    # from the end of the window.
    return op.Slice(data, [offset], [offset - window.extent + 1 or LAST], [window.stride], [axis])
