"""Ports that extensions mark as being in the layout of the IR, on images of a channel-last network."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.model_optimizer.conversion import Converted, write
from tests.numerical.runtime import compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

RNG = np.random.default_rng(5)
X = RNG.normal(size=(1, 4, 5, 3)).astype(np.float32)
WEIGHTS = RNG.normal(size=(1, 1, 3, 6)).astype(np.float32)

HEAD = """
    import numpy as np
    from extensions.middle.InsertLayoutPropagationTransposes import mark_as_correct_data_layout, \\
        mark_input_as_in_correct_layout, mark_output_as_in_correct_layout
    from extensions.ops.transpose import Transpose
    from mo.front.common.replacement import FrontReplacementOp
    from mo.front.tf.graph_utils import create_op_node_with_second_input, create_op_with_const_inputs
    from mo.ops.crop import Crop
    from mo.ops.reshape import Reshape
    from mo.ops.shape import Shape
    from mo.ops.softmax import Softmax


    class Groups(FrontReplacementOp):
        op = 'Elu'
        enabled = True

        def replace_op(self, graph, node):
            image = node.in_node(0)
"""

SOFTMAX_OF_GROUPS = """
            groups = create_op_node_with_second_input(graph, Reshape, np.array([0, 3, 2, -1]), {'name': 'groups'}, image)
            mark_as_correct_data_layout(groups)
            active = Softmax(graph, {'axis': 2, 'nchw_layout': True, 'name': 'active'}).create_node([groups])
            order = create_op_with_const_inputs(graph, Transpose, {1: np.array([0, 2, 1, 3])}, {'name': 'order'}, active)
            mark_input_as_in_correct_layout(order, 1)
            mark_output_as_in_correct_layout(order, 0)
            back = Reshape(graph, {'name': 'back'}).create_node([order, Shape(graph, {'name': 'size'}).create_node([image])])
            mark_input_as_in_correct_layout(back, 0)
            mark_output_as_in_correct_layout(back, 0)
            return [back.id]
"""
CROPPED = """
            return [Crop(graph, {'axis': np.array([1]), 'offset': np.array([2]), 'dim': np.array([3]),
                                 'nchw_layout': True, 'name': 'cropped'}).create_node([image]).id]
"""
FLAT_DATA = """
            flat = create_op_node_with_second_input(graph, Reshape, np.array([0, 4, 5, -1]), {'name': 'flat'}, image)
            again = create_op_node_with_second_input(graph, Reshape, np.array([0, 5, 4, -1]), {'name': 'again'}, flat)
            mark_as_correct_data_layout(again)
            return [again.id]
"""


def channels_first(x):
    return np.transpose(x, (0, 3, 1, 2))


def channels_last(x):
    return np.transpose(x, (0, 2, 3, 1))


def softmax_of_groups(x):
    groups = np.exp(channels_first(x).reshape(1, 3, 2, 20))
    return channels_last((groups / groups.sum(2, keepdims=True)).transpose(0, 2, 1, 3).reshape(1, 6, 4, 5))


CASES = {
    "softmax of groups": (SOFTMAX_OF_GROUPS, softmax_of_groups),
    "nchw_layout": (CROPPED, lambda x: x[:, :, :, 2:5]),
    "no image": (FLAT_DATA, lambda x: x.reshape(1, 5, 4, 6)),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_marked_ports_take_images_in_the_layout_of_the_ir(tmp_path, body, expected):
    graph, _ = tensorflow_conversion.build(lambda x: tf.nn.relu(tf.nn.elu(tf.nn.conv2d(x, WEIGHTS, 1, "SAME"))), {"x": X})
    extension = write(tmp_path / "my_extension", {"front/tf/groups.py": HEAD + body})
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    image = np.einsum("nhwc,co->nhwo", X, WEIGHTS[0, 0])
    compare(converted.run({"x": X}), [np.maximum(expected(image), 0)])
