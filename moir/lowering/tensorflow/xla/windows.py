"""Reductions of XLA over windows.

    %y = tf.XlaReduceWindow(%x, -inf, [1, 2, 2, 1], [1, 2, 2, 1], …) {computation: (a, b) -> Maximum(a, b)}
->  %y = Transpose(opset14.MaxPool(Transpose(%x)) {kernel = [2, 2], strides = [2, 2]})

Sums are averages times the size of a window, or a CumSum if each window contains all elements up to a position. If the
runtime has no such pooling, strided slices of the windows' elements are combined, along one axis after the other.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import graph_of
from moir.lowering.tensorflow.table import tf
from moir.lowering.tensorflow.xla.movement import constant_list
from moir.lowering.xla.reduction import combination_of
from moir.lowering.xla.windows import AxisWindow, reduced_windows
from moir.rewriting.builder import OpBuilder

MAXIMUM_TAPS = 1024
"""Largest number of window elements for which slices are combined."""

MAXIMUM_POOLED = 3
"""Largest number of spatial axes of a pooling of the runtime."""

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
        """Whether there is one window per element, which contains that element only."""
        return (self.size, self.stride, self.base_dilation, self.low, self.high) == (1, 1, 1, 0, 0)

    @property
    def is_pooled(self) -> bool:
        """Whether the runtime has a pooling with such windows: each contains at least one element of the data."""
        return self.base_dilation == 1 and min(self.low, self.high) >= 0 and max(self.low, self.high) < self.extent


def windows_of(node: LoweringNode) -> list[AxisWindow]:
    """The windows of a node along each axis. Raises ConversionError if they are computed."""
    rank = node.known_rank(0)
    names = ("window sizes", "strides", "dilations of the data", "dilations of the windows")
    columns = [constant_list(node, index, name, rank) for index, name in enumerate(names, start=2)]
    if any(min(column, default=1) < 1 for column in columns):
        node.fail("a size, stride or dilation is below 1")
    pads = constant_list(node, 6, "paddings", 2 * rank)
    return [AxisWindow(*row) for row in zip(*columns, pads[::2], pads[1::2], strict=True)]


@tf.lowers("XlaReduceWindow")
def reduce_window(node: LoweringNode, op: OpBuilder, input: SSAValue, init_value: SSAValue) -> SSAValue:
    """tf.XlaReduceWindow(x, init, sizes, strides, dilations, dilations, padding) {computation}
    -> opset14.MaxPool, opset14.AvgPool times the size, opset3.CumSum, or slices that are combined
    """
    kind = combination_of(node, graph_of(node, "computation"), element_of(input))
    windows, init = windows_of(node), as_scalar(op, init_value)
    axes = [axis for axis, window in enumerate(windows) if not window.is_trivial]
    found = _running_sum(node, op, kind, windows, axes)
    if found is None:
        pools = _is_pooled(node, kind, [windows[axis] for axis in axes])
        found = pooled(node, op, kind, windows, axes) if pools else combined(node, op, kind, windows)
    return found if is_neutral(op, kind, init) else COMBINATIONS[kind].of(op, found, init)


def _running_sum(node: LoweringNode, op: OpBuilder, kind: str, windows: Sequence[AxisWindow], axes: Sequence[int]) -> SSAValue | None:
    """The running sums from the first element, or to the last one; None if the windows are others."""
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
    """Whether the runtime has a pooling over these windows: for floats, and sums only if the windows are not
    dilated.
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
    found = pooling(op, kind, data, [windows[axis] for axis in axes])
    if before is not None:
        outer = [dimension_list(op, before, axis) for axis in range(len(others))]
        inner = [dimension_list(op, found, axis) for axis in range(2, 2 + len(axes))]
        found = op.Reshape(found, op.Concat(*outer, *inner, axis=0), special_zero=False)
    elif missing > 0:
        found = op.Squeeze(found, list(range(missing)))
    return op.transposed(found, [order.index(axis) for axis in range(rank)])


def pooling(op: OpBuilder, kind: str, data: SSAValue, windows: Sequence[AxisWindow]) -> SSAValue:
    """A pooling of data [N, C, …]: a minimum is the negated maximum of the negated data, a sum the mean times the
    size.
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
    found = op.MaxPool(signed, **properties, dilations=dilations)
    return op.Negative(found) if kind == "min" else found


# Combined slices of window elements


def combined(node: LoweringNode, op: OpBuilder, kind: str, windows: Sequence[AxisWindow]) -> SSAValue:
    """The elements of each window, combined along one axis after the other; padding is the neutral element."""
    if sum(window.size for window in windows) > MAXIMUM_TAPS:
        node.fail(f"windows of more than {MAXIMUM_TAPS} elements are not supported for this function")
    data = node.operand(0)
    filler = op.constant_like(neutral(kind, element_of(data)), data)
    data = with_interior(op, data, [window.base_dilation - 1 for window in windows], filler)
    data = with_edges(op, data, [window.low for window in windows], [window.high for window in windows], filler)
    for axis, window in enumerate(windows):
        taps = [_tap(op, data, axis, window, place * window.dilation) for place in range(window.size)]
        data = taps[0]
        for tap in taps[1:]:
            data = COMBINATIONS[kind].of(op, data, tap)
    return data


def _tap(op: OpBuilder, data: SSAValue, axis: int, window: AxisWindow, place: int) -> SSAValue:
    """The element at one position of each window along an axis."""
    if window.size == window.stride == 1:
        return data
    # The last window ends with the data, so the slice ends before the end of the data by the distance of this position
    # from the end of the window.
    return op.Slice(data, [place], [place - window.extent + 1 or LAST], [window.stride], [axis])
