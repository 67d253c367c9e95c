"""Delta debugging: a small part of a model that still fails.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002. Any set of operations makes a
model: results of other operations that it reads become inputs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence


class Minimization:
    """The search for a small set of operations.

    Args:
        fails: whether the part of the model with some operations still fails.
        seconds: the time after which the smallest part so far is the result.
    """

    def __init__(self, fails: Callable[[frozenset[int]], bool], seconds: float) -> None:
        self._fails = fails
        self._end = time.monotonic() + seconds
        self._known: dict[frozenset[int], bool] = {}

    @property
    def checks(self) -> int:
        """The number of parts that were checked."""
        return len(self._known)

    @property
    def is_over(self) -> bool:
        """Whether the time limit is reached."""
        return time.monotonic() > self._end

    def fails(self, kept: Iterable[int]) -> bool:
        """Whether the model of the operations with the ids `kept` still fails.

        False for no operations, and after the time limit.
        """
        part = frozenset(kept)
        if part not in self._known:
            if self.is_over or not part:
                return False
            self._known[part] = self._fails(part)
        return self._known[part]

    def around(self, neighbours: Sequence[Sequence[int]], hint: Iterable[int]) -> list[int] | None:
        """A failing set of operations, grown from `hint` by adding neighbours until the check fails.

        Returns None if the time is over, nothing more can be added, or the set has more than half of all operations.

        Args:
            neighbours: for each operation, the ids of the operations that are connected with it.
            hint: the ids of the operations from which the set grows.
        """
        part = set(hint)
        while part and not self.is_over:
            if self.fails(part):
                return sorted(part)
            larger = part | {each for op in part for each in neighbours[op]}
            if larger == part or len(larger) > len(neighbours) // 2:
                return None
            part = larger
        return None

    def minimized(self, operations: Sequence[int]) -> list[int]:
        """A failing part from which no single operation can be left out, unless the time runs out before."""
        kept, count = list(operations), 2
        while len(kept) > 1 and not self.is_over:
            size = -(-len(kept) // count)
            pieces = [kept[start : start + size] for start in range(0, len(kept), size)]
            smaller = next((piece for piece in pieces if len(pieces) == 2 and self.fails(piece)), None)
            if smaller is None:
                smaller, was_smaller = self._without(kept, pieces)
            else:
                was_smaller = True
            if was_smaller:
                kept, count = smaller, max(2, min(count, len(smaller)))
                continue
            if size == 1:
                break
            count = min(len(kept), count * 2)
        return kept

    def _without(self, kept: list[int], groups: Sequence[Sequence[int]]) -> tuple[list[int], bool]:
        """Drop each group of `groups` without which the rest of the operations `kept` still fails.

        Returns the ids of the remaining operations, and whether any group was dropped.
        """
        changed = False
        for piece in groups:
            left_out = set(piece)
            rest = [each for each in kept if each not in left_out]
            if rest and self.fails(rest):
                kept, changed = rest, True
        return kept, changed
