"""The content of a file, in the module and in the file that is written from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import openvino
import pytest
from xdsl.parser import Parser

import moir
from moir.dialects.context import MoirContext
from moir.dialects.data import DataAttr, pack_strings
from moir.dialects.element_types import describe, from_xml
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.emit import serialize, to_openvino
from tests.numerical.openvino_ir.equality import differences, information_lost, serialized
from tests.unit.frontends.openvino_ir.documents import X, constant, edge, layer, net, operation, port, read, unary, written

CORE = openvino.Core()


def check_round_trip(folder: Path, text: str, weights: bytes | None = None) -> openvino.Model:
    """Check that the runtime reads the same model from a file and from the IR that moir writes without passes; returns
    the latter.
    """
    path = written(folder, text, weights)
    again = folder / "again.xml"
    moir.save_model(moir.convert_model(path, passes="none"), again)
    first, second = CORE.read_model(path), CORE.read_model(again)
    assert list(differences(first, second)) == []
    assert serialized(first) == serialized(second)
    assert list(information_lost(first, second)) == []
    return second


ELEMENTS = (
    "boolean",
    "bf16",
    "f16",
    "f32",
    "f64",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "u1",
    "u2",
    "u3",
    "u4",
    "u6",
    "u8",
    "u16",
    "u32",
    "u64",
    "nf4",
    "f8e4m3",
    "f8e5m2",
    "f4e2m1",
    "f8e8m0",
)


@pytest.mark.parametrize("element", ELEMENTS)
def test_constants_of_all_element_types(tmp_path: Path, element: str) -> None:
    size = openvino.Tensor(getattr(openvino.Type, element), openvino.Shape([2, 3])).byte_size
    assert describe(from_xml(element)).storage(6) == size
    # The bytes are not aligned, and more than are needed.
    weights = bytes(1) + (bytes([1, 0, 1, 1, 0, 1]) if element == "boolean" else bytes(range(0x30, 0x30 + size))) + bytes(9)
    module = read(tmp_path, constant(element, "2, 3", 1, size + 2), weights)
    value = cast(DataAttr, operation(module, Constant.name).properties["value"])
    assert bytes(value.contiguous_bytes()) == weights[1 : 1 + size]
    check_round_trip(tmp_path, constant(element, "2, 3", 1, size), weights)


def test_weights_are_views_of_the_file(tmp_path: Path) -> None:
    module = read(tmp_path, constant("f32", "2,3", 64, 24), bytes(88))
    array = cast(DataAttr, operation(module, Constant.name).properties["value"]).array
    assert not array.flags.owndata
    assert not array.flags.writeable


def test_any_byte_but_zero_is_true(tmp_path: Path) -> None:
    module = read(tmp_path, constant("boolean", "3", 0, 3), bytes([0, 7, 255]))
    assert cast(DataAttr, operation(module, Constant.name).properties["value"]).array.tolist() == [False, True, True]


def test_strings(tmp_path: Path) -> None:
    texts = ["", "a,b", "übermäßig", "\n"]
    weights = pack_strings(texts)
    module = read(tmp_path, constant("string", "2,2", 0, len(weights)), weights)
    assert cast(DataAttr, operation(module, Constant.name).properties["value"]).array.ravel().tolist() == texts
    check_round_trip(tmp_path, constant("string", "2,2", 0, len(weights)), weights)


def test_an_empty_constant_needs_no_file(tmp_path: Path) -> None:
    module = read(tmp_path, constant("f32", "0,3", 0, 0))
    assert cast(DataAttr, operation(module, Constant.name).properties["value"]).array.shape == (0, 3)


@pytest.mark.parametrize(
    ("shape", "type_", "bounds"),
    [
        ("2,3", "tensor<2x3xf32>", None),
        ("[2, 3]", "tensor<2x3xf32>", None),
        ("", "tensor<f32>", None),
        ("...", "tensor<*xf32>", None),
        ("?,-1,3", "tensor<?x?x3xf32>", None),
        ("1..4,2..,..7,0..,5..5", "tensor<?x?x?x?x5xf32>", "1..4,2..,..7,?,5"),
        ("0,3", "tensor<0x3xf32>", None),
    ],
)
def test_shapes_of_inputs(tmp_path: Path, shape: str, type_: str, bounds: str | None) -> None:
    text = unary("Relu", parameter=f'<data shape="{shape}" element_type="f32"/>')
    op = operation(read(tmp_path, text), Parameter.name)
    assert str(op.results[0].type) == type_
    actual = op.properties.get("bounds")
    assert (None if actual is None else cast(Any, actual).data) == bounds
    check_round_trip(tmp_path, text)


def test_an_input_without_data(tmp_path: Path) -> None:
    assert str(operation(read(tmp_path, unary("Relu", parameter="")), Parameter.name).results[0].type) == "tensor<!moir.dynamic>"


def test_types_are_inferred_whatever_the_ports_say(tmp_path: Path) -> None:
    text = unary("Relu").replace(port(1), port(1, 7, -1, precision="I64"))
    assert str(operation(read(tmp_path, text), "opset1.Relu").results[0].type) == "tensor<2x3xf32>"
    check_round_trip(tmp_path, text)


@pytest.mark.parametrize(
    ("kind", "version", "name"),
    [
        ("ReLU", "opset1", "opset1.Relu"),
        ("relu", "opset16", "opset1.Relu"),
        ("SoftMax", "opset7", "opset1.Softmax"),
        ("SoftMax", "opset12", "opset8.Softmax"),
        ("MVN", "opset1", "opset2.MVN"),
        ("ShapeOf", "opset2", "opset1.ShapeOf"),
        ("ShapeOf", "opset3", "opset3.ShapeOf"),
        ("AvgPool", "opset13", "opset1.AvgPool"),
    ],
)
def test_a_layer_is_of_the_version_in_force(tmp_path: Path, kind: str, version: str, name: str) -> None:
    data = {
        "AvgPool": '<data kernel="1,1" strides="1,1" pads_begin="0,0" pads_end="0,0"/>',
        "opset3.ShapeOf": '<data output_type="i32"/>',
    }.get(name if kind == "ShapeOf" else kind, "")
    text = unary(kind, data, version=version, parameter='<data shape="1,2,3,4" element_type="f32"/>')
    assert operation(read(tmp_path, text), name)
    check_round_trip(tmp_path, text)


def test_layers_in_any_order(tmp_path: Path) -> None:
    text = net(
        [
            layer(40, "Result", name="second", ins=port(3)),
            layer(7, "Add", '<data auto_broadcast="numpy"/>', name="sum", ins=port(5) + port(9), outs=port(0)),
            layer(3, "Parameter", X, name="b", outs=port(0, names="b")),
            layer(1, "Result", name="first", ins=port(0)),
            layer(2, "Parameter", X, name="a", outs=port(0, names="a")),
        ],
        [edge((3, 0), (7, 9)), edge((2, 0), (7, 5)), edge((7, 0), (40, 3)), edge((3, 0), (1, 0))],
    )
    module = read(tmp_path, text)
    names = [cast(Any, op.attributes["name"]).data for op in module.walk() if "name" in op.attributes]
    assert names == ["b", "sum", "a", "second", "first"] or names == ["b", "a", "sum", "second", "first"]
    model = check_round_trip(tmp_path, text)
    assert [port.get_any_name() for port in model.inputs] == ["b", "a"]


ODD = "a/b:0 &lt;\u00fc&amp;&quot;\u4e2d|\\,x"


def test_names(tmp_path: Path) -> None:
    text = unary("Relu").replace('name="op"', f'name="{ODD}"').replace(port(1), port(1, names=f"{ODD},second"))
    op = operation(read(tmp_path, text), "opset1.Relu")
    assert cast(Any, op.attributes["name"]).data == 'a/b:0 <\u00fc&"\u4e2d|\\,x'
    model = check_round_trip(tmp_path, text)
    assert model.output(0).get_names() == {'a/b:0 <\u00fc&"\u4e2d|,x', "second"}


def test_tensors_without_names_stay_without(tmp_path: Path) -> None:
    text = unary("Relu").replace(port(0, names="x"), port(0))
    assert [port.get_names() for port in check_round_trip(tmp_path, text).inputs] == [set()]


def test_names_of_outputs(tmp_path: Path) -> None:
    text = unary("Relu").replace('type="Result"', 'type="Result" output_names="out,other"')
    assert check_round_trip(tmp_path, text).output(0).get_names() == {"out", "other"}


INFORMATION = (
    '<rt_info><attribute name="fused_names" version="0" value="a,b"/><attribute name="mine" version="3" key="&lt;v&gt;"/></rt_info>'
)
LAYOUT = '<rt_info><attribute name="layout" version="0" layout="[N,C]"/><attribute name="other" version="1"/></rt_info>'


def test_runtime_information_is_kept(tmp_path: Path) -> None:
    model = '<rt_info><a value="1"/><b><c value="x"/><d e="f"/></b><info name="n" value="v"/><info name="m" value="w"/></rt_info>'
    text = unary("Relu", INFORMATION, information=model).replace(port(0, names="x"), port(0, names="x", inner=LAYOUT))
    text = text.replace(port(1), port(1, inner='<rt_info><attribute name="mine" version="0"/></rt_info>'))
    check_round_trip(tmp_path, text)
    again = serialize(moir.convert_model(tmp_path / "model.xml", passes="none"))[0].decode()
    for entry in (
        '<attribute name="fused_names" version="0" value="a,b"/>',
        '<attribute name="mine" version="3" key="&lt;v&gt;"/>',
        '<attribute name="layout" version="0" layout="[N,C]"/>',
        '<attribute name="other" version="1"/>',
        '<attribute name="mine" version="0"/>',
        '<a value="1"/>',
        '<c value="x"/>',
        '<d e="f"/>',
        '<info name="n" value="v"/>',
        '<info name="m" value="w"/>',
    ):
        assert again.count(entry) == 1, entry


def test_parameters_of_earlier_conversions(tmp_path: Path) -> None:
    text = unary(
        "Relu", information='<rt_info><conversion_parameters><framework value="onnx"/><scale value="2"/></conversion_parameters></rt_info>'
    )
    again = serialize(moir.convert_model(written(tmp_path, text), compress_to_fp16=True))[0].decode()
    section = again.partition("<conversion_parameters>")[2].partition("</conversion_parameters>")[0]
    entries = [line.strip() for line in section.strip().splitlines()]
    assert entries == [
        '<framework value="onnx"/>',
        '<scale value="2"/>',
        '<input_model value="DIR/model.xml"/>',
        '<compress_to_fp16 value="True"/>',
    ]


def test_meta_data_of_earlier_files(tmp_path: Path) -> None:
    meta = '<meta_data><MO_version value="2021.4"/><cli_parameters><data_type value="float"/></cli_parameters></meta_data>'
    model = check_round_trip(tmp_path, unary("Relu", information=meta))
    assert model.get_rt_info(["conversion_parameters", "data_type"]).astype(str) == "float"


def test_attributes_that_no_operation_has_are_kept(tmp_path: Path) -> None:
    text = unary("Softmax", '<data axis="1" channel_shared="yes"/>')
    assert b'<data axis="1" channel_shared="yes"/>' in serialize(read(tmp_path, text))[0]
    check_round_trip(tmp_path, text)


@pytest.mark.parametrize("version", ["extension", "experimental", "my_set"])
def test_custom_operations_are_open(tmp_path: Path, version: str) -> None:
    text = unary("My/Op", '<data alpha="0.5" words="a,b"/>', version=version).replace(port(1), port(1, 2, -1, precision="FP16"))
    module = read(tmp_path, text)
    op = operation(module, "extension.My$2fOp")
    assert str(op.results[0].type) == "tensor<2x?xf16>"
    again = serialize(moir.convert_model(tmp_path / "model.xml"))[0].decode()
    assert f'type="My/Op" version="{version}">\n\t\t\t<data alpha="0.5" words="a,b"/>' in again


@pytest.mark.parametrize(
    ("version", "data"),
    [
        ("opset3", '<data variable_id="v"/>'),
        ("opset6", '<data variable_id="v" variable_type="f32" variable_shape="2,3"/>'),
        ("opset6", '<data variable_id="v"/>'),
    ],
)
def test_variables(tmp_path: Path, version: str, data: str) -> None:
    text = net(
        [
            layer(0, "Parameter", X, name="x", outs=port(0, names="x")),
            layer(1, "ReadValue", data, version=version, name="read", ins=port(0), outs=port(1)),
            layer(2, "Add", '<data auto_broadcast="numpy"/>', name="sum", ins=port(0) + port(1), outs=port(2)),
            layer(3, "Assign", '<data variable_id="v"/>', version=version, name="assign", ins=port(0), outs=port(1)),
            layer(4, "Result", name="y", ins=port(0)),
        ],
        [edge((0, 0), (1, 0)), edge((1, 1), (2, 0)), edge((0, 0), (2, 1)), edge((2, 2), (3, 0)), edge((2, 2), (4, 0))],
    )
    model = check_round_trip(tmp_path, text)
    assert [op.get_friendly_name() for op in model.get_sinks()] == ["assign"]


def branch(kind: str, results: int) -> str:
    """The body of a branch: an input, and results of it and of an operation on it."""
    return (
        "<layers>"
        + layer(5, "Parameter", X, name="p", outs=port(0))
        + layer(6, kind, name="op", ins=port(0), outs=port(1))
        + "".join(layer(7 + index, "Result", name=f"r{index}", ins=port(0)) for index in range(results))
        + "</layers><edges>"
        + edge((5, 0), (6, 0))
        + "".join(edge((6, 1) if index % 2 else (5, 0), (7 + index, 0)) for index in range(results))
        + "</edges>"
    )


def conditional(entries: list[tuple[int, int]], results: int) -> str:
    """A model of an If with two outputs; entries are pairs of an output's number and the id of a Result's layer."""
    outputs = "".join(f'<output external_port_id="{number}" internal_layer_id="{result}"/>' for number, result in entries)
    maps = "".join(
        f'<{name}_port_map><input external_port_id="1" internal_layer_id="5"/>{outputs}</{name}_port_map>' for name in ("then", "else")
    )
    bodies = "".join(f"<{name}_body>{branch(kind, results)}</{name}_body>" for name, kind in (("then", "ReLU"), ("else", "Tanh")))
    return net(
        [
            layer(0, "Parameter", '<data shape="" element_type="boolean"/>', name="c", outs=port(0, names="c")),
            layer(1, "Parameter", X, name="x", outs=port(0, names="x")),
            layer(2, "If", maps + bodies, version="opset8", name="if", ins=port(0) + port(1), outs=port(2) + port(3)),
            layer(3, "Result", name="y", ins=port(0)),
            layer(4, "Result", name="z", ins=port(0)),
        ],
        [edge((0, 0), (2, 0)), edge((1, 0), (2, 1)), edge((2, 2), (3, 0)), edge((2, 3), (4, 0))],
    )


@pytest.mark.parametrize("entries", [[(2, 7), (3, 8)], [(0, 7), (1, 8)]])
def test_branches(tmp_path: Path, entries: list[tuple[int, int]]) -> None:
    check_round_trip(tmp_path, conditional(entries, 2))


@pytest.mark.parametrize(("entries", "results"), [([(2, 8), (3, 7)], 2), ([(2, 9), (3, 8)], 3)])
def test_results_of_branches_in_another_order(tmp_path: Path, entries: list[tuple[int, int]], results: int) -> None:
    path = written(tmp_path, conditional(entries, results))
    models = [CORE.read_model(path), to_openvino(moir.convert_model(path, passes="none"))]
    data = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    for condition in (True, False):
        actual = [[np.array(each) for each in CORE.compile_model(model, "CPU")([np.array(condition), data]).values()] for model in models]
        for one, other in zip(*actual, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["f16", "boolean", "i64", "u8", "f64", "bf16", "i32", "u64", "f32"])
@pytest.mark.parametrize("given", ["f32", "f16", "i64", "boolean"])
def test_version_10_means_what_the_runtime_makes_of_it(tmp_path: Path, kind: str, given: str) -> None:
    text = unary("Convert", f'<data destination_type="{kind}"/>', parameter=f'<data shape="2,3" element_type="{given}"/>', net_version="10")
    text = text.replace(port(0, names="x"), port(0))
    path = written(tmp_path, text)
    first, second = CORE.read_model(path), to_openvino(moir.convert_model(path, passes="none"))
    for ports in ("inputs", "outputs"):
        one, other = (
            [(p.get_element_type(), p.get_names(), p.get_partial_shape()) for p in getattr(model, ports)] for model in (first, second)
        )
        assert one == other
    assert sorted(op.get_type_name() for op in first.get_ops()) == sorted(op.get_type_name() for op in second.get_ops())


def test_a_module_is_not_written_over_its_files(tmp_path: Path) -> None:
    path = written(tmp_path, constant("f32", "2,3", 0, 24), bytes(24))
    module = moir.convert_model(path)
    before = path.read_bytes()
    with pytest.raises(moir.errors.EmissionError, match="this file belongs to the model that is converted; choose another output"):
        moir.save_model(module, path)
    assert path.read_bytes() == before


def test_a_dump_of_a_model_is_read_back(tmp_path: Path) -> None:
    text = unary("Relu", INFORMATION).replace(port(0, names="x"), port(0, names="x", inner=LAYOUT))
    module = read(tmp_path, text)
    assert str(Parser(MoirContext(), str(module)).parse_module()) == str(module)


NAMED = """
builtin.module {
  moir.model @m {
    %0 = opset1.Parameter() {name = "x", dimension_names = ["n, 1", "", "length", "width"]} : tensor<?x?x?x5xf32>
    %1 = opset1.Relu(%0) {name = "y"} : tensor<?x?x?x5xf32>
    opset1.Result(%1) {name = "y"}
  }
}
"""


def dimension_names(module: Any) -> list[str]:
    """The names of the dimensions of the only input."""
    return cast("list[str]", [each.data for each in cast("Any", operation(module, "opset1.Parameter").attributes["dimension_names"])])


def test_names_of_unknown_dimensions_are_kept(tmp_path: Path) -> None:
    module = Parser(MoirContext(), NAMED).parse_module()
    moir.save_model(module, tmp_path / "m.xml")
    assert dimension_names(moir.read_model(tmp_path / "m.xml")) == ["n, 1", "", "length", ""]
    assert list(CORE.read_model(tmp_path / "m.xml").input(0).names) == ["x"]


def test_names_of_dimensions_that_a_file_does_not_have_are_left_out(tmp_path: Path) -> None:
    entry = '<rt_info><attribute name="dimension_names" version="0" d0="a" d1="b" d7="c" dx="d"/></rt_info>'
    parameter = f'<data shape="?,3" element_type="f32"/>{entry}'
    ports = {"outs": port(0, -1, 3, names="x")}
    layers = [layer(0, "Parameter", parameter, name="x", **ports), layer(1, "Result", name="y", ins=port(0, -1, 3))]
    assert dimension_names(read(tmp_path, net(layers, [edge((0, 0), (1, 0))]))) == ["a", ""]


def test_lists_of_windows_have_an_entry_for_each_axis(tmp_path: Path) -> None:
    """The runtime takes an attribute that is missing as no padding."""
    data = '<data kernel="2,2" strides="1,1" pads_begin="0,0" rounding_type="floor" auto_pad="explicit"/>'
    text = unary("MaxPool", data, parameter='<data shape="1,2,4,4" element_type="f32"/>')
    pooling = cast(Any, operation(read(tmp_path, text), "opset1.MaxPool"))
    assert pooling.integers("pads_end") == (0, 0)
