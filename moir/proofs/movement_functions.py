"""The functions of numpy that move elements, for symbolic tensors: which element each element of a result is.

Sizes may be symbols; what counts dimensions (orders, axes, widths) is a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from moir.proofs.context import guarded, require
from moir.proofs.scalars import Scalar, UnprovableError, alike, is_term, larger, smaller
from moir.proofs.smt import z3
from moir.proofs.tensors import Index, MovedTensor, Size, Tensor, as_tensor, broadcast_shape, broadcast_to, is_same


def replaced(index: Sequence[Any], axis: int, entry: Any) -> Index:
    """An index with the element for one axis replaced by `entry`."""
    return (*index[:axis], entry, *index[axis + 1 :])


def swapaxes(x: Tensor, a: int, b: int) -> Tensor:
    """A tensor with two dimensions exchanged."""
    order = list(range(x.ndim))
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


def transpose(x: Tensor, order: Any) -> Tensor:
    """A tensor with its dimensions in another order."""
    back = np.argsort(order).tolist()
    return MovedTensor([x.shape[axis] for axis in order], x.dtype, lambda index: x.at(tuple([index[axis] for axis in back])))


def moveaxis(x: Tensor, source: int, target: int) -> Tensor:
    """A tensor with the dimension `source` moved to the index `target`."""
    order = list(range(x.ndim))
    order.insert(target % x.ndim, order.pop(source % x.ndim))
    return transpose(x, order)


def take(x: Tensor, indices: Any, axis: int) -> Tensor:
    """The elements at the indices of a 1-D array along an axis. Raises UnprovableError for a symbolic index."""
    entries = np.asarray(indices).tolist()

    def at(index: Index) -> Scalar:
        if is_term(index[axis]):
            raise UnprovableError("an element at a symbolic index of an array")
        return x.at(replaced(index, axis, entries[index[axis]]))

    return Tensor(replaced(x.shape, axis, len(entries)), x.dtype, at)


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors one after another along an axis."""
    like = next(each.dtype for each in arrays if isinstance(each, Tensor))
    parts = [as_tensor(each, like) for each in arrays]
    axis = axis % parts[0].ndim
    shape = list(parts[0].shape)
    for each in parts[1:]:
        for other, size in enumerate(each.shape):
            if other != axis and not is_same(size, shape[other]):
                require(size == shape[other])
    ends = [parts[0].shape[axis]]
    for each in parts[1:]:
        ends.append(ends[-1] + each.shape[axis])

    def at(index: Index) -> Scalar:
        entry = index[axis]
        starts = [0, *ends[:-1]]
        if all(isinstance(each, int) for each in (entry, *ends)):
            number = next(number for number, end in enumerate(ends) if entry < end)
            return parts[number].at(replaced(index, axis, entry - starts[number]))
        own = [replaced(index, axis, entry - start if is_term(start) or start else entry) for start in starts]
        read: list[Scalar] = []
        for each, inner, start, end in zip(parts, own, starts, ends, strict=True):
            with guarded(z3.And(entry >= start, entry < end)):
                read.append(each.at(inner))
        elements = alike(read, parts[0].dtype)
        result = elements[-1]
        for element, end in list(zip(elements, ends, strict=True))[-2::-1]:
            result = z3.If(entry < end, element, result)
        return result

    shape[axis] = ends[-1]
    return Tensor(shape, parts[0].dtype, at)


def cut(data: Tensor, axis: int, start: Size, length: Size, step: int = 1) -> Tensor:
    """The `length` elements along an axis from a start on, with a step."""

    def at(index: Index) -> Scalar:
        entry = index[axis]
        moved = entry if isinstance(start, int) and (start, step) == (0, 1) else start + entry * step
        return data.at(replaced(index, axis, moved))

    return Tensor(replaced(data.shape, axis, length), data.dtype, at)


def split(data: Tensor, count: int, axis: int = 0) -> list[Tensor]:
    """Split a tensor into `count` equal parts along an axis."""
    axis %= data.ndim
    size = data.shape[axis]
    length = size // count if isinstance(size, int) else size / count
    if not isinstance(size, int):
        require(size % count == 0)
    return [cut(data, axis, length * number, length) for number in range(count)]


def bound_of(bound: Any, size: Size, low: int, high: Size) -> Size:
    """The bound of a slice as an index from the start: `size` is added to a negative bound, and the result clamped to
    [low, high].
    """
    if all(isinstance(each, int) for each in (bound, size, high)):
        return min(max(bound + size if bound < 0 else bound, low), high)
    if isinstance(bound, int) and bound >= np.iinfo(np.int32).max:
        return high
    counted = z3.If(bound < 0, bound + size, bound) if is_term(bound) else bound + size if bound < 0 else bound
    return smaller(larger(z3.IntVal(counted) if isinstance(counted, int) else counted, low), high)


def sliced(data: Tensor, axis: int, start: Any, stop: Any, step: int) -> Tensor:
    """A slice along an axis; negative bounds count from the end, and bounds are clamped to the size."""
    size = data.shape[axis]
    if step == 1 and isinstance(start, int) and start == 0 and is_same(stop, size):
        return data
    if step > 0:
        first, last = bound_of(start, size, 0, size), bound_of(stop, size, 0, size)
        length = last - first
    else:
        first, last = bound_of(start, size, 0, size - 1), bound_of(stop, size, -1, size - 1)
        length = first - last
    count = abs(step)
    if isinstance(length, int):
        total: Size = max(-(-length // count), 0)
    else:
        rounded = length if count == 1 else (length + (count - 1)) / count
        total = larger(rounded, 0) if is_term(first) or not _is_whole(first, last, size) else rounded
    return cut(data, axis, first, total, step)


def _is_whole(first: Size, last: Size, size: Size) -> bool:
    return isinstance(first, int) and first == 0 and last is size


def pad(data: Tensor, widths: Sequence[Sequence[int]], mode: str = "constant", constant_values: Any = 0) -> Tensor:
    """A tensor with `constant_values` before and after its elements along each axis, as many as `widths` has.

    Raises UnprovableError for any mode but `constant`.
    """
    if mode != "constant":
        raise UnprovableError(f"padding of mode {mode}")
    before, after = zip(*widths, strict=True) if widths else ((), ())
    filler = constant_values if is_term(constant_values) else as_tensor(constant_values, data.dtype).at(())

    def at(index: Index) -> Scalar:
        entries = [entry - amount if amount else entry for entry, amount in zip(index, before, strict=True)]
        sides = [(entry >= 0, entry < size) for entry, size, a, b in zip(entries, data.shape, before, after, strict=True) if a > 0 or b > 0]
        conditions = [each for pair in sides for each in pair]
        if all(isinstance(each, bool) for each in conditions):
            return data.at(tuple(entries)) if all(conditions) else filler
        is_inside = z3.And(*conditions)
        with guarded(is_inside):
            element = data.at(tuple(entries))
        return z3.If(is_inside, element, filler)

    return Tensor([size + a + b if a or b else size for size, a, b in zip(data.shape, before, after, strict=True)], data.dtype, at)


def expand_dims(data: Tensor, axis: int) -> Tensor:
    """A tensor with a dimension of 1 inserted."""
    axis %= data.ndim + 1
    shape = (*data.shape[:axis], 1, *data.shape[axis:])
    return Tensor(shape, data.dtype, lambda index: data.at((*index[:axis], *index[axis + 1 :])))


def get_item(data: Tensor, key: Any) -> Tensor:
    """The part of a tensor that slices, indices, an ellipsis and new dimensions select."""
    entries: list[Any] = list(cast("tuple[Any, ...]", key)) if isinstance(key, tuple) else [key]
    if Ellipsis in entries:
        place = entries.index(Ellipsis)
        taken = sum(entry is not None for entry in entries) - 1
        entries[place : place + 1] = [slice(None)] * (data.ndim - taken)
    axis = 0
    for entry in entries:
        if entry is None:
            data, axis = expand_dims(data, axis), axis + 1
        elif isinstance(entry, slice):
            data, axis = _python_slice(data, axis, entry), axis + 1
        elif isinstance(entry, int):
            data = _element(data, axis, entry)
        else:
            raise UnprovableError(f"a tensor indexed with {type(entry).__name__}")
    return data


def _python_slice(data: Tensor, axis: int, part: Any) -> Tensor:
    size, step = data.shape[axis], 1 if part.step is None else int(part.step)
    start, stop = (0, size) if step > 0 else (size - 1, -size - 1)
    return sliced(data, axis, start if part.start is None else part.start, stop if part.stop is None else part.stop, step)


def _element(data: Tensor, axis: int, entry: int) -> Tensor:
    size = data.shape[axis]
    position = entry + size if entry < 0 else entry
    if isinstance(position, int) and isinstance(size, int):
        require(0 <= position < size)
    else:
        require(z3.And(position >= 0, position < size))
    shape = (*data.shape[:axis], *data.shape[axis + 1 :])
    return Tensor(shape, data.dtype, lambda index: data.at((*index[:axis], position, *index[axis:])))


def _broadcast_to(data: Tensor, shape: Sequence[Size]) -> Tensor:
    return broadcast_to(data, broadcast_shape(data.shape, shape))


MOVEMENTS: dict[str, Callable[..., Any]] = {
    "transpose": transpose,
    "swapaxes": swapaxes,
    "moveaxis": moveaxis,
    "take": take,
    "concatenate": concatenate,
    "split": split,
    "pad": pad,
    "expand_dims": expand_dims,
    "broadcast_to": _broadcast_to,
    "get_item": get_item,
}
"""Implementations, which take the arguments of numpy's functions; `get_item` is indexing with brackets."""
