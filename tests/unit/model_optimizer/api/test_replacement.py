"""Transformations of Model Optimizer's API in conversions: of single operations, of patterns, of whole graphs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from moir.errors import ConversionError
from moir.interface import convert_model
from moir.model_optimizer.api.transformations.configured_replacement import (
    FrontReplacementFromConfigFileGeneral,
    FrontReplacementFromConfigFileOp,
    FrontReplacementFromConfigFileSubGraph,
)
from moir.model_optimizer.api.transformations.replacement import (
    BASE_CLASSES,
    BackReplacementPattern,
    FrontReplacementOp,
    FrontReplacementPattern,
    FrontReplacementSubgraph,
    MiddleReplacementPattern,
    ReplacementPattern,
)
from tests.unit.extensions.directories import write
from tests.unit.model_optimizer import graphdefs
from tests.unit.model_optimizer.conversions import converted, onnx_model, results, tf_model
from tests.unit.model_optimizer.graphdefs import FLOAT, node, placeholder

X = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)


# One operation.


@pytest.mark.parametrize(
    "returned",
    ["[out.id]", "[(out.id, 0)]", "[out]", "out.id", "(node.out_port(0).get_connection().set_source(out.out_port(0)), [])[1]"],
    ids=["id", "tuple", "node", "bare-id", "nothing"],
)
def test_what_replace_op_returns(tmp_path: Path, returned: str) -> None:
    extension = write(
        tmp_path / "mine",
        front__squared=f"""
        import networkx as nx
        from mo.front.common.replacement import FrontReplacementOp
        from mo.graph.graph import Node
        from mo.ops.eltwise import Eltwise
        from mo.ops.power import Power

        class SquaredDifference(FrontReplacementOp):
            op = "SquaredDifference"
            enabled = True

            def replace_op(self, graph: nx.MultiDiGraph, node: Node):
                negate = Power(graph, dict(scale=-1, name=node.name + '/negate_'))
                add = Eltwise(graph, dict(operation='sum', name=node.name + '/add_'))
                squared = Power(graph, dict(power=2, name=node.name + '/squared_'))
                out = squared.create_node([add.create_node([node.in_node(0), negate.create_node([node.in_node(1)])])])
                return {returned}
        """,
    )
    text = placeholder("x", [2, 3]) + placeholder("z", [2, 3]) + node("SquaredDifference", "d", ["x", "z"], T=FLOAT)
    kinds, path = converted(tf_model(tmp_path, text + node("Relu", "y", ["d"], T=FLOAT)), extension)
    assert "SquaredDifference" not in kinds
    np.testing.assert_allclose(results(path, x=X, z=X * 2 + 1)[0], (X + 1) ** 2, rtol=1e-5)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return []", "replace_op returns nothing for its output 0, which y takes"),
        ("return [node.id]", "returns the node it replaces"),
        ("return [node.in_node(0).id, node.in_node(0).id]", "returns 2 outputs, the node has 1"),
        ("return [(node.in_node(0).id, '0')]", r"what Mine.replace_op returns for output 0 of 'd' is \('x', '0'\)"),
        ("return ['nobody']", "no node 'nobody'"),
        ("raise ValueError('no luck')", r"transformation mine \(mine\.front\.mine\.Mine\).*ValueError: no luck"),
    ],
)
def test_mistakes_in_replace_op(tmp_path: Path, body: str, message: str) -> None:
    extension = write(
        tmp_path / "mine",
        front__mine=f"""
        from openvino.tools.mo.front.common.replacement import FrontReplacementOp

        class Mine(FrontReplacementOp):
            op = "ReLU"

            def replace_op(self, graph, node):
                {body}
        """,
    )
    nodes = [helper.make_node("Relu", ["x"], ["d"], name="d"), helper.make_node("Sigmoid", ["d"], ["y"], name="y")]
    with pytest.raises(ConversionError, match=message):
        converted(onnx_model(tmp_path, nodes, {"x": [2, 3]}, ["y"]), extension)


def test_pack(tmp_path: Path) -> None:
    extension = write(
        tmp_path / "mine",
        front__pack="""
        from openvino.tools.mo.front.common.partial_infer.utils import int64_array
        from openvino.tools.mo.front.common.replacement import FrontReplacementOp
        from openvino.tools.mo.front.tf.graph_utils import create_op_with_const_inputs
        from openvino.tools.mo.graph.graph import Node, Graph, rename_nodes
        from openvino.tools.mo.ops.concat import Concat
        from openvino.tools.mo.ops.unsqueeze import Unsqueeze

        class Pack(FrontReplacementOp):
            op = "Pack"

            def replace_op(self, graph: Graph, node: Node):
                joined = Concat(graph, {'axis': node.axis, 'in_ports_count': len(node.in_ports())}).create_node()
                name = node.soft_get('name', node.id)
                for index in node.in_ports():
                    unsqueeze = create_op_with_const_inputs(graph, Unsqueeze, {1: int64_array([node.axis])}, {'name': name + '/Unsqueeze'})
                    node.in_port(index).get_connection().set_destination(unsqueeze.in_port(0))
                    unsqueeze.out_port(0).connect(joined.in_port(index))
                rename_nodes([(node, name + '/TBR'), (joined, name)])
                return [joined.id]
        """,
    )
    text = placeholder("x", [2, 3]) + placeholder("z", [2, 3]) + node("Pack", "packed", ["x", "z"], N="i: 2", T=FLOAT, axis="i: 1")
    kinds, path = converted(tf_model(tmp_path, text + node("Relu", "y", ["packed"], T=FLOAT)), extension)
    assert kinds.count("Unsqueeze") == 2
    assert 'name="packed"' in path.read_text()
    np.testing.assert_array_equal(results(path, x=X, z=X + 1)[0], np.maximum(np.stack([X, X + 1], 1), 0))


# Patterns and whole graphs.


MISH = """
    from openvino.tools.mo.front.Softplus_fusion import SoftplusFusion
    from openvino.tools.mo.ops.activation_ops import Mish
    from openvino.tools.mo.front.common.replacement import FrontReplacementSubgraph
    from openvino.tools.mo.front.subgraph_matcher import SubgraphMatch
    from openvino.tools.mo.graph.graph import Graph, rename_nodes

    class MishFusion(FrontReplacementSubgraph):
        enabled = True

        def run_after(self):
            return [SoftplusFusion]

        def pattern(self):
            return dict(
                nodes=[('mul', dict(op='Mul')), ('tanh', dict(op='Tanh')), ('softplus', dict(op='SoftPlus'))],
                edges=[('softplus', 'tanh'), ('tanh', 'mul')])

        def replace_sub_graph(self, graph: Graph, match: [dict, SubgraphMatch]):
            mul = match['mul']
            name = mul.soft_get('name', mul.id)
            softplus = match['softplus']
            port = int(mul.in_port(0).get_connection().get_source().node.soft_get('op') == 'Tanh')
            if mul.in_port(port).get_source() != softplus.in_port(0).get_source():
                return
            mish = Mish(graph, {}).create_node()
            mish.in_port(0).connect(mul.in_port(port).get_source())
            mul.out_port(0).get_connection().set_source(mish.out_port(0))
            rename_nodes([(mul, name + '/TBR'), (mish, name)])
"""


@pytest.mark.parametrize(("factors", "kind"), [(["tanh", "x"], "Mish"), (["x", "tanh"], "Mish"), (["tanh", "z"], "Multiply")])
def test_mish(tmp_path: Path, factors: list[str], kind: str) -> None:
    nodes = [
        helper.make_node("Softplus", ["x"], ["softplus"], name="softplus"),
        helper.make_node("Tanh", ["softplus"], ["tanh"], name="tanh"),
        helper.make_node("Mul", factors, ["y"], name="mul"),
    ]
    model = onnx_model(tmp_path, nodes, {"x": [2, 3], "z": [2, 3]}, ["y"])
    kinds, path = converted(model, write(tmp_path / "mine", front__mish=MISH), passes="mish-fusion,lower-onnx,eliminate-dead")
    assert kind in kinds.split()
    assert ("Tanh" in kinds) == (kind != "Mish")
    if kind == "Mish":
        assert 'name="mul" type="Mish"' in path.read_text()
        np.testing.assert_allclose(results(path, x=X, z=X)[0], X * np.tanh(np.log1p(np.exp(X))), rtol=1e-5)


@pytest.mark.parametrize("framework", ["onnx", "tf"])
def test_squeeze_normalize(tmp_path: Path, framework: str) -> None:
    extension = write(
        tmp_path / "mine",
        front__squeeze="""
        from openvino.tools.mo.front.common.partial_infer.utils import int64_array
        from openvino.tools.mo.front.common.replacement import FrontReplacementPattern
        from openvino.tools.mo.ops.const import Const
        from openvino.tools.mo.utils.error import Error

        class SqueezeNormalize(FrontReplacementPattern):
            def find_and_replace_pattern(self, graph):
                for squeeze in graph.get_op_nodes(op='Squeeze'):
                    if len(squeeze.in_nodes()) == 1 and squeeze.has_valid('squeeze_dims'):
                        dims = Const(graph, {'name': squeeze.id + '/Dims', 'value': int64_array(squeeze.squeeze_dims)}).create_node()
                        squeeze.in_port(1).connect(dims.out_port(0))
                        del squeeze['squeeze_dims']
                    else:
                        raise Error('The Squeeze layer "{}" should have an attribute'.format(squeeze.soft_get('name')))
        """,
    )
    if framework == "onnx":
        nodes = [helper.make_node("Squeeze", ["x"], ["s"], name="s", axes=[1]), helper.make_node("Relu", ["s"], ["y"], name="y")]
        model = onnx_model(tmp_path, nodes, {"x": [2, 1, 3]}, ["y"])
    else:
        text = placeholder("x", [2, 1, 3]) + node("Squeeze", "s", ["x"], T=FLOAT, squeeze_dims="list { i: 1 }")
        model = tf_model(tmp_path, text + node("Relu", "y", ["s"], T=FLOAT))
    normalized = convert_model(model, extensions=[str(extension)], passes="squeeze-normalize")
    assert re.search(r'opset1.Constant\(\).*name = "s/Dims"', str(normalized))
    assert "axes" not in str(normalized)
    assert "squeeze_dims" not in str(normalized)
    _, path = converted(model, extension)
    np.testing.assert_array_equal(results(path, x=X[:, None])[0], np.maximum(X, 0))


def test_moments_and_norm_become_mvn(tmp_path: Path) -> None:
    extension = write(
        tmp_path / "mine",
        front_tf__mvn="""
        from mo.front.common.replacement import FrontReplacementSubgraph
        from mo.graph.graph import replace_node
        from mo.ops.eltwise import Eltwise
        from mo.ops.op import Op

        class MVN(FrontReplacementSubgraph):
            def pattern(self):
                return dict(
                    nodes=[('mean', dict(op='Mean')), ('stop_grad', dict(op='StopGradient')), ('sqdiff', dict(op='SquaredDifference')),
                           ('variance', dict(op='Mean')), ('squeeze_mean', dict(op='Squeeze')),
                           ('squeeze_variance', dict(op='Squeeze')), ('fbn', dict(op='FusedBatchNorm'))],
                    edges=[('mean', 'stop_grad', {'in': 0}), ('stop_grad', 'sqdiff', {'in': 1}), ('sqdiff', 'variance', {'in': 0}),
                           ('mean', 'squeeze_mean', {'in': 0}), ('variance', 'squeeze_variance', {'in': 0}),
                           ('squeeze_mean', 'fbn', {'in': 3}), ('squeeze_variance', 'fbn', {'in': 4})],
                    node_attrs=['op'], edge_attrs=['in'])

            def replace_sub_graph(self, graph, match):
                fbn = match['fbn']
                MVN = Op.get_op_class_by_name('MVN')
                axes = [1, 2] if fbn.data_format == b'NHWC' else [2, 3]
                mvn = MVN(graph, dict(name=fbn.name + '/MVN_', eps=fbn.eps, required_reduction_indices=axes))
                mvn.attrs['old_infer'] = mvn.attrs['infer']
                mvn.attrs['infer'] = __class__.infer
                mul = Eltwise(graph, dict(operation='mul', name=fbn.name + '/Mul_'))
                add = Eltwise(graph, dict(operation='sum', name=fbn.name + '/Add_'))
                inner = mvn.create_node([fbn.in_node(0), match['mean'].in_node(1), match['mean'].in_node(1)])
                replace_node(fbn, add.create_node([mul.create_node([inner, fbn.in_node(1)]), fbn.in_node(2)]))

            @staticmethod
            def infer(node):
                assert all(node.in_node(1).value == node.required_reduction_indices)
                node.graph.remove_edge(node.in_node(1).id, node.id)
                node.graph.remove_edge(node.in_node(2).id, node.id)
                node.old_infer(node)
        """,
    )
    kinds, path = converted(tf_model(tmp_path, graphdefs.moments_and_norm()), extension)
    assert "MVN" in kinds
    assert "Reduce" not in kinds
    x = np.random.default_rng(1).normal(size=(1, 4, 4, 3)).astype(np.float32)
    mean, variance = x.mean((1, 2), keepdims=True), x.var((1, 2), keepdims=True)
    expected = np.maximum((x - mean) / np.sqrt(variance + 0.001) * [1, 2, 3] + [0.5, 0, 1], 0)
    np.testing.assert_allclose(results(path, x=x)[0], expected, rtol=1e-4, atol=1e-5)


def test_overlapping_matches_whose_nodes_are_gone_are_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    extension = write(
        tmp_path / "mine",
        front__pairs="""
        from mo.front.common.replacement import FrontReplacementPattern

        class Pairs(FrontReplacementPattern):
            def pattern(self):
                return dict(nodes=[('a', dict(op='Tanh')), ('b', dict(op='Tanh'))], edges=[('a', 'b')])

            def replace_pattern(self, graph, match):
                graph.erase_node(match['a'])
                graph.erase_node(match['b'])
        """,
    )
    nodes = [helper.make_node("Tanh", [f"t{index}"], [f"t{index + 1}"], name=f"tanh{index}") for index in range(3)]
    kinds, _ = converted(onnx_model(tmp_path, nodes, {"t0": [2]}, ["t3"]), extension)
    assert kinds.split().count("Tanh") == 1
    assert "Pairs: a match is passed over, the node of 'a' was removed" in caplog.text


def test_generate_sub_graph_with_edges(tmp_path: Path) -> None:
    extension = write(
        tmp_path / "mine",
        front__swap="""
        from mo.front.common.replacement import FrontReplacementSubgraph
        from mo.ops.eltwise import Eltwise

        class AddOfTanhs(FrontReplacementSubgraph):
            def pattern(self):
                return dict(nodes=[('a', dict(op='Tanh')), ('b', dict(op='Sigmoid')), ('sum', dict(op='Add'))],
                            edges=[('a', 'sum', {'in': 0}), ('b', 'sum', {'in': 1})])

            def generate_sub_graph(self, graph, match):
                return {'max': Eltwise(graph, {'operation': 'max', 'name': 'maximum'}).create_node()}

            def input_edges_match(self, graph, match, new_sub_graph):
                new = new_sub_graph['max'].id
                return {match['a'].id: new, (match['b'].id, 0): (new, 1)}

            def output_edges_match(self, graph, match, new_sub_graph):
                return {match['sum'].id: new_sub_graph['max'].id}
        """,
    )
    nodes = [helper.make_node("Tanh", ["x"], ["a"]), helper.make_node("Sigmoid", ["z"], ["b"]), helper.make_node("Add", ["a", "b"], ["y"])]
    kinds, path = converted(onnx_model(tmp_path, nodes, {"x": [2, 3], "z": [2, 3]}, ["y"]), extension)
    assert kinds.split() == ["Parameter", "Parameter", "Maximum", "Result"]
    np.testing.assert_array_equal(results(path, x=X, z=-X)[0], np.maximum(X, -X))


def test_nodes_that_others_need_are_not_removed(tmp_path: Path) -> None:
    extension = write(
        tmp_path / "mine",
        front__mine="""
        from mo.front.common.replacement import FrontReplacementPattern
        from mo.ops.activation_ops import Abs

        class SigmoidOfTanh(FrontReplacementPattern):
            def pattern(self):
                return dict(nodes=[('tanh', dict(op='Tanh')), ('sigmoid', dict(op='Sigmoid'))], edges=[('tanh', 'sigmoid')])

            def generate_sub_graph(self, graph, match):
                return {'abs': Abs(graph, {}).create_node()}

            def input_edges_match(self, graph, match, new_sub_graph):
                return {match['tanh'].id: new_sub_graph['abs'].id}

            def output_edges_match(self, graph, match, new_sub_graph):
                return {match['sigmoid'].id: new_sub_graph['abs'].id}
        """,
    )
    nodes = [helper.make_node("Tanh", ["x"], ["tanh"]), helper.make_node("Sigmoid", ["tanh"], ["y"])]
    _, path = converted(onnx_model(tmp_path, nodes, {"x": [2, 3]}, ["y", "tanh"]), extension)
    computed = results(path, x=X)
    np.testing.assert_allclose(computed[0], np.abs(X), rtol=1e-5)
    np.testing.assert_allclose(computed[1], np.tanh(X), rtol=1e-5)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [("None", "the pattern of Mine is None"), ("dict(nodes=[('a', {})], edge=[])", "the pattern of Mine has the key 'edge'")],
)
def test_patterns_that_are_none(tmp_path: Path, pattern: str, message: str) -> None:
    code = f"""
    from mo.middle.replacement import MiddleReplacementPattern

    class Mine(MiddleReplacementPattern):
        def pattern(self):
            return {pattern}

        def replace_pattern(self, graph, match):
            raise AssertionError
    """
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    with pytest.raises(ConversionError, match=message):
        converted(onnx_model(tmp_path, nodes, {"x": [2]}, ["y"]), write(tmp_path / "mine", middle__mine=code))


# What a class must define.


@pytest.mark.parametrize(
    ("base", "members", "missing"),
    [
        (FrontReplacementOp, {}, "op"),
        (FrontReplacementOp, {"op": "Relu"}, "replace_op"),
        (FrontReplacementOp, {"op": "Relu", "replace_op": print}, None),
        (FrontReplacementOp, {"op": "Relu", "replace_sub_graph": print}, None),
        (FrontReplacementPattern, {}, "pattern"),
        (FrontReplacementPattern, {"pattern": print, "replace_sub_graph": print}, None),
        (FrontReplacementPattern, {"find_and_replace_pattern": print}, None),
        (FrontReplacementSubgraph, {"pattern": print}, "replace_sub_graph"),
        (FrontReplacementSubgraph, {"pattern": print, "generate_sub_graph": print}, None),
        (MiddleReplacementPattern, {"pattern": print}, "replace_pattern"),
        (BackReplacementPattern, {"pattern": print, "replace_pattern": print}, None),
        (FrontReplacementFromConfigFileSubGraph, {"replace_sub_graph": print}, "replacement_id"),
        (FrontReplacementFromConfigFileSubGraph, {"replacement_id": "A"}, "replace_sub_graph"),
        (FrontReplacementFromConfigFileSubGraph, {"replacement_id": "A", "generate_sub_graph": print}, None),
        (FrontReplacementFromConfigFileOp, {"replacement_id": "A"}, None),
        (FrontReplacementFromConfigFileGeneral, {"replacement_id": "A"}, "transform_graph"),
        (FrontReplacementFromConfigFileGeneral, {"replacement_id": "A", "transform_graph": print}, None),
    ],
)
def test_missing_members(base: type[ReplacementPattern], members: dict[str, Any], missing: str | None) -> None:
    assert type("Mine", (base,), members).missing_member() == missing
    assert base in BASE_CLASSES


def test_defaults_are_those_of_the_documents() -> None:
    assert ReplacementPattern.enabled
    assert ReplacementPattern.run_not_recursively
    assert not ReplacementPattern.force_clean_up
    assert not ReplacementPattern.force_shape_inference
    phases = {base: base.phase for base in (FrontReplacementOp, MiddleReplacementPattern, BackReplacementPattern)}
    assert list(phases.values()) == ["front", "middle", "back"]
    assert [each.__name__ for each in MiddleReplacementPattern().run_after()] == ["MiddleStart"]
    assert [each.__name__ for each in MiddleReplacementPattern().run_before()] == ["MiddleFinish"]
