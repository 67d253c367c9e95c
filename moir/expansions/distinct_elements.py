"""Distinct elements of a tensor, or distinct slices along an axis."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.rewriting.builder import OpBuilder


class Distinct(NamedTuple):
    """The results of opset10.Unique: the distinct elements or slices, the index of the first occurrence of each, for
    each element the index of its value among them, and how often each occurs.
    """

    values: SSAValue
    first: SSAValue
    place: SSAValue
    counts: SSAValue


def distinct_elements(op: OpBuilder, x: SSAValue, axis: int | None, *, is_sorted: bool, index_type: Attribute = si64) -> Distinct:
    """The distinct elements of x, or for an axis the distinct slices along it: opset10.Unique(x, axis)

    They are in ascending order if `is_sorted`, or else in that of their first occurrence.
    """
    operands = [x] if axis is None else [x, op.constant(axis)]
    return Distinct(*op.Unique.results(*operands, sorted=is_sorted, index_element_type=index_type, count_element_type=index_type))
