"""Extractor base classes, and functions of Model Optimizer that do not belong to one class."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Block

from moir.dialects.moir import models_of
from moir.dialects.opset.activation import Relu
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import tensor
from moir.errors import ConversionError
from moir.frontends.onnx import read_model
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.api.extraction.front_extractor import (
    CaffePythonFrontExtractorOp,
    FrontExtractorOp,
    register_caffe_python_extractor,
)
from moir.model_optimizer.api.graph import layouts, networkx_functions
from moir.model_optimizer.api.inference import data_types, reverse_inference, shape_functions
from moir.model_optimizer.api.transformations import pattern_functions
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.operation import Op, registration
from tests.unit.model_optimizer.conversions import onnx_model


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    """A front graph: `a` (Tanh) gives its tensor to `b` (Sigmoid) and `c` (Mul), `b` gives its own to `c`."""
    nodes = [
        helper.make_node("Tanh", ["x"], ["a"], name="a"),
        helper.make_node("Sigmoid", ["a"], ["b"], name="b"),
        helper.make_node("Mul", ["a", "b"], ["c"], name="c"),
    ]
    module = read_model(onnx_model(tmp_path, nodes, {"x": [2]}, ["c"]))
    assert isinstance(module, ModuleOp)
    return Graph(models_of(module)[0].block, "front", "onnx")


def layer(parameters: str) -> Any:
    """The message of a Caffe layer written in Python."""
    return Namespace(python_param=Namespace(module="proposal", layer="ProposalLayer", param_str=parameters))


# Extractors.


def test_missing_members_of_extractors() -> None:
    assert FrontExtractorOp.missing_member() == "op"
    assert type("Mine", (FrontExtractorOp,), {"op": "Blur"}).missing_member() == "extract"
    mine = type("Mine", (FrontExtractorOp,), {"op": "Blur", "extract": classmethod(bool)})
    assert mine.missing_member() is None
    assert type("Derived", (mine,), {"op": "Blur2"}).missing_member() is None


def test_parameters_of_caffe_layers() -> None:
    assert CaffePythonFrontExtractorOp.get_attrs(layer("{'feat_stride': 16, 'scales': [8, 16]}")) == {"feat_stride": 16, "scales": [8, 16]}
    assert CaffePythonFrontExtractorOp.get_attrs(layer("")) == {}
    for wrong in ("[1]", "__import__('os')", "{'a': "):
        with pytest.raises(ConversionError, match="not the text of a Python dictionary"):
            CaffePythonFrontExtractorOp.get_attrs(layer(wrong))


def test_caffe_layers_get_their_parameters_as_attributes(graph: Graph, caplog: pytest.LogCaptureFixture) -> None:
    with registration():

        class Proposal(Op):
            op = "Proposal"

            def supported_attrs(self) -> list[str]:
                return ["feat_stride"]

        node = graph.node_of(graph.operations_named("Tanh")[0])
        node["pb"] = layer("{'feat_stride': 16, 'colour': 'red'}")
        extractor = register_caffe_python_extractor(Proposal, "proposal.ProposalLayer")
        assert extractor.op == "proposal.ProposalLayer"
        assert extractor.extract(node)
    assert (node.feat_stride, node.op) == (16, "Proposal")
    assert "the attribute colour of Proposal is not recognized" in caplog.text


# Patterns and bodies.


def test_patterns(graph: Graph) -> None:
    nodes = [("first", {"op": "Tanh"}), ("second", {"op": "Sigmoid"})]
    edges = [("first", "second")]
    assert list(pattern_functions.find_pattern_matches(graph, nodes, edges, node_attrs=["op"])) == [{"a": "first", "b": "second"}]
    actual = []
    pattern_functions.apply_pattern(graph, nodes, edges, lambda _, match: actual.append(match), edge_attrs=[])
    assert [{alias: node.id for alias, node in match.items()} for match in actual] == [{"first": "a", "second": "b"}]
    assert not pattern_functions.check_node_usages_out_of_match(actual[0], "first")
    assert pattern_functions.inverse_dict({"a": 1}) == {1: "a"}


def test_bodies(tmp_path: Path) -> None:
    branches = {}
    for name, kind in (("then_branch", "Tanh"), ("else_branch", "Sigmoid")):
        output = helper.make_tensor_value_info(f"{name}_y", 1, [2])
        branches[name] = helper.make_graph([helper.make_node(kind, ["x"], [f"{name}_y"])], name, [], [output])
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["condition"], to=9),
        helper.make_node("If", ["condition"], ["y"], **branches),
    ]
    module = read_model(onnx_model(tmp_path, nodes, {"x": [2]}, ["y"]))
    graph = Graph(models_of(module)[0].block, "front", "onnx")
    visited: list[list[str]] = []
    pattern_functions.for_graph_and_each_sub_graph_recursively(
        graph, lambda each: visited.append([node.op for node in each.get_op_nodes()])
    )
    assert "If" in visited[0]
    assert [kinds for kinds in visited[1:] if "Tanh" in kinds or "Sigmoid" in kinds] == visited[1:]
    assert len(visited) == 3
    pattern_functions.for_each_sub_graph(graph, lambda _: visited.append([]))
    assert len(visited) == 5


DIAMOND = """
    %a = onnx.A() {name = "a"} : ?
    %b = onnx.B(%a) {name = "b"} : ?
    %c = onnx.C(%a) {name = "c"} : ?
    %d = onnx.D(%b, %c, %a) {name = "d"} : ?
    %e = onnx.E(%d) {name = "e"} : ?
"""


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("descendants", "a", set("bcde")),
        ("descendants", "e", set()),
        ("ancestors", "d", set("abc")),
        ("bfs_edges", "a", ["ab", "ac", "ad", "de"]),
        ("dfs_edges", "a", ["ab", "bd", "de", "ac"]),
        ("dfs_preorder_nodes", "a", "abdec"),
        ("dfs_postorder_nodes", "a", "edbca"),
        ("shortest_path", "ae", "ade"),
        ("shortest_path", "bb", "b"),
        ("shortest_path_length", "ce", 2),
        ("has_path", "ae", True),
        ("has_path", "ea", False),
        ("is_directed_acyclic_graph", "", True),
    ],
)
def test_traversals_and_paths(graph_of: Any, function: str, arguments: str, expected: Any) -> None:
    actual = getattr(networkx_functions, function)(graph_of(DIAMOND), *arguments)
    if isinstance(expected, bool | int | set):
        assert actual == expected
    else:
        assert [tuple(each) for each in actual] == [tuple(each) for each in expected]


def test_simple_paths(graph_of: Any) -> None:
    graph = graph_of(DIAMOND)
    assert sorted(map("".join, networkx_functions.all_simple_paths(graph, "a", "e"))) == ["abde", "acde", "ade"]
    assert list(networkx_functions.all_simple_paths(graph, "a", "d", cutoff=1)) == [["a", "d"]]
    assert list(networkx_functions.all_simple_paths(graph, "e", "a")) == []


def test_paths_that_do_not_exist(graph_of: Any) -> None:
    graph = graph_of(DIAMOND)
    with pytest.raises(networkx_functions.NetworkXNoPath, match="'e' to 'a'"):
        networkx_functions.shortest_path(graph, "e", "a")
    with pytest.raises(networkx_functions.NetworkXError, match="'z'"):
        networkx_functions.descendants(graph, "z")


def test_networkx(graph: Graph) -> None:
    assert networkx_functions.get_node_attributes(graph, "op")["c"] == "Mul"
    networkx_functions.set_node_attributes(graph, {"a": 3}, "colour")
    networkx_functions.set_node_attributes(graph, {"b": {"colour": 4}})
    assert networkx_functions.get_node_attributes(graph, "colour") == {"a": 3, "b": 4}
    order = list(networkx_functions.topological_sort(graph))
    assert order.index("a") < order.index("b") < order.index("c")
    assert networkx_functions.has_path(graph, "a", "c")
    assert not networkx_functions.has_path(graph, "c", "a")


# Arrays, layouts, element types.


def test_arrays() -> None:
    assert shape_functions.mo_array([1.5]).dtype == np.float32
    assert shape_functions.mo_array([1.5], np.float64).dtype == np.float64
    assert shape_functions.mo_array([1]).dtype == np.int64
    assert shape_functions.float_array([1]).dtype == np.float64
    shape = shape_functions.get_shape_from_slice([4, 5, 6], [slice(1, 3), None, 0, Ellipsis])
    assert shape.tolist() == [2, 1, 6]


def test_shapes_of_inputs_by_those_of_outputs() -> None:
    block = Block()
    parameter = Parameter.create(result_types=[tensor(None, f32)], attributes={"name": string_attribute("x")})
    relu = Relu.create(operands=parameter.results, result_types=[tensor((2, -1), f32)])
    block.add_ops([parameter, relu])
    node = Graph(block, "middle").node_of(relu)
    reverse_inference.reverse_bypass_infer(node, in_ports=[0])
    assert node.in_port(0).data.get_shape().tolist() == [2, None]


def test_layouts() -> None:
    dims = (layouts.get_batch_dim, layouts.get_features_dim, layouts.get_height_dim, layouts.get_width_dim)
    assert [dim("NHWC", 4) for dim in dims] == [0, 3, 1, 2]
    assert [dim("NCHW", 4) for dim in dims] == [0, 1, 2, 3]
    assert (layouts.get_depth_dim("NHWC", 5), layouts.get_depth_dim("NCHW", 5)) == (1, 2)
    sizes = {"batch": 1, "features": 2, "height": 3, "width": 4}
    assert layouts.shape_for_layout("NHWC", **sizes).tolist() == [1, 3, 4, 2]
    assert layouts.shape_for_layout("NCHW", depth=9, **sizes).tolist() == [1, 2, 9, 3, 4]
    with pytest.raises(ConversionError, match="no layout 'NC'"):
        layouts.get_width_dim("NC", 2)
    with pytest.raises(Error, match="a shape needs features, height"):
        layouts.shape_for_layout("NCHW", batch=1, width=4)


def test_what_is_said_of_permutations(graph: Graph) -> None:
    node = graph.get_op_nodes(op="Tanh")[0]
    layouts.PermuteInputs().set_input_permutation(node, node, "input:0", "axis")
    assert not node.has("permute_attrs")
    layouts.PermuteAttrs.create_permute_attrs(node, attrs=[("axis", "input:0")])
    layouts.PermuteAttrs.create_permute_attrs(node, attrs=["order"])
    assert {name: port for name, (port, _) in node.permute_attrs.attrs.items()} == {"axis": "input:0", "order": "input:0"}
    with pytest.raises(ConversionError, match="how the attribute 'width' changes with the order of axes is not known"):
        layouts.PermuteAttrs.create_permute_attrs(node, attrs=[("width", "input:0")])
    first = layouts.PermuteAttrs.get_nhwc_to_nchw_permutation(4)
    assert (first.perm.tolist(), first.inv.tolist()) == ([0, 3, 1, 2], [0, 2, 3, 1])
    assert layouts.PermuteAttrs.get_nchw_to_nhwc_permutation(5).perm.tolist() == [0, 2, 3, 4, 1]


def test_element_types() -> None:
    assert data_types.data_type_str_to_np("FP32") is data_types.data_type_str_to_np("float") is np.float32
    assert data_types.data_type_str_to_precision("half") == "FP16"
    assert data_types.np_data_type_to_precision(np.dtype("int64")) == "I64"
    assert data_types.np_data_type_to_destination_type(np.bool_) == "boolean"
    assert data_types.destination_type_to_np_data_type("u8") is np.uint8
    assert data_types.precision_to_destination_type("FP16") == "f16"
    with pytest.raises(ConversionError, match="'f33' is not an element type"):
        data_types.destination_type_to_np_data_type("f33")
