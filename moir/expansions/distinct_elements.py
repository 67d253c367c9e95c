"""Distinct elements of a tensor, or distinct slices along an axis."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.rewriting.builder import OpBuilder


class Distinct(NamedTuple):
    """The results of opset10.Unique.

    In order: the distinct elements or slices; the index of the first occurrence of each; for each element of the data,
    the index of its value among the distinct ones; the number of occurrences of each.
    """

    values: SSAValue
    first: SSAValue
    place: SSAValue
    counts: SSAValue


def distinct_elements(op: OpBuilder, x: SSAValue, axis: int | None, *, is_sorted: bool, index_type: Attribute = si64) -> Distinct:
    """The distinct elements of x, or the distinct slices along an axis: opset10.Unique(x, axis)

    They are in ascending order if `is_sorted`, else in the order of their first occurrence.
    """
    operands = [x] if axis is None else [x, op.constant(axis)]
    return Distinct(*op.Unique.results(*operands, sorted=is_sorted, index_element_type=index_type, count_element_type=index_type))
