"""The record of a quantized tensor."""

from __future__ import annotations

import pytest
from xdsl.ir import Attribute

from moir.dialects.element_types import f32, si4, si8, si16, si32, ui2, ui4, ui8, ui16
from moir.dialects.quantization import IntegerRange, Quantization


@pytest.mark.parametrize(
    ("element", "narrow", "ends"),
    [
        (si8, False, (-128, 127)),
        (si8, True, (-127, 127)),
        (ui8, False, (0, 255)),
        (ui8, True, (1, 255)),
        (si4, False, (-8, 7)),
        (ui4, False, (0, 15)),
        (ui2, False, (0, 3)),
        (si16, True, (-32767, 32767)),
        (ui16, False, (0, 65535)),
        (si32, False, (-(2**31), 2**31 - 1)),
    ],
)
def test_the_ends_of_the_integers_of_an_element_type(element: Attribute, narrow: bool, ends: tuple[int, int]) -> None:
    integers = IntegerRange.of(element, narrow)
    assert (integers.ends, integers.steps, integers.element) == (ends, ends[1] - ends[0], element)


def test_a_width_without_element_type_has_ends() -> None:
    integers = IntegerRange(3, signed=False)
    assert integers.ends == (0, 7)
    with pytest.raises(KeyError):
        assert integers.element


def test_stored_floats_have_no_range() -> None:
    with pytest.raises(TypeError, match="no range of integers"):
        assert Quantization(scale=f32).range
