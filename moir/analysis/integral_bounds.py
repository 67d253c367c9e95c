"""Lower and upper bounds of values whose elements are integers, whatever their element type.

    %1 = opset5.Round(%0)                                 // integers, of any size
    %2 = opset1.Clamp(%1) {min = 0.0, max = 255.0}        // 0 … 255
    %3 = opset1.MatMul(%2, %weights)                      // %weights: [20, 8] of -127 … 127: ± 20 · 255 · 127

    %4 = opset4.Range(0, %n, 1)                           // counts: 0 …
    %5 = opset1.FloorMod(%4, 6)                           // 0 … 5

NaN, which Round returns unchanged, is ignored. Results of integer types wrap around beyond the range of their type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.analysis.constants import values_of
from moir.dialects.element_types import boolean, describe
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, shape_of

Bounds = tuple[float, float]

ANY: Bounds = (-math.inf, math.inf)

DEEPEST = 8
"""The greatest length of the chains of operations that are followed from a value to its operands."""

LARGEST_CONSTANT = 1 << 20
"""The greatest number of elements of a constant that are looked at."""

LARGEST_SIZE = float((1 << 31) - 1)
"""An upper limit of sizes and places."""

MOVING = frozenset(
    (
        *("BatchToSpace", "Broadcast", "DepthToSpace", "GatherElements", "GatherND", "Reshape", "Reverse"),
        *("ReverseSequence", "Roll", "ShuffleChannels", "Slice", "SpaceToDepth", "Split", "Squeeze", "StridedSlice", "Tile"),
        *("Transpose", "Unsqueeze", "VariadicSplit"),
    )
)
"""Operations whose results are elements of the first operand."""

CHOOSING: Mapping[str, slice] = {"Concat": slice(None), "Select": slice(1, 3)}
"""Operations whose results are elements of some operands."""

CORNERS: Mapping[str, Callable[[float, float], float]] = {
    "Add": lambda a, b: a + b,
    "Subtract": lambda a, b: a - b,
    "Multiply": lambda a, b: a * b if a and b else 0.0,
    "Maximum": max,
    "Minimum": min,
}
"""Operations whose least and greatest results are among those for the bounds of their operands."""


def integral_bounds(value: SSAValue, depth: int = 0) -> Bounds | None:
    """The least and the greatest integer that an element can be; None if elements need not be integers."""
    values = values_of(value)
    if values is not None:
        return bounds_of_constant(np.asarray(values)) if 0 < values.size <= LARGEST_CONSTANT and values.dtype.kind in "iuf" else None
    op, limits = value.owner, integer_limits(element_of(value))
    found = _result_bounds(op, value, depth) if isinstance(op, OpsetOp) and depth < DEEPEST else None
    if found is None or limits is None:
        return limits if found is None else found
    return found if limits[0] <= found[0] and found[1] <= limits[1] else limits


def _result_bounds(op: OpsetOp, value: SSAValue, depth: int) -> Bounds | None:
    """The bounds of the result of an operation, or None; those of integers may be beyond their type."""
    if op.KIND in ("Round", "Floor", "Ceiling"):
        return ANY
    if op.KIND == "ShapeOf":
        return 0.0, LARGEST_SIZE
    if op.KIND == "TopK":
        return _top_k_bounds(op, value, depth)
    if op.KIND in ("Mod", "FloorMod"):
        return _remainder_bounds(op, depth)
    if op.KIND == "Range":
        return _range_bounds(op, depth)
    if op.KIND == "Convert" and element_of(op.operands[0]) == boolean:
        return 0.0, 1.0
    if op.KIND == "Convert" and integer_limits(element_of(op.operands[0])) is not None:
        return integral_bounds(op.operands[0], depth + 1)
    if op.KIND in MOVING or op.KIND == "Gather":
        found = integral_bounds(op.operands[0], depth + 1)
        # Gather reads zeros out of range.
        return (min(found[0], 0.0), max(found[1], 0.0)) if found is not None and op.KIND == "Gather" else found
    joined = op.KIND in CHOOSING
    if not joined and op.KIND not in ("Clamp", "Relu", "Negative", "MatMul", *CORNERS):
        return None
    operands = op.operands[CHOOSING[op.KIND]] if joined else op.operands[: 2 if op.KIND in CORNERS or op.KIND == "MatMul" else 1]
    listed = [integral_bounds(operand, depth + 1) for operand in operands]
    bounds = [each for each in listed if each is not None]
    if len(bounds) < len(listed):
        return None
    low, high = bounds[0]
    if joined:
        return min(each[0] for each in bounds), max(each[1] for each in bounds)
    if op.KIND == "Clamp":
        least, most = op.number("min"), op.number("max")
        return (min(max(low, least), most), max(min(high, most), least)) if least == round(least) and most == round(most) else None
    if op.KIND == "Relu":
        return max(low, 0.0), max(high, 0.0)
    if op.KIND == "Negative":
        return -high, -low
    if op.KIND == "MatMul":
        shape = shape_of(op.operands[1])
        if not shape or len(shape) < 2 or (width := shape[-1 if op.flag("transpose_b") else -2]) < 0:
            return ANY
        largest = width * max(map(abs, bounds[0])) * max(map(abs, bounds[1]))
        return -largest, largest
    corners = [CORNERS[op.KIND](a, b) for a in bounds[0] for b in bounds[1]]
    return (min(corners), max(corners)) if not any(map(math.isnan, corners)) else ANY


def _remainder_bounds(op: OpsetOp, depth: int) -> Bounds | None:
    """The bounds of a remainder by a positive number; None for others, which need not be integers."""
    dividend, divisor = (integral_bounds(operand, depth + 1) for operand in op.operands[:2])
    if dividend is None or divisor is None or divisor[0] < 1:
        return None
    largest = divisor[1] - 1
    if dividend[0] >= 0:
        return 0.0, min(largest, dividend[1])
    return (0.0 if op.KIND == "FloorMod" else -largest), largest


def _range_bounds(op: OpsetOp, depth: int) -> Bounds | None:
    """The bounds of numbers that count upwards; None for others."""
    start, stop, step = (integral_bounds(operand, depth + 1) for operand in op.operands[:3])
    if start is None or stop is None or step is None or step[0] < 1:
        return None
    return start[0], max(start[0], stop[1] - 1)


def _top_k_bounds(op: OpsetOp, value: SSAValue, depth: int) -> Bounds | None:
    """The bounds of the places of the largest elements; of the elements themselves, those of the data."""
    if value is op.results[0]:
        return integral_bounds(op.operands[0], depth + 1)
    shape = shape_of(op.operands[0])
    size = -1 if shape is None else shape[op.integer("axis")]
    return 0.0, LARGEST_SIZE if size < 0 else max(size - 1.0, 0.0)


def integer_limits(element: Attribute) -> Bounds | None:
    """The least and the greatest number of a type of integers; None for other types and for those below eight bits."""
    described = describe(element)
    if described.is_packed or described.numpy.kind not in "iu":
        return None
    information = np.iinfo(described.numpy)
    return float(information.min), float(information.max)


def bounds_of_constant(array: np.ndarray) -> Bounds | None:
    """The least and the greatest element of an array of integers; None for other numbers."""
    if array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array)):
        return None
    return float(array.min()), float(array.max())
