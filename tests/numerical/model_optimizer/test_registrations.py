"""Extractors that are registered by functions and in dictionaries, and names of Model Optimizer that only import."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from moir.conversion import save_model
from moir.errors import ConversionError
from moir.interface import convert_model
from tests.numerical.caffe.networks import input_layer, layer
from tests.numerical.caffe.networks import write as write_network
from tests.numerical.model_optimizer.conversion import RELU, Converted, X, convert, write
from tests.numerical.onnx.conversion import node
from tests.numerical.tensorflow import conversion as tensorflow_conversion

TWICE = """
    from mo.front.caffe.extractor import register_caffe_python_extractor
    from mo.ops.op import Op

    class TwiceOp(Op):
        op = "Twice"

        def __init__(self, graph, attrs):
            infer = lambda node: node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())
            super().__init__(graph, {"type": __class__.op, "op": __class__.op, "infer": infer}, attrs)

        def supported_attrs(self):
            return ["factor"]

    register_caffe_python_extractor(TwiceOp, "layers.twice.Twice")
    Op.excluded_classes.append(TwiceOp)
    """

LAYERS = input_layer(x=(1, 3, 4, 4)) + layer(
    "Python", 'python_param { module: "layers.twice" layer: "Twice" param_str: "{\'factor\': 2.5}" }'
)


def test_a_python_layer_of_caffe_is_registered_by_a_function(tmp_path):
    extension = write(tmp_path / "ext", {"ops/twice.py": TWICE})
    path = write_network(tmp_path, LAYERS, {"layer": []})
    save_model(convert_model(path, extensions=[extension]), tmp_path / "net.xml")
    text = (tmp_path / "net.xml").read_text()
    assert 'type="Twice"' in text
    assert 'factor="2.5"' in text


def test_what_a_failed_extension_registered_is_forgotten(tmp_path):
    extension = write(tmp_path / "ext", {"ops/twice.py": TWICE + "\n    1 / 0\n"})
    path = write_network(tmp_path, LAYERS, {"layer": []})
    with pytest.raises(ConversionError, match="ZeroDivisionError"):
        convert_model(path, extensions=[extension])
    with pytest.raises(ConversionError, match="is code in Python"):
        convert_model(path, extensions=[write(tmp_path / "empty", {"ops/nothing.py": ""})])


DICTIONARY = """
    from mo.front.common.partial_infer.elemental import copy_shape_infer
    from mo.front.{framework}.extractor import {table}

    {table}["{kind}"] = lambda node: {{"type": "Foo", "op": "Foo", "version": "my", "infer": copy_shape_infer}}
    """


def test_the_dictionary_of_onnx_is_extended(tmp_path):
    files = {"front/onnx/table.py": DICTIONARY.format(framework="onnx", table="onnx_op_extractors", kind="Bar")}
    converted = convert(tmp_path, files, [node("Bar", ["x"], ["y"], "bar", domain="acme")])
    assert converted.names("Foo") == ["bar"]


def test_the_dictionary_of_tensorflow_is_extended(tmp_path):
    files = {"front/tf/table.py": DICTIONARY.format(framework="tf", table="tf_op_extractors", kind="Relu")}
    graph, _ = tensorflow_conversion.build(lambda x: tf.nn.relu(x, name="r"), {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "ext", files)])
    assert converted.types == ["Foo"]


def test_a_dictionary_is_read(tmp_path):
    files = {
        "front/onnx/read.py": """
            from mo.front.common.replacement import FrontReplacementPattern
            from mo.front.onnx.extractor import onnx_op_extractor, onnx_op_extractors

            class Read(FrontReplacementPattern):
                def find_and_replace_pattern(self, graph):
                    (elu,) = graph.get_op_nodes(op="Elu")
                    assert "Elu" in onnx_op_extractors and "Nothing" not in onnx_op_extractors
                    assert onnx_op_extractors["elu"](elu)["alpha"] == 0.5
                    assert onnx_op_extractor(elu, {})[0]
                    elu.name = "read"
            """
    }
    assert convert(tmp_path, files, [node("Elu", ["x"], ["y"], "elu", alpha=0.5)]).names("Elu") == ["read"]


def test_nodes_are_merged(tmp_path):
    files = {
        "front/merge.py": """
            from mo.front.common.replacement import FrontReplacementPattern
            from mo.graph.graph import Node, merge_nodes
            from mo.ops.op import Op
            from extensions.ops.activation_ops import Tanh

            class Merge(FrontReplacementPattern):
                def find_and_replace_pattern(self, graph):
                    merged = Node(graph, merge_nodes(graph, [n.id for n in graph.get_op_nodes() if n.op in ("ReLU", "Sigmoid")]))
                    assert merged.op == "TFCustomSubgraphCall"
                    assert [len(merged.in_ports()), len(merged.out_ports())] == [1, 1]
                    tanh = Tanh(graph, {"name": "tanh"}).create_node()
                    merged.in_port(0).get_connection().set_destination(tanh.in_port(0))
                    merged.out_port(0).get_connection().set_source(tanh.out_port(0))
            """
    }
    nodes = [node("Relu", ["x"], ["a"], "relu"), node("Sigmoid", ["a"], ["b"], "sigmoid"), node("Abs", ["b"], ["y"], "abs")]
    converted = convert(tmp_path, files, nodes)
    assert converted.types == ["Abs", "Tanh"]
    np.testing.assert_allclose(converted.run({"x": X})[0], np.abs(np.tanh(X)), rtol=1e-5)


NAMES = """
    from mo.front.common.replacement import FrontReplacementPattern
    from mo.front.kaldi.extractor import kaldi_type_extractors
    from mo.front.kaldi.loader.utils import collect_until_token
    from mo.front.kaldi.utils import read_binary_matrix
    from mo.pipeline.common import get_ir_version, prepare_emit_ir
    from mo.utils.class_registration import ClassType, apply_replacements_list, apply_transform
    from mo.utils import class_registration
    from mo.utils.version import extract_release_version, get_version
    from extensions.front.kaldi.replace_lstm_node_pattern import ReplaceLSTMNodePattern

    class Rename(FrontReplacementPattern):
        enabled = False

        def find_and_replace_pattern(self, graph):
            graph.get_op_nodes(op="ReLU")[0].name = "renamed"

    class Apply(FrontReplacementPattern):
        def find_and_replace_pattern(self, graph):
            assert extract_release_version(get_version())[0].isdigit() and get_ir_version() == 11
            apply_transform(graph, Rename)
            assert graph.get_op_nodes(op="ReLU")[0].name == "relu"
            Rename.enabled = True
            apply_replacements_list(graph, [Rename])
            Rename.enabled = False
            {further}
    """


def test_transformations_are_run_by_functions(tmp_path):
    assert convert(tmp_path, {"front/apply.py": NAMES.format(further="")}, RELU).names("ReLU") == ["renamed"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("read_binary_matrix(None)", "moir does not read Kaldi models"),
        ("prepare_emit_ir(graph, 'FP32', '.', 'm')", "at the end of the conversion"),
    ],
)
def test_functions_that_only_import_say_so(tmp_path, call, message):
    with pytest.raises(ConversionError, match=message):
        convert(tmp_path, {"front/apply.py": NAMES.format(further=call)}, RELU)
