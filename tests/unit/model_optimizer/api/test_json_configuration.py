"""JSON configuration: reading, messages, matching by scopes and points, completion of templates."""

import json
import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from moir.dialects.moir import models_of
from moir.errors import ConversionError
from moir.frontends.onnx import read_model
from moir.model_optimizer.api.configuration.describe_subgraphs import describe_subgraphs, described_text
from moir.model_optimizer.api.configuration.json_configuration import load_configuration, parse_configuration
from moir.model_optimizer.api.transformations.instances import find_instances
from moir.model_optimizer.api.transformations.subgraph_match import SubgraphMatch
from moir.model_optimizer.graph.graph import Graph

BLOCKS = ("Mixed_5b", "Mixed_5c", "Mixed_5d")
"""Scopes of the inception model, each in the scope that a freeze of the model puts in front."""


def graph_of(nodes: list[onnx.NodeProto], inputs: dict[str, list[int]], outputs: list[str], constants: dict[str, np.ndarray]) -> Graph:
    """The front graph of an ONNX model."""
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "model",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        module = read_model(path)
    return Graph(next(iter(models_of(module))).block, "front", "onnx")


def inception() -> Graph:
    """Three inception blocks, as the documents describe them."""
    nodes, constants, previous = [], {}, "data"
    for block in BLOCKS:
        scope = f"InceptionV4/InceptionV4/{block}"
        ends = []
        for branch, kind in enumerate(("Conv2d_0a_1x1/Conv2D", "Conv2d_0a_1x1/Conv2D", "Conv2d_0a_1x1/Conv2D", "AvgPool_0a_3x3/AvgPool")):
            name = f"{scope}/Branch_{branch}/{kind}"
            ends.append(f"{name}:0")
            if "Conv" in kind:
                constants[f"w_{block}_{branch}"] = np.ones((2, 8, 1, 1), np.float32)
                nodes.append(helper.make_node("Conv", [previous, f"w_{block}_{branch}"], [f"{name}:0"], name=name))
            else:
                pool = helper.make_node("AveragePool", [previous], [f"{name}:0"], name=name, kernel_shape=[3, 3], pads=[1] * 4)
                nodes.append(pool)
                ends[-1] = f"{scope}/Branch_{branch}/slice:0"
                constants |= {"start": np.array([0]), "end": np.array([2]), "axis": np.array([1])}
                nodes.append(helper.make_node("Slice", [f"{name}:0", "start", "end", "axis"], [ends[-1]], name=ends[-1][:-2]))
        previous = f"{scope}/concat:0"
        nodes.append(helper.make_node("Concat", ends, [previous], name=f"{scope}/concat", axis=1))
    nodes.append(helper.make_node("Relu", [previous], ["y"], name="relu"))
    return graph_of(nodes, {"data": [1, 8, 4, 4]}, ["y"], constants)


TEMPLATE = """[
    {
        "custom_attributes": {
            "attr1_key": "attr1_value",
            "attr2_key": 123456
        },
        "id": "InceptionBlockReplacer",
        "op": "InceptionBlock",
        "instances": [
            ".*InceptionV4/Mixed_5b",
            ".*InceptionV4/Mixed_5c",
            ".*InceptionV4/Mixed_5d"
        ],
        "match_kind": "scope"
    }
]
"""
"""The template of the documents."""

SSD = """[
    {
        "custom_attributes": {
            "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
            "pad_mode": "caffe.ResizeParameter.CONSTANT",
            "resize_mode": "caffe.ResizeParameter.WARP",
            "clip_before_nms": false,
            "clip_after_nms": true
        },
        "id": "ObjectDetectionAPISSDPostprocessorReplacement",
        "include_inputs_to_sub_graph": true,
        "include_outputs_to_sub_graph": true,
        "instances": {
            "end_points": [
                "detection_boxes",
                "detection_scores",
                "num_detections"
            ],
            "start_points": [
                "Postprocessor/Shape",
                "Postprocessor/scale_logits",
                "Postprocessor/Tile",
                "Postprocessor/Reshape_1",
                "Postprocessor/Cast_1"
            ]
        },
        "match_kind": "points"
    }
]
"""
"""The example of the documents for points."""


def ssd() -> Graph:
    """A post-processing with the names of the example; a constant and a branch of constants belong to it."""

    def node(kind: str, inputs: list[str], name: str, **attributes: object) -> onnx.NodeProto:
        return helper.make_node(kind, inputs, [f"{name}:0"], name=name, **attributes)

    nodes = [
        node("Relu", ["image"], "FeatureExtractor/relu"),
        node("Identity", ["FeatureExtractor/relu:0"], "Postprocessor/Shape"),
        node("Identity", ["FeatureExtractor/relu:0"], "Postprocessor/scale_logits"),
        node("Identity", ["FeatureExtractor/relu:0"], "Postprocessor/Tile"),
        node("Identity", ["FeatureExtractor/relu:0"], "Postprocessor/Reshape_1"),
        node("Cast", ["image"], "Postprocessor/Cast_1", to=TensorProto.FLOAT),
        node("Exp", ["scale"], "Postprocessor/exp_of_constant"),
        node("Mul", ["Postprocessor/Shape:0", "Postprocessor/exp_of_constant:0"], "Postprocessor/scaled"),
        node("Add", ["Postprocessor/scaled:0", "Postprocessor/Tile:0"], "Postprocessor/boxes"),
        node("Add", ["Postprocessor/boxes:0", "Postprocessor/Reshape_1:0"], "detection_boxes"),
        node("Mul", ["Postprocessor/scale_logits:0", "Postprocessor/Cast_1:0"], "Postprocessor/scores"),
        node("Identity", ["Postprocessor/scores:0"], "detection_scores"),
        node("ReduceSum", ["Postprocessor/scores:0"], "num_detections"),
        node("Relu", ["detection_boxes:0"], "after"),
    ]
    outputs = ["after:0", "detection_scores:0", "num_detections:0"]
    return graph_of(nodes, {"image": [1, 4]}, outputs, {"scale": np.ones(4, np.float32)})


def one_instance(graph: Graph, text: str) -> SubgraphMatch:
    matches = find_instances(graph, parse_configuration(text, "c.json")[0])
    assert len(matches) == 1
    return matches[0]


# Reading.


def test_entries_of_the_documents() -> None:
    (scope,) = parse_configuration(TEMPLATE)
    assert (scope.id, scope.match_kind, scope.op) == ("InceptionBlockReplacer", "scope", "InceptionBlock")
    assert scope.scopes[0] == ".*InceptionV4/Mixed_5b"
    assert scope.custom_attributes == {"attr1_key": "attr1_value", "attr2_key": 123456}
    assert scope.inputs is None
    (points,) = parse_configuration(SSD)
    assert points.end_points == ("detection_boxes", "detection_scores", "num_detections")
    assert points.custom_attributes["clip_before_nms"] is False
    (yolo,) = parse_configuration('[{"id": "TFYOLO", "match_kind": "general", "custom_attributes": {"classes": 20}}]')
    assert (yolo.match_kind, yolo.custom_attributes, yolo.has("instances")) == ("general", {"classes": 20}, False)


def test_borders_have_the_form_of_the_file() -> None:
    entry = {"id": "a", "match_kind": "scope", "instances": ["s"]}
    border = {"inputs": [[{"node": "x$", "port": 1}, {"node": "y"}]], "outputs": [{"node": "z", "port": 0}]}
    (descriptor,) = parse_configuration(json.dumps([{**entry, **border}]))
    assert descriptor.get_inputs_description() == [[{"node": "x$", "port": 1}, {"node": "y", "port": 0}]]
    assert descriptor.get_outputs_description() == border["outputs"]
    assert descriptor.sub_graph_instances() == ["s"]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "c.json:1:1", "a value is expected, not the end of the file"),
        ("[\n  {]", "c.json:2:4", "a key in double quotes is expected, not ']'"),
        ('[{"id": "a",}]', "c.json:1:13", "a key in double quotes is expected"),
        ('[{"id" "a"}]', "c.json:1:8", "':' is expected"),
        ("[{}] x", "c.json:1:6", "the end of the file is expected"),
        ('[{"id": "\\*a"}]', "c.json:1:9", "Invalid \\\\escape"),
        ('[{"id": "a", "id": "b"}]', "c.json:1:14", "the key 'id' is there twice"),
        ("[" * 1000, "c.json:1:66", "nested deeper"),
        ("{}", "c.json:1:1", "the configuration must be a list of objects"),
        ('[\n"a"]', "c.json:2:1", "an entry of the configuration must be an object"),
        ('[{"match_kind": "general"}]', "c.json:1:2", "no key 'id'"),
        ('[{"id": 3, "match_kind": "general"}]', "c.json:1:9", "the id must be a string"),
        ('[{"id": "a"}]', "c.json:1:2", "no key 'match_kind'"),
        ('[{"id": "a",\n "match_kind": "scopes"}]', "c.json:2:16", "a: the match_kind is 'scopes'; it is 'scope', 'points' or 'general'"),
        ('[{"id": "a", "match_kind": "scope"}]', "c.json:1:2", "no key 'instances'"),
        ('[{"id": "a", "match_kind": "scope", "instances": {}}]', "c.json:1:50", "instances must be a list of strings"),
        ('[{"id": "a", "match_kind": "scope", "instances": []}]', "c.json:1:50", "instances is empty"),
        ('[{"id": "a", "match_kind": "scope", "instances": ["x("]}]', "c.json:1:51", "not a regular expression"),
        ('[{"id": "a", "match_kind": "points", "instances": ["x"]}]', "c.json:1:51", "an object with start_points and end_points"),
        (
            '[{"id": "a", "match_kind": "points", "instances": {"start_points": ["x"], "end_point": ["y"]}}]',
            "c.json:1:51",
            "it has 'end_point'",
        ),
        ('[{"id": "a", "match_kind": "general", "custom_attribute": {}}]', "c.json:1:59", "did you mean custom_attributes?"),
        ('[{"id": "a", "match_kind": "general", "custom_attributes": []}]', "c.json:1:60", "custom_attributes must be an object"),
        ('[{"id": "a", "match_kind": "scope", "instances": ["s"], "inputs": [{"node": "x"}]}]', "c.json:1:68", "an input must be a list"),
        ('[{"id": "a", "match_kind": "scope", "instances": ["s"], "outputs": [{"port": 0}]}]', "c.json:1:69", "no key 'node'"),
        ('[{"id": "a", "match_kind": "scope", "instances": ["s"], "outputs": [{"node": "x", "port": -1}]}]', "c.json:1:91", "is -1"),
        ('[{"id": "a", "match_kind": "scope", "instances": ["s"], "outputs": [{"node": "x", "port": true}]}]', "c.json:1:91", "an integer"),
    ],
)
def test_mistakes_are_pointed_at(text: str, place: str, message: str) -> None:
    with pytest.raises(ConversionError) as caught:
        parse_configuration(text, "c.json")
    assert str(caught.value).startswith(f"{place}: ")
    assert message.replace("\\\\", "\\") in str(caught.value)


def test_keys_without_meaning_are_accepted(caplog: pytest.LogCaptureFixture) -> None:
    parse_configuration('[{"id": "a", "match_kind": "general", "author": "me"}]', "c.json")
    assert "c.json:1:49: a: the key 'author' has no meaning" in caplog.text


def test_files_that_cannot_be_read(tmp_path: object) -> None:
    with pytest.raises(ConversionError, match=r"missing\.json: cannot be read: No such file"):
        load_configuration(f"{tmp_path}/missing.json")
    broken = f"{tmp_path}/broken.json"
    with open(broken, "wb") as file:
        file.write(b"[\xff]")
    with pytest.raises(ConversionError, match="not UTF-8"):
        load_configuration(broken)


# Scopes.


def test_scopes() -> None:
    graph = inception()
    matches = find_instances(graph, parse_configuration(TEMPLATE)[0])
    assert [match.scope for match in matches] == [f".*InceptionV4/{block}" for block in BLOCKS]
    first = matches[0]
    assert all("Mixed_5b" in name for name in first.matched_nodes_names())
    assert (first.inputs_count(), first.outputs_count()) == (1, 1)
    assert len(first.input_nodes(0)) == 4
    assert first.output_node(0)[0].id == "InceptionV4/InceptionV4/Mixed_5b/concat"
    actual = first.node_by_pattern("Branch_3/AvgPool_0a_3x3/AvgPool$")
    assert actual is not None
    assert actual.id == "InceptionV4/InceptionV4/Mixed_5b/Branch_3/AvgPool_0a_3x3/AvgPool"
    assert first.node_by_pattern("nothing") is None
    with pytest.raises(ConversionError, match="taken by 4 nodes"):
        first.single_input_node(0)
    with pytest.raises(ConversionError, match=r"nodes of the sub-graph match 'Branch_\.\*'"):
        first.node_by_pattern("Branch_.*")
    with pytest.raises(ConversionError, match="has 1 outputs, there is no 1"):
        first.output_node(1)


def test_a_scope_that_is_not_there_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    text = TEMPLATE.replace("Mixed_5c", "Mixed_9x")
    assert len(find_instances(inception(), parse_configuration(text, "c.json")[0])) == 2
    assert "no node of the model is in the scope '.*InceptionV4/Mixed_9x'" in caplog.text


def test_no_scope_is_there() -> None:
    text = TEMPLATE.replace("Mixed_5", "Mixd_5").replace("5d", "5z")
    with pytest.raises(ConversionError, match=r"^c\.json:10:13: .*no node .*did you mean .*InceptionV4/InceptionV4/Mixed_5"):
        find_instances(inception(), parse_configuration(text, "c.json")[0])


def test_a_border_that_is_not_there() -> None:
    entry = {"id": "a", "match_kind": "scope", "instances": [".*Mixed_5b"], "inputs": [[{"node": "Branch_2/Conv$"}]], "outputs": []}
    with pytest.raises(ConversionError, match=r"has no node 'Branch_2/Conv\$'.*did you mean .*Branch_2/Conv2d_0a_1x1/Conv2D"):
        find_instances(inception(), parse_configuration(json.dumps([entry]))[0])
    entry["inputs"] = [[{"node": "Branch_.*"}]]
    with pytest.raises(ConversionError, match=r"5 nodes of the scope .*end it with \$"):
        find_instances(inception(), parse_configuration(json.dumps([entry]))[0])


# Points.


def test_points() -> None:
    match = one_instance(ssd(), SSD)
    names = set(match.matched_nodes_names())
    assert {"Postprocessor/boxes", "Postprocessor/exp_of_constant", "scale", "detection_boxes", "Postprocessor/Shape"} <= names
    assert not names & {"image", "FeatureExtractor/relu", "after"}
    assert match.single_input_node(0)[0].id == "Postprocessor/Shape"
    assert match.single_input_node(4) == (match.node_by_pattern("Postprocessor/Cast_1$"), 0)
    assert [node.id for node, _ in match.output_ports()] == ["detection_boxes", "detection_scores", "num_detections"]
    assert match.custom_replacement_desc.custom_attributes["clip_after_nms"] is True


def test_points_themselves_can_be_left_out() -> None:
    names = set(one_instance(ssd(), SSD.replace('_sub_graph": true', '_sub_graph": false')).matched_nodes_names())
    assert "Postprocessor/boxes" in names
    assert not names & {"Postprocessor/Shape", "detection_boxes"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"num_detections"', '"num_detection"', r"c\.json:17:17: .*no node 'num_detection'.*num_detections"),
        ('"num_detections"', '"FeatureExtractor/relu"', r"c\.json:17:17: .*'FeatureExtractor/relu' cannot be reached"),
        (
            '                "Postprocessor/Tile",\n',
            "",
            r"depends on the input 'image'.* by image -> FeatureExtractor/relu -> Postprocessor/Tile -> Postprocessor/boxes",
        ),
    ],
)
def test_wrong_points(old: str, new: str, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        one_instance(ssd(), SSD.replace(old, new))


# Completion.


def test_update_of_the_documents(tmp_path: object) -> None:
    path = f"{tmp_path}/inception.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write(TEMPLATE)
    (entry,) = json.loads(describe_subgraphs(path, inception()))
    expected = ["Branch_0/Conv2d_0a_1x1/Conv2D$", "Branch_1/Conv2d_0a_1x1/Conv2D$", "Branch_2/Conv2d_0a_1x1/Conv2D$"]
    expected.append("Branch_3/AvgPool_0a_3x3/AvgPool$")
    assert entry["inputs"] == [[{"node": node, "port": 0} for node in expected]]
    assert entry["outputs"] == [{"node": "concat$", "port": 0}]
    assert {key: entry[key] for key in json.loads(TEMPLATE)[0]} == json.loads(TEMPLATE)[0]


def test_an_updated_file_describes_what_was_found() -> None:
    graph = inception()
    actual = find_instances(graph, parse_configuration(TEMPLATE)[0])
    described = find_instances(graph, parse_configuration(described_text(TEMPLATE, "c.json", graph))[0])
    assert [match.matched_nodes_names() for match in described] == [match.matched_nodes_names() for match in actual]
    assert [match.input_nodes(0) for match in described] == [match.input_nodes(0) for match in actual]
    assert [match.output_ports() for match in described] == [match.output_ports() for match in actual]


def test_entries_of_other_kinds_stay_as_they_are() -> None:
    text = SSD.rstrip()[:-1] + ', {"id": "TFYOLO", "match_kind": "general"}]'
    assert json.loads(described_text(text, "c.json", ssd())) == json.loads(text)


def test_scopes_that_differ_cannot_be_described_by_one_entry() -> None:
    text = '[{"id": "a", "match_kind": "scope", "instances": [".*Mixed_5b", "InceptionV4/InceptionV4/Mixed_5c/Branch_0"]}]'
    with pytest.raises(ConversionError, match="no nodes correspond to it in 'InceptionV4/InceptionV4/Mixed_5c/Branch_0'"):
        described_text(text, "c.json", inception())


def test_a_node_without_a_name_after_the_scope() -> None:
    text = '[{"id": "a", "match_kind": "scope", "instances": [".*Mixed_5b/conc"]}]'
    with pytest.raises(ConversionError, match=r"no name after it.*ends at a '/'"):
        described_text(text, "c.json", inception())


def test_special_characters_are_escaped() -> None:
    def relu(name: str) -> onnx.NodeProto:
        return helper.make_node("Relu", ["x"], [f"{name}:0"], name=name)

    graph = graph_of([relu("s/re.lu+(1)"), relu("s/rexlu+(1)")], {"x": [1]}, ["s/re.lu+(1):0", "s/rexlu+(1):0"], {})
    (entry,) = json.loads(described_text('[{"id": "a", "match_kind": "scope", "instances": ["s"]}]', "c.json", graph))
    assert entry["outputs"][0] == {"node": "re\\.lu\\+\\(1\\)$", "port": 0}
