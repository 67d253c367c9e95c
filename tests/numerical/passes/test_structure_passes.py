"""The passes that simplify the structure of a model: what OpenVINO Runtime computes before and after them is the same.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

import numpy as np
import openvino
import pytest

from moir.emit.in_memory import to_openvino
from tests.numerical.passes.module_lines import ADJACENT, Array, apply, build, check, inputs, integer, ints, kinds, numbers

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
    %4 = opset1.Divide(%3, %behind)
    opset1.Result(%4) {{name = "out"}}"""
    weights = {
        "before": numbers(*(() if scalar else data)),
        "w": numbers(*filters),
        "b": numbers(*outputs),
        "behind": numbers(*(() if scalar else outputs[1:])),
    }
    check("fold-scales", text, {kind: 1, "Add": 1}, ((2, 4, 5, 6),), ((1, 4, 3, 3),), tolerance=1e-4, **weights)


@pytest.mark.parametrize("transposed", [False, True])
def test_factors_around_matrix_products(transposed: bool) -> None:
    text = f"""{inputs("?x?x4xf32")}
    %1 = opset1.Multiply(%before, %x)
    %2 = opset1.MatMul(%1, %w) {{transpose_b = {str(transposed).lower()}}}
    %3 = opset1.Multiply(%2, %behind)
    opset1.Result(%3) {{name = "out"}}"""
    weights = {"before": numbers(4), "w": numbers(*((6, 4) if transposed else (4, 6))), "behind": numbers(1, 1, 6)}
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


def test_matrix_products_of_transposed_operands() -> None:
    text = f"""{inputs("?x4x?xf32", "?x6x4xf32")}{ints("swap", 0, 2, 1)}
    %1 = opset1.Transpose(%x, %swap)
    %2 = opset1.Transpose(%y, %swap)
    %3 = opset1.MatMul(%1, %2)
    %4 = opset1.Transpose(%3, %swap)
    opset1.Result(%4) {{name = "out"}}"""
    check("fuse-matmul-transpose", text, {"MatMul": 1}, ((2, 4, 3), (2, 6, 4)), ((1, 4, 3), (5, 6, 4)))


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


def shuffle(first: str, order: tuple[int, ...], last: tuple[int, ...], source: str) -> str:
    """Reshape, Transpose, Reshape."""
    return f"""{inputs(source)}{ints("a", *map(int, first.split()))}{ints("order", *order)}{ints("b", *last)}
    %1 = opset1.Reshape(%x, %a) {{special_zero = true}}
    %2 = opset1.Transpose(%1, %order)
    %3 = opset1.Reshape(%2, %b) {{special_zero = true}}
    opset1.Result(%3) {{name = "out"}}"""


REGROUPINGS = {
    "fuse-shuffle-channels": ("0 3 2 5 7", (0, 2, 1, 3, 4), (0, 6, 5, 7), "?x6x5x7xf32", "ShuffleChannels"),
    "fuse-depth-to-space": ("-1 2 2 3 5 7", (0, 3, 4, 1, 5, 2), (-1, 3, 10, 14), "?x12x5x7xf32", "DepthToSpace"),
    "fuse-depth-to-space depth": ("0 3 2 2 5 7", (0, 1, 4, 2, 5, 3), (0, 3, 10, 14), "?x12x5x7xf32", "DepthToSpace"),
    "fuse-depth-to-space line": ("0 3 2 5", (0, 1, 3, 2), (0, 3, 10), "?x6x5xf32", "DepthToSpace"),
    "fuse-space-to-depth": ("0 3 4 2 5 2", (0, 3, 5, 1, 2, 4), (0, 12, 4, 5), "?x3x8x10xf32", "SpaceToDepth"),
    "fuse-space-to-depth depth": ("0 3 4 2 5 2", (0, 1, 3, 5, 2, 4), (0, 12, 4, 5), "?x3x8x10xf32", "SpaceToDepth"),
}


@pytest.mark.parametrize("case", REGROUPINGS)
def test_regrouped_elements(case: str) -> None:
    first, order, last, source, kind = REGROUPINGS[case]
    shape = tuple(int(size) for size in source.split("x")[1:-1])
    check(case.split()[0], shuffle(first, order, last, source), {kind: 1}, ((2, *shape),), ((1, *shape),))


@pytest.mark.parametrize(
    ("name", "first", "order", "last", "source"),
    [
        ("fuse-shuffle-channels", "0 3 2 5 7", (0, 2, 1, 3, 4), (0, 2, 15, 7), "?x6x5x7xf32"),
        ("fuse-depth-to-space", "0 2 2 3 5 7", (0, 3, 4, 2, 5, 1), (0, 3, 10, 14), "?x12x5x7xf32"),
        ("fuse-space-to-depth", "0 3 2 4 5 2", (0, 3, 5, 1, 2, 4), (0, 24, 2, 5), "?x3x8x10xf32"),
    ],
)
def test_elements_regrouped_in_another_way(name: str, first: str, order: tuple[int, ...], last: tuple[int, ...], source: str) -> None:
    shape = tuple(int(size) for size in source.split("x")[1:-1])
    check(name, shuffle(first, order, last, source), {"Reshape": 2, "Transpose": 1}, ((2, *shape),))


def test_slices() -> None:
    text = f"""{inputs("?x6x7xf32")}{ints("a", 1)}{ints("b", -1)}{ints("c", 2)}{ints("d", -2)}{ints("last", -1)}{ints("middle", 1)}
    %1 = opset8.Slice(%x, %a, %b, %c, %middle)
    %2 = opset8.Slice(%1, %d, %a, %b, %last)
    opset1.Result(%2) {{name = "out"}}"""
    check("fuse-slices", text, {"Slice": 1}, ((2, 6, 7),))


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
    found: list[list[Array]] = []
    for module in (before, after):
        model = to_openvino(module)
        model.reshape(list(x.shape))
        results = openvino.Core().compile_model(model, "CPU")(x)
        found.append([np.array(results[index]) for index in range(2)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


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
