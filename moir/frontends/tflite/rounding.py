"""Where the kernels of convolutions and products round sums to the integers of the result.

A kernel multiplies a sum of products by a number below 1, which it has as m · 2^-r with m of 32 bits from ½ to 1. It
rounds twice: the product with m to a whole number, then that divided by 2^r to the nearest integer, each time a middle
upwards. Both together are one rounding to the nearest integer of a number that is 2^-(r + 1) larger. That much, as a
number, is the offset: added to the bias it makes the rounding of a FakeQuantize the kernels' rounding.

Source: observed of the optimized kernels of TensorFlow Lite 2.21, for every sum within the range of results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import frexp

import numpy as np

from moir.frontends.tflite.tensors import Tensor

FACTORS: Mapping[str, tuple[int, int]] = {
    "CONV_2D": (0, 1),
    "DEPTHWISE_CONV_2D": (0, 1),
    "FULLY_CONNECTED": (0, 1),
    "TRANSPOSE_CONV": (2, 1),
}
"""Operators whose kernels round so -> the places of data and weights among the operands."""

MULTIPLIER_BITS = 31


def offsets(kind: str, operands: Sequence[Tensor | None], result: Tensor) -> list[float] | None:
    """What is added to each bias of an operator, or to all of them where the list has one entry; None for nothing.

    Only kernels for data, weights and results of 8 bits are known.
    """
    places = FACTORS.get(kind)
    if places is None or len(operands) <= max(places):
        return None
    parameters = [None if each is None else each.quantization for each in (*[operands[place] for place in places], result)]
    if any(each is None or each.range.bits != 8 for each in parameters):
        return None
    scales = [np.asarray(each.scale, np.float64) for each in parameters if each is not None]
    if scales[0].size != 1 or scales[2].size != 1:
        return None
    size = float(scales[2].item())
    found = [size * _half_step(factor) for factor in (scales[0].item() * scales[1].ravel() / size).tolist()]
    return found if any(found) else None


def _half_step(factor: float) -> float:
    """Half the distance of the numbers to which the first rounding of a product with a factor rounds, in integers."""
    fraction, exponent = frexp(factor)
    if round(fraction * (1 << MULTIPLIER_BITS)) == 1 << MULTIPLIER_BITS:
        exponent += 1
    return 2.0 ** (exponent - 1) if exponent < 0 else 0.0
