"""Permuted forms of operations that remove or insert dimensions.

The dimensions that operand and result have in common are in the same relative order in both.

ReduceMean(Transpose(x, [0, 2, 3, 1]), [1, 2])  ->  ReduceMean(x, [2, 3])
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of, is_constant
from moir.dialects.opset.interfaces.operation import AlongAxes, OpsetOp
from moir.dialects.opset.slicing import padded
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.passes.layout.orders import AxisMap, Order, inverse
from moir.passes.layout.permute_along_axes import along_axes
from moir.passes.layout.permuted import LayoutRule, Offer, Permuted


def both_orders(axis_map: AxisMap, offer: Offer) -> tuple[Order, Order] | None:
    """Permutations of the first operand and of the result; None if another operand is permuted, or the ranks differ."""
    order = offer.order
    if offer.is_result:
        return (axis_map.backward(order), order) if len(order) == axis_map.result_rank else None
    return (order, axis_map.forward(order)) if offer.index == 0 and len(order) == len(axis_map.targets) else None


def mapped(offer: Offer, axis_map: AxisMap) -> Permuted | None:
    """The permuted form whose first operand and results have permutations related by an axis map; else None."""
    orders = both_orders(axis_map, offer)
    if orders is None:
        return None
    return Permuted([orders[0], *[None] * (len(offer.op.operands) - 1)], [orders[1]] * len(offer.op.results))


def name_axes(permuted: Permuted, op: OpsetOp, index: int, axes: Collection[int]) -> None:
    """Replace an operand of axes by a constant with axes in ascending order."""
    element = element_of(op.operands[index])
    permuted.adaptations[index] = lambda op, _: op.constant(np.array(sorted(axes)), element)


def _with_axes(permuted: Permuted, op: OpsetOp, order: Order | None, axes: Collection[int]) -> Permuted:
    """A permuted form with the axes in operand 1 replaced by those of data transposed by `order`.

    If `order` is None, the form is returned unchanged.
    """
    if order is not None:
        new_axes = inverse(order)
        name_axes(permuted, op, 1, [new_axes[axis] for axis in axes])
    return permuted


def constant_axes(value: SSAValue, rank: int | None) -> set[int] | None:
    """The axes in a constant, as nonnegative ones; None if the value or the rank is dynamic."""
    axes = constant_of(value)
    return None if axes is None or not rank else {int(axis) % rank for axis in axes.ravel()}


def reduction(offer: Offer) -> Permuted | None:
    """The layout rule of reductions: reduced dimensions keep their axes as size 1, or are removed.

    None if the axes are not constant, or the rank is dynamic.
    """
    op = offer.op
    if op.flag("keep_dims"):
        return along_axes(offer, AlongAxes(operand=1))
    rank = rank_of(op.operands[0])
    axes = constant_axes(op.operands[1], rank)
    if rank is None or axes is None:
        return None
    permuted = mapped(offer, AxisMap.removing(axes, rank))
    return None if permuted is None else _with_axes(permuted, op, permuted.operands[0], axes)


def squeeze(offer: Offer) -> Permuted | None:
    """The layout rule of Squeeze, with or without axes. None if the rank is dynamic."""
    op = offer.op
    shape = shape_of(op.operands[0])
    if shape is None:
        return None
    listed = len(op.operands) > 1
    if listed:
        axes = constant_axes(op.operands[1], len(shape))
    else:
        axes = {axis for axis, d in enumerate(shape) if d == 1} if is_static(shape) else None
    if not axes or rank_of(op.results[0]) != len(shape) - len(axes):
        return None
    permuted = mapped(offer, AxisMap.removing(axes, len(shape)))
    if permuted is None or permuted.operands[0] is None:
        return None
    if listed:
        return _with_axes(permuted, op, permuted.operands[0], axes)
    new_axes = inverse(permuted.operands[0])
    moved = np.array(sorted(new_axes[axis] for axis in axes), np.int64)
    permuted.construct = lambda builder, values: [builder[op.name](values[0], moved)]
    return permuted


def unsqueeze(offer: Offer) -> Permuted | None:
    """The layout rule of Unsqueeze. None if the axes are not constant, or the rank of the result is dynamic."""
    op = offer.op
    rank = rank_of(op.results[0])
    axes = constant_axes(op.operands[1], rank)
    if rank is None or axes is None:
        return None
    permuted = mapped(offer, AxisMap.inserting(axes, rank))
    return None if permuted is None else _with_axes(permuted, op, permuted.results[0], axes)


def one_hot(offer: Offer) -> Permuted | None:
    """The layout rule of OneHot, which inserts the dimension of the classes. None if the rank is dynamic."""
    op = offer.op
    rank = rank_of(op.results[0])
    if rank is None:
        return None
    axis = op.integer("axis") % rank
    permuted = mapped(offer, AxisMap.inserting({axis}, rank))
    if permuted is not None and permuted.results[0] is not None:
        permuted.properties["axis"] = permuted.results[0].index(axis)
    return permuted


def spread(order: Order, axis: int, count: int) -> Order:
    """The permutation after dimension `axis` is split into `count` dimensions; axes behind it are renumbered."""
    result: list[int] = []
    for each in order:
        result.extend(range(axis, axis + count) if each == axis else [each if each < axis else each + count - 1])
    return tuple(result)


def collected(order: Order, axis: int, count: int) -> Order | None:
    """The permutation after `count` dimensions from `axis` on are merged into one; axes behind them are renumbered.

    Returns None if `order` does not keep them adjacent and ascending.
    """
    if count == 0:
        # The permutation of the result does not determine the axis of a removed dimension.
        return AxisMap.removing({axis}, len(order) + 1).backward(order)
    start = order.index(axis)
    if order[start : start + count] != tuple(range(axis, axis + count)):
        return None
    rest = (*order[: start + 1], *order[start + count :])
    return tuple(each if each <= axis else each - count + 1 for each in rest)


def gather(offer: Offer) -> Permuted | None:
    """The layout rule of Gather: the dimensions of the indices replace the indexed dimension of the data.

    Batch dimensions stay first; None for a permutation that moves them.
    """
    op, order = offer.op, offer.order
    rank, count = rank_of(op.operands[0]), rank_of(op.operands[1])
    axis = constant_of(op.operands[2])
    if rank is None or count is None or axis is None:
        return None
    batch = op.integer("batch_dims")
    batch += count if batch < 0 else 0
    position, inserted = int(axis.ravel()[0]) % rank, count - batch
    if not offer.is_of(0):
        return None
    own = collected(order, position, inserted) if offer.is_result else order
    if own is None or len(own) != rank or own[:batch] != tuple(range(batch)):
        return None
    permuted = Permuted([own, None, None], [spread(own, position, inserted)])
    moved = np.asarray(inverse(own)[position]).reshape(axis.shape)
    permuted.adaptations[2] = lambda op, value: op.constant_like(moved, value)
    return permuted


def scatter_update(offer: Offer) -> Permuted | None:
    """The layout rule of ScatterUpdate: updates have the data's shape, with the indices' shape in place of the axis.

    Returns None for a computed axis and dynamic ranks, and if the indices are permuted, or their dimensions moved
    apart.
    """
    op, order = offer.op, offer.order
    rank, count = rank_of(op.operands[0]), rank_of(op.operands[1])
    axis = constant_of(op.operands[3])
    if rank is None or count is None or axis is None:
        return None
    position = int(axis.ravel()[0]) % rank
    own: Order | None = order
    if not offer.is_result and offer.index == 2:
        own = collected(order, position, count)
    if own is None or len(own) != rank or not offer.is_of(0, 2):
        return None
    permuted = Permuted([own, None, spread(own, position, count), None], [own])
    moved = np.asarray(inverse(own)[position]).reshape(axis.shape)
    permuted.adaptations[3] = lambda op, value: op.constant_like(moved, value)
    return permuted


def shape_of_data(offer: Offer) -> Permuted | None:
    """The layout rule of ShapeOf: the shape of the permuted tensor, its elements gathered into the natural order.

    Returns None if the shape itself is permuted.
    """
    op, order = offer.op, offer.order
    if offer.is_result:
        return None
    axes = np.array(inverse(order), np.int64)
    permuted = Permuted([order], [None], extra=1)
    permuted.construct = lambda builder, values: [builder.Gather(builder.create(type(op), values, dict(op.properties)).results[0], axes, 0)]
    return permuted


def strided_slice(offer: Offer) -> Permuted | None:
    """The layout rule of StridedSlice: its bounds and masks are expanded to one element per dimension of the data, and
    permuted.

    Returns None for computed bounds and dynamic ranks, and for a permutation that does not fit data and result.
    """
    op = offer.op
    rank, result_rank = rank_of(op.operands[0]), rank_of(op.results[0])
    if rank is None or result_rank is None or not all(map(is_constant, op.operands[1:])):
        return None
    index = Index(op, rank)
    if len(index.targets) != rank or index.result_rank != result_rank:
        return None
    permuted = mapped(offer, AxisMap(tuple(index.targets), result_rank))
    if permuted is None or permuted.operands[0] is None or permuted.results[0] is None:
        return None
    return index.permute(permuted, op)


class Index:
    """The bounds and masks of a StridedSlice with constant bounds, expanded to one element for each dimension of the
    data.
    """

    FULL = {"begin": 0, "end": 0, "strides": 1, "begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 0, "new_axis_mask": 0}
    """The bounds and masks that select a whole dimension."""

    def __init__(self, op: OpsetOp, rank: int) -> None:
        bounds = [constant_of(operand) for operand in op.operands[1:]]
        begin, end = (cast("list[int]", bound.tolist()) if bound is not None else [] for bound in bounds[:2])
        strides = bounds[2].tolist() if len(bounds) > 2 and bounds[2] is not None else [1] * len(begin)
        masks = {name: padded(op.integers(name), len(begin)) for name in (*list(self.FULL)[3:], "ellipsis_mask")}
        self.entries: list[dict[str, int]] = []
        """The entries, one for each dimension of the data."""
        self.targets: list[int | None] = []
        """The dimension of the result that each dimension of the data becomes; None for one that is removed."""
        self.result_rank = 0
        new = masks["new_axis_mask"]
        for position in range(len(begin)):
            if masks["ellipsis_mask"][position]:
                after = sum(1 for later in range(position + 1, len(begin)) if not new[later])
                for _ in range(rank - after - len(self.entries)):
                    self._add(self.FULL)
            elif new[position]:
                self.result_rank += 1
            else:
                values = {"begin": begin[position], "end": end[position], "strides": strides[position]}
                self._add({**values, **{name: masks[name][position] for name in list(self.FULL)[3:]}})
        while len(self.entries) < rank:
            self._add(self.FULL)

    def _add(self, entry: dict[str, int]) -> None:
        self.entries.append(entry)
        self.targets.append(None if entry["shrink_axis_mask"] else self.result_rank)
        self.result_rank += not entry["shrink_axis_mask"]

    def permute(self, permuted: Permuted, op: OpsetOp) -> Permuted:
        """Complete a permuted form, whose permutations are already determined, with the permuted index."""
        order, result_order = permuted.operands[0], permuted.results[0]
        assert order is not None
        assert result_order is not None
        kept = set(self.targets)
        new_axis = {**self.FULL, "new_axis_mask": 1}
        entries: list[dict[str, int]] = []
        data = list(order)
        for axis in result_order:
            if axis not in kept:
                entries.append(new_axis)
                continue
            while self.targets[data[0]] is None:
                entries.append(self.entries[data.pop(0)])
            entries.append(self.entries[data.pop(0)])
        entries.extend(self.entries[axis] for axis in data)
        elements = [element_of(operand) for operand in op.operands[1:]]
        vectors = [np.array([entry[name] for entry in entries], np.int64) for name in ("begin", "end", "strides")]
        properties = {name: [entry[name] for entry in entries] for name in list(self.FULL)[3:]}
        permuted.construct = lambda builder, values: [
            builder.StridedSlice(
                values[0],
                *(builder.constant(vector, element) for vector, element in zip(vectors, [*elements, elements[0]], strict=False)),
                **properties,
            )
        ]
        return permuted


RULES: dict[str, LayoutRule] = {
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "OneHot": one_hot,
    "Gather": gather,
    "ScatterUpdate": scatter_update,
    "ShapeOf": shape_of_data,
    "StridedSlice": strided_slice,
}
