"""Nodes that compute parts of shapes, run on OpenVINO Runtime, and the edits of boxes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.api.graph import layout_marks, shape_nodes
from moir.model_optimizer.api.graph.graph_utilities import add_convolution_to_swap_xy_coordinates, add_fake_background_loc
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from tests.unit.model_optimizer.operation_graphs import run

DATA = np.zeros((2, 3, 5, 7), np.float32)


def from_shape(make: Callable[[GraphNode, GraphNode], GraphNode], framework: str = "onnx", stage: str = "front") -> list[int]:
    """What a node that is made of the nodes for shape and rank of DATA gives."""

    def build(_: Graph, inputs: list[GraphNode]) -> GraphNode:
        return make(*shape_nodes.get_shape_and_rank_nodes_by_port(inputs[0].out_port(0)))

    return run(build, DATA, framework=framework, stage=stage)[0].tolist()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda shape, _: shape_nodes.node_to_get_shape_value_of_indices(shape, [3, 0]), [7, 2]),
        (lambda shape, _: shape_nodes.node_to_get_batch_value(shape), [2]),
        (lambda shape, rank: shape_nodes.get_shape_values_by_range_idxs(shape, rank, 1, -1), [3, 5]),
        (lambda shape, rank: shape_nodes.get_shape_values_by_range_idxs(shape, rank, 0, -1, False, True), [3, 5, 7]),
        (lambda _, rank: shape_nodes.get_canonical_axis_index_node(rank, -1), 3),
        (
            lambda shape, _: shape_nodes.new_shape_node_from_shape_nodes(
                [shape_nodes.node_to_get_batch_value(shape), shape_nodes.node_to_get_shape_value_of_indices(shape, [3])]
            ),
            [2, 7],
        ),
    ],
)
def test_parts_of_a_shape(make: Callable[[GraphNode, GraphNode], GraphNode], expected: list[int]) -> None:
    assert from_shape(make) == expected


def test_dimensions_by_the_layout_of_the_graph() -> None:
    assert from_shape(lambda shape, _: shape_nodes.node_to_get_features_dimension_value(shape)) == [3]
    assert from_shape(lambda shape, _: shape_nodes.node_to_get_features_dimension_value(shape), "tf") == [7]
    assert from_shape(lambda shape, _: shape_nodes.node_to_get_spatial_dimensions_value(shape), "onnx", "middle") == [5, 7]
    with pytest.raises(ConversionError, match="put together of no dimensions"):
        shape_nodes.new_shape_node_from_shape_nodes([])


@pytest.mark.parametrize(("size", "order"), [(4, [1, 0, 3, 2]), (5, [0, 2, 1, 4, 3])])
def test_coordinates_are_exchanged(size: int, order: list[int]) -> None:
    boxes = np.arange(3 * size, dtype=np.float32).reshape(3, size)
    actual = run(lambda graph, inputs: add_convolution_to_swap_xy_coordinates(graph, inputs[0], size), boxes, framework="tf")[0]
    np.testing.assert_array_equal(actual.reshape(3, size), boxes[:, order])


def test_boxes_of_the_first_class_are_there_twice() -> None:
    boxes = np.arange(12, dtype=np.float32).reshape(1, 3, 4)
    actual = run(lambda graph, inputs: add_fake_background_loc(graph, inputs[0]), boxes)[0]
    np.testing.assert_array_equal(actual, boxes[:, [0, 0, 1, 2]])


def test_marks() -> None:
    graph = Graph()
    node = graph.create({"op": "Mine", "in_ports_count": 2})
    layout_marks.mark_input_as_in_correct_layout(node, 1)
    assert [layout_marks.is_input_data_in_correct_layout(node, number) for number in (0, 1)] == [False, True]
    assert not layout_marks.is_output_data_in_correct_layout(node, 0)
    layout_marks.mark_as_correct_data_layout(node)
    assert layout_marks.is_input_data_in_correct_layout(node, 0)
    assert layout_marks.is_output_data_in_correct_layout(node, 0)
