"""Half-precision storage of constants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from moir.dialects.data import DataAttr
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import tensor
from moir.emit import write_model
from moir.passes.compress.compress_to_fp16 import CompressToFp16Pass

MODEL = """
    %x = opset1.Parameter() {name = "x"} : tensor<*xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>, name = "w", tensor_names = ["weight"]} : tensor<f32>
    %y = opset1.Multiply(%x, %w) {name = "product"} : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
"""


def compressed(module: ModuleOp) -> ModuleOp:
    CompressToFp16Pass().apply(Context(), module)
    module.verify()
    return module


def with_weight(parse: Any, values: np.ndarray, text: str = MODEL) -> ModuleOp:
    """The model with other values for its weight."""
    module = parse(text)
    for op in module.walk():
        if isinstance(op, Constant) and name_of(op) == "w":
            value = DataAttr.of(values)
            op.properties["value"] = value
            op.results[0]._type = tensor(value.shape, value.element)
    return module


def stored(module: ModuleOp) -> dict[str | None, Constant]:
    return {name_of(op): op for op in module.walk() if isinstance(op, Constant)}


def test_constant_becomes_half_with_a_convert_in_its_place(parse: Any) -> None:
    module = compressed(parse(MODEL))
    assert str(module) == str(
        parse("""
    %x = opset1.Parameter() {name = "x"} : tensor<*xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<f16>, [1.0]>, name = "w_compressed"} : tensor<f16>
    %w = opset1.Convert(%0) {
        destination_type = f32, name = "w", tensor_names = ["weight"], runtime_info = {decompression = {version = "0"}}
    } : tensor<f32>
    %y = opset1.Multiply(%x, %w) {name = "product"} : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
""")
    )


def test_second_run_changes_nothing(parse: Any) -> None:
    module = compressed(parse(MODEL))
    before = str(module)
    assert str(compressed(module)) == before


def test_runtime_sees_compressed_weights_and_computes(parse: Any, run: Any, tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((64, 32)).astype(np.float32)
    written = write_model(compressed(with_weight(parse, values, MODEL.replace("*xf32", "64x32xf32"))), tmp_path / "m.xml")
    assert written.weights_bytes == values.size * 2
    model = openvino.Core().read_model(written.xml_path)
    convert = next(op for op in model.get_ops() if op.get_type_name() == "Convert")
    assert any("decompression" in str(key) for key in convert.get_rt_info())
    assert convert.get_friendly_name() == "w"
    x = np.random.default_rng(1).standard_normal((64, 32)).astype(np.float32)
    np.testing.assert_allclose(run(written.xml_path, x)[0], x * values.astype(np.float16), rtol=1e-6)


def test_f64_is_converted_back_to_f64(parse: Any) -> None:
    module = compressed(with_weight(parse, np.arange(3, dtype=np.float64), MODEL.replace("f32", "f64")))
    convert = next(op for op in module.walk() if op.name == "opset1.Convert")
    assert str(convert.results[0].type) == "tensor<3xf64>"
    assert str(stored(module)["w_compressed"].results[0].type) == "tensor<3xf16>"


@pytest.mark.parametrize("shape", [(3, 4, 5), (600, 700, 3), (2_000_000,)])
@pytest.mark.parametrize("axes", [None, (1, 0), (2, 0, 1)])
def test_values_are_rounded_to_nearest_also_of_views(parse: Any, shape: tuple[int, ...], axes: tuple[int, ...] | None) -> None:
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    if axes is not None and len(axes) == values.ndim:
        values = values.transpose(axes)
    module = compressed(with_weight(parse, values))
    np.testing.assert_array_equal(stored(module)["w_compressed"].value.array, values.astype(np.float16))


def some(share: float, value: float) -> np.ndarray:
    values = np.ones(1000, np.float32)
    values[: int(share * 1000)] = value
    return values


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (np.array(0.5, np.float32), False),
        (np.array(65504, np.float32), False),
        (np.array(65505, np.float32), True),
        (np.array(-3.4e38, np.float32), True),
        (np.array([np.inf, -np.inf, np.nan], np.float32), False),
        (np.array(1e-5, np.float32), True),
        (np.array([0.0, 1.0], np.float32), False),
        (np.array(1e-300), True),
        (np.zeros((0, 3), np.float32), True),
        (np.array(1, np.int64), True),
        (np.array(1, np.float16), True),
        (some(0.001, 1e6), True),
        (some(0.74, 1e-7), False),
        (some(0.75, 1e-7), True),
        (some(1.0, 0.0), False),
    ],
)
def test_values_that_are_kept(parse: Any, values: np.ndarray, kept: bool) -> None:
    element = {"float32": "f32", "float64": "f64", "int64": "si64", "float16": "f16"}[values.dtype.name]
    text = MODEL.replace("f32", element)
    module = compressed(with_weight(parse, values, text.replace("[1.0]", "[1]") if element == "si64" else text))
    assert list(stored(module)) == (["w"] if kept else ["w_compressed"])


@pytest.mark.parametrize("count", [3, 1024, 1025])
def test_values_that_are_compared_stay_exact(parse: Any, count: int) -> None:
    text = """
        %x = opset1.Parameter() {name = "x"} : tensor<*xf32>
        %w = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>, name = "w"} : tensor<f32>
        %v = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>, name = "v"} : tensor<f32>
        %s = opset1.Add(%w, %v) {} : tensor<*xf32>
        %y = opset1.Greater(%x, %s) {name = "more"} : tensor<*xi1>
        %z = opset1.Multiply(%x, %v) {name = "product"} : tensor<*xf32>
        opset1.Result(%y)
        opset1.Result(%z)
    """
    module = compressed(with_weight(parse, np.full(count, 0.1, np.float32), text))
    assert list(stored(module)) == ["w" if count <= 1024 else "w_compressed", "v"]


def test_scale_of_a_shape_computation_stays_exact(parse: Any) -> None:
    module = compressed(
        parse("""
        %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
        %s = opset3.ShapeOf(%x) {output_type = si64} : tensor<2xsi64>
        %f = opset1.Convert(%s) {destination_type = f32} : tensor<2xf32>
        %k = opset1.Constant() {value = #moir.data<tensor<2xf32>, [0.3333, 3.0003]>, name = "k"} : tensor<2xf32>
        %m = opset1.Multiply(%f, %k) {} : tensor<2xf32>
        %i = opset1.Convert(%m) {destination_type = si64} : tensor<2xsi64>
        %r = opset1.Reshape(%x, %i) {special_zero = false} : tensor<?x?xf32>
        opset1.Result(%r)
    """)
    )
    assert list(stored(module)) == ["k"]


def test_equal_values_are_converted_once(parse: Any) -> None:
    module = with_weight(parse, np.ones(5, np.float32))
    first = next(op for op in module.walk() if isinstance(op, Constant))
    second = first.clone()
    second.attributes["name"] = StringAttr("again")
    first.parent.insert_op_after(second, first)
    constants = stored(compressed(module))
    assert constants["w_compressed"].value is constants["again_compressed"].value


def test_values_left_out_of_the_text_stay(parse: Any) -> None:
    text = MODEL.replace("#moir.data<tensor<f32>, [1.0]>", '#moir.data<tensor<f32>, elided "0">')
    assert list(stored(compressed(parse(text)))) == ["w"]


def test_bodies(parse: Any) -> None:
    module = compressed(
        parse("""
        %c = opset1.Parameter() {name = "c"} : tensor<i1>
        %r = opset8.If(%c) {name = "if", then_inputs = [], else_inputs = []} ({
            %0 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>, name = "one"} : tensor<f32>
            opset1.Result(%0) {name = "r"}
        }, {
            %0 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>, name = "two"} : tensor<f32>
            opset1.Result(%0) {name = "r"}
        }) : tensor<f32>
        opset1.Result(%r) {name = "y"}
    """)
    )
    assert list(stored(module)) == ["one_compressed", "two_compressed"]
