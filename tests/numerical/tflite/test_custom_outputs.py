"""A user's detection graph ends in a custom operation of TensorFlow Lite with four outputs, which an extension lowers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import moir
from moir.errors import UnsupportedOperationError
from tests.numerical.runtime import core

EXTENSION = """
from moir.lowering.tensorflow.table import tf

@tf.lowers("TFLite_Detection_PostProcess")
def post_process(node, op):
    boxes, scores = node.operand(0), node.operand(1)
    return op.Relu(boxes), op.Relu(scores), op.Sigmoid(scores), op.Abs(boxes)
"""
NAMES = ["detections", *(f"detections:{index}" for index in range(1, 4))]


def graph(folder: Path) -> Path:
    built = tf.Graph()
    with built.as_default():
        image = tf.compat.v1.placeholder(tf.float32, [1, 4], "image")
        tf.multiply(image, 2.0, name="boxes")
        tf.subtract(image, 1.0, name="scores")
        tf.constant([[0.5]], name="anchors")
    definition = built.as_graph_def()
    node = definition.node.add(name="detections", op="TFLite_Detection_PostProcess", input=["boxes", "scores", "anchors"])
    node.attr["_output_types"].list.type.extend([1, 1, 1, 1])
    (folder / "graph.pb").write_bytes(definition.SerializeToString())
    (folder / "ext" / "front" / "tf").mkdir(parents=True)
    (folder / "ext" / "front" / "tf" / "post_process.py").write_text(EXTENSION)
    return folder / "graph.pb"


@pytest.mark.parametrize("chosen", [[0, 1, 2, 3], [1], [3, 0]])
def test_the_outputs_of_the_extension(tmp_path: Path, chosen: list[int]) -> None:
    names = [NAMES[index] for index in chosen]
    output = None if len(chosen) == len(NAMES) else ",".join(names)
    module = moir.convert_model(graph(tmp_path), extensions=tmp_path / "ext", output=output)
    moir.save_model(module, tmp_path / "ir.xml")
    compiled = core().compile_model(tmp_path / "ir.xml", "CPU")
    x = np.array([[-1, 0.25, 0.5, 2]], np.float32)
    boxes, scores = x * 2, x - 1
    wanted = [np.maximum(boxes, 0), np.maximum(scores, 0), 1 / (1 + np.exp(-scores)), np.abs(boxes)]
    actual = list(compiled({"image": x}).values())
    assert len(actual) == len(chosen)
    for result, index in zip(actual, chosen, strict=True):
        np.testing.assert_allclose(result, wanted[index], rtol=1e-5)


def test_the_error_says_where_to_cut(tmp_path: Path) -> None:
    path = graph(tmp_path)
    with pytest.raises(UnsupportedOperationError, match=r"--output boxes,scores"):
        moir.convert_model(path)
    moir.save_model(moir.convert_model(path, output="boxes,scores"), tmp_path / "ir.xml")
    assert len(core().compile_model(tmp_path / "ir.xml", "CPU").outputs) == 2
