"""ONNX models that are written of modules: bodies, quantized values, names, external data, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import moir
from moir.emit.onnx.write import write_onnx
from moir.errors import ConversionError, EmissionError, UsageError
from moir.files.output import WEIGHTS_FILE, replacing_file
from moir.lowering.to_onnx.driver import LowerToOnnxPass
from moir.tools import opt
from tests.numerical.onnx.round_trip import session_of
from tests.numerical.runtime import core

Array = np.ndarray[Any, Any]


def compared(text: str, folder: Path, inputs: dict[str, Array], opset: int | None = None) -> onnx.ModelProto:
    """Compare a module in the runtime and, written as ONNX, in ONNX Runtime; returns the ONNX model."""
    source, xml, back = folder / "source.mlir", folder / "model.xml", folder / "model.onnx"
    source.write_text(text)
    assert opt.main([str(source), "-t", "ir", "-o", str(xml)]) == 0
    moir.save_onnx(moir.convert_model(xml, passes="none"), back, opset=opset)
    expected = core().compile_model(xml, "CPU")(inputs)
    model = onnx.load(back)
    onnx.checker.check_model(model, full_check=True)
    results: Any = session_of(back).run(None, inputs)
    for result, wanted in zip(results, expected.values(), strict=True):
        assert result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)
    return model


def module(body: str) -> str:
    """The text of a module with a model."""
    return f"builtin.module {{\n  moir.model @m {{\n{body}\n  }}\n}}\n"


ITERATOR = """
    %x = opset1.Parameter() {{name = "x"}} : tensor<2x{size}x3xf32>
    %i = opset1.Parameter() {{name = "i"}} : tensor<2x1x3xf32>
    %last, %all = opset1.TensorIterator(%i, %x) {{
        inputs = [#moir.port<0 back 0>, #moir.port<1 {slices}>], outputs = [#moir.port<0>, #moir.port<1 {slices}>]}} ({{
      %s = opset1.Parameter() : tensor<2x1x3xf32>
      %p = opset1.Parameter() : tensor<2x{part}x3xf32>
      %a = opset1.Constant() {{value = #moir.data<tensor<1xsi64>, [1]>}} : tensor<1xsi64>
      %m = opset1.ReduceSum(%p, %a) {{keep_dims = true}} : tensor<2x1x3xf32>
      %n = opset1.Add(%s, %m) : tensor<2x1x3xf32>
      %o = opset1.Multiply(%p, %n) : tensor<2x{part}x3xf32>
      opset1.Result(%n)
      opset1.Result(%o)
    }}) : tensor<2x1x3xf32>, tensor<2x{size}x3xf32>
    opset1.Result(%last) {{name = "last"}}
    opset1.Result(%all) {{name = "all"}}"""


@pytest.mark.parametrize(
    ("slices", "part"),
    [
        ("axis 1 from 0 to -1 stride 1 part 1", 1),
        ("axis 1 from 0 to -1 stride 2 part 2", 2),
        ("axis 1 from -1 to 0 stride -1 part 1", 1),
        ("axis 1 from -1 to 0 stride -2 part 2", 2),
    ],
)
def test_slices_of_a_loop_are_gathered_and_concatenated(slices: str, part: int, tmp_path: Path) -> None:
    numbers = np.random.default_rng(3).uniform(-1, 1, (2, 4, 3)).astype(np.float32)
    text = module(ITERATOR.format(size=4, slices=slices, part=part))
    compared(text, tmp_path, {"x": numbers, "i": numbers[:, :1]})


def test_the_number_of_iterations_is_computed_for_a_dynamic_size(tmp_path: Path) -> None:
    numbers = np.random.default_rng(3).uniform(-1, 1, (2, 5, 3)).astype(np.float32)
    text = module(ITERATOR.format(size="?", slices="axis 1 from 0 to -1 stride 1 part 1", part=1))
    compared(text, tmp_path, {"x": numbers, "i": numbers[:, :1]})


LOOP = """
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %x = opset1.Parameter() {name = "x"} : tensor<3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %y, %z = opset5.Loop(%n, %c, %x) {
        inputs = [#moir.port<iteration>, #moir.port<2 back 1>], outputs = [#moir.port<1>, #moir.port<2>], condition = 0} ({
      %k = opset1.Parameter() : tensor<1xsi64>
      %p = opset1.Parameter() : tensor<3xf32>
      %f = opset1.Convert(%k) {destination_type = f32} : tensor<1xf32>
      %q = opset1.Add(%p, %f) : tensor<3xf32>
      %w = opset1.Multiply(%q, %q) : tensor<3xf32>
      %b = opset1.Constant() {value = #moir.data<tensor<f32>, [9.0]>} : tensor<f32>
      %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
      %m = opset1.ReduceMax(%q, %a) {keep_dims = false} : tensor<f32>
      %l = opset1.Less(%m, %b) : tensor<i1>
      opset1.Result(%l)
      opset1.Result(%q)
      opset1.Result(%w)
    }) : tensor<3xf32>, tensor<3xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%z) {name = "z"}"""


@pytest.mark.parametrize("count", [1, 3, 100, -1])
def test_a_loop_ends_by_its_condition_or_count(count: int, tmp_path: Path) -> None:
    """The last value of `z`, which no Parameter takes, is a carried value, too."""
    compared(module(LOOP), tmp_path, {"n": np.array(count), "x": np.array([0.5, 1, 1.5], np.float32)})


QUANTIZED = """
    %x = opset1.Parameter() {{name = "x"}} : tensor<2x3xf32>
    %l = opset1.Constant() {{value = #moir.data<tensor<{shape}xf32>, {low}>}} : tensor<{shape}xf32>
    %h = opset1.Constant() {{value = #moir.data<tensor<{shape}xf32>, {high}>}} : tensor<{shape}xf32>
    %q = opset1.FakeQuantize(%x, %l, %h, %l, %h) {{levels = {levels}}} : tensor<2x3xf32>
    opset1.Result(%q) {{name = "q"}}"""


@pytest.mark.parametrize(
    ("shape", "low", "high", "levels", "is_pair"),
    [
        ("1", "[-1.28]", "[1.27]", 256, True),
        ("1", "[-1.27]", "[1.27]", 255, True),
        ("1", "[0.0]", "[2.55]", 256, True),
        ("1x3", "[-1.28, -2.56, -0.64]", "[1.27, 2.54, 0.635]", 256, True),
        ("1", "[-1.0]", "[1.0]", 16, False),
        ("1", "[-1.003]", "[1.27]", 256, False),
    ],
)
def test_quantized_values(shape: str, low: str, high: str, levels: int, is_pair: bool, tmp_path: Path) -> None:
    numbers = np.array([[-9, -0.513, 0.1], [0.207, 0.9, 9]], np.float32)
    text = module(QUANTIZED.format(shape=shape, low=low, high=high, levels=levels))
    model = compared(text, tmp_path, {"x": numbers})
    assert ("QuantizeLinear" in [node.op_type for node in model.graph.node]) == is_pair


def simple_model(path: Path, *, size: int = 4) -> Path:
    """A file of a model with weights and dimensions with names."""
    weights = helper.make_tensor("w", TensorProto.FLOAT, [size, 3], np.arange(size * 3, dtype=np.float32).tobytes(), raw=True)
    values = [
        helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["batch", "length", size]),
        helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", "length", 3]),
    ]
    nodes = [
        helper.make_node("MatMul", ["tokens", "w"], ["product"], "classifier"),
        helper.make_node("Softmax", ["product"], ["scores"], "probabilities"),
    ]
    onnx.save(helper.make_model(helper.make_graph(nodes, "network", values[:1], values[1:], [weights])), path)
    return path


def test_names_are_kept(tmp_path: Path) -> None:
    back = tmp_path / "back.onnx"
    moir.save_onnx(moir.convert_model(simple_model(tmp_path / "model.onnx"), target="none"), back)
    graph = onnx.load(back).graph
    assert graph.name == "network"
    assert [value.name for value in (*graph.input, *graph.output)] == ["tokens", "scores"]
    assert [dimension.dim_param for dimension in graph.input[0].type.tensor_type.shape.dim] == ["batch", "length", ""]
    assert [(node.name, node.output[0]) for node in graph.node] == [("classifier", "product"), ("probabilities", "scores")]


def test_large_weights_are_beside_the_model(tmp_path: Path) -> None:
    lowered = moir.convert_model(simple_model(tmp_path / "model.onnx", size=400), target="none")
    LowerToOnnxPass().apply(None, lowered)  # type: ignore[arg-type] # The context is not used.
    back = tmp_path / "back.onnx"
    written = write_onnx(lowered, back, lambda path: replacing_file(path, WEIGHTS_FILE), largest_within=1000)
    assert written.files == [back, tmp_path / "back.onnx.data"]
    assert back.stat().st_size < 1000 < written.files[1].stat().st_size
    inputs = {"tokens": np.random.default_rng(2).uniform(-1, 1, (2, 3, 400)).astype(np.float32)}
    results: list[Any] = [session_of(path).run(None, inputs)[0] for path in (tmp_path / "model.onnx", back)]
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5)


def test_a_value_that_is_input_and_output_is_copied(tmp_path: Path) -> None:
    text = module('    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>\n' + '    opset1.Result(%x) {name = "y"}\n' * 2)
    model = compared(text, tmp_path, {"x": np.array([1, 2], np.float32)})
    assert [node.op_type for node in model.graph.node] == ["Identity", "Identity"]


def test_another_file_is_not_replaced(tmp_path: Path) -> None:
    back = tmp_path / "back.onnx"
    back.write_text("notes")
    converted = moir.convert_model(simple_model(tmp_path / "model.onnx"), target="none")
    with pytest.raises(ConversionError, match="not an ONNX model"):
        moir.save_onnx(converted, back)
    assert back.read_text() == "notes"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("notes")
    converted = moir.convert_model(simple_model(tmp_path / "model.onnx"), target="none")
    with pytest.raises(EmissionError, match="cannot be written"):
        moir.save_onnx(converted, tmp_path / "file" / "back.onnx")
    with pytest.raises(EmissionError, match="cannot be written"):
        moir.save_onnx(converted, tmp_path)


def test_the_model_that_was_read_is_not_replaced(tmp_path: Path) -> None:
    path = simple_model(tmp_path / "model.onnx", size=40_000)
    converted = moir.convert_model(path, target="none")
    with pytest.raises(EmissionError, match="belongs to the model"):
        moir.save_onnx(converted, path)


@pytest.mark.parametrize("opset", [1, 12, 99])
def test_other_versions_are_refused(opset: int, tmp_path: Path) -> None:
    converted = moir.convert_model(simple_model(tmp_path / "model.onnx"), target="none")
    with pytest.raises(UsageError, match="13 to"):
        moir.save_onnx(converted, tmp_path / "back.onnx", opset=opset)


RESIZED = """
    %x = opset1.Parameter() {{name = "x"}} : tensor<1x2x9x8xf32>
    %s = opset1.Constant() {{value = #moir.data<tensor<2xsi64>, {sizes}>}} : tensor<2xsi64>
    %a = opset1.Constant() {{value = #moir.data<tensor<2xsi64>, [2, 3]>}} : tensor<2xsi64>
    %y = opset11.Interpolate(%x, %s, %a) {{mode = "{mode}", shape_calculation_mode = "sizes"}} : tensor<1x2x{shape}xf32>
    opset1.Result(%y) {{name = "y"}}"""


@pytest.mark.parametrize("mode", ["bilinear_pillow", "bicubic_pillow", "linear", "linear_onnx", "cubic", "nearest"])
@pytest.mark.parametrize(("sizes", "shape"), [("[5, 4]", "5x4"), ("[13, 17]", "13x17")])
def test_images_are_resized(mode: str, sizes: str, shape: str, tmp_path: Path) -> None:
    image = np.random.default_rng(1).uniform(-1, 1, (1, 2, 9, 8)).astype(np.float32)
    compared(module(RESIZED.format(mode=mode, sizes=sizes, shape=shape)), tmp_path, {"x": image})


WEIGHT = """
    %x = opset1.Parameter() {{name = "x"}} : tensor<2x3xf32>
    %w = opset1.Constant() {{value = #moir.data<tensor<2x3xui8>, [1, 2, 3, 4, 5, 6]>}} : tensor<2x3xui8>
    %c = opset1.Convert(%w) {{destination_type = f32}} : tensor<2x3xf32>
    %z = opset1.Constant() {{value = #moir.data<tensor<{zero_shape}xui8>, {zero}>}} : tensor<{zero_shape}xui8>
    %f = opset1.Convert(%z) {{destination_type = f32}} : tensor<{zero_shape}xf32>
    %d = opset1.Subtract(%c, %f) : tensor<2x3xf32>
    %s = opset1.Constant() {{value = #moir.data<tensor<{shape}xf32>, {scale}>}} : tensor<{shape}xf32>
    %m = opset1.Multiply(%d, %s) : tensor<2x3xf32>
    %y = opset1.Add(%x, %m) : tensor<2x3xf32>
    opset1.Result(%y) {{name = "y"}}"""


@pytest.mark.parametrize(
    ("shape", "scale", "zero_shape", "zero", "is_dequantized"),
    [
        ("1", "[0.5]", "1", "[3]", True),
        ("2x1", "[0.5, 0.25]", "2x1", "[3, 4]", True),
        ("3", "[0.5, 0.25, 0.125]", "3", "[3, 4, 5]", True),
        ("3", "[0.5, 0.25, 0.125]", "1", "[3]", True),
        ("1", "[0.5]", "2x1", "[3, 4]", False),
        ("2x1", "[0.5, 0.25]", "3", "[3, 4, 5]", False),
        ("2x3", "[0.5, 0.25, 0.125, 1.0, 2.0, 4.0]", "1", "[3]", False),
    ],
)
def test_compressed_weights(shape: str, scale: str, zero_shape: str, zero: str, is_dequantized: bool, tmp_path: Path) -> None:
    text = module(WEIGHT.format(shape=shape, scale=scale, zero_shape=zero_shape, zero=zero))
    model = compared(text, tmp_path, {"x": np.ones((2, 3), np.float32)})
    assert ("DequantizeLinear" in [node.op_type for node in model.graph.node]) == is_dequantized


def test_empty_slices_are_stacked(tmp_path: Path) -> None:
    """A computed size of 0 is one: it does not copy a dimension."""
    text = module(ITERATOR.format(size="?", slices="axis 1 from 0 to -1 stride 1 part 1", part=1).replace("x3xf32", "x?xf32"))
    compared(text, tmp_path, {"x": np.zeros((2, 5, 0), np.float32), "i": np.zeros((2, 1, 0), np.float32)})


def written_of(node: onnx.NodeProto, shape: list[Any], folder: Path, version: int, *constants: onnx.TensorProto) -> list[Array]:
    """What an ONNX model of a node computes after its way there and back, and before it."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph([node], "g", [value("x", TensorProto.FLOAT, shape)], [helper.make_empty_tensor_value_info("y")], [*constants])
    path = folder / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8), path)
    moir.save_onnx(moir.convert_model(path, target="none"), folder / "back.onnx")
    x = np.random.default_rng(5).normal(size=[each if isinstance(each, int) else 5 for each in shape]).astype(np.float32)
    return [session_of(file).run(None, {"x": x})[0] for file in (folder / "back.onnx", path)]


def test_one_hot_of_a_single_index(tmp_path: Path) -> None:
    """ONNX's indices have a dimension at least."""
    actual, expected = written_of(helper.make_node("Hardmax", ["x"], ["y"]), ["n"], tmp_path, 13)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("sizes", ["6, 12", "2, 4", "7, 4"])
def test_the_rule_of_upsample(sizes: str, tmp_path: Path) -> None:
    """Positions are rounded down where an axis grows, and up where it shrinks, which is two Resizes of ONNX."""
    text = module(f"""
    %x = opset1.Parameter() {{name = "x"}} : tensor<1x2x4x6xf32>
    %s = opset1.Constant() {{value = #moir.data<tensor<2xsi64>, [{sizes}]>}} : tensor<2xsi64>
    %a = opset1.Constant() {{value = #moir.data<tensor<2xsi64>, [2, 3]>}} : tensor<2xsi64>
    %0 = opset11.Interpolate(%x, %s, %a) {{mode = "nearest", shape_calculation_mode = "sizes", nearest_mode = "simple",
        coordinate_transformation_mode = "asymmetric"}} : tensor<1x2x{sizes.replace(", ", "x")}xf32>
    opset1.Result(%0) {{name = "y"}}""")
    compared(text, tmp_path, {"x": np.arange(48, dtype=np.float32).reshape(1, 2, 4, 6)})


def test_a_range_of_a_converted_shape(tmp_path: Path) -> None:
    text = module("""
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %0 = opset3.ShapeOf(%x) {output_type = si32} : tensor<2xsi32>
    %i = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
    %2 = opset8.Gather(%0, %i, %i) {batch_dims = 0} : tensor<si32>
    %3 = opset4.Range(%i, %2, %1) {output_type = si32} : tensor<?xsi32>
    opset1.Result(%3) {name = "y"}""")
    compared(text, tmp_path, {"x": np.zeros((4, 3), np.float32)})
