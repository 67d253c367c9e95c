"""Comparisons with NaN are false, also those for which the CPU plugin (2026.4) computes the negation of the opposite."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import apply, build, inputs, run

X = np.array([1, np.nan, np.nan, 2, 0.5, 1], np.float32)
Y = np.array([np.nan, 1, np.nan, 1, 1, 1], np.float32)


@pytest.mark.parametrize("kind", ["Greater", "GreaterEqual", "Less", "LessEqual", "Equal"])
def test_comparisons(kind: str) -> None:
    text = f"""{inputs("?xf32", "?xf32")}
    %1 = opset1.{kind}(%x, %y)
    opset1.Result(%1) {{name = "out"}}"""
    module = build(text)
    apply(module, "reverse-comparisons")
    functions = {"Greater": np.greater, "GreaterEqual": np.greater_equal, "Less": np.less, "LessEqual": np.less_equal, "Equal": np.equal}
    (actual,) = run(module, X, Y)
    np.testing.assert_array_equal(actual, functions[kind](X, Y))
