"""Reductions before constants for single rows, which the CPU plugin (2026.4) reads out of bounds unless they are separate."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import apply, build, inputs, ints, run


@pytest.mark.parametrize("kind", ["opset1.ReduceSum", "opset1.ReduceMean", "opset1.ReduceMax", "opset4.ReduceL2"])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("batch", ["?", "50"])
def test_constants_behind_reductions(kind: str, keep: bool, batch: str) -> None:
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
    (found,) = run(module, x)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
