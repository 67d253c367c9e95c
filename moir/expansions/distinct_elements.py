"""Distinct elements of a tensor, or distinct slices along an axis."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.rewriting.builder import OpBuilder


class Distinct(NamedTuple):
    """The distinct values, the index of their first occurrences, the index of the value of each element, and counts."""

    values: SSAValue
    first: SSAValue
    place: SSAValue
    counts: SSAValue


def distinct_elements(op: OpBuilder, x: SSAValue, axis: int | None, *, is_sorted: bool, index_type: Attribute = si64) -> Distinct:
    """opset10.Unique(x, axis)"""
    operands = [x] if axis is None else [x, op.constant(axis)]
    return Distinct(*op.Unique.results(*operands, sorted=is_sorted, index_element_type=index_type, count_element_type=index_type))
