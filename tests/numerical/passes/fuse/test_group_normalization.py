"""Normalized groups of channels that become one operation: the runtime computes the same before and after."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import check, inputs, ints, numbers

END = 'opset1.Result(%out) {name = "out"}'
MVN = 'normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"'


def grouped(split: tuple[int, ...], whole: tuple[int, ...], axes: tuple[int, ...]) -> str:
    """A standardization of split data."""
    return f"""{ints("split", *split)}{ints("whole", *whole)}{ints("axes", *axes)}
%g = opset1.Reshape(%x, %split) {{special_zero = true}}
%m = opset6.MVN(%g, %axes) {{{MVN}}}
%n = opset1.Reshape(%m, %whole) {{special_zero = true}}
"""


AFFINE = f"%s = opset1.Multiply(%n, %scale)\n%out = opset1.Add(%shift, %s)\n{END}"


@pytest.mark.parametrize("split", [(0, 2, -1), (0, 2, 3, 5, 7), (0, 2, 3, 35)])
def test_channels_first(split: tuple[int, ...]) -> None:
    text = inputs("?x6x5x7xf32") + grouped(split, (0, 6, 5, 7), tuple(range(2, len(split)))) + AFFINE
    weights = {"scale": numbers(6, 1, 1), "shift": numbers(1, 6, 1, 1)}
    check("fuse-group-normalization", text, {"GroupNormalization": 1}, ((2, 6, 5, 7),), tolerance=1e-4, **weights)


def test_channels_last() -> None:
    text = inputs("2x5x7x6xf32") + grouped((2, 5, 7, 2, 3), (2, 5, 7, 6), (1, 2, 4)) + AFFINE
    left = {"GroupNormalization": 1, "Transpose": 2}
    check("fuse-group-normalization", text, left, ((2, 5, 7, 6),), tolerance=1e-4, scale=numbers(6), shift=np.array(0.5, np.float32))


def test_scale_of_other_dimensions_stays() -> None:
    text = inputs("2x5x7x6xf32") + grouped((2, 5, 7, 2, 3), (2, 5, 7, 6), (1, 2, 4)) + AFFINE
    left = {"GroupNormalization": 1, "Transpose": 2, "Multiply": 1, "Add": 1}
    check("fuse-group-normalization", text, left, ((2, 5, 7, 6),), tolerance=1e-4, scale=numbers(7, 1), shift=numbers(6))


@pytest.mark.parametrize("repeats", ["channels", "groups"])
def test_repeated_statistics(repeats: str) -> None:
    """Mean and variance of flax, which are repeated for the channels of each group; not so in another order."""
    sizes = (2, 2, 3) if repeats == "channels" else (2, 3, 2)
    text = f"""{inputs("2x5x7x6xf32")}{ints("split", 2, 5, 7, 2, 3)}{ints("axes", 1, 2, 4)}
{ints("place", 2 if repeats == "channels" else 1)}
{ints("spread", *sizes)}{ints("channels", 2, 1, 1, 6)}
%g = opset1.Reshape(%x, %split) {{special_zero = false}}
%mean = opset1.ReduceMean(%g, %axes)
%square = opset1.Multiply(%g, %g)
%squares = opset1.ReduceMean(%square, %axes)
%mm = opset1.Multiply(%mean, %mean)
%rest = opset1.Subtract(%squares, %mm)
%variance = opset1.Maximum(%rest, %zero)
%m1 = opset1.Unsqueeze(%mean, %place)
%m2 = opset3.Broadcast(%m1, %spread)
%m3 = opset1.Reshape(%m2, %channels) {{special_zero = false}}
%v1 = opset1.Unsqueeze(%variance, %place)
%v2 = opset3.Broadcast(%v1, %spread)
%v3 = opset1.Reshape(%v2, %channels) {{special_zero = false}}
%c = opset1.Subtract(%x, %m3)
%v4 = opset1.Add(%v3, %eps)
%root = opset1.Sqrt(%v4)
%factor = opset1.Divide(%one, %root)
%scaled = opset1.Multiply(%factor, %scale)
%out = opset1.Multiply(%c, %scaled)
{END}"""
    weights = {name: np.array(number, np.float32) for name, number in (("zero", 0.0), ("eps", 1e-3), ("one", 1.0))}
    left = {"GroupNormalization": 1, "Transpose": 2}
    if repeats == "groups":
        left = {"Reshape": 3, "ReduceMean": 2, "Multiply": 4, "Subtract": 2, "Maximum": 1, "Unsqueeze": 2, "Broadcast": 2}
        left.update({"Add": 1, "Sqrt": 1, "Divide": 1})
    check("fuse-group-normalization", text, left, ((2, 5, 7, 6),), tolerance=1e-4, scale=numbers(6), **weights)
