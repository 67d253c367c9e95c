"""The sizes of matrices whose elements are computed one by one, so that they have to be static and small."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import is_static, shape_of
from moir.errors import UnsupportedOperationError
from moir.expansions.linear_algebra.determinants import LARGEST_MATRIX


def matrix_sizes(x: SSAValue, largest: int = LARGEST_MATRIX) -> tuple[int, int, int]:
    """Rows, columns and rank of matrices x [..., rows, columns].

    Raises UnsupportedOperationError if rows or columns are dynamic or 0, or if both are above `largest`.
    """
    shape = shape_of(x)
    if shape is None or len(shape) < 2 or not is_static(shape[-2:]) or min(shape[-2:]) < 1:
        reason = "the sizes of its matrices are unknown or 0"
        raise UnsupportedOperationError(reason, hint="make a model with matrices of a static size")
    rows, columns = shape[-2:]
    if min(rows, columns) > largest:
        reason = f"its matrices have {rows} rows and {columns} columns; one of both must be at most {largest}"
        raise UnsupportedOperationError(reason)
    return rows, columns, len(shape)
