"""Functions of Model Optimizer's classes of operations, on nodes that a test describes."""

from __future__ import annotations

import numpy as np
import pytest

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.api.operations import class_named
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.testing import build_graph, connect, regular_op_with_empty_data, result, shaped_const_with_data, valued_const_with_data

StridedSlice = class_named("StridedSlice")

MASKS = {"begin_mask": [1, 1], "end_mask": [0, 1], "new_axis_mask": [0], "shrink_axis_mask": [0], "ellipsis_mask": [0]}


def sliced(data: dict, masks: dict | None = None, begin=(1, 0), end=(2, 2), strides=(1, 1), **attributes) -> GraphNode:
    described = {"op": "StridedSlice", **MASKS, **(masks or {}), **attributes}
    lists = {"begin": begin, "end": end, "strides": strides}
    nodes = {**data, **regular_op_with_empty_data("slice", described), **result()}
    for name, value in lists.items():
        nodes.update(valued_const_with_data(name, np.array(value)))
    edges = [edge for number, name in enumerate(("data", *lists)) for edge in connect(name, f"{number}:slice")]
    graph: Graph = build_graph(nodes, [*edges, *connect("slice", "output")])
    return GraphNode(graph, "slice")


def test_masks_and_slices():
    node = sliced(valued_const_with_data("data", np.arange(12).reshape(3, 4)))
    begin, end, strides = StridedSlice.validate_inputs_and_get_args(node)
    assert (begin.tolist(), end.tolist(), strides.tolist()) == ([1, 0], [2, 2], [1, 1])
    StridedSlice.align_mask_with_slice_rank(node, 3)
    assert [node[name].tolist() for name in StridedSlice.get_mask_names()] == [[1, 1, 1], [0, 1, 1], [0] * 3, [0] * 3, [0] * 3]
    assert StridedSlice.get_slices(node, [3, 4], begin, end, strides) == [slice(1, None, 1), slice(0, 2, 1)]


@pytest.mark.parametrize(
    ("masks", "begin", "expected"),
    [
        ({}, (1, 0), np.s_[1:, 0:2]),
        ({"shrink_axis_mask": [1, 0]}, (-1, 0), np.s_[-1, 0:2]),
        ({"new_axis_mask": [1, 0]}, (0, 1), np.s_[None, 1:2]),
        ({"ellipsis_mask": [1, 0]}, (0, 1), np.s_[..., 1:2]),
    ],
)
def test_infer(masks, begin, expected):
    values = np.arange(12).reshape(3, 4)
    node = sliced(valued_const_with_data("data", values), masks, begin)
    StridedSlice.infer(node)
    assert node.out_port(0).data.get_value().tolist() == values[expected].tolist()
    node = sliced(shaped_const_with_data("data", np.array([3, 4])), masks, begin)
    StridedSlice.infer(node)
    assert node.out_port(0).data.get_shape().tolist() == list(values[expected].shape)
    assert len(node.slices) == 2


def test_lists_of_different_lengths():
    node = sliced(valued_const_with_data("data", np.arange(12).reshape(3, 4)), strides=(1,))
    with pytest.raises(Error, match="of the StridedSlice 'slice' have different lengths"):
        StridedSlice.validate_inputs_and_get_args(node)


def test_a_described_node_has_the_attributes_of_its_operation():
    """Without `backend_attrs`, those of the names in the IR are meant."""
    described = {"op": "SoftMax", "type": "SoftMax", "version": "opset1", "axis": 0}
    nodes = {**valued_const_with_data("data", np.zeros((2, 4), np.float32)), **regular_op_with_empty_data("softmax", described), **result()}
    graph = build_graph(nodes, [*connect("data", "softmax"), *connect("softmax", "output")])
    node = GraphNode(graph, "softmax")
    class_named("Softmax").infer(node)
    assert node.out_port(0).data.get_value().tolist() == [[0.5] * 4] * 2
    assert node.get_opset() == "opset1"
