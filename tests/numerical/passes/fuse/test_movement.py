"""Slices, paddings, concatenations and repetitions that are one operation: the runtime computes the same before and after.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

import pytest

from tests.numerical.passes.module_lines import ADJACENT, check, inputs, integer, ints, numbers


def test_matrix_products_of_transposed_operands() -> None:
    text = f"""{inputs("?x4x?xf32", "?x6x4xf32")}{ints("swap", 0, 2, 1)}
    %1 = opset1.Transpose(%x, %swap)
    %2 = opset1.Transpose(%y, %swap)
    %3 = opset1.MatMul(%1, %2)
    %4 = opset1.Transpose(%3, %swap)
    opset1.Result(%4) {{name = "out"}}"""
    check("fuse-matmul-transpose", text, {"MatMul": 1}, ((2, 4, 3), (2, 6, 4)), ((1, 4, 3), (5, 6, 4)))


def test_slices() -> None:
    text = f"""{inputs("?x6x7xf32")}{ints("a", 1)}{ints("b", -1)}{ints("c", 2)}{ints("d", -2)}{ints("last", -1)}{ints("middle", 1)}
    %1 = opset8.Slice(%x, %a, %b, %c, %middle)
    %2 = opset8.Slice(%1, %d, %a, %b, %last)
    opset1.Result(%2) {{name = "out"}}"""
    check("fuse-slices", text, {"Slice": 1}, ((2, 6, 7),))


@pytest.mark.parametrize("pads", [((1, 2), (0, 3)), ((1, 1), (1, 1))])
@pytest.mark.parametrize("transposed", [False, True])
def test_pads_of_windows(pads: tuple[tuple[int, int], tuple[int, int]], transposed: bool) -> None:
    begin, end = ((0, *each, 0) if transposed else (0, 0, *each) for each in pads)
    data = "%q = opset1.Transpose(%p, %o)" if transposed else ""
    window = "%q" if transposed else "%p"
    text = f"""{inputs("?x?x?x4xf32" if transposed else "?x4x?x?xf32")}
    {ints("b", *begin)}{ints("e", *end)}{ints("o", 0, 3, 1, 2)}
    %p = opset12.Pad(%x, %b, %e) {{pad_mode = "constant"}}
    {data}
    %c = opset1.Convolution({window}, %w) {{{ADJACENT}}}
    opset1.Result(%c) {{name = "convolution"}}"""
    expected = {"Convolution": 1, **({"Transpose": 1} if transposed else {})}
    check("fuse-pads", text, expected, ((2, 7, 8, 4) if transposed else (2, 4, 7, 8),), tolerance=1e-4, w=numbers(6, 4, 3, 3))


def test_pads_of_means() -> None:
    text = f"""{inputs("?x4x?x?xf32")}
    {ints("b", 0, 0, 1, 0)}{ints("e", 0, 0, 0, 2)}
    %p = opset12.Pad(%x, %b, %e) {{pad_mode = "constant"}}
    %a = opset14.AvgPool(%p) {{kernel = [2, 3], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = true}}
    opset1.Result(%a) {{name = "mean"}}"""
    check("fuse-pads", text, {"AvgPool": 1}, ((2, 4, 7, 8),), ((1, 4, 5, 5),))


def test_concats_of_concats() -> None:
    text = f"""{inputs("?x3x?xf32", "?x4x?xf32")}
    %1 = opset1.Concat(%x, %y) {{axis = 1}}
    %2 = opset1.Concat(%y, %1) {{axis = -2}}
    %3 = opset1.Concat(%2, %x, %x) {{axis = 1}}
    opset1.Result(%3) {{name = "out"}}"""
    check("fuse-concats", text, {"Concat": 1}, ((2, 3, 5), (2, 4, 5)))


@pytest.mark.parametrize("count", [2, 3, 5, 7, 8])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_repeated_elements(count: int, axis: int) -> None:
    repeats = [count if place == axis + 1 else 1 for place in range(4)]
    dimensions = "".join(
        f"{ints(f'i{place}', place)}%d{place} = opset8.Gather(%s, %i{place}, %zero)\n"
        + (f"%e{place} = opset1.Multiply(%d{place}, %count)\n" if place == axis else "")
        for place in range(3)
    )
    entries = ", ".join(f"%e{place}" if place == axis else f"%d{place}" for place in range(3))
    text = f"""{inputs("?x?x?xf32")}{integer("zero", 0)}{ints("count", count)}{ints("axis", axis + 1)}{ints("repeats", *repeats)}
    %s = opset3.ShapeOf(%x)
    {dimensions}
    %shape = opset1.Concat({entries}) {{axis = 0}}
    %1 = opset1.Unsqueeze(%x, %axis)
    %2 = opset1.Tile(%1, %repeats)
    %3 = opset1.Reshape(%2, %shape) {{special_zero = false}}
    opset1.Result(%3) {{name = "out"}}"""
    check("fuse-repeats", text, {"Interpolate": 1}, ((3, 40, 7),), ((1, 1, 1),))
