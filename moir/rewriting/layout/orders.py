"""Orders of dimensions, and how they carry over between the two sides of an operation.

An order is what Transpose takes: dimension i of `Transpose(x, order)` is dimension `order[i]` of x.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Order: TypeAlias = tuple[int, ...]


def natural(rank: int) -> Order:
    """The order that changes nothing."""
    return tuple(range(rank))


def is_natural(order: Sequence[int]) -> bool:
    """Whether an order changes nothing."""
    return all(axis == position for position, axis in enumerate(order))


def inverse(order: Order) -> Order:
    """The order that undoes another; entry `a` says where dimension `a` went."""
    positions = [0] * len(order)
    for position, axis in enumerate(order):
        positions[axis] = position
    return tuple(positions)


def composed(first: Order, second: Order) -> Order:
    """The order of `Transpose(Transpose(x, first), second)`."""
    return tuple(first[axis] for axis in second)


def between(start: Order, end: Order) -> Order:
    """The order that makes what has the order `start` have the order `end`."""
    return composed(inverse(start), end)


def with_fixed(moving: Iterable[int], fixed: Collection[int], rank: int) -> Order:
    """An order in which the `fixed` dimensions stay where they are and the `moving` ones follow each other in the
    places left.
    """
    rest = iter(moving)
    return tuple(axis if axis in fixed else next(rest) for axis in range(rank))


@dataclass(frozen=True)
class AxisMap:
    """Which dimension of a result each dimension of an operand becomes; None for one that goes. Both count upwards.

    What goes, or comes, has no place that is given by the other side: it stays where it is.
    """

    targets: tuple[int | None, ...]
    result_rank: int

    def forward(self, order: Order) -> Order:
        """The order of the result for an order of the operand."""
        kept = [target for axis in order if (target := self.targets[axis]) is not None]
        return with_fixed(kept, set(range(self.result_rank)) - set(kept), self.result_rank)

    def backward(self, order: Order) -> Order:
        """The order of the operand for an order of the result."""
        sources = {target: axis for axis, target in enumerate(self.targets) if target is not None}
        kept = [sources[axis] for axis in order if axis in sources]
        return with_fixed(kept, set(range(len(self.targets))) - set(kept), len(self.targets))

    @staticmethod
    def removing(axes: Collection[int], rank: int) -> AxisMap:
        """The dimensions `axes` of a tensor go."""
        count = iter(range(rank))
        return AxisMap(tuple(None if axis in axes else next(count) for axis in range(rank)), rank - len(axes))

    @staticmethod
    def inserting(axes: Collection[int], rank: int) -> AxisMap:
        """Dimensions come, which are `axes` of the result; `rank` is that of the result."""
        return AxisMap(tuple(axis for axis in range(rank) if axis not in axes), rank)
