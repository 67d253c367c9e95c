"""Permuted forms of Reshape: a permutation passes through if it moves each group of joined or split dimensions as a
whole.

Height and width are one group here:

    Reshape(Transpose(x, [0, 2, 3, 1]), [0, -1, 8])  ->  Transpose(Reshape(x, [0, 8, -1]), [0, 2, 1])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from moir.analysis.dimensions import Dimensions, Token
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import is_static, shape_of
from moir.dialects.symbols import Symbol, same
from moir.passes.layout.orders import Order, is_natural, natural, with_fixed
from moir.passes.layout.permuted import LayoutRule, Offer, Permuted, permute_vector
from moir.support.records import Record

HOLE = Symbol(dimension=True)
"""The token of an element -1 of a target shape."""


class Group(Record):
    """Adjacent dimensions of the data and the dimensions of the result that they become, without those of size 1."""

    data: tuple[int, ...]
    result: tuple[int, ...]


def target_tokens(op: OpsetOp, known: Dimensions, data: Sequence[Token]) -> list[Token] | None:
    """The target shape as tokens: integers, dimensions of the data, or `HOLE`; None if the target is unknown."""
    entries = known.elements(op.operands[1])
    if entries is None:
        return None
    target: list[Token] = []
    for position, entry in enumerate(entries.ravel().tolist()):
        if not isinstance(entry, Symbol) and entry <= 0:
            if entry == 0 and not (op.flag("special_zero") and position < len(data)):
                return None
            entry = HOLE if entry < 0 else data[position]
        target.append(entry)
    return target


def common_groups(data: Sequence[Token], target: Sequence[Token], axes: Sequence[int], places: Sequence[int]) -> list[Group]:
    """Groups of equal size from the start of two shapes, up to the first that cannot be compared.

    Args:
        data: the dimensions of the data.
        target: the dimensions of the result.
        axes: the axes of the data to group, in order.
        places: the axes of the result to group, in order.
    """
    groups: list[Group] = []
    a = b = 0
    while a < len(axes) and b < len(places):
        start = a, b
        left, right = data[axes[a]], target[places[b]]
        a, b = a + 1, b + 1
        while not same(left, right):
            if isinstance(left, Symbol) or isinstance(right, Symbol):
                return groups
            if left < right and a < len(axes):
                factor = data[axes[a]]
                left, a = (factor if isinstance(factor, Symbol) else left * factor), a + 1
            elif left > right and b < len(places):
                factor = target[places[b]]
                right, b = (factor if isinstance(factor, Symbol) else right * factor), b + 1
            else:
                return groups
        groups.append(Group(tuple(axes[start[0] : a]), tuple(places[start[1] : b])))
    return groups


def grouped(data: Sequence[Token], target: Sequence[Token]) -> list[Group] | None:
    """The groups of dimensions of a Reshape; None if the known sizes do not determine them."""
    if any(same(token, 0) for token in (*data, *target)):
        return None
    axes = [axis for axis, token in enumerate(data) if not same(token, 1)]
    wide_axes = [axis for axis, token in enumerate(target) if not same(token, 1)]
    front = common_groups(data, target, axes, wide_axes)
    axes = axes[sum(len(group.data) for group in front) :]
    wide_axes = wide_axes[sum(len(group.result) for group in front) :]
    back = common_groups(data, target, axes[::-1], wide_axes[::-1])
    axes = axes[: len(axes) - sum(len(group.data) for group in back)]
    wide_axes = wide_axes[: len(wide_axes) - sum(len(group.result) for group in back)]
    if bool(axes) != bool(wide_axes):
        return None
    middle = [Group(tuple(axes), tuple(wide_axes))] if axes else []
    return [*front, *middle, *(Group(group.data[::-1], group.result[::-1]) for group in reversed(back))]


def follow(order: Order, pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], rank: int) -> Order | None:
    """The permutation of one side of a Reshape (data or result) that corresponds to `order` of the other side.

    None if `order` separates dimensions that the Reshape merges.

    Args:
        order: permutation of the given side.
        pairs: for each group its dimensions on the given side and on the other side.
        rank: rank of the other side; its dimensions that are in no group stay in place.
    """
    group_of = {axis: pair for pair in pairs for axis in pair[0]}
    moving = [axis for axis in order if axis in group_of]
    result: list[int] = []
    while moving:
        own, other = group_of[moving[0]]
        if tuple(moving[: len(own)]) != own:
            return None
        moving = moving[len(own) :]
        result.extend(other)
    if is_natural([sorted(result).index(axis) for axis in result]):
        return natural(rank)
    return with_fixed(result, set(range(rank)) - set(result), rank)


def permuted_target(data: Sequence[Token], target: Sequence[Token], order: Order) -> list[int] | None:
    """The constant target shape for permuted data with dimensions `data`; None if more than one element would be -1."""
    entries: list[int] = []
    for index, axis in enumerate(order):
        entry = target[axis]
        if not isinstance(entry, Symbol):
            entries.append(entry)
        elif entry is not HOLE and index < len(data) and same(data[index], entry):
            entries.append(0)
        else:
            entries.append(-1)
    return entries if entries.count(-1) < 2 else None


def reshape(offer: Offer) -> Permuted | None:
    """The layout rule of Reshape: data and result have any permutations that keep each group of dimensions together.

    Returns None for other permutations, if the groups are unknown, and if the target shape cannot be permuted.
    """
    op, order = offer.op, offer.order
    data, shape = offer.known.tokens(op.operands[0]), shape_of(op.results[0])
    target = None if data is None else target_tokens(op, offer.known, data)
    if data is None or target is None or shape is None or not offer.is_of(0):
        return None
    groups = grouped(data, target)
    static = shape_of(op.operands[0])
    if groups is None and static is not None and is_static(static) and not any(isinstance(token, Symbol) for token in target):
        # A constant target shape is only valid for the static shape of the data, so use that shape.
        data = static
        groups = grouped(data, target)
    if groups is None or len(order) != (len(target) if offer.is_result else len(data)):
        return None
    own: Order | None = order
    result: Order | None = order
    if offer.is_result:
        own = follow(order, [(group.result, group.data) for group in groups], len(data))
    else:
        result = follow(order, [(group.data, group.result) for group in groups], len(target))
    if own is None or result is None:
        return None
    for group in groups:
        # A number is more refined than the symbolic dimension of the data that it equals.
        if len(group.data) == len(group.result) == 1 and isinstance(target[group.result[0]], Symbol):
            target[group.result[0]] = data[group.data[0]]
    permuted = Permuted([own, None], [result])
    moved = [data[axis] for axis in own]
    entries = permuted_target(moved, target, result)
    if entries is not None:
        permuted.construct = lambda builder, values: [builder.Reshape(values[0], np.array(entries, np.int64), special_zero=True)]
    elif (values := offer.known.elements(op.operands[1])) is not None and all(
        isinstance(entry, Symbol) or entry != 0 for entry in values.ravel()
    ):
        permute_vector(permuted, 1, op.operands[1], result)
    else:
        return None
    return permuted


RULES: dict[str, LayoutRule] = {"Reshape": reshape}
