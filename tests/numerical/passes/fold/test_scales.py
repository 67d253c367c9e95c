"""Factors, terms and normalizations folded into weights: the runtime computes the same before and after.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import ADJACENT, check, inputs, numbers

CONVOLUTIONS = {
    "Convolution": ((6, 4, 3, 3), (1, 6, 1, 1), (1, 4, 1, 1)),
    "ConvolutionBackpropData": ((4, 6, 3, 3), (1, 6, 1, 1), (1, 4, 1, 1)),
    "GroupConvolution": ((2, 3, 2, 3, 3), (1, 6, 1, 1), (1, 4, 1, 1)),
    "GroupConvolutionBackpropData": ((2, 2, 3, 3, 3), (1, 6, 1, 1), (1, 4, 1, 1)),
}


@pytest.mark.parametrize("kind", CONVOLUTIONS)
@pytest.mark.parametrize("scalar", [False, True])
def test_factors_around_convolutions(kind: str, scalar: bool) -> None:
    filters, outputs, data = CONVOLUTIONS[kind]
    text = f"""{inputs("?x4x?x?xf32")}
    %1 = opset1.Multiply(%x, %before)
    %2 = opset1.{kind}(%1, %w) {{{ADJACENT}}}
    %3 = opset1.Add(%2, %b)
    %4 = opset1.Divide(%3, %after)
    opset1.Result(%4) {{name = "out"}}"""
    weights = {
        "before": numbers(*(() if scalar else data)),
        "w": numbers(*filters),
        "b": numbers(*outputs),
        "after": numbers(*(() if scalar else outputs[1:])),
    }
    check("fold-scales", text, {kind: 1, "Add": 1}, ((2, 4, 5, 6),), ((1, 4, 3, 3),), tolerance=1e-4, **weights)


@pytest.mark.parametrize("transposed", [False, True])
def test_factors_around_matrix_products(transposed: bool) -> None:
    text = f"""{inputs("?x?x4xf32")}
    %1 = opset1.Multiply(%before, %x)
    %2 = opset1.MatMul(%1, %w) {{transpose_b = {str(transposed).lower()}}}
    %3 = opset1.Multiply(%2, %after)
    opset1.Result(%3) {{name = "out"}}"""
    weights = {"before": numbers(4), "w": numbers(*((6, 4) if transposed else (4, 6))), "after": numbers(1, 1, 6)}
    check("fold-scales", text, {"MatMul": 1}, ((2, 3, 4),), ((1, 1, 4),), **weights)


def test_constants_in_a_row() -> None:
    text = f"""{inputs("?x?x4xf32")}
    %1 = opset1.Multiply(%x, %a)
    %2 = opset1.Subtract(%1, %b)
    %3 = opset1.Add(%a, %2)
    %4 = opset1.Divide(%3, %b)
    opset1.Result(%4) {{name = "out"}}"""
    check("fold-scales", text, {"Multiply": 1, "Add": 1}, ((2, 3, 4),), ((1, 1, 4),), a=numbers(4), b=numbers(1, 4) * 3)


@pytest.mark.parametrize("factor", [(1, 1, 5, 1), (2, 1, 1, 1), (1, 1, 6, 1, 1)])
def test_factors_that_are_not_of_channels_stay(factor: tuple[int, ...]) -> None:
    text = f"""{inputs("2x4x5x5xf32")}
    %1 = opset1.Convolution(%x, %w) {{{ADJACENT}}}
    %2 = opset1.Multiply(%1, %s)
    opset1.Result(%2) {{name = "out"}}"""
    factor = factor if len(factor) < 5 else (3, 1, 6, 1, 1)
    check("fold-scales", text, {"Convolution": 1, "Multiply": 1}, ((2, 4, 5, 5),), w=numbers(6, 4, 3, 3), s=numbers(*factor))


def test_values_with_other_uses_stay() -> None:
    text = f"""{inputs("2x4x5x5xf32")}
    %1 = opset1.Convolution(%x, %w) {{{ADJACENT}}}
    %2 = opset1.Multiply(%1, %s)
    opset1.Result(%1) {{name = "inner"}}
    opset1.Result(%2) {{name = "out"}}"""
    check("fold-scales", text, {"Convolution": 1, "Multiply": 1}, ((2, 4, 5, 5),), w=numbers(6, 4, 3, 3), s=numbers(1, 6, 1, 1))


def test_half_precision_weights() -> None:
    text = f"""{inputs("?x4x?x?xf32")}
    %half = opset1.Convert(%w) {{destination_type = f32}}
    %1 = opset1.Convolution(%x, %half) {{{ADJACENT}}}
    %2 = opset1.Multiply(%1, %s)
    opset1.Result(%2) {{name = "out"}}"""
    weights = {"w": numbers(6, 4, 3, 3).astype(np.float16), "s": numbers(6, 1, 1)}
    check("fold-scales", text, {"Convolution": 1}, ((1, 4, 5, 5),), tolerance=1e-4, **weights)


def test_batch_normalization() -> None:
    text = f"""{inputs("?x4x?x?xf32")}
    %1 = opset1.Convolution(%x, %w) {{{ADJACENT}}}
    %2 = opset5.BatchNormInference(%1, %g, %b, %m, %v) {{epsilon = 0.001}}
    opset1.Result(%2) {{name = "out"}}"""
    weights = {"w": numbers(6, 4, 3, 3), "g": numbers(6), "b": numbers(6) * 2, "m": -numbers(6), "v": numbers(6) * 3}
    check("fold-batch-norm fold-scales", text, {"Convolution": 1, "Add": 1}, ((2, 4, 5, 6),), tolerance=1e-4, **weights)
