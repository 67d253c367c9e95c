"""The record of a quantized tensor: scale, zero point and element type, by which integers stand for real numbers.

    number = (integer - zero point) * scale

Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference".
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from xdsl.ir import Attribute

from moir.dialects.element_types import describe, si4, si8, si16, si32, si64, ui2, ui4, ui8, ui16, ui32, ui64

_ELEMENTS: dict[tuple[int, bool], Attribute] = {
    (describe(element).bits, signed): element
    for signed, elements in ((True, (si4, si8, si16, si32, si64)), (False, (ui2, ui4, ui8, ui16, ui32, ui64)))
    for element in elements
}

Parameter = TypeVar("Parameter")


class IntegerRange(NamedTuple):
    """The range of integers of a quantized tensor.

    Args:
        bits: their width.
        signed: whether they begin below 0.
        narrow: whether the smallest integer of the width is not used, so that signed ones are symmetric to 0.
    """

    bits: int
    signed: bool
    narrow: bool = False

    @staticmethod
    def of(element: Attribute, narrow: bool = False) -> IntegerRange:
        """The range of all integers of an element type; with `narrow` without the smallest integer."""
        row = describe(element)
        return IntegerRange(row.bits, row.xml[0] == "i", narrow)

    @property
    def lowest(self) -> int:
        """The smallest integer."""
        return (-(1 << (self.bits - 1)) if self.signed else 0) + self.narrow

    @property
    def highest(self) -> int:
        """The largest integer."""
        return (1 << (self.bits - self.signed)) - 1

    @property
    def ends(self) -> tuple[int, int]:
        """The smallest and the largest integer."""
        return self.lowest, self.highest

    @property
    def steps(self) -> int:
        """The number of steps from the smallest to the largest integer, one less than there are integers."""
        return self.highest - self.lowest

    @property
    def element(self) -> Attribute:
        """The integer element type of this width and sign. Raises KeyError for a width that no element type has."""
        return _ELEMENTS[self.bits, self.signed]


class Quantization(NamedTuple, Generic[Parameter]):
    """Scale and zero point of a quantized tensor, as values of a model, arrays or attributes.

    Args:
        scale: a scalar, or a vector along `axis`.
        zero_point: the integers that stand for 0, in the form of the scale; None if 0 stands for 0.
        integers: the integers; None if numbers are stored as floats of 8 bits, or where nothing is rounded to
            integers.
        axis: the dimension along which scale and zero point are vectors; None if they already broadcast to the tensor.
    """

    scale: Parameter
    zero_point: Parameter | None = None
    integers: IntegerRange | None = None
    axis: int | None = None

    @property
    def range(self) -> IntegerRange:
        """The range of the integers. Raises TypeError for numbers that are stored as floats."""
        if self.integers is None:
            raise TypeError("a tensor of floats has no range of integers")
        return self.integers
