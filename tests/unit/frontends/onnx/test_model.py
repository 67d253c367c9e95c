"""Nodes, values, names, types and metadata of ONNX models."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper
from xdsl.parser import Parser
from xdsl.printer import Printer

from moir.dialects import element_types
from moir.dialects.context import MoirContext
from moir.dialects.data import DataAttr
from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import is_none, models_of
from moir.dialects.properties import is_float, is_floats, is_integer, is_integers, value_of
from moir.dialects.shapes import UNKNOWN, tensor
from tests.unit.frontends.onnx.samples import (
    FLOAT,
    INT64,
    graph,
    initializer,
    model,
    names,
    node,
    operations,
    read,
    rich_model,
    tensor_names,
    value,
)


def test_inputs_outputs_and_nodes_keep_order_names_and_types(tmp_path):
    content = graph(
        [node("Add", "b a", "s", name="sum"), node("Relu", "s", "y")],
        [value("b", [2, "n"]), value("a", [None, 3]), value("c")],
        [value("y", [2, 3]), value("s")],
        value_info=[value("s", [2, "n"])],
    )
    module = read(model(content), tmp_path)
    parameters = operations(module, "opset1.Parameter")
    assert names(parameters) == ["b", "a", "c"]
    assert [op.results[0].type for op in parameters] == [
        tensor((2, -1), element_types.f32),
        tensor((-1, 3), element_types.f32),
        tensor(None, element_types.f32),
    ]
    assert value_of(parameters[0].attributes["dimension_names"]) == ("", "n")
    assert "dimension_names" not in parameters[1].attributes
    add, relu = operations(module)[3:5]
    assert (add.name, relu.name) == ("onnx.Add", "onnx.Relu")
    assert names([add, relu]) == ["sum", "y"]
    assert tensor_names(add) == ("s",)
    assert add.operands[0] is parameters[0].results[0]
    assert add.results[0].type is tensor((2, -1), element_types.f32)
    assert relu.results[0].type is tensor((2, 3), element_types.f32)
    results = operations(module, "opset1.Result")
    assert names(results) == ["y", "s"]
    assert results[1].operands[0] is add.results[0]


def test_a_value_without_declared_type_is_unknown(tmp_path):
    module = read(model(graph([node("Relu", "x", "t"), node("Relu", "t", "y")], [value("x", [1])], [value("y")])), tmp_path)
    assert operations(module, "onnx.Relu")[0].results[0].type is UNKNOWN


def test_only_used_initializers_become_constants(tmp_path):
    content = graph(
        [node("Add", "x w", "y")],
        [value("x", [2]), value("w", [2])],
        [value("y"), value("out"), value("x")],
        [initializer("w", [1, 2]), initializer("unused", [3]), initializer("out", [4])],
    )
    module = read(model(content), tmp_path)
    assert names(operations(module, "opset1.Parameter")) == ["x"]
    constants = operations(module, "opset1.Constant")
    assert names(constants) == ["w", "out"]
    assert constants[0].properties["value"].array.tolist() == [1, 2]
    results = operations(module, "opset1.Result")
    assert names(results) == ["y", "out", "x"]
    assert results[2].operands[0].owner is operations(module, "opset1.Parameter")[0]


def test_absent_inputs_and_outputs(tmp_path):
    content = graph(
        [node("Clip", "x _ m", "y"), node("Clip", "y _ _", "z"), node("LSTM", "x x x", "_ h _"), node("Many", "h _ x", "a")],
        [value("x")],
        [value("z"), value("a")],
        [initializer("m", 1.0)],
    )
    module = read(model(content), tmp_path)
    first, second = operations(module, "onnx.Clip")
    assert is_none(first.operands[1].owner)
    assert len(second.operands) == 1
    assert tensor_names(operations(module, "onnx.LSTM")[0]) == ("", "h")
    assert len(operations(module, "moir.none")) == 1


def test_domains_are_part_of_the_kind(tmp_path):
    nodes = [
        helper.make_node("QGemm", ["x"], ["a"], domain="com.microsoft"),
        helper.make_node("Relu", ["a"], ["y"], domain="ai.onnx"),
        helper.make_node("My op!", ["y"], ["z"], domain="ex"),
    ]
    kinds = [op.KIND for op in operations(read(model(graph(nodes, [value("x")], [value("z")])), tmp_path)) if isinstance(op, FrameworkOp)]
    assert kinds == ["com.microsoft.QGemm", "Relu", "ex.My op!"]


def test_attributes_of_every_type(tmp_path):
    sparse = helper.make_sparse_tensor(initializer("v", [5.0]), initializer("i", [1], np.int64), [3])
    attributes = {
        "f": 0.1,
        "i": -(2**62),
        "s": "text",
        "t": initializer("t", [[1, 2]], np.int8),
        "fs": [0.1, float("inf")],
        "ints": [1, -2],
        "ss": ["a", "b"],
        "ts": [initializer("t", [1]), initializer("t", [2])],
        "sparse": sparse,
        "type": helper.make_tensor_type_proto(FLOAT, [1, "n"]),
        "sequence": helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, None)),
        "blob": b"\xff\x00",
    }
    made = node("Any", "x", "y", name="any", **attributes)
    made.attribute.append(helper.make_attribute("name", "shadows"))
    made.attribute.add(name="none", type=AttributeProto.INTS)
    made.attribute.add(name="untyped", i=3)
    (op,) = operations(read(model(graph([made], [value("x")], [value("y")])), tmp_path), "onnx.Any")
    actual = op.properties
    assert is_float(actual["f"])
    assert value_of(actual["f"]) == 0.1
    assert is_integer(actual["i"])
    assert value_of(actual["i"]) == -(2**62)
    assert value_of(actual["s"]) == "text"
    assert actual["t"].array.tolist() == [[1, 2]]
    assert actual["t"].element == element_types.si8
    assert is_floats(actual["fs"])
    assert value_of(actual["fs"]) == (0.1, float("inf"))
    assert is_integers(actual["ints"])
    assert value_of(actual["ints"]) == (1, -2)
    assert value_of(actual["ss"]) == ("a", "b")
    assert [item.array.tolist() for item in actual["ts"]] == [[1], [2]]
    assert actual["sparse"].array.tolist() == [0, 5, 0]
    assert actual["type"] is tensor((1, -1), element_types.f32)
    assert value_of(actual["sequence"]) == "seq(tensor(float))"
    assert isinstance(actual["blob"], DataAttr)
    assert actual["blob"].array.tolist() == [255, 0]
    assert value_of(actual["name"]) == "shadows"
    assert names([op]) == ["any"]
    assert is_integers(actual["none"])
    assert value_of(actual["untyped"]) == 3


@pytest.mark.parametrize(
    ("attribute", "expected", "element"),
    [
        ({"value": initializer("v", [[1, 2]])}, [[1, 2]], element_types.f32),
        ({"value_float": 0.1}, np.float32(0.1).tolist(), element_types.f32),
        ({"value_floats": [1.0, 2.5]}, [1, 2.5], element_types.f32),
        ({"value_int": -7}, -7, element_types.si64),
        ({"value_ints": [1, 2]}, [1, 2], element_types.si64),
        ({"value_string": "a"}, "a", element_types.string),
        ({"value_strings": ["a", "b"]}, ["a", "b"], element_types.string),
        (
            {"sparse_value": helper.make_sparse_tensor(initializer("v", [9.0]), initializer("i", [[1, 0]], np.int64), [2, 2])},
            [[0, 0], [9, 0]],
            element_types.f32,
        ),
    ],
)
def test_constant_nodes(tmp_path, attribute, expected, element):
    content = graph([node("Constant", "", "c", name="n", **attribute), node("Relu", "c", "y")], [], [value("y")])
    (constant,) = operations(read(model(content), tmp_path), "opset1.Constant")
    assert constant.properties["value"].array.tolist() == expected
    assert constant.properties["value"].element == element
    assert names([constant]) == ["n"]
    assert tensor_names(constant) == ("c",)


def test_an_unused_constant_node_yields_nothing(tmp_path):
    content = graph([node("Constant", "", "c", value_int=1), node("Relu", "x", "y")], [value("x")], [value("y")])
    assert not operations(read(model(content), tmp_path), "opset1.Constant")


def test_nodes_are_sorted_stably(tmp_path):
    content = graph(
        [node("D", "b c", "y"), node("B", "a", "b"), node("C", "a", "c"), node("A", "x", "a"), node("E", "x", "e")],
        [value("x")],
        [value("y"), value("e")],
    )
    kinds = [op.KIND for op in operations(read(model(content), tmp_path)) if isinstance(op, FrameworkOp)]
    assert kinds == ["A", "B", "C", "D", "E"]


def test_names_with_commas_and_unicode(tmp_path):
    module = read(model(graph([helper.make_node("Relu", ["ö,x"], ["y,ü"])], [value("ö,x")], [value("y,ü")])), tmp_path)
    (relu,) = operations(module, "onnx.Relu")
    assert names([relu]) == ["y,ü"]
    assert tensor_names(relu) == ("y\\,ü",)


def test_metadata_and_opsets(tmp_path):
    proto = model(graph([node("Relu", "x", "y")], [value("x")], [value("y")]), producer_name="maker", doc_string="short", model_version=3)
    proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    helper.set_model_props(proto, {"stride": "32", "producer_name": "other"})
    made = models_of(read(proto, tmp_path))[0]
    assert {key: value_of(item) for key, item in made.attributes["opset_import"].data.items()} == {"ai.onnx": 17, "com.microsoft": 1}
    assert {key: value_of(item) for key, item in made.attributes["metadata"].data.items()} == {
        "producer_name": "maker",
        "doc_string": "short",
        "model_version": "3",
        "ir_version": "9",
        "stride": "32",
    }


def test_a_very_old_model_needs_no_opset_import(tmp_path):
    proto = model(graph([node("Relu", "x", "y")], [value("x")], [value("y")]))
    proto.ir_version = 2
    del proto.opset_import[:]
    assert value_of(models_of(read(proto, tmp_path))[0].attributes["opset_import"].data["ai.onnx"]) == 1


def test_text_form_parses_back(tmp_path):
    module = read(rich_model(4), tmp_path)
    context = MoirContext()
    texts = [io.StringIO(), io.StringIO()]
    Printer(texts[0]).print_op(module)
    Printer(texts[1]).print_op(Parser(context, texts[0].getvalue()).parse_module())
    assert texts[0].getvalue() == texts[1].getvalue()


def test_reading_does_not_import_onnx_and_onnx_works_afterwards(tmp_path):
    (tmp_path / "m.onnx").write_bytes(rich_model().SerializeToString())
    program = f"""
import sys
from moir.frontends.onnx import read_model
read_model({str(tmp_path / "m.onnx")!r})
assert "onnx" not in sys.modules, "onnx was imported"
import onnx, onnx.checker, onnx.helper
model = onnx.load({str(tmp_path / "m.onnx")!r})
onnx.checker.check_graph
assert onnx.onnx_ml_pb2.ModelProto is onnx.ModelProto
assert isinstance(onnx.helper.make_node("Relu", ["x"], ["y"]), onnx.NodeProto)
read_model({str(tmp_path / "m.onnx")!r})
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "fine\n", done.stderr


def test_agrees_with_onnx_load(tmp_path):
    proto = rich_model()
    module = read(proto, tmp_path)
    loaded = onnx.load(tmp_path / "model.onnx")
    arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in loaded.graph.initializer}
    constants = {names([op])[0]: op.properties["value"].array for op in operations(module, "opset1.Constant")}
    assert constants.keys() == {"w", "half", "whole", "cond"}
    for name in ("w", "half", "whole"):
        assert constants[name].tobytes() == arrays[name].tobytes()
        assert constants[name].dtype == arrays[name].dtype
    assert [op.results[0].type for op in operations(module, "opset1.Parameter")] == [tensor((-1, 700), element_types.f32)]
    assert operations(module, "onnx.Cast")[0].integer("to") == TensorProto.FLOAT
    assert operations(module, "onnx.Identity")[0].results[0].type is tensor((700,), element_types.si64)
    assert loaded.graph.output[2].type.tensor_type.elem_type == INT64
