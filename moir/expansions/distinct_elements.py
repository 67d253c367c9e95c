"""Distinct elements of a tensor, or distinct slices along an axis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, boolean, describe, si32, si64
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.builder import OpBuilder


class Distinct(NamedTuple):
    """The distinct values, the index of their first occurrences, the index of the value of each element, and counts."""

    values: SSAValue
    first: SSAValue
    place: SSAValue
    counts: SSAValue


def distinct_elements(op: OpBuilder, x: SSAValue, axis: int | None, *, is_sorted: bool, index_type: Attribute = si64) -> Distinct:
    """opset10.Unique(x, axis), in forms that the runtime (2026.4, CPU) computes correctly.

    Integers of less than 32 bits are searched as i32. Without sorting, the runtime computes wrong elements along any
    axis but the first one, so that axis is moved to the front.
    """
    element, rank = element_of(x), rank_of(x) or 0
    narrow = describe(element).bits < 32 and element in {*INTEGER_TYPES, boolean}
    data = op.convert(x, si32) if narrow else x
    place = 0 if axis is None or is_sorted else axis % max(rank, 1)
    order = [place, *(each for each in range(rank) if each != place)]
    data = op.transposed(data, order) if place else data
    axis = 0 if place else axis
    operands = [data] if axis is None else [data, op.constant(axis)]
    found = op.Unique.results(*operands, sorted=is_sorted, index_element_type=index_type, count_element_type=index_type)
    values = op.transposed(found[0], np.argsort(order).tolist()) if place else found[0]
    return Distinct(op.convert(values, element), *found[1:])
