"""Index maps of movement operations whose operands may be computed sizes or indices: for each element of a result, the
element of the operand that it is.

Others mean what their `evaluate` computes with the functions of `movement_functions`. A function takes the operation
and its operands, and returns its results. `tests/unit/proofs/test_index_maps.py` compares each with `evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.proofs.context import guarded, require
from moir.proofs.movement_functions import cut, sliced
from moir.proofs.reshapes import merged_index, reshape
from moir.proofs.scalars import Scalar, UnprovableError, alike, index_of, is_term, literal
from moir.proofs.smt import z3
from moir.proofs.tensors import Index, Size, Tensor, broadcast_shape, broadcast_to, is_same

Meaning: TypeAlias = Callable[..., Sequence[Tensor]]
"""A function of an operation and its operands that returns its results."""


def entries_of(tensor: Tensor) -> list[Any]:
    """The elements of a tensor of rank 0 or 1, as integers or as terms for sizes."""
    if tensor.ndim > 1 or not all(isinstance(size, int) for size in tensor.shape):
        raise UnprovableError("a list of sizes or axes of unknown length")
    indices = [()] if tensor.ndim == 0 else [(index,) for index in range(tensor.shape[0])]
    return [_number(index_of(tensor.at(index), tensor.dtype)) for index in indices]


def _number(value: Scalar) -> Any:
    simple = z3.simplify(value) if is_term(value) else value
    return simple.as_long() if is_term(simple) and z3.is_int_value(simple) else value


def numbers_of(tensor: Tensor) -> list[int]:
    """The elements of a tensor of rank 0 or 1 as integers. Raises UnprovableError if one is a term."""
    entries = entries_of(tensor)
    if any(is_term(entry) for entry in entries):
        raise UnprovableError("axes or an order that are computed")
    return entries


def axis_in(tensor: Tensor, rank: int) -> int:
    """The only element of a tensor as a nonnegative axis below `rank`."""
    (axis,) = numbers_of(tensor)
    return axis % rank if rank else axis


def _reshape(op: OpsetOp, data: Tensor, target: Tensor) -> Sequence[Tensor]:
    return (reshape(data, entries_of(target), op.flag("special_zero")),)


def _squeeze(op: OpsetOp, data: Tensor, axes: Tensor | None = None) -> Sequence[Tensor]:
    named = None if axes is None else {axis % data.ndim for axis in numbers_of(axes)} if data.ndim else set[int]()
    if not named:
        if not all(isinstance(size, int) for size in data.shape):
            raise UnprovableError("a Squeeze of all dimensions of 1 where sizes are unknown")
        named = {axis for axis, size in enumerate(data.shape) if size == 1}
    for axis in named:
        if not isinstance(data.shape[axis], int):
            require(data.shape[axis] == 1)
    removed = {axis for axis in named if not isinstance(data.shape[axis], int) or data.shape[axis] == 1}
    kept = [axis for axis in range(data.ndim) if axis not in removed]

    def at(index: Index) -> Scalar:
        entries: list[Any] = [0] * data.ndim
        for position, axis in enumerate(kept):
            entries[axis] = index[position]
        return data.at(tuple(entries))

    return (Tensor([data.shape[axis] for axis in kept], data.dtype, at),)


def _variadic_split(op: OpsetOp, data: Tensor, axes: Tensor, lengths: Tensor) -> Sequence[Tensor]:
    axis, sizes = axis_in(axes, data.ndim), entries_of(lengths)
    known = [size for size in sizes if is_term(size) or size != -1]
    rest = data.shape[axis] - sum(known)
    if len(known) == len(sizes) and is_term(rest):
        require(rest == 0)
    elif is_term(rest):
        require(rest >= 0)
    parts: list[Tensor] = []
    start: Size = 0
    for size in sizes:
        length = size if is_term(size) or size != -1 else rest
        parts.append(cut(data, axis, start, length))
        start = start + length
    return parts


def _slice(op: OpsetOp, data: Tensor, starts: Tensor, stops: Tensor, steps: Tensor, axes: Tensor | None = None) -> Sequence[Tensor]:
    bounds = [entries_of(starts), entries_of(stops), numbers_of(steps)]
    named = list(range(len(bounds[0]))) if axes is None else [axis % data.ndim for axis in numbers_of(axes)]
    for axis, start, stop, step in zip(named, *bounds, strict=True):
        data = sliced(data, axis, start, stop, step)
    return (data,)


def _gather(op: OpsetOp, data: Tensor, indices: Tensor, axes: Tensor) -> Sequence[Tensor]:
    axis, batch = axis_in(axes, data.ndim), op.integer("batch_dims")
    batch = batch + indices.ndim if batch < 0 else batch
    own = indices.ndim - batch
    size = data.shape[axis]

    def at(index: Index) -> Scalar:
        entry = indices.at((*index[:batch], *index[axis : axis + own]))
        number = _number(index_of(entry, indices.dtype))
        rest = index[axis + own :]
        if isinstance(number, int):
            if isinstance(size, int):
                position: Any = number + size if number < 0 else number
                return data.at((*index[:axis], position, *rest)) if 0 <= position < size else literal(0, data.dtype)
            position = number + size if number < 0 else number
            require(z3.And(position >= 0, position < size))
            return data.at((*index[:axis], position, *rest))
        counted = z3.If(number < 0, number + size, number)
        is_inside = z3.And(counted >= 0, counted < size)
        with guarded(is_inside):
            element = data.at((*index[:axis], counted, *rest))
        # Beyond the data, Gather reads zeros.
        return z3.If(is_inside, *alike([element, literal(0, data.dtype)], data.dtype))

    return (Tensor((*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :]), data.dtype, at),)


def _broadcast(op: OpsetOp, data: Tensor, target: Tensor, *axes: Tensor) -> Sequence[Tensor]:
    shape = entries_of(target)
    match op.text("mode"):
        case "bidirectional":
            return (broadcast_to(data, broadcast_shape(data.shape, shape)),)
        case "numpy":
            for own, size in zip(data.shape[::-1], shape[::-1], strict=False):
                if not is_same(own, size) and not (isinstance(own, int) and own == 1):
                    require(z3.Or(own == 1, own == size))
            return (broadcast_to(data, shape),)
        case mode:
            raise UnprovableError(f"a Broadcast of mode {mode}")


def _tile(op: OpsetOp, data: Tensor, repeats: Tensor) -> Sequence[Tensor]:
    counts = entries_of(repeats)
    rank = max(len(counts), data.ndim)
    ones: list[Size] = [1] * rank
    counts, shape = ones[len(counts) :] + counts, ones[data.ndim :] + list(data.shape)

    def at(index: Index) -> Scalar:
        entries: list[Any] = []
        for entry, size, count in zip(index, shape, counts, strict=True):
            if isinstance(size, int) and size == 1:
                entries.append(0)
            elif isinstance(count, int) and count == 1:
                entries.append(entry)
            else:
                entries.append(merged_index(entry, [count, size])[1])
        return data.at(tuple(entries[rank - data.ndim :]))

    return (
        Tensor(
            [size if isinstance(count, int) and count == 1 else size * count for size, count in zip(shape, counts, strict=True)],
            data.dtype,
            at,
        ),
    )


def _shape_of(op: OpsetOp, data: Tensor) -> Sequence[Tensor]:
    shape = data.shape

    def at(index: Index) -> Scalar:
        (axis,) = index
        if isinstance(axis, int):
            return shape[axis]
        return reduce(lambda rest, number: z3.If(axis == number, shape[number], rest), range(len(shape) - 1), shape[-1])

    return (Tensor((len(shape),), np.dtype(np.int64), at),)


def _one_hot(op: OpsetOp, indices: Tensor, depth: Tensor, on: Tensor, off: Tensor) -> Sequence[Tensor]:
    (size,) = entries_of(depth)
    axis = op.integer("axis") % (indices.ndim + 1)
    negative = "negative_indices_mode" in op.properties and op.text("negative_indices_mode") == "normalize"

    def at(index: Index) -> Scalar:
        number = index_of(indices.at((*index[:axis], *index[axis + 1 :])), indices.dtype)
        counted = z3.If(number < 0, number + size, number) if negative and is_term(number) else number
        return z3.If(counted == index[axis], on.at(()), off.at(()))

    return (Tensor((*indices.shape[:axis], size, *indices.shape[axis:]), on.dtype, at),)


INDEX_MAPS: dict[str, Meaning] = {
    "Reshape": _reshape,
    "Squeeze": _squeeze,
    "VariadicSplit": _variadic_split,
    "Slice": _slice,
    "Gather": _gather,
    "Broadcast": _broadcast,
    "Tile": _tile,
    "ShapeOf": _shape_of,
    "OneHot": _one_hot,
}
"""The meaning of these operations, by kind."""
