"""A user's frozen graph of TensorFlow 1 closes its array of tensors at the end; this node is not an output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

from tests.numerical.runtime import compare, run
from tests.numerical.tensorflow.conversion import convert_graph

raw = tf.raw_ops


def test_an_array_that_is_closed(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        index = tf.compat.v1.placeholder(tf.int32, [], "index")
        value = tf.compat.v1.placeholder(tf.float32, [3, 2], "value")
        array = raw.TensorArrayV3(size=3, dtype=tf.float32)
        flow = raw.TensorArrayScatterV3(handle=array[0], indices=[0, 1, 2], value=value, flow_in=array[1])
        read = raw.TensorArrayReadV3(handle=array[0], index=index, flow_in=flow, dtype=tf.float32)
        tf.identity(read, "out")
        with tf.control_dependencies([read]):
            raw.TensorArrayCloseV3(handle=array[0])
    model = convert_graph(graph, tmp_path)
    assert [output.get_any_name() for output in model.outputs] == ["out"]
    data = np.arange(6, dtype=np.float32).reshape(3, 2)
    compare(run(model, {"index": np.array(1, np.int32), "value": data}), [data[1]])
