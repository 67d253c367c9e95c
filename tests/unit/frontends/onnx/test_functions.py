"""Model-local functions, which are inlined."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import AttributeProto, helper

from moir.dialects import element_types
from moir.dialects.moir import is_none
from moir.dialects.properties import value_of
from moir.dialects.shapes import tensor
from moir.errors import ModelFileError
from moir.frontends.onnx import functions as functions_module
from tests.unit.frontends.onnx.samples import BOOL, branch, graph, initializer, model, names, node, operations, read, tensor_names, value

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]


def function(kind, inputs, outputs, nodes, **more):
    """A function of the domain `local`."""
    return helper.make_function("local", kind, inputs.split(), outputs.split(), nodes, OPSETS, **more)


def call(kind, inputs, outputs, **more):
    """A call of such a function."""
    return node(kind, inputs, outputs, domain="local", **more)


def referring(made, name, to, kind=AttributeProto.FLOAT):
    """A node with an attribute that refers to one of its function."""
    made.attribute.add(name=name, ref_attr_name=to, type=kind)
    return made


def test_names_types_and_values_of_an_inlined_call(tmp_path):
    twice = function("Twice", "a", "b", [node("Add", "a a", "t", name="add"), node("Relu", "t", "b")])
    nodes = [call("Twice", "x", "h", name="first"), call("Twice", "h", "y")]
    module = read(model(graph(nodes, [value("x")], [value("y", [3])], value_info=[value("h", [2])]), [twice]), tmp_path)
    ops = [op for op in operations(module) if op.name.startswith("onnx.")]
    assert [op.name for op in ops] == ["onnx.Add", "onnx.Relu"] * 2
    assert names(ops) == ["first/add", "first/b", "y/add", "y/b"]
    assert [tensor_names(op) for op in ops] == [("first/t",), ("h",), ("y/t",), ("y",)]
    assert ops[2].operands[0] is ops[1].results[0]
    assert ops[1].results[0].type is tensor((2,), element_types.f32)
    assert ops[3].results[0].type is tensor((3,), element_types.f32)


def test_attributes_given_defaulted_and_left_out(tmp_path):
    body = [
        referring(node("Leaky", "a", "b"), "alpha", "slope"),
        referring(node("Leaky", "b", "c"), "alpha", "other"),
        referring(node("Constant", "", "k"), "value_float", "slope"),
        node("Mul", "c k", "d"),
    ]
    defaults = [helper.make_attribute("slope", 0.25)]
    scaled = function("Scaled", "a", "d", body, attributes=["other"], attribute_protos=defaults)
    nodes = [call("Scaled", "x", "h"), call("Scaled", "h", "y", slope=0.5, other=0.75)]
    module = read(model(graph(nodes, [value("x")], [value("y")]), [scaled]), tmp_path)
    actual = [op.properties for op in operations(module, "onnx.Leaky")]
    assert [value_of(item["alpha"]) if "alpha" in item else None for item in actual] == [0.25, None, 0.5, 0.75]
    assert [op.properties["value"].array.tolist() for op in operations(module, "opset1.Constant")] == [0.25, 0.5]


def test_attributes_through_nested_calls(tmp_path):
    inner = function("Inner", "a", "b", [referring(node("Leaky", "a", "b"), "alpha", "s")], attributes=["s"])
    outer = function("Outer", "a", "b", [referring(call("Inner", "a", "b", name="in"), "s", "t")], attributes=["t"])
    module = read(model(graph([call("Outer", "x", "y", name="out", t=0.125)], [value("x")], [value("y")]), [outer, inner]), tmp_path)
    (leaky,) = operations(module, "onnx.Leaky")
    assert value_of(leaky.properties["alpha"]) == 0.125
    assert names([leaky]) == ["out/in/b"]
    assert tensor_names(leaky) == ("y",)


def test_overloads(tmp_path):
    overloads = [function("F", "a", "b", [node(kind, "a", "b")]) for kind in ("Relu", "Sigmoid")]
    overloads[1].overload = "other"
    second = call("F", "h", "y")
    second.overload = "other"
    module = read(model(graph([call("F", "x", "h"), second], [value("x")], [value("y")]), overloads), tmp_path)
    assert [op.name for op in operations(module) if op.name.startswith("onnx.")] == ["onnx.Relu", "onnx.Sigmoid"]


def test_omitted_inputs_and_outputs(tmp_path):
    split = function("F", "a b c", "d e", [node("Clip", "a b c", "d"), node("Relu", "c", "e")])
    module = read(model(graph([call("F", "x _ m", "y")], [value("x"), value("m")], [value("y")]), [split]), tmp_path)
    (clip,) = operations(module, "onnx.Clip")
    assert is_none(clip.operands[1].owner)
    shorter = read(model(graph([call("F", "x", "y")], [value("x")], [value("y")]), [split]), tmp_path)
    assert len(operations(shorter, "onnx.Clip")[0].operands) == 1


def test_an_input_passed_through_gets_the_name_of_the_output(tmp_path):
    passing = function("F", "a", "a b b", [node("Relu", "a", "b")])
    module = read(model(graph([call("F", "x", "y z w")], [value("x")], [value("y"), value("z"), value("w")]), [passing]), tmp_path)
    assert tensor_names(operations(module, "opset1.Parameter")[0]) == ("x,y",)
    assert tensor_names(operations(module, "onnx.Relu")[0]) == ("z,w",)


def test_constants_stay_constants_through_calls(tmp_path):
    made = function("F", "a c", "b", [node("If", "c", "b", then_branch=branch("t", [], "a"), else_branch=branch("e", [], "a"))])
    content = graph([call("F", "w c", "y", name="f")], [value("c", [], BOOL)], [value("y")], [initializer("w", np.arange(400))])
    (choice,) = operations(read(model(content, [made]), tmp_path), "onnx.If")
    assert "captured" not in choice.properties
    inner = operations(choice.regions[0].block)
    assert [op.name for op in inner] == ["opset1.Constant", "opset1.Result"]
    assert names(inner) == ["w", "f/a"]


def test_calls_in_bodies_and_bodies_in_functions(tmp_path):
    made = function(
        "F", "a c", "b", [node("If", "c", "b", then_branch=branch("t", [call("G", "a", "p")], "p"), else_branch=branch("e", [], "a"))]
    )
    leaf = function("G", "a", "b", [node("Relu", "a", "b")])
    module = read(model(graph([call("F", "x c", "y", name="f")], [value("x"), value("c", [], BOOL)], [value("y")]), [made, leaf]), tmp_path)
    (choice,) = operations(module, "onnx.If")
    (relu,) = operations(choice.regions[0].block, "onnx.Relu")
    assert names([relu]) == ["f/p/b"]
    assert tensor_names(relu) == ("f/p",)


def test_all_calls_share_large_constants(tmp_path):
    made = function("F", "a", "b", [node("Constant", "", "k", value=initializer("v", np.arange(500), np.int64)), node("Add", "a k", "b")])
    module = read(model(graph([call("F", "x", "h"), call("F", "h", "y")], [value("x")], [value("y")]), [made]), tmp_path)
    first, second = operations(module, "opset1.Constant")
    assert first.properties["value"] is second.properties["value"]


def test_recursion_is_refused(tmp_path):
    first, second = (function(a, "a", "b", [call(b, "a", "b")]) for a, b in (("F", "G"), ("G", "F")))
    with pytest.raises(ModelFileError, match=r"function 'local\.F' calls itself"):
        read(model(graph([call("F", "x", "y")], [value("x")], [value("y")]), [first, second]), tmp_path)


def test_functions_that_yield_too_much_are_refused(tmp_path):
    levels = [function(f"F{i}", "a", "b", [call(f"F{i + 1}", "a", "t"), call(f"F{i + 1}", "t", "b")]) for i in range(40)]
    levels.append(function("F40", "a", "b", [node("Relu", "a", "b")]))
    with pytest.raises(ModelFileError, match="yields more than"):
        read(model(graph([call("F0", "x", "y")], [value("x")], [value("y")]), levels), tmp_path)


def test_names_of_inlined_nodes_have_a_limit(tmp_path, monkeypatch):
    levels = [function(f"F{i}", "a", "b", [call(f"F{i + 1}", "a", "b", name="n" * 100)]) for i in range(30)]
    levels.append(function("F30", "a", "b", [node("Relu", "a", "b")]))
    read(model(graph([call("F0", "x", "y")], [value("x")], [value("y")]), levels), tmp_path)
    monkeypatch.setattr(functions_module, "FREE_TEXT", 10_000)
    with pytest.raises(ModelFileError, match=r"names of more than \d+ characters; convert a part"):
        read(model(graph([call("F0", "x", "y")], [value("x")], [value("y")]), levels), tmp_path)


def test_functions_may_yield_more_the_more_nodes_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(functions_module, "FREE_PARTS", 0)
    ten = function("F", "a", "v9", [node("Relu", f"v{i - 1}" if i else "a", f"v{i}") for i in range(10)])
    calls = [call("F", f"h{i - 1}" if i else "x", f"h{i}") for i in range(100)]
    read(model(graph(calls, [value("x")], [value("h99")]), [ten]), tmp_path)
    monkeypatch.setattr(functions_module, "GROWTH", 5)
    with pytest.raises(ModelFileError, match="yields more than"):
        read(model(graph(calls, [value("x")], [value("h99")]), [ten]), tmp_path)


def test_functions_nested_too_deeply_are_refused(tmp_path):
    levels = [function(f"F{i}", "a", "b", [call(f"F{i + 1}", "a", "b")]) for i in range(80)]
    levels.append(function("F80", "a", "b", [node("Relu", "a", "b")]))
    with pytest.raises(ModelFileError, match="more than 64 deep"):
        read(model(graph([call("F0", "x", "y")], [value("x")], [value("y")]), levels), tmp_path)


@pytest.mark.parametrize(
    ("functions", "made", "reason"),
    [
        ([function("F", "a", "b", [node("Relu", "q", "b")])], call("F", "x", "y"), "uses the undefined value 'q'"),
        ([function("F", "a", "b", [node("Relu", "a", "c")])], call("F", "x", "y"), "does not compute its output 'b'"),
        ([function("F", "a", "b", [node("Relu", "a", "b")])] * 2, call("F", "x", "y"), "is there twice"),
        ([function("F", "a", "b", [node("Relu", "a", "b")])], call("F", "x x", "y"), "does not fit"),
        ([function("F", "a", "b", [node("Relu", "a", "b")])], call("F", "x", "y z"), "does not fit"),
        (
            [function("F", "a", "b", [referring(node("If", "a", "b"), "then_branch", "g", AttributeProto.GRAPH)])],
            call("F", "x", "y"),
            "graphs that are attributes",
        ),
        ([], referring(node("Leaky", "x", "y"), "alpha", "slope"), "the node is in no function"),
    ],
)
def test_bad_functions(tmp_path, functions, made, reason):
    with pytest.raises(ModelFileError, match=reason):
        read(model(graph([made], [value("x")], [value("y")]), functions), tmp_path)
