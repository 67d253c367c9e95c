"""Whether a quantized type is valid: its scales, zero points and limits.

Source: StableHLO's specification, "Types", the constraints of a quantized element type.
"""

from __future__ import annotations

import math

from moir.frontends.stablehlo.element_types import is_integer, largest_of, lowest_of
from moir.frontends.stablehlo.program import Quantized


def fault_of_type(quantized: Quantized) -> str:
    """What is wrong with a quantized type, as a sentence; empty if nothing is."""
    storage, lowest, highest = quantized.storage, quantized.lowest, quantized.highest
    if not is_integer(storage):
        return "the storage type of a quantized type is not an integer"
    if not lowest_of(storage) <= lowest < highest <= largest_of(storage):
        return f"the limits {lowest} and {highest} of a quantized type are not those of its storage type"
    if quantized.axis is None and len(quantized.scales) != 1:
        return f"a quantized type without an axis has {len(quantized.scales)} scales"
    if not all(math.isfinite(scale) and scale > 0 for scale in quantized.scales):
        return "a scale of a quantized type is not a positive number"
    if not all(lowest <= zero <= highest for zero in quantized.zeros):
        return "a zero point of a quantized type is not within its limits"
    return ""
