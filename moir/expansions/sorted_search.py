"""Searches in sorted rows where NaN counts as the largest number; SearchSorted finds NaN before all elements."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, si64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.shape_values import dimension_value
from moir.rewriting.builder import OpBuilder


def upper_bound(op: OpBuilder, rows: SSAValue, values: SSAValue, *, output_type: Attribute = si64) -> SSAValue:
    """How many elements of sorted rows are not greater than each value. NaN is greater than all elements.

        opset3.Bucketize(%values, %rows) {with_right_bound = false}                // one row
        opset1.Select(IsNaN(%values), size, SearchSorted(%rows, %values))          // several rows

    Integers are always searched by SearchSorted.
    """
    if element_of(values) not in REAL_TYPES:
        return op.SearchSorted(rows, values, right_mode=True, output_type=output_type)
    if rank_of(rows) == 1:
        return op.Bucketize(values, rows, with_right_bound=False, output_type=output_type)
    return search_with_last(op, rows, values, op.IsNaN(values), right=True, output_type=output_type)


def search_with_last(
    op: OpBuilder, rows: SSAValue, values: SSAValue, is_last: SSAValue, *, right: bool, output_type: Attribute = si64
) -> SSAValue:
    """The index at which each value is inserted into sorted rows; the size of a row for values where `is_last` is true.

    With `right` the index is after equal elements, else before them.
    """
    upper_bounds = op.SearchSorted(rows, values, right_mode=right, output_type=output_type)
    return op.Select(is_last, op.convert(dimension_value(op, rows, -1), output_type), upper_bounds)
