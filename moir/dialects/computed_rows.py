"""Arrays whose rows are computed when they are read: each from the row of the same number of other arrays.

    bytes ui8 [N, 18 · blocks]  ->  codes ui8 [N, blocks, 16]    packed pairs of 4 bits
                                ->  scales f16 [N, blocks, 1]

Codes of weights that a file stores in blocks of a format of its own are of this kind: unlike the elements of a
`ComputedArray`, one of them is not a function of the element at the same position.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from moir.dialects.large_arrays import ComputedArray, Values, read_rows
from moir.dialects.memory_map import Array, release

LARGEST_MOVED = 64 << 10
"""Largest size in bytes of an array whose rows are moved in memory."""


class ComputedRows(ComputedArray):
    """An array each of whose rows is a function of the rows of other arrays at its position.

    Args:
        function: computes rows of the result from rows of the sources; the dimensions that number rows come first in
            all of them, and are of the same sizes.
        sources: arrays whose first dimensions number rows.
        shape: shape of the result.
        dtype: type of the elements of the result.
        outer: how many dimensions number rows: 1, or 2 for the matrices of experts.
    """

    __slots__ = ("outer",)

    def __init__(
        self, function: Callable[..., Array], sources: Sequence[Values], shape: tuple[int, ...], dtype: np.dtype[Any], outer: int = 1
    ) -> None:
        assert all(source.shape[:outer] == shape[:outer] for source in sources)
        super().__init__(function, sources, shape, dtype)
        self.outer = outer

    def rows(self, move: Callable[[Array], Array]) -> ComputedRows:
        """The result of a function that moves or selects whole rows, whatever they are."""
        sources = [rows_moved(source, move) for source in self.sources]
        return ComputedRows(self.function, sources, (*sources[0].shape[: self.outer], *self.shape[self.outer :]), self.dtype, self.outer)

    def reshape(self, *shape: Any) -> Values:
        """The elements, in C order, in another shape: computed now if the rows do not stay rows."""
        sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else tuple(shape)
        if sizes.count(-1) == 1:
            known = -math.prod(sizes)
            sizes = tuple(self.size // known if size == -1 and known else size for size in sizes)
        if math.prod(sizes) != self.size or sizes[: self.outer] != self.shape[: self.outer] or min(sizes, default=0) < 0:
            return np.asarray(self).reshape(*shape)
        inner, function, outer = sizes[self.outer :], self.function, self.outer
        if isinstance(self, MovedRows):
            return ComputedRows(lambda rows: rows.reshape(*rows.shape[:outer], *inner), [self], sizes, self.dtype, outer)
        return ComputedRows(
            lambda *rows: (result := function(*rows)).reshape(*result.shape[:outer], *inner), self.sources, sizes, self.dtype, outer
        )

    def moved(self, move: Callable[[Array], Array]) -> Values:
        """The result of a function that moves elements: they are computed now, since they may leave their rows."""
        return move(np.asarray(self))

    def block(self, index: tuple[slice, ...]) -> Array:
        """The elements of a block, which has a slice of each dimension."""
        rows = self._applied([read_rows(source, index[: self.outer]) for source in self.sources])
        return rows[(*[slice(None)] * self.outer, *index[self.outer :])]

    def elements(self, start: int, stop: int) -> Array:
        """The elements from `start` up to, but not including, `stop` in C order; one dimension."""
        width, height = max(1, math.prod(self.shape[self.outer :])), self.shape[self.outer - 1]
        first, last = start // width, -(-stop // width)
        parts: list[Array] = []
        for matrix in range(first // max(1, height), -(-last // max(1, height))):
            rows = slice(max(0, first - matrix * height), min(height, last - matrix * height))
            outer = (*_numbers(matrix, self.shape[: self.outer - 1]), rows)
            parts.append(self.block((*outer, *[slice(None)] * (self.ndim - self.outer))).reshape(-1))
        flat = np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else np.empty(0, self.dtype)
        return flat[start - first * width : stop - first * width]

    def release(self, index: tuple[slice, ...]) -> None:
        """Drop the pages of files from which a block was computed."""
        for source in self.sources:
            if isinstance(source, ComputedArray):
                source.release(index[: self.outer] + (slice(None),) * (source.ndim - self.outer))
            else:
                release(source[index[: self.outer]])


class MovedRows(ComputedRows):
    """Rows of an array in another order, which no view of memory can express.

    Args:
        array: the array.
        order: the number of a row of the array, counted over its first dimensions in C order, for each row of the result.
    """

    __slots__ = ("order",)

    def __init__(self, array: Array, order: Array) -> None:
        self.function = _same
        self.sources = [array]
        self.outer = order.ndim
        self.shape = (*order.shape, *array.shape[order.ndim :])
        self.dtype = array.dtype
        self.cost = 1
        self.order = order

    def rows(self, move: Callable[[Array], Array]) -> ComputedRows:
        """The result of a function that moves or selects whole rows, whatever they are."""
        (array,) = self.sources
        assert isinstance(array, np.ndarray)
        return MovedRows(array, move(self.order))

    def block(self, index: tuple[slice, ...]) -> Array:
        """The elements of a block, which has a slice of each dimension."""
        (array,) = self.sources
        assert isinstance(array, np.ndarray)
        numbers = np.unravel_index(self.order[index[: self.outer]], array.shape[: self.outer])
        return array[numbers][(*[slice(None)] * self.outer, *index[self.outer :])]

    def release(self, index: tuple[slice, ...]) -> None:
        """Drop the pages of files between the first and the last row of a block."""
        (array,) = self.sources
        numbers = self.order[index[: self.outer]]
        if isinstance(array, np.ndarray) and numbers.size and array.flags.c_contiguous:
            release(array.reshape(-1, *array.shape[self.outer :])[int(numbers.min()) : int(numbers.max()) + 1])


def rows_moved(values: Values, move: Callable[[Array], Array], outer: int = 1) -> Values:
    """The result of a function that moves or selects whole rows, whatever they are, of an array of any kind.

    Args:
        values: the array, whose first `outer` dimensions number its rows.
        move: a function of arrays of these dimensions and any more.
        outer: 1, or 2 for the matrices of experts.
    """
    if isinstance(values, ComputedRows):
        return values.rows(move)
    if isinstance(values, ComputedArray):
        sources = [rows_moved(each if isinstance(each, ComputedArray) else np.broadcast_to(each, values.shape), move, outer) for each in values.sources]
        return ComputedArray(values.function, sources, sources[0].shape, values.dtype)
    numbers = np.arange(math.prod(values.shape[:outer])).reshape(values.shape[:outer])
    order = move(numbers)
    if values.nbytes <= LARGEST_MOVED or np.may_share_memory(order, numbers):
        return move(values)
    return MovedRows(values, order)


def _same(array: Array) -> Array:
    return array


def _numbers(index: int, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """The slices of the matrix of a number in C order."""
    return tuple([slice(int(each), int(each) + 1) for each in np.unravel_index(index, shape)]) if shape else ()
