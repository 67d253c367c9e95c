"""Attention that is one operation: the runtime computes the same before and after.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import check, inputs, ints, numbers


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
