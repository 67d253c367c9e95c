"""Operations that compute nothing, transpositions and reshapes in a row: the runtime computes the same before and after.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import apply, build, check, inputs, integer, ints, kinds, numbers, run


def test_identities() -> None:
    text = f"""{inputs("?x3x4xf32")}{ints("order", 0, 1, 2)}{ints("same", 0, 3, -1)}{ints("zeros", 0, 0, 0)}{ints("ones", 1, 1)}
    {ints("start", 0)}{ints("stop", 2**63 - 1)}{ints("axis", 2)}{integer("first", 0)}{ints("step", 1)}
    %1 = opset1.Transpose(%x, %order)
    %2 = opset1.Reshape(%1, %same) {{special_zero = true}}
    %3 = opset1.Multiply(%2, %one)
    %4 = opset1.Add(%zero, %3)
    %5 = opset12.Pad(%4, %zeros, %zeros) {{pad_mode = "constant"}}
    %6 = opset8.Slice(%5, %start, %stop, %step, %axis)
    %7 = opset1.Tile(%6, %ones)
    %8 = opset1.Concat(%7) {{axis = 1}}
    %9 = opset1.Convert(%8) {{destination_type = f32}}
    %10 = opset1.Split(%9, %first) {{num_splits = 1}}
    %11 = opset1.Relu(%10)
    opset1.Result(%11) {{name = "out"}}"""
    weights = {"one": np.ones((1, 1), np.float32), "zero": np.zeros(4, np.float32)}
    check("eliminate-identities", text, {"Relu": 1}, ((2, 3, 4),), ((1, 3, 4),), **weights)


def test_constants_that_broadcast_are_no_identities() -> None:
    text = f"""{inputs("?x1xf32")}{ints("shape", -1, 3)}
    %1 = opset1.Multiply(%x, %wide)
    %2 = opset1.Add(%1, %deep)
    opset1.Result(%2) {{name = "out"}}"""
    weights = {"wide": np.ones((1, 3), np.float32), "deep": np.zeros((2, 1, 3), np.float32)}
    check("eliminate-identities", text, {"Multiply": 1, "Add": 1}, ((4, 1),), **weights)


def test_transposes() -> None:
    text = f"""{inputs("?x3x?x5xf32")}{ints("last", 0, 2, 3, 1)}{ints("turn", 0, 3, 1, 2)}{ints("swap", 1, 0, 2, 3)}
    %1 = opset1.Transpose(%x, %last)
    %2 = opset1.Transpose(%1, %turn)
    %3 = opset1.Relu(%2)
    %4 = opset1.Transpose(%3, %last)
    %5 = opset1.Transpose(%4, %swap)
    opset1.Result(%5) {{name = "out"}}"""
    check("cancel-transposes", text, {"Relu": 1, "Transpose": 1}, ((2, 3, 4, 5),))


def test_reshapes() -> None:
    text = f"""{inputs("?x4x6xf32")}{ints("a", 0, 24)}{ints("b", 0, 3, -1)}{ints("one", 1)}{ints("two", 2)}{ints("both", 1, 2)}
    %1 = opset1.Unsqueeze(%x, %one)
    %2 = opset1.Unsqueeze(%1, %two)
    %3 = opset15.Squeeze(%2, %both)
    %4 = opset1.Relu(%3)
    %5 = opset1.Reshape(%4, %a) {{special_zero = true}}
    %6 = opset1.Reshape(%5, %b) {{special_zero = true}}
    %7 = opset1.Unsqueeze(%6, %two)
    opset1.Result(%7) {{name = "out"}}"""
    check("cancel-reshapes", text, {"Relu": 1, "Reshape": 1}, ((2, 4, 6),), ((1, 4, 6),))


def test_a_copied_dimension_that_was_not_in_its_place_stays() -> None:
    text = f"""{inputs("?x?x6xf32")}{ints("a", -1, 3)}{ints("b", 0, 1, -1)}
    %1 = opset1.Reshape(%x, %a) {{special_zero = true}}
    %2 = opset1.Reshape(%1, %b) {{special_zero = true}}
    opset1.Result(%2) {{name = "out"}}"""
    check("cancel-reshapes", text, {"Reshape": 2}, ((2, 4, 6),))


@pytest.mark.parametrize("index", [0, -1])
def test_entries_of_inserted_dimensions(index: int) -> None:
    text = f"""{inputs("?x3xf32")}{integer("index", index)}{integer("axis", 1)}{ints("axes", 1, 2)}
    %1 = opset1.Unsqueeze(%x, %axes)
    %2 = opset8.Gather(%1, %index, %axis)
    opset1.Result(%2) {{name = "out"}}"""
    check("cancel-reshapes", text, {"Unsqueeze": 1}, ((2, 3),))


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
