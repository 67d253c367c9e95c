"""The sizes of matrices whose elements a lowering computes one by one, so that they have to be static and small."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import is_static, shape_of
from moir.expansions.linear_algebra.determinants import LARGEST_MATRIX
from moir.lowering.binder import LoweringNode


def matrix_sizes(node: LoweringNode, x: SSAValue, largest: int = LARGEST_MATRIX) -> tuple[int, int, int]:
    """Rows, columns and rank of matrices. Raises ConversionError if they are dynamic, 0, or above `largest`."""
    shape = shape_of(x)
    if shape is None or len(shape) < 2 or not is_static(shape[-2:]) or min(shape[-2:]) < 1:
        node.fail("the sizes of its matrices are unknown or 0", hint="make a model with matrices of a static size")
    rows, columns = shape[-2:]
    if min(rows, columns) > largest:
        node.fail(f"its matrices have {rows} rows and {columns} columns; one of both must be at most {largest}")
    return rows, columns, len(shape)
