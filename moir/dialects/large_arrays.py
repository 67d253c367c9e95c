"""Large arrays that need not be in memory as a whole: views of memory-mapped files, and arrays computed from them.

A `ComputedArray` is a function of other arrays that is applied block by block whenever its elements are read, so that
a weight that a pass rounds or multiplies takes no memory. It has the shape, the type and the few methods of an array
that passes use; numpy computes all of it where it needs an array. Code that reads pieces (`pieces`, `windows`,
`same_bytes`) takes arrays of both kinds, and drops the pages of files that it has read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from moir.dialects.computed_ahead import computed_ahead
from moir.dialects.memory_map import Array, release

CHUNK_BYTES = 4 << 20
"""Size in bytes of the parts in which large arrays are read."""

COMPUTED_BYTES = 1 << 18
"""Size in bytes of the parts in which arrays are computed; computing one takes several times as much memory."""

WINDOW_BYTES = 64
WINDOWS = 4
"""Number of the windows of a large array, of `WINDOW_BYTES` each, that are compared before all its bytes are."""

SCATTERED_BYTES = 16 << 20
"""Minimum size in bytes of a strided array that is read in steps, so that not all its pages are in memory at once."""

STRIP_BYTES = 256
"""Size in bytes of the part of a row that is copied at once if the rows are columns in memory: four cache lines."""

SMALL_GAPS = 4
"""Gaps between the elements of an array are small if it spans at most this many times its size in memory."""

WORTH_RELEASING = 64 << 10
"""Minimum size in bytes of an array whose pages are released: the kernel maps about as many around each read byte."""

WORTH_DEFERRING = 16 << 10
"""Minimum number of elements for which computing an array is deferred until it is read."""

WORTH_THREADS = 4 << 20
"""Minimum size in bytes of an array whose blocks are computed by several threads."""

MAXIMUM_COST = 32
"""Maximum number of functions that are applied to each element whenever it is read."""


class ComputedArray:
    """An array each of whose elements is a function of the elements of other arrays at its position.

    `computed` makes one.

    Args:
        function: computes a block of the result from blocks of the sources, which broadcast as in numpy.
        sources: arrays of the rank of the result that broadcast to its shape; computed ones have its shape.
        shape: shape of the result.
        dtype: type of the elements of the result.
    """

    __slots__ = ("cost", "dtype", "function", "shape", "sources")

    def __init__(self, function: Callable[..., Array], sources: Sequence[Values], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.function = function
        self.sources = sources
        self.shape = shape
        self.dtype = dtype
        self.cost: int = 1 + sum(source.cost for source in sources if isinstance(source, ComputedArray))

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Size of all elements in bytes."""
        return self.size * self.dtype.itemsize

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Array:
        """All elements, read-only: they are computed anew for each call, so that changes of them would be lost."""
        flat = np.empty(self.size, self.dtype)
        position = 0
        for piece in pieces(self):
            flat[position : position + piece.size] = piece
            position += piece.size
        result = flat.reshape(self.shape).astype(self.dtype if dtype is None else dtype, copy=False)
        result.flags.writeable = False
        return result

    def astype(self, dtype: np.dtype[Any], *, copy: bool = True) -> Values:
        """The elements converted to another type."""
        return self if dtype == self.dtype else computed(partial(_converted, dtype), self)

    def reshape(self, *shape: Any) -> Values:
        """The elements, in C order, in another shape; sources whose rows are computed stay so if they can."""
        sources = [each if isinstance(each, ComputedArray) else np.broadcast_to(each, self.shape) for each in self.sources]
        return computed(self.function, *[each.reshape(*shape) for each in sources])

    def transpose(self, order: Sequence[int]) -> Values:
        """The array with its dimensions permuted."""
        return self.moved(lambda array: array.transpose(order))

    def moved(self, move: Callable[[Array], Array]) -> Values:
        """The array after a function that only moves elements, which is applied to each source, not to the result."""
        sources = [
            source.moved(move) if isinstance(source, ComputedArray) else move(np.broadcast_to(source, self.shape))
            for source in self.sources
        ]
        return computed(self.function, *sources)

    def block(self, index: tuple[slice, ...]) -> Array:
        """The elements of a block, which has a slice of each dimension."""
        return self._applied([each.block(index) if isinstance(each, ComputedArray) else _read(each, index) for each in self.sources])

    def release(self, index: tuple[slice, ...]) -> None:
        """Drop the pages of files from which a block was computed; those of scattered arrays stay."""
        for each in self.sources:
            if isinstance(each, ComputedArray):
                each.release(index)
            elif each.nbytes >= WORTH_RELEASING and _is_sequential(each):
                release(_part(each, index))

    def elements(self, start: int, stop: int) -> Array:
        """The elements from `start` up to, but not including, `stop` in C order; one dimension."""
        return self._applied([_elements(each, self.shape, start, stop) for each in self.sources])

    def _applied(self, blocks: list[Array]) -> Array:
        with np.errstate(all="ignore"):
            return self.function(*blocks)


Values: TypeAlias = Array | ComputedArray
"""The elements of a constant: an array in memory, or one that is computed when it is read."""


def computed(function: Callable[..., Array], *sources: Values) -> Values:
    """A function of the elements of arrays, which broadcast as in numpy: computed at once, or when it is read if large.

    Args:
        function: computes blocks of the result from blocks of the sources, warnings of numpy turned off. Each element
            that it computes depends only on the elements of the sources at the same position.
        sources: the arrays.
    """
    shape = np.broadcast_shapes(*[source.shape for source in sources])
    if math.prod(shape) < WORTH_DEFERRING:
        with np.errstate(all="ignore"):
            return function(*[np.asarray(source) for source in sources])
    aligned = [_aligned(source, shape) for source in sources]
    with np.errstate(all="ignore"):
        dtype = function(*[_elements(source, shape, 0, 1) for source in aligned]).dtype
    result = ComputedArray(function, aligned, shape, dtype)
    return result if result.cost <= MAXIMUM_COST else np.asarray(result)


def _aligned(source: Values, shape: tuple[int, ...]) -> Values:
    if source.shape == shape:
        return source
    array = np.asarray(source)
    return array.reshape((1,) * (len(shape) - array.ndim) + array.shape)


def _converted(dtype: np.dtype[Any], array: Array) -> Array:
    return array.astype(dtype, copy=False)


def _part(array: Array, index: tuple[slice, ...]) -> Array:
    """A block of an array that may be broadcast: along a dimension of size 1, the block has that element."""
    return array[tuple([slice(None) if size == 1 else each for size, each in zip(array.shape, index, strict=True)])]


def _is_scattered(array: Array) -> bool:
    """Whether a block of an array may be spread over more memory than should be read at once."""
    return not _is_sequential(array) and sum(_spans(array)) > SCATTERED_BYTES


def _is_sequential(array: Array) -> bool:
    """Whether the elements of an array lie in memory in C order, with gaps of `SMALL_GAPS` at most."""
    if array.flags.c_contiguous:
        return True
    strides = [stride for size, stride in zip(array.shape, array.strides, strict=True) if size > 1]
    return strides == sorted(strides, reverse=True) and min(strides) > 0 and sum(_spans(array)) <= SMALL_GAPS * array.nbytes


def _spans(array: Array) -> list[int]:
    """The distance in bytes of the first and the last element along each dimension; 0 along a broadcast one."""
    return [(size - 1) * abs(stride) for size, stride in zip(array.shape, array.strides, strict=True)]


def _read(array: Array, index: tuple[slice, ...]) -> Array:
    """A block of an array that may be broadcast: a view, or a copy if it is spread over much memory."""
    part = _part(array, index)
    if not _is_scattered(array) or not part.size:
        return part
    spans = _spans(part)
    axis = spans.index(max(spans))
    step = max(1, CHUNK_BYTES // max(1, abs(part.strides[axis])))
    result = np.empty(part.shape, part.dtype)
    for start in range(0, part.shape[axis], step):
        slices = (slice(None),) * axis + (slice(start, start + step),)
        _copy(part[slices], result[slices])
        release(part[slices])
    return result


def read_block(values: Values, index: tuple[slice, ...]) -> Array:
    """The elements of a block, which has a slice of each dimension."""
    return values.block(index) if isinstance(values, ComputedArray) else _read(values, index)


def release_block(values: Values, index: tuple[slice, ...]) -> None:
    """Drop the pages of files from which a block was read; those of scattered arrays stay."""
    if isinstance(values, ComputedArray):
        values.release(index)
    elif values.nbytes >= WORTH_RELEASING and _is_sequential(values):
        release(_part(values, index))


def read_rows(values: Values, rows: tuple[slice, ...]) -> Array:
    """Some rows of an array: a view, or a copy made in several steps if they are spread over much memory."""
    return read_block(values, (*rows, *[slice(None)] * (values.ndim - len(rows))))


def _elements(values: Values, shape: tuple[int, ...], start: int, stop: int) -> Array:
    """The elements from `start` to `stop` (exclusive), in C order, of an array broadcast to a shape."""
    if isinstance(values, ComputedArray):
        return values.elements(start, stop)
    array = values if values.shape == shape else np.broadcast_to(values, shape)
    return array.reshape(-1)[start:stop] if array.flags.c_contiguous else array.flat[start:stop]


def _stored(values: Values) -> Iterator[Array]:
    """The arrays in memory from which an array is computed, directly or through other arrays; or the array itself."""
    if isinstance(values, ComputedArray):
        for source in values.sources:
            yield from _stored(source)
    else:
        yield values


def _largest(values: Values) -> Array:
    """The array that takes most memory, of those from which an array is computed."""
    return max(_stored(values), key=lambda array: sum(_spans(array)))


def block_indices(shape: tuple[int, ...], limit: int) -> Iterator[tuple[slice, ...]]:
    """The blocks of at most `limit` elements that an array consists of, in C order."""
    if not shape:
        yield ()
        return
    inner = math.prod(shape[1:])
    rows = limit // max(1, inner)
    for start in range(0, shape[0], max(1, rows)):
        if rows:
            yield (slice(start, start + rows), *[slice(None)] * (len(shape) - 1))
        else:
            for rest in block_indices(shape[1:], limit):
                yield (slice(start, start + 1), *rest)


def blocks(values: Values, limit: int = CHUNK_BYTES) -> Iterator[tuple[tuple[slice, ...], Array]]:
    """The blocks that an array consists of, of about `limit` bytes at most, in C order, and their places in it.

    Blocks are views, or computed, or copied if they are spread over much memory. Pages of memory maps are dropped when
    the next block is requested.
    """
    sources = [array for array in _stored(values) if array.nbytes >= WORTH_RELEASING]
    if isinstance(values, ComputedArray):
        # Scattered memory is read anew for each block.
        limit = limit if any(map(_is_scattered, sources)) else min(limit, COMPUTED_BYTES)
    else:
        if not values.flags.c_contiguous and not _is_scattered(values):
            # A block that is copied should stay in the cache until it is read.
            limit = min(limit, COMPUTED_BYTES)
    widest = max([1, values.dtype.itemsize, *[array.itemsize for array in sources]])
    indices = block_indices(values.shape, max(1, limit // widest))
    read = partial(read_block, values)
    is_slow = isinstance(values, ComputedArray) and any(array.nbytes >= WORTH_THREADS for array in sources)
    for index, block in computed_ahead(read, indices) if is_slow else ((index, read(index)) for index in indices):
        yield index, block
        if sources:
            release_block(values, index)
    for array in sources:
        # Reading ahead in threads has mapped pages again that were released.
        release(array)


def pieces(values: Values, limit: int = CHUNK_BYTES) -> Iterator[Array]:
    """The elements of an array in C order, as contiguous one-dimensional arrays of about `limit` bytes at most.

    Those of a contiguous array are views; others are copied or computed one at a time. Pages of memory maps are dropped
    when the next array is requested.
    """
    if not isinstance(values, ComputedArray) and values.nbytes <= min(limit, WORTH_RELEASING):
        if values.size:
            yield np.ascontiguousarray(values).reshape(-1)
        return
    if not isinstance(values, ComputedArray) and values.flags.c_contiguous:
        values = values.reshape(-1)
    for _, block in blocks(values, limit):
        yield _contiguous(block).reshape(-1)


def _contiguous(array: Array) -> Array:
    """An array in C order: itself, or a copy."""
    if array.flags.c_contiguous:
        return array
    result = np.empty(array.shape, array.dtype)
    _copy(array, result)
    return result


def _copy(array: Array, result: Array) -> None:
    """Copy `array` into `result`; a transposed one in strips, so that the cache holds the lines of both arrays."""
    if array.ndim < 2 or abs(array.strides[-1]) <= abs(array.strides[-2]) or array.nbytes < WORTH_RELEASING:
        result[...] = array
        return
    step = max(1, STRIP_BYTES // array.itemsize)
    for start in range(0, array.shape[-1], step):
        result[..., start : start + step] = array[..., start : start + step]


def memory_order(values: Values) -> list[int]:
    """The dimensions in an order in which memory is read from front to back, for reductions."""
    largest = _largest(values)
    if largest.flags.c_contiguous or largest.shape != values.shape:
        return list(range(values.ndim))
    return sorted(range(values.ndim), key=lambda axis: -abs(largest.strides[axis]))


def is_transposed(values: Values) -> bool:
    """Whether an array of two dimensions is the transposition of one that lies in memory in C order."""
    largest = _largest(values)
    return values.ndim == 2 and values.shape == largest.shape and largest.T.flags.c_contiguous and not largest.flags.c_contiguous


def in_memory_order(values: Values) -> Values:
    """The same elements with the dimensions reordered so that memory is read sequentially, for reductions."""
    order = memory_order(values)
    return values if order == sorted(order) else values.transpose(order)


def is_small(values: Values) -> bool:
    """Whether an array is so small that `windows` returns all of its bytes."""
    return values.nbytes <= WINDOWS * WINDOW_BYTES


def window(values: Values, start: int, stop: int) -> bytes:
    """The bytes from `start` up to, but not including, `stop` of an array in C order."""
    data, first, last = _window(values, start, stop)
    if isinstance(values, ComputedArray) or values.nbytes >= WORTH_RELEASING:
        for array in _stored(values):
            if array.nbytes >= WORTH_RELEASING:
                # A read byte maps pages around it, up to 2 MB with large ones.
                release(array.reshape(-1)[first:last] if array.flags.c_contiguous else array)
    return data


def _window(values: Values, start: int, stop: int) -> tuple[bytes, int, int]:
    """The bytes that `window` returns, and the range of elements that were read; their pages are not dropped."""
    size = values.dtype.itemsize
    first, last = start // size, -(-stop // size)
    return _elements(values, values.shape, first, last).tobytes()[start - first * size : stop - first * size], first, last


def windows(values: Values) -> bytes:
    """Bytes that are equal for equal arrays: all bytes of a small array, evenly spaced windows of a large one."""
    if is_small(values):
        return np.asarray(values).tobytes()
    room = values.nbytes - WINDOW_BYTES
    starts = [index * room // (WINDOWS - 1) for index in range(WINDOWS)]
    if isinstance(values, np.ndarray) and values.flags.c_contiguous and values.nbytes < WORTH_RELEASING:
        content = values.reshape(-1).view(np.uint8)
        return b"".join([content[start : start + WINDOW_BYTES].tobytes() for start in starts])
    samples = b"".join([_window(values, start, start + WINDOW_BYTES)[0] for start in starts])
    for array in _stored(values):
        if array.nbytes >= WORTH_RELEASING:
            release(array)
    return samples


def same_bytes(a: Values, b: Values) -> bool:
    """Whether two arrays have the same bytes in C order, whatever their shapes and types."""
    if a.nbytes != b.nbytes:
        return False
    if is_small(a):
        return windows(a) == windows(b)
    step = COMPUTED_BYTES if isinstance(a, ComputedArray) or isinstance(b, ComputedArray) else CHUNK_BYTES
    return all(window(a, start, start + step) == window(b, start, start + step) for start in range(0, a.nbytes, step))
