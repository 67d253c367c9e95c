"""Inputs of TensorFlow's nodes in the order that Model Optimizer's nodes had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.model_optimizer.conversion import Converted, X, write
from tests.numerical.runtime import compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion


def equal_parts(x: Any) -> Any:
    return tf.concat(tf.raw_ops.Split(axis=2, value=x, num_split=2, name="split"), 1)


def listed_parts(x: Any) -> Any:
    return tf.concat(tf.raw_ops.SplitV(value=x, size_splits=[1, 3], axis=2, num_split=2, name="split"), 2)


SEEN = """
    from mo.front.common.replacement import FrontReplacementPattern

    class Look(FrontReplacementPattern):
        def find_and_replace_pattern(self, graph):
            (split,) = graph.get_op_nodes(op={op!r})
            assert split.in_port(0).get_source().node.op == "Parameter"
            axis = split.in_port(1).get_source().node
            assert axis.op == "Const" and axis.value.tolist() == 2
            assert split.soft_get("num_splits") == 2
            {further}
    """


@pytest.mark.parametrize(("function", "op"), [(equal_parts, "Split"), (listed_parts, "VariadicSplit")])
@pytest.mark.parametrize("is_edited", [False, True])
def test_the_data_of_a_split_is_input_0(tmp_path, function, op, is_edited):
    edit = "from extensions.ops.activation_ops import Abs; "
    edit += "split.in_port(0).get_connection().insert_node(Abs(graph, {'name': 'abs'}).create_node()); split['other'] = 1"
    extension = write(tmp_path / "ext", {"front/look.py": SEEN.format(op=op, further=edit if is_edited else "")})
    graph, names = tensorflow_conversion.build(function, {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    assert len(converted.all("Abs")) == is_edited
    expected = tensorflow_conversion.expected_results(graph, names, {"x": np.abs(X) if is_edited else X})
    compare(tensorflow_conversion.ordered_results(converted.model, names, {"x": X}), expected)


def test_an_extractor_says_which_input_is_the_data(tmp_path):
    files = {
        "front/look.py": SEEN.format(op="Split", further=""),
        "front/tf/split_ext.py": """
            from mo.front.extractor import FrontExtractorOp
            from mo.ops.split import Split

            class SplitExtractor(FrontExtractorOp):
                op = "Split"

                @classmethod
                def extract(cls, node):
                    Split.update_node_stat(node, {"num_splits": node.pb.attr["num_split"].i, "input_port": 1})
                    return cls.enabled
            """,
    }
    graph, names = tensorflow_conversion.build(equal_parts, {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "ext", files)])
    results = tensorflow_conversion.ordered_results(converted.model, names, {"x": X})
    compare(results, tensorflow_conversion.expected_results(graph, names, {"x": X}))


def test_the_last_layer_keeps_the_name_that_its_output_has(tmp_path):
    """As with Model Optimizer the Result takes another name; the output is found by the same name."""
    graph = tf.Graph()
    with graph.as_default():
        tf.multiply(tf.compat.v1.placeholder(tf.float32, X.shape, "x"), 2.0, name="mul")
    extension = write(tmp_path / "ext", {"front/nothing.py": SEEN.format(op="Split", further="").replace("(split,) =", "return;")})
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    assert converted.names("Multiply") == ["mul"]
    assert converted.names("Result") == ["mul/sink_port_0"]
    np.testing.assert_allclose(converted.run({"x": X}, ["mul"])[0], 2 * X, rtol=1e-6)
    assert Converted.of(graph, tmp_path).names("Result") == ["mul"]
