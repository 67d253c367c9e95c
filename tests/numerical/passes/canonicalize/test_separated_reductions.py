"""Reductions before constants, which the CPU plugin (2026.4) reads out of bounds or divides by unless they are separate."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import apply, build, inputs, ints, run


@pytest.mark.parametrize("kind", ["opset1.ReduceSum", "opset1.ReduceMean", "opset1.ReduceMax", "opset4.ReduceL2"])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("batch", ["?", "50"])
def test_constants_after_reductions(kind: str, keep: bool, batch: str) -> None:
    row = np.linspace(-1, 1, 16, dtype=np.float32).reshape((1, 16, 1) if keep else (1, 16))
    text = f"""{inputs(f"{batch}x16x7xf32")}{ints("last", 2)}
    %1 = {kind}(%x, %last) {{keep_dims = {str(keep).lower()}}}
    %2 = opset1.Multiply(%1, %row)
    opset1.Result(%2) {{name = "out"}}"""
    module = build(text, row=row)
    apply(module, "separate-reductions")
    x = np.random.default_rng(3).standard_normal((50, 16, 7)).astype(np.float32)
    functions = {"Sum": np.sum, "Mean": np.mean, "Max": np.max, "L2": np.linalg.norm}
    expected = functions[kind.partition("Reduce")[2]](x, axis=2, keepdims=keep) * row
    (actual,) = run(module, x)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["Sum", "Prod", "Max", "Min"])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_a_constant_divided_by_integers(kind: str, keep: bool, last: bool) -> None:
    text = f"""{inputs("?x3xsi32")}{ints("axes", 1 if last else 0)}
    %seven = opset1.Constant() {{value = #moir.data<tensor<si32>, [7]>}} : tensor<si32>
    %1 = opset1.Reduce{kind}(%x, %axes) {{keep_dims = {str(keep).lower()}}}
    %2 = opset1.Negative(%1)
    %3 = opset1.Divide(%seven, %2)
    opset1.Result(%3) {{name = "out"}}"""
    module = build(text)
    apply(module, "separate-reductions")
    x = np.array([[1, 1, 1], [2, 1, 1]], np.int32)
    reduced = getattr(np, kind.lower())(x, axis=1 if last else 0, keepdims=keep)
    (actual,) = run(module, x)
    np.testing.assert_array_equal(actual, np.trunc(7 / -reduced).astype(np.int32))
