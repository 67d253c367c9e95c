"""Transformations that a JSON configuration file enables, in conversions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from moir.errors import ConversionError
from tests.unit.extensions.directories import write
from tests.unit.model_optimizer import graphdefs
from tests.unit.model_optimizer.conversions import converted, onnx_model, results, tf_model
from tests.unit.model_optimizer.graphdefs import FLOAT, node, placeholder

X = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)

SCOPES = [
    {
        "custom_attributes": {"attr1_key": "attr1_value", "attr2_key": 123456},
        "id": "InceptionBlockReplacer",
        "op": "InceptionBlock",
        "instances": [".*InceptionV4/Mixed_5b", ".*InceptionV4/Mixed_5c", ".*InceptionV4/Mixed_5d"],
        "match_kind": "scope",
    }
]
BLOCK = """
    from mo.ops.op import Op

    class InceptionBlock(Op):
        op = "InceptionBlock"
        enabled = True

        def __init__(self, graph, attrs):
            super().__init__(graph, attrs, {'type': __class__.op, 'op': __class__.op})
"""


def configuration(path: Path, entries: object) -> str:
    """A configuration file."""
    path /= "config.json"
    path.write_text(json.dumps(entries, indent=2), encoding="utf-8")
    return str(path)


def test_scopes_become_single_operations(tmp_path: Path) -> None:
    model = tf_model(tmp_path, graphdefs.inception())
    extension = write(tmp_path / "mine", ops__block=BLOCK)
    kinds, path = converted(model, extension, transformations_config=configuration(tmp_path, SCOPES))
    assert [kind for kind in kinds.split() if kind not in ("Transpose", "Const")] == [
        "Parameter",
        *["InceptionBlock"] * 3,
        "ReLU",
        "Result",
    ]
    text = path.read_text()
    assert text.count('<data attr1_key="attr1_value" attr2_key="123456"') == 3
    for layer in re.findall(r"<layer [^>]*type=.InceptionBlock.*?</layer>", text, re.DOTALL):
        assert re.findall(r"<dim>(\d+)</dim>", layer) == ["1", "4", "4", "4"] * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"op": "InceptionBlok"}, r"config\.json:8:11: InceptionBlockReplacer: there is no Op class for 'InceptionBlok'"),
        ({"instances": [".*InceptionV4/Mixed_6b"]}, "no node of the model is in the scope .*InceptionV4/InceptionV4/Mixed_5"),
        ({"op": None}, "must be a string"),
        ({"match_kind": "general"}, "replaces sub-graphs, and the match_kind is 'general'"),
    ],
)
def test_mistakes_in_an_entry_with_an_operation(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    model = tf_model(tmp_path, graphdefs.inception())
    extension = write(tmp_path / "mine", ops__block=BLOCK)
    with pytest.raises(ConversionError, match=message):
        converted(model, extension, transformations_config=configuration(tmp_path, [{**SCOPES[0], **change}]))


def test_an_entry_nothing_acts_on(tmp_path: Path) -> None:
    code = """
    from mo.front.tf.replacement import FrontReplacementFromConfigFileSubGraph

    class Mine(FrontReplacementFromConfigFileSubGraph):
        replacement_id = "InceptionBlockReplacement"

        def replace_sub_graph(self, graph, match):
            raise AssertionError
    """
    entry = {key: value for key, value in SCOPES[0].items() if key != "op"}
    extension = write(tmp_path / "mine", front_tf__mine=code)
    with pytest.raises(ConversionError, match=r"config\.json:7:11: InceptionBlockReplacer: no class .*InceptionBlockReplacement"):
        converted(tf_model(tmp_path, graphdefs.inception()), extension, transformations_config=configuration(tmp_path, [entry]))


def test_a_class_replaces_the_sub_graphs_between_points(tmp_path: Path) -> None:
    code = """
    from openvino.tools.mo.front.tf.replacement import FrontReplacementFromConfigFileSubGraph
    from openvino.tools.mo.ops.power import Power

    class Between(FrontReplacementFromConfigFileSubGraph):
        replacement_id = "BETWEEN"

        def generate_sub_graph(self, graph, match):
            scale = match.custom_replacement_desc.custom_attributes['scale']
            return {'power': Power(graph, {'scale': scale, 'name': 'scaled'}).create_node()}

        def input_edges_match(self, graph, match, new_sub_graph):
            return {match.single_input_node(0): new_sub_graph['power'].id}

        def output_edges_match(self, graph, match, new_sub_graph):
            return {match.output_node(0): new_sub_graph['power'].id}
    """
    names = ("start", "middle", "end", "after")
    nodes = [helper.make_node("Tanh", [f"t{index}"], [f"t{index + 1}"], name=name) for index, name in enumerate(names)]
    entry = {"id": "BETWEEN", "match_kind": "points", "custom_attributes": {"scale": 3.0}}
    entry["instances"] = {"start_points": ["start"], "end_points": ["end"]}
    model = onnx_model(tmp_path, nodes, {"t0": [2, 3]}, ["t4"])
    kinds, path = converted(model, write(tmp_path / "mine", front__mine=code), transformations_config=configuration(tmp_path, [entry]))
    assert kinds.split().count("Tanh") == 1
    np.testing.assert_allclose(results(path, t0=X)[0], np.tanh(3 * X), rtol=1e-5)


def test_the_sub_graph_between_points_has_all_that_depends_on_it(tmp_path: Path) -> None:
    """After an end point the walk ends, but an end may depend on another one, and what is fed from inside belongs to it."""
    code = """
    from openvino.tools.mo.front.tf.replacement import FrontReplacementFromConfigFileSubGraph

    class Between(FrontReplacementFromConfigFileSubGraph):
        replacement_id = "BETWEEN"

        def replace_sub_graph(self, graph, match):
            names = sorted(match.matched_nodes_names())
            assert names == ['beside', 'constant', 'end', 'f', 'other', 'start'], names
            match.output_node(0)[0].out_port(0).get_connection().set_source(match.single_input_node(0)[0].out_port(0))
    """
    nodes = [
        helper.make_node("Constant", [], ["c"], name="constant", value=numpy_helper.from_array(np.ones((2, 3), np.float32))),
        helper.make_node("Tanh", ["x"], ["a"], name="start"),
        helper.make_node("Sigmoid", ["c"], ["d"], name="other"),
        helper.make_node("Add", ["a", "d"], ["e"], name="end"),
        helper.make_node("Relu", ["d"], ["f"], name="beside"),
        helper.make_node("Abs", ["e"], ["g"], name="between"),
        helper.make_node("Neg", ["g"], ["h"], name="later"),
    ]
    entry = {"id": "BETWEEN", "match_kind": "points", "instances": {"start_points": ["start"], "end_points": ["end", "later"]}}
    model = onnx_model(tmp_path, nodes, {"x": [2, 3]}, ["h", "f"])
    kinds, path = converted(model, write(tmp_path / "mine", front__mine=code), transformations_config=configuration(tmp_path, [entry]))
    assert "Add" not in kinds.split()
    np.testing.assert_allclose(results(path, x=X)[0], -np.abs(np.tanh(X)), rtol=1e-5)


YOLO = """
    from openvino.tools.mo.front.no_op_eraser import NoOpEraser
    from openvino.tools.mo.front.standalone_const_eraser import StandaloneConstEraser
    from openvino.tools.mo.ops.regionyolo import RegionYoloOp
    from openvino.tools.mo.front.tf.replacement import FrontReplacementFromConfigFileGeneral
    from openvino.tools.mo.graph.graph import Node, Graph
    from openvino.tools.mo.ops.result import Result

    class YoloRegionAddon(FrontReplacementFromConfigFileGeneral):
        replacement_id = 'TFYOLO'

        def run_after(self):
            return [NoOpEraser, StandaloneConstEraser]

        def transform_graph(self, graph: Graph, replacement_descriptions):
            for output in [n for n, d in graph.nodes(data=True) if 'op' in d and d['op'] == 'Result']:
                last = Node(graph, output).in_node(0)
                params = dict(name=last.id + '/YoloRegion', axis=1, end_axis=-1)
                params.update(replacement_descriptions)
                region = RegionYoloOp(graph, params).create_node([last])
                region.dim_attrs.remove('axis')
                Result(graph).create_node([region])
                graph.remove_node(output)
"""


def test_a_general_entry_gets_the_graph(tmp_path: Path) -> None:
    attributes = {"classes": 20, "coords": 4, "num": 2, "do_softmax": 1}
    entry = {"id": "TFYOLO", "match_kind": "general", "custom_attributes": attributes}
    model = tf_model(tmp_path, placeholder("x", [1, 3, 3, 50]) + node("Relu", "last", ["x"], T=FLOAT))
    extension = write(tmp_path / "mine", front__yolo=YOLO)
    kinds, path = converted(model, extension, transformations_config=configuration(tmp_path, [entry]))
    assert "RegionYolo" in kinds.split()
    layer = re.findall(r'<layer [^>]*type="RegionYolo".*?</layer>', path.read_text(), re.DOTALL)[0]
    assert 'classes="20"' in layer
    assert 'num="2"' in layer
    assert 'do_softmax="true"' in layer
    entry |= {"match_kind": "scope", "instances": ["x"]}
    with pytest.raises(
        ConversionError, match=r"config\.json:4:19: .*YoloRegionAddon changes the whole graph, and the match_kind is 'scope'"
    ):
        converted(model, extension, transformations_config=configuration(tmp_path, [entry]))


def test_without_an_entry_nothing_is_changed(tmp_path: Path) -> None:
    model = tf_model(tmp_path, placeholder("x", [1, 3, 3, 50]) + node("Relu", "last", ["x"], T=FLOAT))
    kinds, _ = converted(model, write(tmp_path / "mine", front__yolo=YOLO))
    assert kinds.split() == ["Parameter", "ReLU", "Result"]
