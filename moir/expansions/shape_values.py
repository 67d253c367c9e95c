"""Values computed from the shape of another value: constants if the shape is fixed, otherwise operations on ShapeOf."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import normalize_axis, rank_of, shape_of, size_along
from moir.rewriting.builder import OpBuilder

LARGEST_SIZE = 2**31 - 1
"""The largest 32-bit integer, as the stop of a slice that ends after all elements."""


def dimension(op: OpBuilder, value: SSAValue, axis: int) -> int | SSAValue:
    """The size of an axis of a value: an int if it is static, otherwise a scalar of type i64."""
    shape = shape_of(value)
    if shape is not None and (size := size_along(shape, axis)) >= 0:
        return size
    return op.Gather(op.ShapeOf(value), axis, 0)


def dimension_value(op: OpBuilder, value: SSAValue, axis: int, shape: Sequence[int] = ()) -> SSAValue:
    """The size of an axis of a value, an i64 scalar for `shape` (), or a 1-D tensor of one element for [1].

    Static sizes are computed at run time, too, since the IR may be reshaped, unless the options of the conversion fix
    sizes. If the rank is dynamic, the axis may be negative.
    """
    if (size := _fixed_size(op, value, axis)) is not None:
        return op.constant([size] if len(shape) else size, si64)
    return op.Gather(op.ShapeOf(value), op.constant([axis] if len(shape) else axis, si64), op.constant(0, si64))


def dimension_list(op: OpBuilder, value: SSAValue, axis: int) -> SSAValue:
    """The size of an axis of a value as a 1-D tensor of one element; computed as `dimension_value` does."""
    size = _fixed_size(op, value, axis)
    return op.Gather(op.ShapeOf(value), [axis], 0) if size is None else op.constant([size])


def _fixed_size(op: OpBuilder, value: SSAValue, axis: int) -> int | None:
    """The size of an axis that is static and that no `Model.reshape` changes; None otherwise."""
    shape = shape_of(value)
    if shape is None or (size := size_along(shape, axis)) < 0:
        return None
    return size if op.known.sizes_are_fixed or isinstance(value.owner, Constant) else None


def rank_value(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The rank of a value as a 1-D tensor of one element of type i64."""
    rank = rank_of(value)
    return op.ShapeOf(op.ShapeOf(value)) if rank is None else op.constant([rank])


def all_axes(op: OpBuilder, value: SSAValue, first: int = 0) -> SSAValue:
    """The axes of a value from `first` on, [rank - first]; a constant if its rank is known."""
    rank = rank_of(value)
    if rank is not None:
        return op.constant(list(range(first, rank)), si64)
    stop = op.Squeeze(op.ShapeOf(op.ShapeOf(value)), [0])
    return op.Range(op.constant(first, si64), stop, op.constant(1, si64), output_type=si64)


def without_computed_axes(op: OpBuilder, value: SSAValue, axes: SSAValue, rank: int, count: int) -> SSAValue:
    """Squeeze `count` axes of size 1, given by the tensor `axes`, from a value of static rank.

    Since type inference does not know which axes are left, the result is a Reshape to a target of `rank - count`
    elements.
    """
    if count == rank:
        return op.Reshape(value, [], special_zero=False)
    left = op.ScatterUpdate([1] * rank, op.FloorMod(op.convert(axes, si64), rank), [0] * count, 0)
    remaining_axes = op.Reshape(op.NonZero(left), [rank - count], special_zero=False)
    return op.Reshape(value, op.Gather(op.ShapeOf(value), remaining_axes, 0), special_zero=False)


def without_ones(op: OpBuilder, value: SSAValue, rank: int) -> SSAValue:
    """Remove dimensions of 1, some of which may be dynamic, so that `rank` dimensions are left.

    The model fails when it runs if the number of dimensions above 1 is another one.
    """
    sizes = op.ShapeOf(value)
    if not rank:
        return op.Reshape(value, op.constant([]), special_zero=False)
    others = op.Squeeze(op.NonZero(op.NotEqual(sizes, 1)), [0])
    return op.Reshape(value, op.Gather(sizes, op.Reshape(others, [rank], special_zero=False), 0), special_zero=False)


def as_scalar(op: OpBuilder, value: SSAValue) -> SSAValue:
    """Reshape a value of one element to a scalar."""
    if shape_of(value) == ():
        return value
    known = op.known.constant(value)
    if known is not None and known.size == 1:
        return op.constant(known.reshape(()))
    return op.Reshape(value, [], special_zero=False)


def as_list(op: OpBuilder, value: SSAValue) -> SSAValue:
    """Reshape a value of one element to a 1-D tensor."""
    if rank_of(value) == 1:
        return value
    known = op.known.constant(value)
    if known is not None and known.size == 1:
        return op.constant(known.reshape(1))
    return op.Reshape(value, [1], special_zero=False)


def as_integer(op: OpBuilder, value: SSAValue) -> SSAValue:
    """Convert a value to i64."""
    return op.convert(value, si64)


def with_last_dimension(op: OpBuilder, value: SSAValue, rank: int, size: int) -> SSAValue:
    """A value of static rank `rank` whose last dimension is `size`, reshaped so that its type states this size."""
    shape = shape_of(value)
    return (
        value if shape is not None and size_along(shape, -1) == size else op.Reshape(value, [*(0,) * (rank - 1), size], special_zero=True)
    )


def cut_to(op: OpBuilder, x: SSAValue, like: SSAValue, axis: int) -> SSAValue:
    """Slice x along all axes but one to the sizes of `like`, from the beginning; both have the same rank.

    Args:
        op: the builder.
        x: data of any rank.
        like: a value whose sizes are at most those of x.
        axis: the axis along which x keeps its size; a negative one is counted from the end.
    """
    rank = rank_of(like) if rank_of(x) is None else rank_of(x)
    if rank is None:
        sizes = op.ShapeOf(like)
        axis_index = op.constant([axis]) if axis >= 0 else op.Add(rank_value(op, like), axis)
        ends = op.ScatterUpdate(sizes, axis_index, [LARGEST_SIZE], 0)
        return op.StridedSlice(x, op.Multiply(sizes, 0), ends, op.Add(op.Multiply(sizes, 0), 1), begin_mask=[], end_mask=[])
    others = [each for each in range(rank) if each != normalize_axis(axis, max(rank, 1))]
    cut = [each for each in others if op.known.dimension(x, each) != op.known.dimension(like, each)]
    if not cut:
        return x
    ends = op.Concat(*(dimension_list(op, like, each) for each in cut), axis=0) if len(cut) > 1 else dimension_list(op, like, cut[0])
    return op.Slice(x, [0] * len(cut), ends, [1] * len(cut), cut)


def at_least(op: OpBuilder, x: SSAValue, rank_of_x: int, rank: int) -> SSAValue:
    """x, of rank `rank_of_x`, unsqueezed to at least `rank` (1, 2 or 3) dimensions, as by numpy's atleast_1d,
    atleast_2d, atleast_3d.

    Dimensions of 1 are inserted before the others; the third dimension after them.
    """
    if rank_of_x >= rank:
        return x
    inserted = {(0, 1): [0], (0, 2): [0, 1], (1, 2): [0], (0, 3): [0, 1, 2], (1, 3): [0, 2], (2, 3): [2]}
    return op.Unsqueeze(x, inserted[rank_of_x, rank])
