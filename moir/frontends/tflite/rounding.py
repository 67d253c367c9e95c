"""How the kernels of convolutions and products round sums to the integers of the result.

A kernel multiplies a sum of products by a factor below 1, which is stored as m · 2^-r, where m has 32 bits and lies
between ½ and 1. It rounds twice, halves upwards: the product with m to a whole number, then the quotient of this
number and 2^r to the nearest integer. Both roundings together equal one rounding of a number that is larger by 2^-(r +
1). So this offset, in the unit of the bias, is added to the bias; then a FakeQuantize rounds as the kernels do.

Source: observations of the optimized kernels of TensorFlow Lite 2.21, for every sum within the range of results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from moir.dialects.data import Array
from moir.frontends.tflite.tensors import Tensor

FACTORS: Mapping[str, tuple[int, int]] = {
    "CONV_2D": (0, 1),
    "DEPTHWISE_CONV_2D": (0, 1),
    "FULLY_CONNECTED": (0, 1),
    "TRANSPOSE_CONV": (2, 1),
}
"""Operators whose kernels round in this way -> the places of data and weights among the operands."""

MULTIPLIER_BITS = 31


def offsets(kind: str, operands: Sequence[Tensor | None], result: Tensor) -> list[float] | None:
    """The offset for each bias of an operator, or one offset for all of them; None if biases are unchanged.

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
    found = size * _half_steps(scales[0].item() * scales[1].ravel() / size)
    return found.tolist() if found.any() else None


def _half_steps(factors: Array) -> Array:
    """Half the step of the first rounding of a product with each factor, in units of the result's integers."""
    fractions, exponents = np.frexp(factors)
    exponents = exponents + (np.round(fractions * (1 << MULTIPLIER_BITS)) == 1 << MULTIPLIER_BITS)
    return np.where(exponents < 0, np.ldexp(1.0, exponents - 1), 0.0)
