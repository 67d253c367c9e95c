"""Attention of labelled products that becomes one operation: the runtime computes the same before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.numerical.passes.module_lines import check, inputs, ints, numbers

SIZES = ((2, 5, 4, 8), (2, 7, 2, 8), (2, 7, 2, 6))
QKV = inputs("2x?x4x8xf32", "2x?x2x8xf32", "2x?x2x6xf32")
"""Query, key and value of 2 samples: 4 heads of queries, 2 of keys and values."""

GROUPED = f"""{QKV}{ints("five", 2, -1, 2, 2, 8)}{ints("merged", 2, -1, 24)}
%g = opset1.Reshape(%x, %five) {{special_zero = false}}
%s = opset7.Einsum(%g, %y) {{equation = "bqhgd,bkhd->FIRST"}}
"""
END = 'opset1.Result(%out) {name = "out"}'


def grouped(first: str, between: str, second: str, axis: int = 4, output: str = "bqhge") -> str:
    """Attention of grouped queries: the labels of the scores, what is between the products, the labels of the weights."""
    text = GROUPED.replace("FIRST", first) + between
    text += f"%p = opset8.Softmax(%last) {{axis = {axis}}}\n"
    text += f'%o = opset7.Einsum(%p, %z) {{equation = "{second},bkhe->{output}"}}\n'
    return text + f"%out = opset1.Reshape(%o, %merged) {{special_zero = false}}\n{END}"


SCALED = "%last = opset1.Multiply(%s, %root)\n"
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "groups": (grouped("bhgqk", SCALED, "bhgqk"), {}),
    "groups in front, as of a function that is mapped over them": (grouped("gbhqk", SCALED, "gbhqk"), {}),
    "keys before queries": (grouped("bhgkq", SCALED, "bhgkq", axis=3), {}),
    "a mask of the keys": (
        grouped("bhgqk", "%t = opset1.Divide(%s, %root)\n%last = opset1.Add(%t, %mask)\n", "bhgqk"),
        {"mask": numbers(7)},
    ),
    "a mask of queries and keys": (grouped("bhgqk", "%last = opset1.Add(%s, %mask)\n", "bhgqk"), {"mask": numbers(5, 7)}),
    "a mask of heads and groups": (grouped("bhgqk", "%last = opset1.Add(%s, %mask)\n", "bhgqk"), {"mask": numbers(2, 2, 5, 7)}),
    "a mask of groups": (grouped("bhgqk", "%last = opset1.Add(%mask, %s)\n", "bhgqk"), {"mask": numbers(2, 1, 7)}),
    "a mask of groups in front": (grouped("gbhqk", "%last = opset1.Add(%mask, %s)\n", "gbhqk"), {"mask": numbers(2, 2, 1, 1, 7)}),
}


@pytest.mark.parametrize("name", CASES)
def test_grouped_queries(name: str) -> None:
    """The sizes of the inputs are fixed, because a mask that is repeated for the queries has to know their number."""
    text, weights = CASES[name]
    fixed = text.replace("2x?x4x8", "2x5x4x8").replace("2x?x2x", "2x7x2x")
    left = {"ScaledDotProductAttention": 1, "Reshape": 4, "Transpose": 4}
    constants = {**weights, "root": np.array(0.35, np.float32)}
    check("fuse-einsum-attention fold-constants", fixed, left, SIZES, tolerance=1e-4, **constants)


def test_queries_of_any_number() -> None:
    text, _ = CASES["groups"]
    left = {"ScaledDotProductAttention": 1, "Reshape": 4, "Transpose": 4}
    check(
        "fuse-einsum-attention",
        text,
        left,
        SIZES,
        ((2, 3, 4, 8), (2, 1, 2, 8), (2, 1, 2, 6)),
        tolerance=1e-4,
        root=np.array(0.35, np.float32),
    )


@pytest.mark.parametrize("low", [-1e30, -1e9, -30.0])
@pytest.mark.parametrize("causal", [True, False])
def test_replaced_scores(low: float, causal: bool) -> None:
    """Where a constant condition leaves each query a key, the number need only be so low that its exponential is 0."""
    allowed = np.tril(np.ones((7, 7))) if causal else np.eye(7)[::-1] * np.arange(7).reshape(7, 1)
    text = f"""{inputs("2x7x3x8xf32")}
%zero = opset1.Constant() {{value = #moir.data<tensor<f32>, [0.0]>}} : tensor<f32>
%c = opset1.Constant() {{value = #moir.data<tensor<1x1x7x7xi1>, {[bool(each) for each in allowed.ravel()]}>}} : tensor<1x1x7x7xi1>
%s = opset7.Einsum(%x, %x) {{equation = "bqhd,bkhd->bhqk"}}
%m = opset1.Select(%c, %s, %low)
%p = opset8.Softmax(%m) {{axis = 3}}
%out = opset7.Einsum(%p, %x) {{equation = "bhqk,bkhd->bqhd"}}
{END}""".replace("True", "true").replace("False", "false")
    fused = low < -1e20 or (low < -1e4 and causal)
    left = {"ScaledDotProductAttention": 1, "Transpose": 4} if fused else {"Einsum": 2, "Select": 1, "Softmax": 1}
    check("fuse-einsum-attention fold-constants", text, left, ((2, 7, 3, 8),), tolerance=1e-4, low=np.array(low, np.float32))
