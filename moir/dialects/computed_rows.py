"""Lazy arrays each of whose rows is computed from the rows of other arrays at the same index.

    bytes ui8 [N, 18 · blocks]  ->  codes ui8 [N, blocks, 16]    packed pairs of 4 bits
                                ->  scales f16 [N, blocks, 1]

Codes of weights that a file stores in blocks of its own format are such arrays: unlike the elements of a
`ComputedArray`, one of them is not a function of the element at the same position.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from moir.dialects.large_arrays import ComputedArray, Values, read_rows, release_block
from moir.dialects.memory_map import Array, release

WORTH_DEFERRING_BYTES = 64 << 10
"""Minimum size in bytes of an array for which computing or moving its rows is deferred until they are read."""


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
        """The rows after a function that moves or selects whole rows, independently of their content; it is applied to
        each source.
        """
        sources = [rows_moved(source, move, self.outer) for source in self.sources]
        return ComputedRows(self.function, sources, (*sources[0].shape[: self.outer], *self.shape[self.outer :]), self.dtype, self.outer)

    def reshape(self, *shape: Any) -> Values:
        """The elements, in C order, in another shape.

        If the rows of the result would not be rows of the array, all elements are computed now.
        """
        sizes = _sizes(shape, self.size)
        outer = self.outer
        if math.prod(sizes) != self.size or sizes[:outer] != self.shape[:outer]:
            return np.asarray(self).reshape(*shape)
        return ComputedRows(partial(_reshaped, outer, sizes[outer:]), [self], sizes, self.dtype, outer)

    def moved(self, move: Callable[[Array], Array]) -> Values:
        """The array, computed now, after a function that may move elements between rows."""
        return move(np.asarray(self))

    def block(self, index: tuple[slice, ...]) -> Array:
        """The elements of a block, which has a slice of each dimension."""
        rows = self._applied([read_rows(source, index[: self.outer]) for source in self.sources])
        return rows[(*[slice(None)] * self.outer, *index[self.outer :])]

    def elements(self, start: int, stop: int) -> Array:
        """The elements from `start` up to, but not including, `stop` in C order; one dimension."""
        width, height = max(1, math.prod(self.shape[self.outer :])), self.shape[self.outer - 1]
        first, last = start // width, -(-min(stop, self.size) // width)
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
        order: for each row of the result, the index of a row of the array, over its first dimensions in C order.
    """

    __slots__ = ("array", "order")

    def __init__(self, array: Array, order: Array) -> None:
        super().__init__(_same, (), (*order.shape, *array.shape[order.ndim :]), array.dtype, order.ndim)
        self.sources = (array,)
        self.array = array
        self.order = order

    def rows(self, move: Callable[[Array], Array]) -> ComputedRows:
        """The rows after a function that moves or selects whole rows, independently of their content; it is applied to
        `order`.
        """
        return MovedRows(self.array, move(self.order))

    def block(self, index: tuple[slice, ...]) -> Array:
        """The elements of a block, which has a slice of each dimension."""
        numbers = np.unravel_index(self.order[index[: self.outer]], self.array.shape[: self.outer])
        return self.array[numbers][(*[slice(None)] * self.outer, *index[self.outer :])]

    def release(self, index: tuple[slice, ...]) -> None:
        """Drop the pages of files between the first and the last row of a block."""
        numbers = self.order[index[: self.outer]]
        if numbers.size and self.array.flags.c_contiguous:
            release(self.array.reshape(-1, *self.array.shape[self.outer :])[int(numbers.min()) : int(numbers.max()) + 1])


class StackedMatrices(ComputedRows):
    """Several matrices of one shape as one array [matrices, rows, …], without a copy.

    Args:
        matrices: the matrices, all of one shape and type.
    """

    __slots__ = ()

    def __init__(self, matrices: Sequence[Values]) -> None:
        first = matrices[0]
        super().__init__(_same, (), (len(matrices), *first.shape), first.dtype, 2)
        self.sources = tuple(matrices)
        self.cost = max(each.cost if isinstance(each, ComputedArray) else 1 for each in matrices)

    def rows(self, move: Callable[[Array], Array]) -> ComputedRows:
        """The result of a function that moves or selects whole rows of each matrix."""
        return StackedMatrices([rows_moved(each, lambda array: move(array[None])[0]) for each in self.sources])

    def block(self, index: tuple[slice, ...]) -> Array:
        """The elements of a block, which has a slice of each dimension."""
        rest = index[1:]
        inner = (rest[0], *[slice(None)] * (len(rest) - 1))
        numbers = range(*index[0].indices(self.shape[0]))
        return np.stack([read_rows(self.sources[number], inner[:1])[(slice(None), *rest[1:])] for number in numbers])

    def release(self, index: tuple[slice, ...]) -> None:
        """Drop the pages of files from which a block was computed."""
        for number in range(*index[0].indices(self.shape[0])):
            source = self.sources[number]
            if isinstance(source, ComputedArray):
                source.release((index[1], *[slice(None)] * (source.ndim - 1)))
            else:
                release(source[index[1]])


class MergedRows(ComputedRows):
    """The rows of all matrices of an array [N, height, …] as one matrix [N · height, …]; whole matrices are computed.

    Args:
        matrices: the array, of which single matrices are read.
    """

    __slots__ = ("height",)

    def __init__(self, matrices: Values) -> None:
        count, self.height, *inner = matrices.shape
        super().__init__(_same, (), (count * self.height, *inner), matrices.dtype)
        self.sources = (matrices,)
        self.cost = matrices.cost if isinstance(matrices, ComputedArray) else 1

    def rows(self, move: Callable[[Array], Array]) -> ComputedRows:
        """The rows, computed now, after a function that moves or selects whole rows."""
        return MovedRows(np.asarray(self), move(np.arange(self.shape[0])))

    def block(self, index: tuple[slice, ...]) -> Array:
        """The elements of a block, which has a slice of each dimension."""
        start, stop, _ = index[0].indices(self.shape[0])
        matrices = self._matrices(index[0])
        rows = read_rows(self.sources[0], (matrices,)).reshape(-1, *self.shape[1:])
        first = matrices.start * self.height
        return rows[(slice(start - first, stop - first), *index[1:])]

    def release(self, index: tuple[slice, ...]) -> None:
        """Drop the pages of files from which a block was computed."""
        source, matrices = self.sources[0], self._matrices(index[0])
        release_block(source, (matrices, *[slice(None)] * (source.ndim - 1)))

    def _matrices(self, rows: slice) -> slice:
        """The matrices that have some of the rows of a slice."""
        start, stop, _ = rows.indices(self.shape[0])
        return slice(start // self.height, -(-stop // self.height))


def merged_rows(matrices: Values) -> Values:
    """An array [N, height, …] as one matrix [N · height, …], whose matrices are computed when it is read."""
    if not isinstance(matrices, ComputedArray):
        return matrices.reshape(-1, *matrices.shape[2:])
    return MergedRows(matrices)


def stacked_matrices(matrices: Sequence[Values]) -> Values:
    """Stacks matrices of one shape and type along a new first axis: eagerly if the result is small, else lazily."""
    result = StackedMatrices(matrices)
    return result if result.nbytes >= WORTH_DEFERRING_BYTES else np.asarray(result)


def computed_rows(function: Callable[..., Array], sources: Sequence[Values], shape: tuple[int, ...], dtype: Any, outer: int = 1) -> Values:
    """An array whose rows are functions of rows: computed eagerly if it is small, else lazily (`ComputedRows`)."""
    result = ComputedRows(function, sources, shape, np.dtype(dtype), outer)
    return result if result.nbytes >= WORTH_DEFERRING_BYTES else np.asarray(result)


def repeated_rows(array: Array, order: Array) -> Values:
    """Rows of an array, which may be repeated, without a large copy: `array[order]` for an array `order` [N] of row
    indices.
    """
    return MovedRows(array, order) if order.size * array[:1].nbytes >= WORTH_DEFERRING_BYTES else array[order]


def rows_moved(values: Values, move: Callable[[Array], Array], outer: int = 1) -> Values:
    """Apply a function that moves or selects whole rows, independently of their content, to any kind of array.

    Args:
        values: the array, whose first `outer` dimensions number its rows.
        move: a function of arrays of these dimensions and any more.
        outer: 1, or 2 for the matrices of experts.
    """
    if isinstance(values, ComputedRows):
        return values.rows(move)
    if isinstance(values, ComputedArray):
        sources = [
            rows_moved(each if isinstance(each, ComputedArray) else np.broadcast_to(each, values.shape), move, outer)
            for each in values.sources
        ]
        return ComputedArray(values.function, sources, sources[0].shape, values.dtype)
    numbers = np.arange(math.prod(values.shape[:outer])).reshape(values.shape[:outer])
    order = move(numbers)
    if values.nbytes < WORTH_DEFERRING_BYTES or np.may_share_memory(order, numbers):
        return move(values)
    return MovedRows(values, order)


def _same(array: Array) -> Array:
    return array


def _reshaped(outer: int, inner: tuple[int, ...], rows: Array) -> Array:
    return rows.reshape(*rows.shape[:outer], *inner)


def _sizes(shape: tuple[Any, ...], size: int) -> tuple[int, ...]:
    """The shape that the arguments of `reshape` give for an array of `size` elements; a -1 in them is replaced by the
    size that remains.
    """
    sizes: list[int] = [int(each) for each in (shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)]
    known = math.prod(each for each in sizes if each != -1)
    return tuple([size // max(1, known) if each == -1 else each for each in sizes])


def _numbers(index: int, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """The slices that select one matrix of an array with the outer dimensions `shape`; `index` is its index in C
    order.
    """
    return tuple([slice(int(each), int(each) + 1) for each in np.unravel_index(index, shape)]) if shape else ()
