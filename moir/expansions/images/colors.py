"""Conversions between RGB and HSV. The last dimension of 3 has the channels of a colour.

Hue is 0 for red, 1/3 for green, 2/3 for blue, and linear between them; saturation is 1 - min / max; value is max.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder

Parts = tuple[SSAValue, SSAValue, SSAValue]


def split_colour(op: OpBuilder, colour: SSAValue) -> Parts:
    """The three channels of a colour [..., 3], each [..., 1]."""
    first, second, third = op.Split.parts(3, colour, -1, num_splits=3)
    return first, second, third


def hue_saturation_value(op: OpBuilder, rgb: SSAValue) -> Parts:
    """Hue, saturation and value of the given red, green and blue."""
    red, green, blue = split_colour(op, rgb)
    value = op.ReduceMax(rgb, [-1], keep_dims=True)
    spread = op.Subtract(value, op.ReduceMin(rgb, [-1], keep_dims=True))
    grey = op.LessEqual(spread, 0.0)
    from_red = op.Subtract(green, blue)
    from_green = op.Add(op.Subtract(blue, red), op.Multiply(spread, 2.0))
    from_blue = op.Add(op.Subtract(red, green), op.Multiply(spread, 4.0))
    # If the spread or the value is 0, the quotient is not used by the Selects.
    part = op.Select(op.Equal(red, value), from_red, op.Select(op.Equal(green, value), from_green, from_blue))
    turns = op.Divide(part, op.Multiply(spread, 6.0))
    positive = op.Select(op.Less(turns, 0.0), op.Add(turns, 1.0), turns)
    saturation = op.Select(op.Greater(value, 0.0), op.Divide(spread, value), 0.0)
    return op.Select(grey, 0.0, positive), saturation, value


def red_green_blue(op: OpBuilder, hue: SSAValue, saturation: SSAValue, value: SSAValue) -> SSAValue:
    """Red, green and blue for the given hue, saturation and value, [..., 3]."""
    distance = op.Abs(op.Subtract(op.Multiply(hue, 6.0), along(op, hue, [3, 2, 4])))
    pure = op.Clamp(op.Add(op.Multiply(distance, along(op, hue, [1, -1, -1])), along(op, hue, [-1, 2, 2])), min=0.0, max=1.0)
    pale = op.Add(op.Multiply(op.Subtract(pure, 1.0), saturation), 1.0)
    return op.Multiply(pale, value)


def along(op: OpBuilder, like: SSAValue, values: list[int]) -> SSAValue:
    """A 1-D constant with the given values, in the element type of the value `like`."""
    return op.constant_like(np.array(values), like)
