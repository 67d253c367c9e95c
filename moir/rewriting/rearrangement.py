"""Changes of the layout of a value: at most a Reshape that splits dimensions, a Transpose, and a Reshape that fuses
some.

Both layouts consist of the same parts: dimensions with the same name are matched, and those without a name in one of
the layouts in their order. A dimension consists of one part, or of several that are fused into it:

    nhwc -> nchw                    parts 0 1 2 3       ->  0 3 1 2
    [n,h,w,c] -> [n,c,h*w]          parts 0 1 2 3       ->  0 3 (1 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from moir.errors import UsageError
from moir.parameters.layouts import ANY_NUMBER, FUSED, UNNAMED, Layout
from moir.rewriting.builder import OpBuilder

Parts: TypeAlias = tuple[tuple[int, ...], ...]
"""The parts that each dimension of a value consists of."""


@dataclass(frozen=True)
class Rearrangement:
    """A change of the layout.

    Args:
        source: for each dimension of the model's value, the indices of its parts, counted from 0.
        target: the same for the layout of the callers.
        layout: the layout of the callers, including the names of dimensions that only the model's layout has.
    """

    source: Parts
    target: Parts
    layout: Layout

    @property
    def changes(self) -> bool:
        """Whether the two layouts differ."""
        return self.source != self.target

    @staticmethod
    def between(source: Layout, target: Layout, rank: int | None) -> Rearrangement:
        """The conversion of a value of the model from its layout `source` to the layout `target` of the callers.

        `rank` is None if it is dynamic. Raises UsageError if the layouts do not fit the rank or each other.
        """
        if rank is None:
            if ANY_NUMBER in source.dimensions:
                raise UsageError(f"{source} says nothing of the number of dimensions, and the model neither", hint="name each dimension")
            rank = len(source.dimensions)
        ours, theirs = _parts(source.of_rank(rank)), _parts(target)
        least = len(target.dimensions) - target.dimensions.count(ANY_NUMBER)
        theirs = _parts(target.of_rank(least + len(ours) - len(theirs)))
        indices = _matched([name for _, name in ours], [name for _, name in theirs], f"{source}->{target}")
        names = [name if name != UNNAMED else ours[number][1] for number, (_, name) in zip(indices, theirs, strict=True)]
        layout = _joined([dimension for dimension, _ in theirs], names)
        # Neighbours that are fused on both sides are one part.
        number, numbers = -1, [0] * len(ours)
        where = {part: index for index, part in enumerate(indices)}
        for part, (dimension, _) in enumerate(ours):
            before, here = where.get(part - 1, -1), where[part]
            joined = part > 0 and dimension == ours[part - 1][0] and here == before + 1 and theirs[here][0] == theirs[before][0]
            number += not joined
            numbers[part] = number
        return Rearrangement(
            _grouped([(dimension, numbers[part]) for part, (dimension, _) in enumerate(ours)]),
            _grouped([(dimension, numbers[part]) for part, (dimension, _) in zip(indices, theirs, strict=True)]),
            layout,
        )

    def sizes(self, shape: Sequence[int]) -> list[int]:
        """The size of each part of a model's value with this shape; -1 for a dynamic size."""
        known = {parts[0]: size for parts, size in zip(self.source, shape, strict=True) if len(parts) == 1}
        return [known.get(part, -1) for part in range(sum(map(len, self.source)))]

    def target_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape that callers use in place of the model's shape."""
        return _fused_shape(self.target, self.sizes(shape))

    def of_input(self, op: OpBuilder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """An input in the model's layout and of this shape, computed from the value of callers.

        Raises UsageError if that is not possible.
        """
        return _rearranged(op, value, self.target, self.source, self.sizes(shape), shape)

    def of_output(self, op: OpBuilder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """An output in the layout of callers, computed from the model's value of this shape.

        Raises UsageError if that is not possible.
        """
        return _rearranged(op, value, self.source, self.target, self.sizes(shape), self.target_shape(shape))


def _parts(layout: Layout) -> list[tuple[int, str]]:
    """The index of the dimension and the name of each part of a layout: several for a fused dimension, none for
    `...`.
    """
    dimensions = enumerate(layout.dimensions)
    return [(index, name) for index, each in dimensions if each != ANY_NUMBER for name in each.split(FUSED)]


def _matched(ours: Sequence[str], theirs: Sequence[str], text: str) -> list[int]:
    """The index of the model's part for each part of the callers.

    Args:
        ours: the names of the model's parts.
        theirs: the names of the callers' parts.
        text: the layouts, for messages.

    Raises UsageError if a part has no counterpart.
    """
    rest = [index for index, name in enumerate(ours) if name == UNNAMED or name not in theirs]
    indices: list[int] = []
    for name in theirs:
        if name != UNNAMED and name in ours:
            indices.append(ours.index(name))
            continue
        own = ours[rest[0]]
        if UNNAMED not in (name, own):
            raise UsageError(f"{text}: {own.lower()!r} has no counterpart, and neither has {name.lower()!r}")
        indices.append(rest.pop(0))
    return indices


def _joined(dimensions: Sequence[int], names: Sequence[str]) -> Layout:
    return Layout(tuple(FUSED.join(names[part] for part in parts) for parts in _grouped([(d, i) for i, d in enumerate(dimensions)])))


def _grouped(parts: Sequence[tuple[int, int]]) -> Parts:
    """The distinct parts of each dimension, in order, given pairs (dimension, part)."""
    groups: dict[int, dict[int, None]] = {}
    for dimension, part in parts:
        groups.setdefault(dimension, {})[part] = None
    return tuple(map(tuple, groups.values()))


def _fused_shape(dimensions: Parts, sizes: Sequence[int]) -> tuple[int, ...]:
    merged = [[sizes[part] for part in parts] for parts in dimensions]
    return tuple(-1 if -1 in each else prod(each) for each in merged)


def _rearranged(op: OpBuilder, value: SSAValue, given: Parts, wanted: Parts, sizes: Sequence[int], shape: Sequence[int]) -> SSAValue:
    flat = [part for parts in given for part in parts]
    if len(flat) > len(given):
        value = _reshaped(op, value, [entry for axis, parts in enumerate(given) for entry in _split(axis, parts, sizes)])
    order = [flat.index(part) for parts in wanted for part in parts]
    value = op.transposed(value, order)
    if len(flat) > len(wanted):
        axes = iter(range(len(flat)))
        fused = [tuple(next(axes) for _ in parts) for parts in wanted]
        value = _reshaped(op, value, [size if size >= 0 else _Product(part, 1) for size, part in zip(shape, fused, strict=True)])
    return value


@dataclass(frozen=True)
class _Product:
    """A size computed at run time: the product of the dimensions `axes` of a value, divided by `divisor`."""

    axes: tuple[int, ...]
    divisor: int


def _split(axis: int, parts: Sequence[int], sizes: Sequence[int]) -> list[int | _Product]:
    """The sizes into which dimension `axis` is split, given the sizes of its parts; one dynamic part gets a computed
    size.

    Raises UsageError if more than one part is dynamic.
    """
    known = [sizes[part] for part in parts]
    if known.count(-1) > 1 or {-1, 0} <= set(known):
        raise UsageError(
            f"dimension {axis} cannot be split into {len(parts)} of sizes {', '.join('?' if size < 0 else str(size) for size in known)}",
            hint="give the inputs of the model shapes in which they are known",
        )
    return [_Product((axis,), prod(size for size in known if size >= 0)) if size < 0 else size for size in known]


def _reshaped(op: OpBuilder, value: SSAValue, sizes: Sequence[int | _Product]) -> SSAValue:
    """Reshape a value to sizes, some of which may be known at run time only."""
    target = [size if isinstance(size, int) else 0 if size == _Product((index,), 1) else -1 for index, size in enumerate(sizes)]
    if target.count(-1) < 2 and 0 not in sizes:
        return op.Reshape(value, np.array(target, np.int64), special_zero=True)
    shape = op.ShapeOf(value)
    return op.Reshape(value, op.Concat(*(_size(op, shape, each) for each in sizes), axis=0), special_zero=False)


def _size(op: OpBuilder, shape: SSAValue, size: int | _Product) -> SSAValue:
    """A size as a 1-D tensor of one element; `shape` is the shape of the value, for computed sizes."""
    if isinstance(size, int):
        return op.constant([size])
    factors = op.Gather(shape, list(size.axes), 0)
    product = op.ReduceProd(factors, [0], keep_dims=True) if len(size.axes) > 1 else factors
    return op.Divide(product, size.divisor) if size.divisor > 1 else product
