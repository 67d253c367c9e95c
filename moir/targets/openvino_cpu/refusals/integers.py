"""Integers of 64 bits that the CPU plugin, which computes them in 32 bits, cannot hold."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.dialects.element_types import si64
from moir.dialects.opset.arithmetic import BitwiseAnd, BitwiseRightShift
from moir.dialects.opset.generation import RangeOp
from moir.dialects.shapes import element_of, shape_of
from moir.targets.record import Fault, Refusal


def _upper_bits(op: Operation, _: Analyses) -> str | None:
    """The reason to refuse a bitwise operation of a right-shifted si64 with a constant mask that has bits beyond 31;
    else None.
    """
    if element_of(op.results[0]) != si64 or not any(isinstance(each.owner, BitwiseRightShift) for each in op.operands):
        return None
    masks = [mask for each in op.operands if (mask := constant_of(each)) is not None]
    is_wide = any(mask.size and int(mask.max()) >= 2**31 for mask in masks)
    return (
        "the CPU plugin computes with integers of 32 bits, which do not hold negative integers shifted within 64 bits" if is_wide else None
    )


MOST_NUMBERS = (1 << 32) - 1
"""The largest number of elements of a Range: when the runtime reads an IR, it counts them with 32 bits, without an
error.
"""


def _long_range(op: Operation, _: Analyses) -> str | None:
    """The reason to refuse a Range of static size with more than MOST_NUMBERS elements; None for any other."""
    is_long = max(shape_of(op.results[0]) or (), default=0) > MOST_NUMBERS
    return f"it has more than {MOST_NUMBERS} numbers, which OpenVINO Runtime does not count" if is_long else None


REFUSALS = (
    Refusal(
        "refuse-int64-masks",
        (BitwiseAnd,),
        _upper_bits,
        "shift integers of 32 bits, or without a sign",
        "Refuses masks of more than 32 bits on shifted integers of 64 bits.",
        faults=(Fault("i64-masks", "BitwiseAnd of shifted numbers of i64 with masks of more than 32 bits", "is computed in 32 bits"),),
    ),
    Refusal(
        "refuse-long-ranges",
        (RangeOp,),
        _long_range,
        "cut the model after this node",
        "Refuses ranges of 2³² numbers and more.",
        faults=(Fault("long-ranges", "Range of 2³² numbers and more", "has the remainder of its size"),),
    ),
)
