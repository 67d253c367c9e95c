"""Layers, ports, names and attributes of the XML."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, opt_prop_def, result_def

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    PropertyKind,
    boolean_property,
    element_property,
    float_property,
    floats_property,
    integers_property,
    optional_operands,
    string_property,
    strings_property,
)
from moir.emit import serialize, write_model
from moir.errors import ConversionError, EmissionError

CHAIN = """
    %0 = opset1.Parameter() {name = "x", bounds = "1..10,3"} : tensor<?x3xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>, name = "w"} : tensor<3xf32>
    %2 = opset1.Add(%0, %1) {name = "sum", tensor_names = ["total,second"]} : tensor<?x3xf32>
    opset1.Result(%2) {name = "y"}
"""


@irdl_op_definition
class Sample(OpsetOp):
    """An operation of a user, with a property of every form."""

    name = "extension.Sample"
    inputs = optional_operands(3)
    flag = boolean_property(False)
    number = float_property(0.1)
    numbers = floats_property((1e-5, 3.0), xml="all-numbers")
    indices = integers_property((-1, 2))
    empty = integers_property(())
    text = string_property("a")
    texts = strings_property(("p", "q"))
    kind = element_property()
    missing = opt_prop_def(PropertyKind("str"))
    other = opt_prop_def()
    result = result_def()


EXTENSION = Dialect("extension", [Sample], [])


def root_of(module: Any, **arguments: Any) -> ElementTree.Element:
    return ElementTree.fromstring(serialize(module, **arguments)[0])


def in_memory(module: Any) -> tuple[bytes, openvino.Tensor]:
    xml, weights = serialize(module)
    tensor = openvino.Tensor(openvino.Type.u8, openvino.Shape([weights.size]))
    weights.fill(tensor.data)
    return xml, tensor


def layers_of(module: Any) -> list[ElementTree.Element]:
    return list(root_of(module).iterfind("layers/layer"))


def test_model_is_read_and_computes(parse: Any, run: Any, tmp_path: Path) -> None:
    written = write_model(parse(CHAIN), tmp_path / "deep" / "er" / "m.xml")
    assert (written.layers, written.weights_bytes) == (4, 12)
    assert written.bin_path == tmp_path / "deep" / "er" / "m.bin"
    model = openvino.Core().read_model(written.xml_path)
    assert model.inputs[0].names == {"x"}
    assert model.outputs[0].names == {"total", "second"}
    assert model.inputs[0].partial_shape == openvino.PartialShape([openvino.Dimension(1, 10), 3])
    (result,) = run(written.xml_path, np.ones((2, 3), np.float32))
    np.testing.assert_array_equal(result, [[2, 3, 4], [2, 3, 4]])


def test_same_module_gives_the_same_bytes(parse: Any, tmp_path: Path) -> None:
    first, second = (write_model(parse(CHAIN), tmp_path / f"{index}.xml") for index in range(2))
    assert first.xml_path.read_bytes() == second.xml_path.read_bytes()
    assert first.bin_path.read_bytes() == second.bin_path.read_bytes()
    assert serialize(parse(CHAIN))[0] == first.xml_path.read_bytes()


def test_order_is_parameters_others_results(parse: Any) -> None:
    module = parse("""
        %c = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>, name = "c"} : tensor<f32>
        %b = opset1.Parameter() {name = "b"} : tensor<2xf32>
        opset1.Result(%b) {name = "first"}
        %a = opset1.Parameter() {name = "a"} : tensor<2xf32>
        %s = opset1.Add(%a, %c) {name = "s"} : tensor<2xf32>
        opset1.Result(%s) {name = "second"}
    """)
    layers = layers_of(module)
    assert [layer.get("name") for layer in layers] == ["b", "a", "c", "s", "first", "second"]
    assert [layer.get("id") for layer in layers] == list("012345")
    edges = [tuple(edge.attrib.values()) for edge in root_of(module).iterfind("edges/edge")]
    assert edges == [("1", "0", "3", "0"), ("2", "0", "3", "1"), ("0", "0", "4", "0"), ("3", "2", "5", "0")]


def test_unsorted_block_is_sorted_and_cycle_is_refused(parse: Any) -> None:
    module = parse(CHAIN)
    block = next(iter(module.ops)).regions[0].block
    add = next(op for op in block.ops if op.name == "opset1.Add")
    constant = add.operands[1].owner
    constant.detach()
    block.insert_op_after(constant, add)
    assert [layer.get("type") for layer in layers_of(module)] == ["Parameter", "Const", "Add", "Result"]
    add.operands[1] = add.results[0]
    with pytest.raises(ConversionError, match=r"opset1.Add 'sum': the graph has a cycle: sum -> sum"):
        serialize(module)


def test_ports(parse: Any) -> None:
    layer = layers_of(
        parse("""
        %a = opset1.Parameter() {name = "a"} : tensor<?x3xf32>
        %b = opset1.Parameter() {name = "b"} : tensor<*xf32>
        %s = opset1.Add(%a, %b) {name = "s"} : tensor<*xf32>
        %d = opset1.Convert(%s) {destination_type = i1} : tensor<*xi1>
        opset1.Result(%d)
    """)
    )
    assert [element.get("shape") for element in (layer[0].find("data"), layer[1].find("data")) if element is not None] == ["?,3", "..."]
    assert [dim.text for dim in layer[0].iterfind("output/port/dim")] == ["-1", "3"]
    ports = [(port.get("id"), port.get("precision"), len(port)) for port in layer[2].iter("port")]
    assert ports == [("0", "FP32", 2), ("1", "FP32", 0), ("2", "FP32", 0)]
    assert [port.get("precision") for port in layer[3].iter("port")] == ["FP32", "BOOL"]
    assert layer[3].find("data").attrib == {"destination_type": "boolean"}  # type: ignore[union-attr]


def test_spellings_of_the_runtime(parse: Any) -> None:
    module = parse("""
        %0 = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
        %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
        %2 = opset1.Relu(%0) {} : tensor<2x3xf32>
        %3 = opset1.PRelu(%2, %1) {} : tensor<2x3xf32>
        %4 = opset8.Softmax(%3) {axis = -1} : tensor<2x3xf32>
        opset1.Result(%4)
    """)
    spelled = [(layer.get("type"), layer.get("version")) for layer in layers_of(module)]
    assert spelled[1:5] == [("Const", "opset1"), ("ReLU", "opset1"), ("PReLU", "opset1"), ("SoftMax", "opset8")]
    assert len(openvino.Core().read_model(*in_memory(module)).get_ops()) == 6


def test_properties_in_order_with_defaults(parse: Any) -> None:
    module = parse("%0 = extension.Sample() {kind = si64, flag = true} : tensor<f32>", EXTENSION)
    (layer,) = layers_of(module)
    assert (layer.get("type"), layer.get("version"), layer.get("name")) == ("Sample", "extension", "Sample_0")
    assert list(layer.find("data").attrib.items()) == [  # type: ignore[union-attr]
        ("flag", "true"),
        ("number", "0.1"),
        ("all-numbers", "1e-05,3.0"),
        ("indices", "-1,2"),
        ("empty", ""),
        ("text", "a"),
        ("texts", "p,q"),
        ("kind", "i64"),
    ]


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ('texts = ["a,b"]', "a list that contains 'a,b'"),
        ("other = #moir.data<tensor<1xf32>, [1.0]>", "no place in the IR"),
        ('text = "\\01"', "which XML cannot hold"),
    ],
)
def test_properties_without_a_form_are_refused(parse: Any, properties: str, reason: str) -> None:
    module = parse(f'%0 = extension.Sample() {{kind = si64, {properties}, name = "n"}} : tensor<f32>', EXTENSION)
    with pytest.raises(EmissionError, match=f"extension.Sample 'n': .*{reason}"):
        serialize(module)


def test_absent_operands(parse: Any) -> None:
    text = """
        %0 = opset1.Parameter() {{name = "x"}} : tensor<f32>
        %n = moir.none
        %1 = extension.Sample({operands}) {{kind = f32, name = "s"}} : tensor<f32>
        opset1.Result(%1)
    """
    layer = layers_of(parse(text.format(operands="%0, %n, %n"), EXTENSION))[1]
    assert [port.get("id") for port in layer.iter("port")] == ["0", "1"]
    with pytest.raises(EmissionError, match=r"extension.Sample 's': operand 1 is absent although later ones are present"):
        serialize(parse(text.format(operands="%0, %n, %0"), EXTENSION))


def test_names_are_unique_and_inputs_and_outputs_choose_first(parse: Any) -> None:
    module = parse("""
        %c = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>, name = "x"} : tensor<f32>
        %x = opset1.Parameter() {name = "x"} : tensor<f32>
        %1 = opset1.Add(%x, %c) {name = "y"} : tensor<f32>
        %2 = opset1.Add(%1, %c) {name = "y_1"} : tensor<f32>
        %3 = opset1.Add(%2, %c) {} : tensor<f32>
        opset1.Result(%3) {name = "y"}
    """)
    assert [layer.get("name") for layer in layers_of(module)] == ["x", "x_1", "y_1", "y_1_1", "Add_4", "y"]


def test_tensor_names_of_inputs_and_outputs_that_have_none(parse: Any) -> None:
    module = parse("""
        %a = opset1.Parameter() {name = "a,b"} : tensor<f32>
        %b = opset1.Parameter() {name = "taken"} : tensor<f32>
        %s = opset1.Add(%a, %b) {name = "s", tensor_names = ["taken"]} : tensor<f32>
        %t = opset1.Add(%s, %b) {name = "t"} : tensor<f32>
        opset1.Result(%s)
        opset1.Result(%t)
    """)
    assert [port.get("names") for port in root_of(module).iterfind("layers/layer/output/port")] == ["a\\,b", None, "taken", "t"]


NAMES = ["a & b <c> \"d\" 'e'", "tab\tnew\nline\rend", "Grüße 世界 😀", "back\\slash/and:colon"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read_back(parse: Any, tmp_path: Path, name: str) -> None:
    module = parse(CHAIN)
    from xdsl.dialects.builtin import ArrayAttr, StringAttr

    for op in module.walk():
        if op.name == "opset1.Add":
            op.attributes["name"] = StringAttr(name)
            op.attributes["tensor_names"] = ArrayAttr([StringAttr(f"{name}\\,x,second")])
    model = openvino.Core().read_model(write_model(module, tmp_path / "m.xml").xml_path)
    assert model.outputs[0].get_node().input_value(0).get_node().get_friendly_name() == name
    assert model.outputs[0].names == {f"{name},x", "second"}


def test_characters_xml_cannot_hold_are_replaced_in_names(parse: Any) -> None:
    module = parse(CHAIN)
    from xdsl.dialects.builtin import StringAttr

    for op in module.walk():
        if op.name == "opset1.Add":
            op.attributes["name"] = StringAttr("a\x00b\x1bc\ud800d\uffff")
    assert layers_of(module)[2].get("name") == "a\ufffdb\ufffdc\ufffdd\ufffd"


@pytest.mark.parametrize("bounds", ["1..10", "10..1,3", "1..10,4", "a,3", "..,3", "1..10,3,3"])
def test_bounds_that_contradict_the_type_are_refused(parse: Any, bounds: str) -> None:
    with pytest.raises(EmissionError, match="do not fit its shape"):
        serialize(parse(CHAIN.replace("1..10,3", bounds)))


@pytest.mark.parametrize(("bounds", "shape"), [("2..,?", "2..,3"), ("..7,3", "..7,3"), ("?,1..5", "?,3"), ("4,3", "4,3")])
def test_bounds(parse: Any, bounds: str, shape: str) -> None:
    data = layers_of(parse(CHAIN.replace("1..10,3", bounds)))[0].find("data")
    assert data is not None
    assert data.get("shape") == shape


def test_operations_left_over_are_listed_by_kind(parse: Any) -> None:
    module = parse("""
        %0 = opset1.Parameter() {name = "x"} : tensor<f32>
        %1 = onnx.Foo(%0) {name = "a"} : tensor<f32>
        %2 = onnx.Foo(%1) {name = "b"} : tensor<f32>
        %3 = onnx.com.example$2d.Bar(%2) {} : tensor<f32>
        opset1.Result(%3)
    """)
    with pytest.raises(EmissionError, match=r"onnx.Foo \('a', 'b'\).*Bar|Bar.*onnx.Foo \('a', 'b'\)"):
        serialize(module)


def test_types_the_ir_does_not_have_are_refused(parse: Any) -> None:
    with pytest.raises(EmissionError, match=r"opset1.Parameter 'x': the IR has no values of type tensor<2xindex>"):
        serialize(parse('%0 = opset1.Parameter() {name = "x"} : tensor<2xindex>'))


def test_module_has_one_model(parse: Any) -> None:
    module = parse(CHAIN)
    next(iter(module.ops)).detach()
    with pytest.raises(EmissionError, match="the module has 0"):
        serialize(module)


def test_runtime_information(parse: Any, tmp_path: Path) -> None:
    module = parse("""
        %0 = opset1.Parameter() {name = "x", runtime_info = {layout = {version = "0", layout = "[N,C]"}}} : tensor<?x3xf32>
        %1 = opset1.Constant() {value = #moir.data<tensor<3xf16>, [1.0, 2.0, 3.0]>, name = "c"} : tensor<3xf16>
        %2 = opset1.Convert(%1) {destination_type = f32, name = "w", runtime_info = {decompression = {version = "0"}}} : tensor<3xf32>
        %3 = opset1.Add(%0, %2) {name = "s"} : tensor<?x3xf32>
        opset1.Result(%3) {name = "y", runtime_info = {layout = {version = "0", layout = "[N,?]"}}}
    """)
    options = {"input_model": "/home/me/secret/net.onnx", "input": "/scope/x,y", "framework": 'a"<'}
    written = write_model(module, tmp_path / "m.xml", conversion_parameters=options)
    model = openvino.Core().read_model(written.xml_path)
    assert model.inputs[0].get_node().layout == openvino.Layout("[N,C]")
    assert model.outputs[0].get_node().layout == openvino.Layout("[N,?]")
    information = model.get_rt_info()
    assert information["moir_version"].astype(str)
    assert {name: value.astype(str) for name, value in information["conversion_parameters"].items()} == {
        "input_model": "DIR/net.onnx",
        "input": "/scope/x,y",
        "framework": 'a"<',
    }
    convert = next(op for op in model.get_ops() if op.get_type_name() == "Convert")
    assert "decompression" in str(convert.get_rt_info().keys()) or any("decompression" in str(key) for key in convert.get_rt_info())


@pytest.mark.parametrize("kind", ["opset16.AvgPool", "opset14.MaxPool", "opset8.MaxPool"])
def test_missing_dilations_are_written(parse: Any, kind: str, tmp_path: Path) -> None:
    """A text may leave them out; the runtime ends the process if they are empty."""
    is_maximum = kind.endswith("MaxPool")
    excluded, indices = ("", ", tensor<1x1x3x3xsi64>") if is_maximum else (', "exclude-pad" = true', "")
    properties = f"kernel = [2, 2], strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]{excluded}"
    module = parse(f"""
        %0 = opset1.Parameter() {{name = "x"}} : tensor<1x1x4x4xf32>
        %1{", %2" if is_maximum else ""} = {kind}(%0) {{{properties}}} : tensor<1x1x3x3xf32>{indices}
        opset1.Result(%1) {{name = "y"}}
    """)
    write_model(module, tmp_path / "model.xml")
    assert 'dilations="1,1"' in (tmp_path / "model.xml").read_text()
    openvino.Core().compile_model(tmp_path / "model.xml", "CPU")
