"""Permutations of dimensions, and how an operation maps a permutation of its operand to one of its result.

An `Order` is the permutation that Transpose takes: dimension i of `Transpose(x, order)` is dimension `order[i]` of x.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from moir.support.records import Record

Order: TypeAlias = tuple[int, ...]


def natural(rank: int) -> Order:
    """The identity permutation of a rank."""
    return tuple(range(rank))


def is_natural(order: Sequence[int]) -> bool:
    """Whether a permutation is the identity."""
    return all(axis == position for position, axis in enumerate(order))


def inverse(order: Order) -> Order:
    """The inverse permutation: element `a` is the index of dimension `a` after a transposition by `order`."""
    positions = [0] * len(order)
    for position, axis in enumerate(order):
        positions[axis] = position
    return tuple(positions)


def composed(first: Order, second: Order) -> Order:
    """The permutation that equals a transposition by `first` and then by `second`."""
    return tuple(first[axis] for axis in second)


def between(start: Order, end: Order) -> Order:
    """The permutation that turns a tensor transposed by `start` into the same tensor transposed by `end`."""
    return composed(inverse(start), end)


def with_fixed(moving: Iterable[int], fixed: Collection[int], rank: int) -> Order:
    """A permutation that keeps the `fixed` dimensions in place and fills the other indices with `moving`, in that
    order.
    """
    rest = iter(moving)
    return tuple(axis if axis in fixed else next(rest) for axis in range(rank))


class AxisMap(Record):
    """The dimension of the result that each dimension of an operand becomes, in ascending order; None if it is removed.

    The index of a removed or inserted dimension on the other side is not determined by a permutation; it keeps its
    index there.
    """

    targets: tuple[int | None, ...]
    result_rank: int

    def forward(self, order: Order) -> Order:
        """The permutation of the result, given that of the operand."""
        kept = [target for axis in order if (target := self.targets[axis]) is not None]
        return with_fixed(kept, set(range(self.result_rank)) - set(kept), self.result_rank)

    def backward(self, order: Order) -> Order:
        """The permutation of the operand, given that of the result."""
        sources = {target: axis for axis, target in enumerate(self.targets) if target is not None}
        kept = [sources[axis] for axis in order if axis in sources]
        return with_fixed(kept, set(range(len(self.targets))) - set(kept), len(self.targets))

    @staticmethod
    def removing(axes: Collection[int], rank: int) -> AxisMap:
        """The map of an operation that removes the dimensions `axes` from an operand of a rank."""
        count = iter(range(rank))
        return AxisMap(tuple(None if axis in axes else next(count) for axis in range(rank)), rank - len(axes))

    @staticmethod
    def inserting(axes: Collection[int], rank: int) -> AxisMap:
        """The map of an operation that inserts dimensions: `axes` and `rank` are those of the result."""
        return AxisMap(tuple(axis for axis in range(rank) if axis not in axes), rank)
