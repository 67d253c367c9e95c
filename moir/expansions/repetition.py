"""Repetition of a tensor along an axis by a computed count."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.expansions.shape_values import dimension
from moir.rewriting.builder import OpBuilder


def repeated(op: OpBuilder, data: SSAValue, axis: int, count: SSAValue) -> SSAValue:
    """The data repeated `count` times along an axis: Gather(data, Range(0, size · count) mod size, axis).

    `count` is a scalar. A Tile whose repeats are not constant computes wrong results in the runtime (2026.4, CPU).
    """
    if op.known.integers(count) == (1,):
        return data
    size = _dimension_like(op, data, axis, count)
    positions = op.Range(op.constant_like(0, count), op.Multiply(size, count), op.constant_like(1, count), output_type=element_of(count))
    return op.Gather(data, op.FloorMod(positions, size), axis)


def _dimension_like(op: OpBuilder, data: SSAValue, axis: int, count: SSAValue) -> SSAValue:
    size = dimension(op, data, axis)
    return op.constant_like(size, count) if isinstance(size, int) else op.convert(size, element_of(count))
