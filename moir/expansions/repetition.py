"""Repetition of a tensor along an axis by a computed count."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.shape_values import dimension
from moir.rewriting.builder import OpBuilder


def repeated(op: OpBuilder, data: SSAValue, axis: int, count: SSAValue) -> SSAValue:
    """Repeat data `count` times along an axis: Tile(data, [1, …, count, …, 1]). `count` is a scalar.

    For data of dynamic rank: Gather(data, Range(0, size · count) mod size, axis). Data itself if the count is known to
    be 1.
    """
    if op.known.lasting_integers(count) == (1,):
        return data
    if (rank := rank_of(data)) is not None:
        ones = [op.constant([1] * length, element_of(count)) for length in (axis, rank - axis - 1)]
        parts = [ones[0], op.Unsqueeze(count, [0]), ones[1]]
        return op.Tile(data, op.Concat(*(part for part in parts if shape_of(part) != (0,)), axis=0))
    size = _dimension_like(op, data, axis, count)
    positions = op.Range(op.constant_like(0, count), op.Multiply(size, count), op.constant_like(1, count), output_type=element_of(count))
    return op.Gather(data, op.FloorMod(positions, size), axis)


def _dimension_like(op: OpBuilder, data: SSAValue, axis: int, count: SSAValue) -> SSAValue:
    size = dimension(op, data, axis)
    return op.constant_like(size, count) if isinstance(size, int) else op.convert(size, element_of(count))
