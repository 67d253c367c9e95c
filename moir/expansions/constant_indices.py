"""A note for error messages about constant indices that are out of the range of a dimension."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import shape_of, size_along


def outside(data: SSAValue, indices: Array | None, axis: int) -> str:
    """A note that a constant index along `axis` of `data` is out of range, for a message; empty if no index is.

    Frameworks refuse such an index when the model runs; opset8.Gather returns zeros for it. The note is also empty for
    indices that are not constant (None) or not integers, and for a dynamic dimension.
    """
    shape = shape_of(data)
    if indices is None or shape is None or indices.dtype.kind not in "iu" or indices.size == 0:
        return ""
    size = size_along(shape, axis)
    if size < 0 or (indices.min() >= -size and indices.max() < size):
        return ""
    worst = int(indices.max()) if indices.max() >= size else int(indices.min())
    return f"index {worst} is outside of the {size} elements of dimension {axis}: the IR has zeros there"
