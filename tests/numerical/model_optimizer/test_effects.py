"""What `--verbose` says of each transformation: how often it matched, and that it changed nothing because of a layout."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.model_optimizer.conversion import Converted, write
from tests.numerical.tensorflow import conversion as tensorflow_conversion

IMAGE = np.zeros((1, 8, 6, 3), np.float32)
FILTERS = np.ones((3, 3, 3, 4), np.float32)

CLASSES = {
    "front/replace.py": """
        from mo.front.common.replacement import FrontReplacementOp
        from extensions.ops.activation_ops import Abs

        class Replace(FrontReplacementOp):
            op = "Tanh"

            def replace_op(self, graph, node):
                return [Abs(graph, {"name": "abs"}).create_node([node.in_node(0)]).id]
        """,
    "middle/look.py": """
        from mo.back.replacement import BackReplacementPattern
        from mo.middle.replacement import MiddleReplacementPattern

        class Count(MiddleReplacementPattern):
            def pattern(self):
                return dict(nodes=[("relu", dict(op="ReLU"))], edges=[])

            def replace_pattern(self, graph, match):
                match["relu"]["seen"] = True

        class ChannelsFirst(MiddleReplacementPattern):
            def find_and_replace_pattern(self, graph):
                if graph.graph["layout"] == "NCHW":
                    raise AssertionError

        class Transposed(MiddleReplacementPattern):
            def pattern(self):
                return dict(
                    nodes=[("conv", dict(op="Conv2D")), ("data", dict(kind="data")), ("transpose", dict(op="Transpose"))],
                    edges=[("conv", "data"), ("data", "transpose")],
                )

            def replace_pattern(self, graph, match):
                raise AssertionError

        class OnlyChannelsLast(BackReplacementPattern):
            graph_condition = [lambda graph: graph.graph["layout"] == "NHWC"]

            def find_and_replace_pattern(self, graph):
                raise AssertionError
        """,
}


@pytest.fixture
def said(tmp_path, caplog) -> list[str]:
    graph, _ = tensorflow_conversion.build(lambda x: tf.tanh(tf.nn.relu(tf.nn.conv2d(x, FILTERS, 1, "SAME", name="conv"))), {"x": IMAGE})
    with caplog.at_level(logging.INFO, logger="moir"):
        Converted.of(graph, tmp_path, extensions=[write(tmp_path / "ext", CLASSES)])
    return [record.getMessage() for record in caplog.records]


def test_how_often_a_class_matched(said):
    assert "Replace matched once" in said
    assert "Count matched once" in said
    assert "Transposed matched nothing" in said


def test_at_which_step_a_pattern_fails(said):
    (line,) = [line for line in said if line.startswith("Transposed matches nothing")]
    assert "transpose fails: no node has op 'Transpose'" in line
    assert "there are Transposes only after the layout change" in line


def test_a_class_that_expects_another_layout(said):
    expected = "it read the layout of the graph, which is NHWC before the layout change, the middle phase"
    assert f"ChannelsFirst changed nothing; {expected}" in said


def test_a_condition_that_expects_another_layout(said):
    (line,) = [line for line in said if "OnlyChannelsLast" in line]
    assert "predicate 1 of its graph_condition does not hold" in line
    assert "NCHW after the layout change, the back phase" in line
