"""The conversions that wait for a process, in the order in which they begin."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from moir.tools.batch.memory import need_of
from moir.tools.batch.work import Work


class Queue:
    """The conversions that have not begun. They begin in their order or, with a limit of memory, the largest that fits
    first.

    Args:
        works: the conversions.
        memory: the memory of all conversions at a time in bytes; None for no limit.
    """

    def __init__(self, works: Sequence[Work], memory: int | None) -> None:
        self._free = memory
        self._needs = {} if memory is None else {number: min(need_of(work), memory) for number, work in enumerate(works)}
        # Ascending, so that the last one is the largest, and of several the first.
        self._pending = sorted((self._needs.get(number, 0), -number) for number in range(len(works)))

    def __bool__(self) -> bool:
        return bool(self._pending)

    def begin(self) -> int | None:
        """Begin the next conversion.

        Returns its number; None if all have begun, or if the free memory suffices for none.
        """
        if self._free is None:
            return -self._pending.pop()[1] if self._pending else None
        index = bisect_left(self._pending, (self._free + 1,)) - 1
        if index < 0:
            return None
        need, negative = self._pending.pop(index)
        self._free -= need
        return -negative

    def end(self, number: int) -> None:
        """Free the memory that is reserved for conversion `number`, which has ended."""
        if self._free is not None:
            self._free += self._needs[number]
