"""Reductions along axes and over windows, and functions that are applied to elements.

%y = stablehlo.reduce(%x, 0) {dimensions = [1], (a, b) -> add(a, b)}  ->  %y = opset1.ReduceSum(%x, [1])
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, si64
from moir.dialects.framework import FrameworkOp
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.branches import inlined
from moir.lowering.stablehlo.attributes import require_rows
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.computations import combination, extreme
from moir.lowering.xla.order_of_nan import extreme_along, extreme_of_pair
from moir.lowering.xla.padding import with_edges, with_interior
from moir.lowering.xla.reduction import COMBINATIONS, LOGICAL, combination_of, is_neutral, reduced, reductions_of
from moir.lowering.xla.windows import MAXIMUM_TAPS, AxisWindow, reduced_windows, tap_of
from moir.rewriting.builder import OpBuilder


def own_operands(node: LoweringNode) -> list[SSAValue]:
    """The operands of a node except the values that its regions capture."""
    values = node.operands
    return values[: len(values) - node.integer("captured", 0)]


@stablehlo.lowers("reduce")
def reduce(node: LoweringNode, op: OpBuilder, *, dimensions: tuple[int, ...] = ()) -> Sequence[SSAValue]:
    """stablehlo.reduce(x…, init…) {dimensions} -> opset1.ReduceSum(x, axes), opset11.TopK"""
    values, body = own_operands(node), node.op.regions[0]
    count = len(values) // 2
    kinds = [combination(body, index, count + index, index) for index in range(count)]
    is_known = all(_is_combination(kind, element_of(values[index])) for index, kind in enumerate(kinds))
    if not is_known and extreme(body) is None:
        return halved(node, op, values, dimensions)
    if count == 1:
        kind = combination_of(node, body, element_of(values[0]))
        if kind in ("max", "min") and dimensions and not _is_subtracted(node.op.results[0]):
            extremes = extreme_along(op, values[0], dimensions, largest=kind == "max")
            if is_neutral(op, kind, values[1]):
                return [extremes]
            return [extreme_of_pair(op, op.Broadcast(as_scalar(op, values[1]), op.ShapeOf(extremes)), extremes, largest=kind == "max")]
        return [reduced(op, kind, values[0], values[1], dimensions)]
    return reductions_of(node, op, body, values, dimensions)


_BESIDE = frozenset(("broadcast_in_dim", "convert", "maximum", "optimization_barrier", "reshape"))
"""Operations that may stand between the maximum in a softmax and its subtraction from the data."""


def _is_subtracted(value: SSAValue) -> bool:
    """Whether a value is only subtracted from other values, as the maximum in a softmax.

    NaN in the data then makes the result NaN whether or not the maximum is NaN.
    """
    pending, seen = [value], set[SSAValue]()
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        for use in each.uses:
            kind = use.operation.KIND if isinstance(use.operation, FrameworkOp) else ""
            if kind in _BESIDE:
                pending += use.operation.results
            elif kind != "subtract" or use.index != 1:
                return False
    return value.first_use is not None


def _is_combination(kind: str | None, element: Attribute) -> bool:
    """Whether the operation sets have a reduction for the binary function `kind` and an element type."""
    return kind in COMBINATIONS and (kind in LOGICAL) is (element is boolean)


def joined(node: LoweringNode, op: OpBuilder, first: Sequence[SSAValue], second: Sequence[SSAValue]) -> list[SSAValue]:
    """Apply the body of a node to the tensors `first` and `second`, one of each for every operand; returns its
    results.
    """
    captured = node.operands[len(own_operands(node)) :]
    return inlined(node, op, node.op.regions[0].clone(), [*first, *second, *captured])


def halved(node: LoweringNode, op: OpBuilder, values: Sequence[SSAValue], dimensions: Sequence[int]) -> list[SSAValue]:
    """Reduce tensors along dimensions by the body of a node, which is any associative function.

    The two halves of each axis are combined until one element is left. `values` are the tensors, then their initial
    values. Raises ConversionError if a dimension is dynamic.
    """
    count = len(values) // 2
    data, first = list(values[:count]), list(values[count:])
    shape = shape_of(data[0]) or ()
    if any(shape[axis] < 0 for axis in dimensions):
        node.fail("the operation sets have no such reduction, and the number of elements is dynamic", hint="export static shapes")
    kept = [size for axis, size in enumerate(shape) if axis not in dimensions]
    if any(shape[axis] == 0 for axis in dimensions):
        if not is_static(tuple(kept)):
            node.fail("it reduces nothing, and the shape of the result is unknown", hint="export static shapes")
        return [op.Broadcast(as_scalar(op, each), kept, mode="numpy") for each in first]
    for axis in dimensions:
        size = shape[axis]
        while size > 1:
            half = size // 2
            ends = [[op.Slice(each, [start], [start + half], [1], [axis]) for each in data] for start in (0, half)]
            combined = joined(node, op, *ends)
            if size % 2:
                combined = [
                    op.Concat(each, op.Slice(whole, [size - 1], [size], [1], [axis]), axis=axis)
                    for each, whole in zip(combined, data, strict=True)
                ]
            data, size = combined, half + size % 2
    if dimensions:
        data = [op.Squeeze(each, list(dimensions)) for each in data]
    target = op.ShapeOf(data[0])
    return joined(node, op, [op.Broadcast(as_scalar(op, each), target) for each in first], data)


@stablehlo.lowers("reduce_window")
def reduce_window(
    node: LoweringNode,
    op: OpBuilder,
    *,
    window_dimensions: tuple[int, ...],
    window_strides: tuple[int, ...] = (),
    base_dilations: tuple[int, ...] = (),
    window_dilations: tuple[int, ...] = (),
    padding: tuple[int, ...] = (),
) -> Sequence[SSAValue]:
    """stablehlo.reduce_window(x, init) {window} -> opset14.MaxPool, opset14.AvgPool times the size, or opset3.CumSum"""
    values, rank = own_operands(node), len(window_dimensions)
    ones = (1,) * rank
    pads = padding or (0,) * 2 * rank
    if len(pads) != 2 * rank or len(values) % 2 or node.known_rank(0) != rank:
        node.fail("its window does not fit the rank of its operands")
    columns = (window_dimensions, window_strides or ones, base_dilations or ones, window_dilations or ones, pads[::2], pads[1::2])
    require_rows(
        window_dimensions,
        window_strides=columns[1],
        base_dilations=columns[2],
        window_dilations=columns[3],
    )
    windows = [AxisWindow(*row) for row in zip(*columns, strict=True)]
    if min(min(column) for column in columns[:4]) < 1:
        node.fail("a size, stride or dilation is below 1")
    count = len(values) // 2
    results: list[SSAValue] = []
    if any(
        _is_running_extreme(node, index, count, windows) or combination(node.op.regions[0], index, count + index, index) not in COMBINATIONS
        for index in range(count)
    ):
        return by_function(node, op, values[:count], values[count:], windows)
    for index in range(count):
        kind = combination_of(node, node.op.regions[0], element_of(values[index]), index, count + index, index)
        own = node if count == 1 else node.with_operands({0: values[index]})
        results.append(reduced_windows(own, op, kind, values[count + index], windows))
    return results


def _is_running_extreme(node: LoweringNode, index: int, count: int, windows: Sequence[AxisWindow]) -> bool:
    """Whether operand `index` is reduced to running maxima or minima of floats.

    Such windows are not lowered to a pooling, which would pad them with finite numbers.
    """
    kind = combination(node.op.regions[0], index, count + index, index)
    if kind not in ("max", "min") or node.element(index) not in REAL_TYPES:
        return False
    moving = [(axis, window) for axis, window in enumerate(windows) if not window.is_trivial]
    sizes = node.shape(index) or ()
    return len(moving) == 1 and sizes[moving[0][0]] == moving[0][1].size and moving[0][1].size - 1 in (moving[0][1].low, moving[0][1].high)


@stablehlo.lowers("dynamic_reduce_window")
def dynamic_reduce_window(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """stablehlo.dynamic_reduce_window(x, init, window, strides, …, padding) -> as reduce_window, or opset3.CumSum

    Windows of dynamic shape have to be those of running sums: all elements before an element, or all after it.
    """
    values = own_operands(node)
    count = (len(values) - 5) // 2
    if count != 1 or len(values) != 7:
        node.fail(f"windows of {count} tensors of computed sizes are not supported", hint="export the program with static shapes")
    sizes, strides, base, dilations, padding = (op.known.integers(each) for each in values[2:])
    if sizes is not None and strides is not None and base is not None and dilations is not None and padding is not None:
        rank = len(sizes)
        if node.known_rank(0) != rank or len(padding) != 2 * rank or not len(strides) == len(base) == len(dilations) == rank:
            node.fail("its window does not fit the rank of its operands")
        windows = [AxisWindow(*row) for row in zip(sizes, strides, base, dilations, padding[::2], padding[1::2], strict=True)]
        kind = combination_of(node, node.op.regions[0], element_of(values[0]))
        return [reduced_windows(node, op, kind, values[1], windows)]
    if combination(node.op.regions[0]) == "sum" and (running := _running_axis(node, op)) is not None:
        sums = _running_sums(op, values[0], values[6], *running)
        return [sums if is_neutral(op, "sum", as_scalar(op, values[1])) else op.Add(sums, values[1])]
    return node.fail("its windows are computed when the model runs", hint="export the program with static shapes")


def _running_axis(node: LoweringNode, op: OpBuilder) -> tuple[int, bool] | None:
    """The axis of a running reduction, and whether it runs backwards; None if the windows are not those of a running
    reduction.

    These are as long as the data, which is padded at one end.
    """
    rank = node.known_rank(0)
    constants = [op.known.elements(node.operand(index)) for index in range(2, 7)]
    if any(each is None or each.size != (2 * rank if index == 4 else rank) for index, each in enumerate(constants)):
        return None
    sizes, *steps, padding = ([*each.reshape(-1)] for each in constants if each is not None)
    axes = [axis for axis, size in enumerate(sizes) if size != 1]
    if len(axes) != 1 or any(step != 1 for column in steps for step in column):
        return None
    axis = axes[0]
    length = op.known.elements(op.ShapeOf(node.operand(0)))
    ends = padding[2 * axis : 2 * axis + 2]
    others = [each for pad_index, each in enumerate(padding) if pad_index // 2 != axis]
    if length is None or sizes[axis] != length[axis] or any(each != 0 for each in others) or 0 not in ends:
        return None
    return axis, bool(ends[0] == 0)


def _running_sums(op: OpBuilder, x: SSAValue, padding: SSAValue, axis: int, is_reversed: bool) -> SSAValue:
    """Sums over windows as long as the data, which is padded at one end (the end of the axis if `is_reversed`).

    If there are p zeros before n elements, these are the last p + 1 running sums of the padded data.
    """
    rank = rank_of(x) or 0
    ends = op.Reshape(op.convert(padding, si64), [rank, 2], special_zero=False)
    low, high = (op.Gather(ends, side, 1) for side in (0, 1))
    padded = op.Pad(x, low, high, op.constant_like(0, x), pad_mode="constant")
    sums = op.CumSum(padded, axis, exclusive=False, reverse=is_reversed)
    added = op.Gather(high if is_reversed else low, [axis], 0)
    count = op.Add(added, 1)
    if is_reversed:
        return op.Slice(sums, [0], count, [1], [axis])
    return op.Slice(sums, op.Subtract(0, count), [2**31 - 1], [1], [axis])


def by_function(
    node: LoweringNode, op: OpBuilder, data: Sequence[SSAValue], first: Sequence[SSAValue], windows: Sequence[AxisWindow]
) -> Sequence[SSAValue]:
    """Reduce windows of tensors by the body of a node, any function, with the initial values `first` as its neutral
    elements.

    If each window contains all elements up to one index, or all from it on, windows of doubled size are combined from
    two windows of the previous size, so that the number of operations grows with the logarithm of the length.
    """
    fillers = [as_scalar(op, each) for each in first]
    rank = len(windows)
    for axis, window in enumerate(windows):
        if window.is_trivial:
            continue
        size = (node.shape(0) or (-1,) * rank)[axis]
        is_running = (window.size, window.stride, window.base_dilation, window.dilation) == (size, 1, 1, 1)
        if is_running and (window.low, window.high) in ((size - 1, 0), (0, size - 1)):
            distance = 1
            while distance < size:
                step = distance if window.low else -distance
                moved = [moved_along(op, x, axis, step, filler, rank) for x, filler in zip(data, fillers, strict=True)]
                data = joined(node, op, moved, data)
                distance *= 2
            continue
        if window.size > MAXIMUM_TAPS:
            node.fail(f"windows of more than {MAXIMUM_TAPS} elements are not supported for this function")
        spread = [window.base_dilation - 1 if each == axis else 0 for each in range(rank)]
        ends = [[pad if each == axis else 0 for each in range(rank)] for pad in (window.low, window.high)]
        padded = [
            with_edges(op, with_interior(op, x, spread, filler), ends[0], ends[1], filler) for x, filler in zip(data, fillers, strict=True)
        ]
        taps = [[tap_of(op, x, axis, window, tap * window.dilation) for x in padded] for tap in range(window.size)]
        data = taps[0]
        for each in taps[1:]:
            data = joined(node, op, data, each)
    return data


def moved_along(op: OpBuilder, x: SSAValue, axis: int, distance: int, filler: SSAValue, rank: int) -> SSAValue:
    """x shifted along an axis by `distance` elements, with `filler` at the indices without an element."""
    low = [distance if each == axis else 0 for each in range(rank)]
    return with_edges(op, x, low, [-entry for entry in low], filler)


@stablehlo.lowers("map")
def map_(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """stablehlo.map(x…) -> the operations of its function, on tensors"""
    return inlined(node, op, node.op.regions[0], node.operands)
