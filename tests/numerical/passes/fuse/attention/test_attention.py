"""Attention that is one operation: the runtime computes the same before and after.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import apply, build, check, inputs, integer, ints, kinds, numbers
from tests.numerical.passes.module_results import results_of_modules


@pytest.mark.parametrize("masked", [False, True])
def test_attention(masked: bool) -> None:
    text = f"""{inputs("?x2x?x8xf32", "?x2x?x8xf32", "?x2x?x8xf32")}{ints("a", 0, 2, -1, 8)}{ints("swap", 0, 1, 3, 2)}
    %q = opset1.MatMul(%x, %wq)
    %k = opset1.MatMul(%x, %wk)
    %v = opset1.MatMul(%x, %wv)
    %t = opset1.Transpose(%k, %swap)
    %1 = opset1.MatMul(%q, %t)
    %2 = opset1.Divide(%1, %root)
    {"%3 = opset1.Add(%2, %mask)" if masked else "%3 = opset1.Multiply(%root, %2)"}
    %4 = opset8.Softmax(%3) {{axis = -1}}
    %5 = opset1.MatMul(%4, %v)
    opset1.Result(%5) {{name = "out"}}""".replace('%y = opset1.Parameter() {name = "y"} : tensor<?x2x?x8xf32>\n', "").replace(
        '%z = opset1.Parameter() {name = "z"} : tensor<?x2x?x8xf32>\n', ""
    )
    weights = {"wq": numbers(8, 8), "wk": numbers(8, 8), "wv": numbers(8, 8), "root": np.array(2.8, np.float32)}
    if masked:
        check("fuse-attention", text, {"MatMul": 3, "ScaledDotProductAttention": 1}, ((2, 2, 3, 8),), mask=numbers(1, 1), **weights)
    else:
        expected = {"MatMul": 3, "ScaledDotProductAttention": 1}
        check("fold-scales fuse-attention", text, expected, ((2, 2, 3, 8),), tolerance=1e-4, **weights)


SIZES = "".join(ints(f"i{size}", size) for size in (0, 1, 2, 4, 8, 32)) + integer("zero", 0) + ints("order", 0, 2, 1, 3)


def test_mask_of_another_input() -> None:
    """The number of keys is that of the values, and the last Reshape needs the samples of the data."""
    text = f"""{inputs("?x?x32xf32", "?x1x1x?xf32")}{SIZES}{ints("flat", -1, 32)}
    %s = opset3.ShapeOf(%x)
    %b = opset8.Gather(%s, %i0, %zero)
    %n = opset8.Gather(%s, %i1, %zero)
    %split = opset1.Concat(%b, %n, %i4, %i8) {{axis = 0}}
    %joined = opset1.Concat(%b, %n, %i32) {{axis = 0}}
    %h = opset1.Reshape(%x, %split) {{special_zero = false}}
    %q = opset1.Transpose(%h, %order)
    %1 = opset1.MatMul(%q, %q) {{transpose_b = true}}
    %2 = opset1.Multiply(%1, %scale)
    %3 = opset1.Add(%2, %y)
    %4 = opset8.Softmax(%3) {{axis = -1}}
    %5 = opset1.MatMul(%4, %q)
    %6 = opset1.Transpose(%5, %order)
    %7 = opset1.Reshape(%6, %flat) {{special_zero = false}}
    %8 = opset1.MatMul(%7, %w)
    %9 = opset1.Reshape(%8, %joined) {{special_zero = false}}
    opset1.Result(%9) {{name = "out"}}"""
    left = {"ShapeOf": 1, "Gather": 2, "Concat": 2, "Reshape": 3, "Transpose": 2, "MatMul": 1, "ScaledDotProductAttention": 1}
    sizes = (((2, 3, 32), (2, 1, 1, 3)), ((2, 3, 32), (1, 1, 1, 1)), ((1, 1, 32), (1, 1, 1, 1)), ((3, 5, 32), (3, 1, 1, 1)))
    check("fuse-attention", text, left, *sizes, tolerance=1e-4, scale=np.array(0.3, np.float32), w=numbers(32, 32))


def test_merged_heads() -> None:
    """Attention as Bloom has it: products of merged heads, a bias for each head, and a mask."""
    text = f"""
    %x = opset1.Parameter() {{name = "x", dimension_names = ["b", "n", ""]}} : tensor<?x?x32xf32>
    %y = opset1.Parameter() {{name = "y", dimension_names = ["b", "", "n", "n"]}} : tensor<?x1x?x?xf32>
    {SIZES}{ints("swap", 0, 2, 1)}{ints("last", 2)}
    %s = opset3.ShapeOf(%x)
    %b = opset8.Gather(%s, %i0, %zero)
    %n = opset8.Gather(%s, %i1, %zero)
    %split = opset1.Concat(%b, %n, %i4, %i8) {{axis = 0}}
    %bh = opset1.Multiply(%b, %i4)
    %merged = opset1.Concat(%bh, %n, %i8) {{axis = 0}}
    %weighted = opset1.Concat(%bh, %n, %n) {{axis = 0}}
    %row = opset1.Concat(%bh, %i1, %n) {{axis = 0}}
    %scores = opset1.Concat(%b, %i4, %n, %n) {{axis = 0}}
    %result = opset1.Concat(%b, %i4, %n, %i8) {{axis = 0}}
    %h = opset1.Reshape(%x, %split) {{special_zero = false}}
    %h4 = opset1.Transpose(%h, %order)
    %q = opset1.Reshape(%h4, %merged) {{special_zero = false}}
    %k = opset1.Transpose(%q, %swap)
    %sums = opset1.ReduceMean(%x, %last) {{keep_dims = false}}
    %sums1 = opset1.Unsqueeze(%sums, %i1)
    %slope = opset1.Multiply(%slopes, %sums1)
    %bias = opset1.Reshape(%slope, %row) {{special_zero = false}}
    %1 = opset1.MatMul(%q, %k)
    %2 = opset1.Multiply(%1, %scale)
    %3 = opset1.Add(%bias, %2)
    %4 = opset1.Reshape(%3, %scores) {{special_zero = false}}
    %5 = opset1.Add(%4, %y)
    %6 = opset8.Softmax(%5) {{axis = -1}}
    %7 = opset1.Reshape(%6, %weighted) {{special_zero = false}}
    %8 = opset1.MatMul(%7, %q)
    %9 = opset1.Reshape(%8, %result) {{special_zero = false}}
    %mixed = opset1.MatMul(%9, %w)
    opset1.Result(%mixed) {{name = "out"}}"""
    sizes = (((2, 3, 32), (2, 1, 3, 3)), ((1, 5, 32), (1, 1, 5, 5)), ((2, 1, 32), (2, 1, 1, 1)))
    weights = {"scale": np.array(0.3, np.float32), "slopes": numbers(1, 4, 1), "w": numbers(8, 8)}
    unflattened = build(text, **weights)
    apply(unflattened, "unflatten-batch")
    assert kinds(unflattened)["Reshape"] == 2
    names = "unflatten-batch eliminate-dead fuse-matmul-transpose fuse-attention"
    left = {"ShapeOf": 1, "Gather": 2, "Concat": 2, "Reshape": 2, "Transpose": 1, "ReduceMean": 1, "Unsqueeze": 1, "Multiply": 1, "Add": 1}
    check(names, text, {**left, "MatMul": 1, "ScaledDotProductAttention": 1}, *sizes, tolerance=1e-4, **weights)


def test_bias_of_keys() -> None:
    """A bias of all keys, before the split into heads, does not change the result; that of the values does."""
    text = f"""{inputs("?x?x32xf32")}{ints("heads", 0, 0, 4, 8)}{ints("order", 0, 2, 1, 3)}
    %1 = opset1.MatMul(%x, %w)
    %2 = opset1.Reshape(%1, %heads) {{special_zero = true}}
    %3 = opset1.Add(%2, %bias)
    %k = opset1.Transpose(%3, %order)
    %4 = opset1.Reshape(%x, %heads) {{special_zero = true}}
    %q = opset1.Transpose(%4, %order)
    %5 = opset1.MatMul(%x, %other)
    %6 = opset1.Add(%5, %flat)
    %7 = opset1.Reshape(%6, %heads) {{special_zero = true}}
    %v = opset1.Transpose(%7, %order)
    %8 = opset13.ScaledDotProductAttention(%q, %k, %v) {{causal = true}}
    opset1.Result(%8) {{name = "out"}}"""
    left = {"MatMul": 2, "Add": 1, "Reshape": 3, "Transpose": 3, "ScaledDotProductAttention": 1}
    weights = {"w": numbers(32, 32) / 32, "other": numbers(32, 32), "bias": numbers(4, 8), "flat": numbers(32)}
    check("reshape-biases drop-key-bias", text, left, ((2, 3, 32),), ((1, 1, 32),), tolerance=1e-4, **weights)


@pytest.mark.parametrize("low", [-np.inf, -3.4e38])
def test_queries_without_keys(low: float) -> None:
    """Weights that are NaN, as all keys of a query are masked by -inf, are 0: PyTorch exports attention so."""
    text = f"""{inputs("2x4x3x8xf32", "3x3xf32")}
    %allowed = opset1.Greater(%y, %zero)
    %mask = opset1.Select(%allowed, %zero, %low)
    %1 = opset1.MatMul(%x, %x) {{transpose_b = true}}
    %2 = opset1.Add(%1, %mask)
    %3 = opset8.Softmax(%2) {{axis = -1}}
    %4 = opset10.IsNaN(%3)
    %5 = opset1.Select(%4, %zero, %3)
    %6 = opset1.MatMul(%5, %x)
    opset1.Result(%6) {{name = "out"}}"""
    left = {"Greater": 1, "Select": 1, "ScaledDotProductAttention": 1}
    left |= {"Select": 2, "ReduceLogicalAnd": 1, "Equal": 1} if np.isinf(low) else {}
    weights = {"zero": np.array(0, np.float32), "low": np.array(low, np.float32)}
    before, after = build(text, **weights), build(text, **weights)
    apply(after, "fuse-attention")
    assert kinds(after) == left
    x = np.random.default_rng(3).standard_normal((2, 4, 3, 8)).astype(np.float32)
    for allowed in ([[1, 0, 0], [0, 0, 0], [1, 1, 1]], [[0, 0, 0]] * 3):
        y = np.array(allowed, np.float32)
        (expected,), (actual,) = results_of_modules([before, after], [x, y])
        assert np.isfinite(actual).all()
        np.testing.assert_allclose(expected, actual, rtol=1e-4, atol=1e-5)
