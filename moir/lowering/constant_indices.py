"""Notes about constant indices that are out of range."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of, size_along
from moir.lowering.binder import LoweringNode


def note_outside(node: LoweringNode, data: SSAValue, indices: SSAValue, axis: int) -> None:
    """Add a note about a constant index out of the range of a dimension.

    Frameworks refuse it when the model runs; opset8.Gather takes zeros there.
    """
    known, shape = node.known.constant(indices), shape_of(data)
    if known is None or shape is None or known.dtype.kind not in "iu" or known.size == 0:
        return
    size = size_along(shape, axis)
    if size >= 0 and (known.min() < -size or known.max() >= size):
        worst = int(known.max()) if known.max() >= size else int(known.min())
        node.note(f"index {worst} is outside of the {size} elements of dimension {axis}: the IR has zeros there")
