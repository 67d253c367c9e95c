"""Tensor types and shape arithmetic.

A shape is a tuple of dimensions, -1 for an unknown one; `None` stands for a dynamic rank. In the shapes that
operations compute (`OpsetOp.result_shapes`) a dimension may also be a `Symbol`: two dimensions with one symbol are
equal. Tensor types are interned: equal types are nearly always one object, so that a comparison by identity usually
suffices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, TypeAlias, TypeGuard, TypeVar, cast, overload

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, OpResult, SSAValue

from moir.dialects.element_types import dynamic, interned
from moir.dialects.symbols import Clipped, Dimension, Symbol
from moir.errors import InferenceError

Shape: TypeAlias = tuple[int, ...] | None
"""Dimensions of a tensor, -1 where dynamic; None if even the rank is dynamic."""

SymbolicShape: TypeAlias = tuple[Dimension, ...] | None
"""A shape whose dimensions may also be symbols."""

Shapes: TypeAlias = Sequence[SymbolicShape]
"""Shapes of the operands or the results of an operation."""

AnyDimension = TypeVar("AnyDimension", bound=Dimension)

TensorTypeAttribute: TypeAlias = TensorType[Attribute] | UnrankedTensorType[Attribute]


MAXIMUM_RANK = 64
"""Upper bound on the rank of a tensor, beyond any valid model: constants are numpy arrays, and this is numpy's
limit.
"""

MAXIMUM_ELEMENTS = 1 << 48
"""Upper bound on the number of elements of a tensor, dimensions of 0 and unknown ones aside.

Processors address 48 bits.
"""

_INTERNED: dict[tuple[Shape, Attribute], TensorTypeAttribute] = {}
_DESCRIPTIONS: dict[int, tuple[Attribute, Shape, Attribute]] = {}
"""Type, shape and element type by `id` of a type; the reference to the type keeps the `id` from being reused."""


def tensor(shape: Iterable[Dimension] | None, element: Attribute) -> TensorTypeAttribute:
    """The interned tensor type of a shape and an element type; a symbol becomes a dynamic dimension."""
    key: Any = (None if shape is None else tuple(shape), element)
    interned = _INTERNED.get(key)
    return _intern(key[0], element) if interned is None else interned


def _intern(shape: SymbolicShape, element: Attribute) -> TensorTypeAttribute:
    key = (None if shape is None else tuple([-1 if isinstance(d, Symbol) else d for d in shape]), element)
    interned = _INTERNED.get(key)
    if interned is None:
        interned = _INTERNED[key] = _make(*key)
    return interned


def _make(shape: Shape, element: Attribute) -> TensorTypeAttribute:
    if shape is None:
        return UnrankedTensorType(element)
    if reason := impossibility(shape):
        raise InferenceError(reason)
    # xDSL represents a dynamic dimension by another number.
    return TensorType(element, [DYNAMIC_INDEX if dimension < 0 else dimension for dimension in shape])


def impossibility(shape: Sequence[int]) -> str | None:
    """Why no tensor can have a shape: too many dimensions or too many elements, as a clause; None if a tensor can have
    it.
    """
    if len(shape) < 6 and max(shape, default=0) < 4096:
        return None
    if len(shape) > MAXIMUM_RANK:
        return f"a tensor of rank {len(shape)} is not possible"
    if prod([max(dimension, 1) for dimension in shape]) > MAXIMUM_ELEMENTS:
        return f"a tensor of shape {format_shape(shape)} is larger than any memory"
    return None


UNKNOWN = tensor(None, dynamic)
"""The type of a value of unknown shape and element type."""


def _describe(value: SSAValue | Attribute) -> tuple[Attribute, Shape, Attribute]:
    # isinstance(x, SSAValue) is slow, so only types that are not in the cache are checked.
    type_ = value.type if type(value) is OpResult else value
    description = _DESCRIPTIONS.get(id(type_))
    if description is None:
        if isinstance(type_, SSAValue):
            return _describe(type_.type)
        description = _DESCRIPTIONS[id(type_)] = (type_, *_read(type_))
    return description


def _read(type_: Attribute) -> tuple[Shape, Attribute]:
    if isinstance(type_, TensorType):
        ranked = cast("TensorType[Attribute]", type_)
        shape = tuple(-1 if dimension == DYNAMIC_INDEX else dimension for dimension in ranked.get_shape())
        return shape, interned(ranked.element_type)
    if isinstance(type_, UnrankedTensorType):
        return None, interned(cast("UnrankedTensorType[Attribute]", type_).element_type)
    return None, dynamic


def shape_of(value: SSAValue | Attribute) -> Shape:
    """Shape of a value or of a tensor type."""
    # The cache look-up of `_describe` is inlined: the call would double the time.
    description = _DESCRIPTIONS.get(id(value.type if type(value) is OpResult else value))
    return _describe(value)[1] if description is None else description[1]


def element_of(value: SSAValue | Attribute) -> Attribute:
    """Element type of a value or of a tensor type; `!moir.dynamic` for anything that is not a tensor."""
    description = _DESCRIPTIONS.get(id(value.type if type(value) is OpResult else value))
    return _describe(value)[2] if description is None else description[2]


def rank_of(value: SSAValue | Attribute) -> int | None:
    """Number of dimensions; None if unknown."""
    shape = shape_of(value)
    return None if shape is None else len(shape)


def is_static(shape: Shape) -> bool:
    """Whether every dimension is known."""
    return shape is not None and -1 not in shape


def is_fixed(dimension: Dimension) -> TypeGuard[int]:
    """Whether a dimension is an integer other than -1, neither unknown nor a symbol."""
    return not isinstance(dimension, Symbol) and dimension >= 0


def element_count(shape: SymbolicShape) -> int | None:
    """Product of the dimensions; None if one is dynamic."""
    if shape is None:
        return None
    count = 1
    for dimension in shape:
        if isinstance(dimension, Symbol) or dimension < 0:
            return None
        count *= dimension
    return count


def has_no_element(shape: SymbolicShape) -> bool:
    """Whether a dimension is known to be 0, whatever the others are."""
    return shape is not None and 0 in shape


def unknown_dimensions(rank: int | None) -> Shape:
    """A shape of `rank` dynamic dimensions. Raises InferenceError for a rank no tensor has."""
    if rank is None:
        return None
    if rank > MAXIMUM_RANK:
        raise InferenceError(f"a tensor of rank {rank} is not possible")
    return (-1,) * rank


def normalize_axis(axis: int, rank: int) -> int:
    """An axis as nonnegative index. Raises InferenceError if it is out of range."""
    if not -rank <= axis < rank:
        raise InferenceError(f"axis {axis} is outside a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis


def are_same_axes(a: Iterable[int], b: Iterable[int], rank: int | None) -> bool:
    """Whether the same dimensions are meant, in any order and counted from either end; False if the rank is dynamic, or
    an axis is out of range.
    """
    if rank is None:
        return False
    try:
        first, second = ({normalize_axis(axis, rank) for axis in axes} for axes in (a, b))
    except InferenceError:
        return False
    return first == second


def size_along(shape: Sequence[int], axis: int) -> int:
    """The dimension of an axis, -1 if it is dynamic. Raises InferenceError if the axis is out of range."""
    try:
        return shape[axis]
    except IndexError:
        raise InferenceError(f"axis {axis} is outside a tensor of rank {len(shape)}") from None


def merge_dimensions(a: Dimension, b: Dimension) -> Dimension:
    """The most precise dimension that two facts about one dimension imply: an integer if either is one.

    Raises InferenceError if the two contradict each other.
    """
    if a == b or b == -1 or (isinstance(b, Symbol) and a != -1):
        return a
    if isinstance(a, Symbol) or a < 0:
        return b
    raise InferenceError(f"dimensions {a} and {b} should be equal")


def merge_shapes(a: SymbolicShape, b: SymbolicShape) -> SymbolicShape:
    """The most precise shape that two facts about one shape imply.

    Raises InferenceError if the two contradict each other.
    """
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise InferenceError(f"shapes {format_shape(a)} and {format_shape(b)} should have equal rank")
    return tuple(map(merge_dimensions, a, b))


def join_shapes(a: Shape, b: Shape) -> Shape:
    """The most precise shape that covers both `a` and `b`, for a value that has one or the other at run time."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else -1 for x, y in zip(a, b, strict=True))


def merge_elements(a: Attribute, b: Attribute) -> Attribute:
    """The element type two operands share, `!moir.dynamic` if neither has one. Raises InferenceError if they differ."""
    if a is b or a == b or b is dynamic:
        return a
    if a is dynamic:
        return b
    raise InferenceError(f"element types {a} and {b} should be equal")


def refines(shape: Shape, other: Shape) -> bool:
    """Whether a shape is at least as precise as another one: it has all dimensions that the other one knows."""
    return other is None or (
        shape is not None and len(shape) == len(other) and all(d < 0 or own == d for own, d in zip(shape, other, strict=True))
    )


def broadcast_dimension(a: Dimension, b: Dimension) -> Dimension:
    """Numpy broadcasting of one dimension; an unknown one against a known one other than 1 yields the known one.

    The result for two different symbols is unknown, since either may be 1, unless one of them is the other one clipped
    (`Clipped`).
    """
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if not is_fixed(a):
        return b if is_fixed(b) else _unclipped(a, b)
    if not is_fixed(b):
        return a
    raise InferenceError(f"dimensions {a} and {b} do not broadcast")


def _unclipped(a: Dimension, b: Dimension) -> Dimension:
    """n if one of the dimensions is n and the other one is n clipped to a limit (`Clipped`); else -1."""
    return b if isinstance(a, Clipped) and a.size is b else a if isinstance(b, Clipped) and b.size is a else -1


@overload
def broadcast_shapes(*shapes: Shape) -> Shape: ...
@overload
def broadcast_shapes(*shapes: SymbolicShape) -> SymbolicShape: ...
def broadcast_shapes(*shapes: SymbolicShape) -> SymbolicShape:
    """Numpy (bidirectional) broadcasting of shapes. Raises InferenceError if they are not compatible."""
    result: tuple[Dimension, ...] = ()
    for shape in shapes:
        if shape is None:
            return None
        longer, shorter = (result, shape) if len(result) >= len(shape) else (shape, result)
        lead = len(longer) - len(shorter)
        try:
            result = longer[:lead] + tuple(map(broadcast_dimension, longer[lead:], shorter))
        except InferenceError as error:
            raise InferenceError(f"shapes {format_shape(result)} and {format_shape(shape)} do not broadcast") from error
    return result


def product(a: Dimension, b: Dimension) -> Dimension:
    """Product of two dimensions, -1 if one is dynamic."""
    return -1 if a == -1 or b == -1 else a * b


def shifted(dimension: Dimension, count: int) -> Dimension:
    """A dimension increased by `count`; -1 if it is dynamic."""
    return -1 if dimension == -1 else dimension + count


def format_shape(shape: Sequence[Dimension] | None) -> str:
    """A shape as text: `[1,?,3]`, `[...]` for a dynamic rank."""
    return "[...]" if shape is None else f"[{','.join(str(d) if is_fixed(d) else '?' for d in shape)}]"


def permuted(shape: Sequence[AnyDimension], order: Sequence[int]) -> tuple[AnyDimension, ...]:
    """The shape after a transposition by `order`."""
    return tuple([shape[axis] for axis in order])
