"""Sub-graphs: regions, captured values, copied constants."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from moir.dialects import element_types
from moir.dialects.properties import value_of
from moir.dialects.shapes import tensor
from moir.errors import ModelFileError
from tests.unit.frontends.onnx.samples import (
    BOOL,
    FLOAT,
    INT64,
    branch,
    graph,
    initializer,
    model,
    names,
    node,
    operations,
    read,
    tensor_names,
    value,
)


def if_model(then_branch, else_branch, inputs="x", initializers=()):
    """A model with one If, its branches given in the order else, then."""
    choice = node("If", "c", "y", name="choice", else_branch=else_branch, then_branch=then_branch)
    declared = [value("c", [], BOOL), *(value(name, [2]) for name in inputs.split())]
    return model(graph([choice], declared, [value("y")], initializers))


def test_branches_of_if_share_the_captured_values(tmp_path):
    made = if_model(branch("t", [node("Sub", "b a", "p")], "p"), branch("e", [node("Add", "a c2", "q")], "q"), "a b c2")
    (choice,) = operations(read(made, tmp_path), "onnx.If")
    assert value_of(choice.properties["graph_attributes"]) == ("then_branch", "else_branch")
    assert choice.integer("captured") == 3
    assert names([operand.owner for operand in choice.operands]) == ["c", "b", "a", "c2"]
    for region, kind, used in zip(choice.regions, ("onnx.Sub", "onnx.Add"), (["b", "a"], ["a", "c2"]), strict=True):
        parameters = operations(region.block, "opset1.Parameter")
        assert names(parameters) == ["b", "a", "c2"]
        assert [op.results[0].type for op in parameters] == [tensor((2,), element_types.f32)] * 3
        (op,) = operations(region.block, kind)
        assert names([operand.owner for operand in op.operands]) == used
        assert names(operations(region.block, "opset1.Result")) == list(tensor_names(op))


def test_a_branch_may_return_an_outer_value(tmp_path):
    (choice,) = operations(read(if_model(branch("t", [], "a"), branch("e", [], "b"), "a b"), tmp_path), "onnx.If")
    assert [names([op.operands[0].owner for op in operations(region.block, "opset1.Result")]) for region in choice.regions] == [
        ["a"],
        ["b"],
    ]


def test_outer_constants_are_copied_and_share_their_data(tmp_path):
    made = if_model(
        branch("t", [node("Add", "a w", "p")], "p"),
        branch("e", [node("Constant", "", "k", value_float=2.0), node("Mul", "w k", "q")], "q"),
        "a",
        [initializer("w", np.arange(600))],
    )
    module = read(made, tmp_path)
    (choice,) = operations(module, "onnx.If")
    assert not operations(module, "opset1.Constant")
    assert choice.integer("captured") == 1
    constants = [operations(region.block, "opset1.Constant") for region in choice.regions]
    assert [names(ops) for ops in constants] == [["w"], ["w", "k"]]
    assert constants[0][0].properties["value"] is constants[1][0].properties["value"]


def test_no_captured_values_leave_no_property(tmp_path):
    made = if_model(branch("t", [node("Constant", "", "p", value_int=1)], "p"), branch("e", [node("Constant", "", "q", value_int=2)], "q"))
    (choice,) = operations(read(made, tmp_path), "onnx.If")
    assert "captured" not in choice.properties
    assert len(choice.operands) == 1


def test_captures_go_through_every_level(tmp_path):
    deep = if_model(branch("t", [node("Add", "a h", "p")], "p"), branch("e", [], "h"), "").graph.node[0]
    deep.output[0] = "z"
    body = graph(
        [node("Relu", "s", "h"), deep, node("Identity", "go", "again")],
        [value("i", [], INT64), value("go", [], BOOL), value("s", [2])],
        [value("again", [], BOOL), value("z", [2])],
    )
    made = model(
        graph(
            [node("Loop", "n _ x", "y", name="loop", body=body)],
            [value("n", [], INT64), value("x", [2]), value("a", [2]), value("c", [], BOOL)],
            [value("y")],
        )
    )
    (loop,) = operations(read(made, tmp_path), "onnx.Loop")
    assert loop.integer("captured") == 2
    assert names([operand.owner for operand in loop.operands]) == ["n", None, "x", "c", "a"]
    inner = loop.regions[0].block
    assert names(operations(inner, "opset1.Parameter")) == ["i", "go", "s", "c", "a"]
    (choice,) = operations(inner, "onnx.If")
    assert names([operand.owner for operand in choice.operands]) == ["c", "a", "h"]
    assert names(operations(choice.regions[0].block, "opset1.Parameter")) == ["a", "h"]
    assert names(operations(inner, "opset1.Result")) == ["again", "z"]


def test_inner_names_hide_outer_ones(tmp_path):
    made = if_model(branch("t", [node("Neg", "a", "x"), node("Abs", "x", "p")], "p"), branch("e", [node("Exp", "x", "q")], "q"), "a x")
    (choice,) = operations(read(made, tmp_path), "onnx.If")
    (absolute,) = operations(choice.regions[0].block, "onnx.Abs")
    assert absolute.operands[0].owner.name == "onnx.Neg"


def test_body_inputs_with_initializers_stay_parameters(tmp_path):
    body = graph([node("Add", "s w", "t")], [value("s", [2])], [value("t")], [initializer("s", [0, 0]), initializer("w", [1, 1])])
    made = model(graph([node("Scan", "x", "y", body=body, num_scan_inputs=1)], [value("x", [3, 2])], [value("y")]))
    (scan,) = operations(read(made, tmp_path), "onnx.Scan")
    assert names(operations(scan.regions[0].block)) == ["s", "w", "t", "t"]
    assert scan.integer("num_scan_inputs") == 1


def test_body_inputs_need_no_type(tmp_path):
    body = helper.make_graph([node("Relu", "s", "t")], "b", [helper.make_empty_tensor_value_info("s")], [value("t")])
    (scan,) = operations(read(model(graph([node("Scan", "x", "y", body=body)], [value("x")], [value("y")])), tmp_path), "onnx.Scan")
    assert names(operations(scan.regions[0].block, "opset1.Parameter")) == ["s"]


def test_lists_of_graphs(tmp_path):
    made = node("Switch", "x", "y", cases=[branch("a", [], "x"), branch("b", [], "x")])
    (switch,) = operations(read(model(graph([made], [value("x", [1], FLOAT)], [value("y")])), tmp_path), "onnx.Switch")
    assert value_of(switch.properties["graph_attributes"]) == ("cases", "cases")
    assert len(switch.regions) == 2


def test_a_node_whose_body_needs_a_later_node_is_sorted_after_it(tmp_path):
    choice = node("If", "c", "y", then_branch=branch("t", [], "late"), else_branch=branch("e", [], "late"))
    made = model(graph([choice, node("Relu", "x", "late")], [value("c", [], BOOL), value("x")], [value("y")]))
    kinds = [op.name for op in operations(read(made, tmp_path)) if op.name.startswith("onnx.")]
    assert kinds == ["onnx.Relu", "onnx.If"]


def test_undefined_values_in_bodies_name_the_inner_node(tmp_path):
    made = if_model(branch("t", [node("Neg", "nowhere", "p", name="inner")], "p"), branch("e", [], "a"), "a")
    with pytest.raises(ModelFileError, match=r"onnx.Neg 'inner': input 'nowhere' is defined nowhere"):
        read(made, tmp_path)


def test_reserved_attribute_names(tmp_path):
    made = if_model(branch("t", [], "a"), branch("e", [], "a"), "a")
    made.graph.node[0].attribute.append(helper.make_attribute("captured", 7))
    with pytest.raises(ModelFileError, match="cannot have an attribute 'captured'"):
        read(made, tmp_path)


def test_many_regions_with_many_captures_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("moir.frontends.onnx.graph.MAXIMUM_BODY_PARAMETERS", 5)
    cases = [branch("a", [node("Add", "x z", "p")], "p") for _ in range(3)]
    made = model(graph([node("Switch", "x", "y", cases=cases)], [value("x"), value("z")], [value("y")]))
    with pytest.raises(ModelFileError, match="3 graphs use 2 values"):
        read(made, tmp_path)
