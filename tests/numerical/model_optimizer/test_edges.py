"""The ways in which transformations of 2018 gave the consumers of a tensor another producer, in the middle phase."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.model_optimizer.conversion import convert
from tests.numerical.onnx.conversion import node
from tests.numerical.runtime import compare

X = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)

REPLACEMENT = """
import numpy as np
from mo.middle.replacement import MiddleReplacementPattern
from mo.ops.const import Const
from mo.ops.lin_op import Mul
from mo.ops.op import Op
from mo.ops.power import Power


class Scaling(MiddleReplacementPattern):
    enabled = True

    def pattern(self):
        return dict(nodes=[('relu', dict(kind='op', op='ReLU')), ('out', dict(kind='data'))], edges=[('relu', 'out')])

    def replace_pattern(self, graph, match):
        relu, out = match['relu'], match['out']
        inp = relu.in_node()
        shape = out.shape
"""
WAYS = {
    "edges removed, data node given": """
        graph.remove_edge(inp.id, relu.id)
        graph.remove_edge(relu.id, out.id)
        Power(graph, dict(name='mine', scale=4.0)).create_node_with_data([inp], data_nodes=out)
        """,
    "node removed, data node given": """
        graph.remove_node(relu.id)
        Power(graph, dict(name='mine', scale=4.0)).create_node_with_data([inp], data_nodes=[out])
        """,
    "edges added": """
        power = Power(graph, dict(name='mine', scale=4.0)).add_node()
        graph.remove_edge(inp.id, relu.id)
        graph.remove_edge(relu.id, out.id)
        graph.add_edges_from([(inp.id, power.id, {'in': 0}), (power.id, out.id, {'out': 0})])
        """,
    "edges created": """
        graph.remove_edge(inp.id, relu.id)
        graph.remove_edge(relu.id, out.id)
        mul = Mul(graph, dict(name='mine')).create_node()
        four = Const(graph, dict(value=np.array(4.0))).create_node_with_data()
        graph.create_edge(inp, mul, 0, 0)
        graph.create_edge(four, mul, 0, 1)
        graph.create_edge(mul, out, 0, 0)
        assert out.shape.tolist() == shape.tolist()
        """,
    "constant as data node": """
        four = Op.create_input_data_node(graph, 'four', np.array(4.0))
        graph.remove_node(relu.id)
        Mul(graph, dict(name='mine')).create_node_with_data([inp, four], data_nodes=out)
        """,
    "node replaced": """
        relu.replace_node(Power(graph, dict(name='mine', scale=4.0)).create_node([relu.in_port(0).get_source().node]))
        """,
}


@pytest.mark.parametrize("way", WAYS)
def test_another_producer(tmp_path, way):
    nodes = [node("Abs", ["x"], ["a"], "abs"), node("Relu", ["a"], ["r"], "relu"), node("Neg", ["r"], ["y"], "neg")]
    converted = convert(tmp_path, {"middle/scaling.py": REPLACEMENT + WAYS[way]}, nodes, {"x": X}, outputs=["y", "r"])
    assert "ReLU" not in converted.types
    compare(converted.run({"x": X}), [-4 * np.abs(X), 4 * np.abs(X)])
