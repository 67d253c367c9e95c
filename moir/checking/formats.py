"""The floating-point formats in which a device computes: their limits, and how numbers are rounded to them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from moir.dialects.element_types import bf16, f16, to_numpy
from moir.dialects.memory_map import Array
from moir.support.records import Record


class NumberFormat(Record):
    """A format narrower than f32.

    Args:
        name: its name, which `--precision` takes.
        largest: the largest finite number.
        smallest: the smallest number above 0; smaller ones are rounded to 0 or to it.
        tolerance: the largest relative difference of an output that counts as agreement: `moir.execution.comparison`
            measures it.
        local_tolerance: the largest relative error of a single operation that is not named.
    """

    name: str
    largest: float
    smallest: float
    tolerance: float
    local_tolerance: float

    def rounded(self, array: Array) -> Array:
        """Floats rounded to the numbers of this format, as f32; infinite beyond `largest`.

        Other arrays are unchanged.
        """
        if array.dtype.kind not in "fV" or array.dtype.itemsize < 2:
            return array
        with np.errstate(all="ignore"):
            return array.astype(to_numpy(_ELEMENTS[self.name])).astype(np.float32)

    def saturated(self, array: Array) -> Array:
        """As `rounded`, but finite numbers beyond `largest` become ± `largest`, as a constant is converted."""
        if array.dtype.kind not in "fV" or array.dtype.itemsize < 2:
            return array
        values = array.astype(np.float32)
        return self.rounded(np.where(np.isfinite(values), np.clip(values, -self.largest, self.largest), values))


_ELEMENTS = {"f16": f16, "bf16": bf16}

FORMATS: Mapping[str, NumberFormat] = MappingProxyType(
    {
        each.name: each
        for each in (
            # IEEE 754 binary16: 5 bits of exponent, 10 of significand.
            NumberFormat("f16", largest=65504.0, smallest=2.0**-24, tolerance=0.01, local_tolerance=0.0025),
            # The upper half of an f32: 8 bits of exponent, 7 of significand.
            NumberFormat("bf16", largest=(2 - 2.0**-7) * 2.0**127, smallest=2.0**-133, tolerance=0.1, local_tolerance=0.02),
        )
    }
)
"""The formats by name."""
