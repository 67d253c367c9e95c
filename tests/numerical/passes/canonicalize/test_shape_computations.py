"""Computed shapes: the runtime computes the same before and after.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

import numpy as np
import openvino
import pytest

from moir.emit.in_memory import to_openvino
from tests.numerical.passes.module_lines import Array, apply, build, check, inputs, integer, ints, kinds

SHAPES = f"""{inputs("?x?x8xf32")}{integer("zero", 0)}{integer("one", 1)}{ints("front", 0)}{ints("four", 4)}{ints("rest", -1)}
    %w = opset1.Relu(%x)
    %s = opset3.ShapeOf(%w)
    %0 = opset8.Gather(%s, %zero, %zero)
    %1 = opset8.Gather(%s, %one, %zero)
    %2 = opset1.Unsqueeze(%0, %front)
    %3 = opset1.Unsqueeze(%1, %front)"""


def test_targets_of_reshapes() -> None:
    text = f"""{SHAPES}
    %4 = opset1.Concat(%2, %3, %four, %rest) {{axis = 0}}
    %5 = opset1.Reshape(%w, %4) {{special_zero = false}}
    opset1.Result(%5) {{name = "out"}}"""
    check("simplify-reshape", text, {"Relu": 1, "Reshape": 1}, ((2, 3, 8),), ((1, 1, 8),))


def test_targets_with_two_unknown_entries_stay() -> None:
    text = f"""{SHAPES}
    %4 = opset1.Concat(%3, %2, %four, %rest) {{axis = 0}}
    %5 = opset1.Reshape(%w, %4) {{special_zero = false}}
    opset1.Result(%5) {{name = "out"}}"""
    expected = {"Relu": 1, "ShapeOf": 1, "Gather": 2, "Unsqueeze": 2, "Concat": 1, "Reshape": 1}
    check("simplify-reshape", text, expected, ((2, 3, 8),))


def test_shape_computations() -> None:
    text = f"""{SHAPES}
    %4 = opset3.ShapeOf(%x)
    %5 = opset8.Gather(%4, %zero, %zero)
    %6 = opset1.Unsqueeze(%5, %front)
    %7 = opset1.Concat(%3, %6) {{axis = 0}}
    %8 = opset1.Equal(%7, %rest)
    %9 = opset1.Select(%8, %four, %7)
    opset1.Result(%9) {{name = "out"}}"""
    check("simplify-shape-of", text, {"ShapeOf": 1, "Gather": 1}, ((2, 3, 8),))


def test_broadcasts() -> None:
    text = f"""{inputs("?x1x3xf32", "?x4x3xf32")}{ints("ones", 1, 1, 1)}{integer("zero", 0)}{ints("front", 0)}{ints("sizes", 4, 3)}
    %1 = opset3.ShapeOf(%y)
    %2 = opset3.Broadcast(%x, %1) {{mode = "bidirectional"}}
    %3 = opset1.Add(%2, %y)
    %4 = opset3.ShapeOf(%x)
    %5 = opset8.Gather(%4, %front, %zero)
    %6 = opset1.Concat(%5, %sizes) {{axis = 0}}
    %7 = opset3.Broadcast(%x, %6) {{mode = "numpy"}}
    opset1.Result(%3) {{name = "sum"}}
    opset1.Result(%7) {{name = "wide"}}"""
    check("simplify-broadcast", text, {"Add": 1, "Broadcast": 1}, ((2, 1, 3), (2, 4, 3)), ((1, 1, 3), (5, 4, 3)))


@pytest.mark.parametrize("names", ["simplify-reshape", "simplify-shape-of simplify-reshape eliminate-identities cancel-reshapes"])
def test_a_model_of_static_shapes_can_still_be_reshaped(names: str) -> None:
    text = f"""{SHAPES.replace("?x?x8xf32", "2x3x8xf32")}
    %4 = opset1.Concat(%2, %3, %four, %rest) {{axis = 0}}
    %5 = opset1.Reshape(%w, %4) {{special_zero = false}}
    %6 = opset1.Concat(%2, %3, %rest) {{axis = 0}}
    %7 = opset1.Reshape(%w, %6) {{special_zero = false}}
    opset1.Result(%5) {{name = "split"}}
    opset1.Result(%7) {{name = "same"}}"""
    before, after = build(text), build(text)
    apply(after, names)
    assert "Concat" not in kinds(after)
    x = np.random.default_rng(3).standard_normal((5, 4, 8)).astype(np.float32)
    actual: list[list[Array]] = []
    for module in (before, after):
        model = to_openvino(module)
        model.reshape(list(x.shape))
        results = openvino.Core().compile_model(model, "CPU")(x)
        actual.append([np.array(results[index]) for index in range(2)])
    for a, b in zip(*actual, strict=True):
        np.testing.assert_array_equal(a, b)
