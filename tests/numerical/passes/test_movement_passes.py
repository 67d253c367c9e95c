"""The passes that change how data is moved, padded and repeated: what OpenVINO Runtime computes before and after them is the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import ADJACENT, apply, build, check, inputs, integer, ints, kinds, numbers, run


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


@pytest.mark.parametrize("transpose", [False, True])
def test_flattened_products(transpose: bool) -> None:
    text = f"""{inputs("?x?x8xf32")}
    {ints("flat", -1, 8)}{ints("both", 0, 1)}{integer("axis", 0)}{ints("last", 6)}
    %1 = opset1.Reshape(%x, %flat) {{special_zero = false}}
    %2 = opset1.MatMul(%1, %w) {{transpose_b = {str(transpose).lower()}}}
    %s = opset3.ShapeOf(%x)
    %lead = opset8.Gather(%s, %both, %axis)
    %shape = opset1.Concat(%lead, %last) {{axis = 0}}
    %3 = opset1.Reshape(%2, %shape) {{special_zero = false}}
    opset1.Result(%3) {{name = "out"}}"""
    weights = numbers(*((6, 8) if transpose else (8, 6)))
    check("unflatten-matmul", text, {"MatMul": 1}, ((3, 5, 8),), ((1, 1, 8),), tolerance=1e-4, w=weights)


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


@pytest.mark.parametrize("index", [0, -1])
def test_entries_of_inserted_dimensions(index: int) -> None:
    text = f"""{inputs("?x3xf32")}{integer("index", index)}{integer("axis", 1)}{ints("axes", 1, 2)}
    %1 = opset1.Unsqueeze(%x, %axes)
    %2 = opset8.Gather(%1, %index, %axis)
    opset1.Result(%2) {{name = "out"}}"""
    check("cancel-reshapes", text, {"Unsqueeze": 1}, ((2, 3),))


@pytest.mark.parametrize("axis", [1, 2])
def test_gathers_of_one_sample(axis: int) -> None:
    text = f"""{inputs("1x12x4xf32", "1x?xf32")}{integer("axis", axis)}
    %i = opset1.Convert(%y) {{destination_type = si32}}
    %1 = opset8.Gather(%x, %i, %axis) {{batch_dims = 1}}
    opset1.Result(%1) {{name = "out"}}"""
    module = build(text)
    apply(module, "unbatch-gather")
    assert kinds(module) == {"Convert": 1, "Squeeze": 1, "Gather": 1}
    x, y = np.random.default_rng(1).standard_normal((1, 12, 4)).astype(np.float32), np.array([[3, 0, 2]], np.float32)
    np.testing.assert_array_equal(run(module, x, y)[0], np.take(x, [3, 0, 2], axis))
