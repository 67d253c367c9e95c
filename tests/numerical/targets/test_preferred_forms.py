"""Forms that the CPU plugin executes faster compute the same as what they replace."""

from __future__ import annotations

from collections import Counter

import openvino
import pytest
from xdsl.dialects.builtin import ModuleOp

from moir.emit.in_memory import to_openvino
from tests.numerical.passes.module_lines import apply, build, check, inputs, integer, ints, numbers

WINDOW = "kernel = [3, 3], strides = [2, 2], dilations = [1, 1], pads_begin = [1, 0]"


def executed_kinds(module: ModuleOp) -> Counter[str]:
    """How many nodes of each kind the plugin executes."""
    compiled = openvino.Core().compile_model(to_openvino(module), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return Counter(str(node.get_rt_info()["layerType"].astype(str)) for node in compiled.get_runtime_model().get_ops())


@pytest.mark.parametrize("shape", ["?x4x?x?", "?x4x6x6", "?x4x?"])
def test_groups_of_unknown_sizes(shape: str) -> None:
    text = f"""{inputs(shape + "xf32")}
    %1 = opset12.GroupNormalization(%x, %scale, %shift) {{num_groups = 2, epsilon = 0.1}}
    opset1.Result(%1) {{name = "out"}}"""
    left = {"Reshape": 2, "MVN": 1, "Multiply": 1, "Add": 1} | ({"ShapeOf": 1} if shape == "?x4x?x?" else {})
    size = (2, 4, 6, 6) if shape.count("x") == 3 else (2, 4, 5)
    check("normalize-rows", text, left, (size,), tolerance=1e-4, scale=numbers(4), shift=numbers(4) - 1)


@pytest.mark.parametrize(("end", "sizes"), [(0, (7, 8)), (1, (7, 8)), (1, (8, 9))])
def test_windows_that_are_rounded_up(end: int, sizes: tuple[int, int]) -> None:
    text = f"""{inputs("?x3x?x?xf32")}
    %1, %2 = opset14.MaxPool(%x) {{{WINDOW}, pads_end = [{end}, {end}], rounding_type = "ceil_torch"}}
    opset1.Result(%1) {{name = "out"}}"""
    check("round-windows-up", text, {"MaxPool": 1}, ((2, 3, *sizes),))


@pytest.mark.parametrize(("index", "axis"), [(0, 1), (3, 1), (-1, 1), (2, -1), (-5, 2)])
def test_single_entries(index: int, axis: int) -> None:
    text = f"""{inputs("2x4x5xf32")}{integer("index", index)}{integer("axis", axis)}
    %1 = opset8.Gather(%x, %index, %axis) {{batch_dims = 0}}
    opset1.Result(%1) {{name = "out"}}"""
    check("slice-single-entries", text, {"StridedSlice": 1}, ((2, 4, 5),))


def test_rotary_halves() -> None:
    text = f"""{inputs("?x2x?x8xf32")}{integer("axis", 3)}
    %1, %2 = opset1.Split(%x, %axis) {{num_splits = 2}}
    %3 = opset1.Negative(%2)
    %4 = opset1.Concat(%3, %1) {{axis = -1}}
    %5 = opset1.Multiply(%4, %sine)
    %6 = opset1.Multiply(%x, %cosine)
    %7 = opset1.Add(%6, %5)
    opset1.Result(%7) {{name = "out"}}"""
    left = {"VariadicSplit": 1, "Negative": 1, "Concat": 1, "Multiply": 2, "Add": 1}
    check("split-rotary-halves", text, left, ((2, 2, 3, 8),), sine=numbers(1, 1, 3, 8), cosine=numbers(1, 1, 3, 8))


@pytest.mark.parametrize("eps", ["1.0e-12", "4.0"])
def test_norms_of_rows(eps: str) -> None:
    text = f"""{inputs("?x2x3x8xf32")}{ints("axes", 3)}
    %1 = opset1.NormalizeL2(%x, %axes) {{eps = {eps}, eps_mode = "max"}}
    opset1.Result(%1) {{name = "out"}}"""
    check("divide-by-norms", text, {"ReduceL2": 1, "Maximum": 1, "Divide": 1}, ((2, 2, 3, 8),))


def test_ranges_of_signed_integers() -> None:
    text = f"""{inputs("2x3x4x4xsi8")}
    %zero = opset1.Constant() {{value = #moir.data<tensor<f32>, [-5.0]>}} : tensor<f32>
    %scale = opset1.Constant() {{value = #moir.data<tensor<f32>, [0.03]>}} : tensor<f32>
    %1 = opset1.Convert(%x) {{destination_type = f32}} : tensor<2x3x4x4xf32>
    %2 = opset1.Subtract(%1, %zero)
    %3 = opset1.Multiply(%2, %scale)
    %4 = opset1.Convolution(%3, %w) {{strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]}}
    opset1.Result(%4) {{name = "out"}}"""
    left = {"Convert": 1, "FakeQuantize": 1, "Convolution": 1}
    check("dequantize-by-fake-quantize", text, left, ((2, 3, 4, 4),), tolerance=1e-5, w=numbers(2, 3, 2, 2))


@pytest.mark.parametrize("others", ["", ", %mask", ", %mask, %scale"])
def test_scales_of_queries(others: str) -> None:
    """The keys are a part of a tensor that also has the queries and values."""
    text = f"""{inputs("3x?x2x?x8xf32")}{integer("i0", 0)}{integer("i1", 1)}{integer("i2", 2)}
    %scale = opset1.Constant() {{value = #moir.data<tensor<f32>, [0.3]>}} : tensor<f32>
    %q = opset8.Gather(%x, %i0, %i0)
    %k = opset8.Gather(%x, %i1, %i0)
    %v = opset8.Gather(%x, %i2, %i0)
    %1 = opset13.ScaledDotProductAttention(%q, %k, %v{others}) {{causal = false}}
    opset1.Result(%1) {{name = "out"}}"""
    left = {"Gather": 3, "Multiply": 1, "ScaledDotProductAttention": 1}
    check("scale-queries", text, left, ((3, 2, 2, 3, 8),), tolerance=1e-5, mask=numbers(1, 1, 3, 3))


def test_nodes_of_scaled_queries() -> None:
    """The proof of the preference: the plugin executes a Transpose of the keys if it scales scores, and none else."""
    text = f"""{inputs("3x?x2x?x8xf32")}{integer("i0", 0)}{integer("i1", 1)}{integer("i2", 2)}
    %q = opset8.Gather(%x, %i0, %i0)
    %k = opset8.Gather(%x, %i1, %i0)
    %v = opset8.Gather(%x, %i2, %i0)
    %1 = opset13.ScaledDotProductAttention(%q, %k, %v) {{causal = false}}
    opset1.Result(%1) {{name = "out"}}"""
    before, after = build(text), build(text)
    apply(after, "scale-queries")
    assert [executed_kinds(module)["Transpose"] for module in (before, after)] == [1, 0]
