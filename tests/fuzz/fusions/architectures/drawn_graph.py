"""A graph of TensorFlow that says what small changes of its values do, as quantization hides those of its inputs."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.fuzz.fusions.rounding import moved
from tests.fuzz.tensorflow.graph_model import GraphModel

QUANTIZING = "FakeQuantWithMinMaxArgs"


class DrawnGraph(GraphModel):
    """A graph with its outputs."""

    def changed(self, seed: int) -> GraphModel:
        """The graph, in which each value that is quantized is multiplied by numbers near 1."""
        given = self.graph.as_graph_def()
        result = tf.compat.v1.GraphDef()
        result.versions.CopyFrom(given.versions)
        for number, node in enumerate(given.node):
            if node.op == QUANTIZING:
                shape = self.graph.get_operation_by_name(node.name).inputs[0].shape.as_list()
                factors = result.node.add(name=f"factors_{number}", op="Const")
                factors.attr["dtype"].type = tf.float32.as_datatype_enum
                factors.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(moved(np.ones(shape, np.float32), seed)))
                product = result.node.add(name=f"changed_{number}", op="Mul", input=[node.input[0], factors.name])
                product.attr["T"].type = tf.float32.as_datatype_enum
                node.input[0] = product.name
            result.node.append(node)
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(result, name="")
        return GraphModel(graph, self.outputs, self.complex_inputs, self.text)
