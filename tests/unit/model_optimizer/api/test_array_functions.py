"""Functions of Model Optimizer on shapes, values, parameters of layers and configurations."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.api.configuration.pipeline_config import PipelineConfig
from moir.model_optimizer.api.extraction import caffe_layers, mxnet_attributes
from moir.model_optimizer.api.graph import constant_values, sequences
from moir.model_optimizer.api.graph.node_attributes import add_attrs_props, merge_edge_props
from moir.model_optimizer.api.inference import broadcasting, shape_functions
from moir.model_optimizer.api.inference.graph_inference import override_batch, partial_infer
from moir.model_optimizer.api.inference.partial_inference import concat_infer
from moir.model_optimizer.api.inference.sliding_windows import convert_tf_padding_to_str, tf_window_op_pad_infer
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.values.shapes import dynamic_dimension, shape_array, unmask_shape
from moir.testing import build_graph, connect, regular_op_with_empty_data, result, shaped_parameter
from moir.testing.descriptions import connect_data, valued_const_with_data

UNKNOWN = dynamic_dimension


def dims(shape: Any) -> list[int] | None:
    """A shape with -1 for unknown dimensions."""
    return None if shape is None else unmask_shape(shape_array(shape)).tolist()


def test_shapes() -> None:
    insert, delete = shape_functions.shape_insert, shape_functions.shape_delete
    assert dims(insert([2, UNKNOWN], 1, 3)) == [2, 3, -1]
    assert dims(insert([2], 0, [UNKNOWN, 4])) == [-1, 4, 2]
    assert dims(insert([2], 1, UNKNOWN)) == [2, -1]
    assert dims(delete([2, UNKNOWN, 4], [0, -1])) == [-1]
    with pytest.raises(ConversionError, match="no dimensions"):
        delete([2], 1)
    assert shape_functions.is_dynamic_slice(slice(0, UNKNOWN))
    assert not shape_functions.is_dynamic_slice(3)
    assert dims(shape_functions.get_shape_from_slice([UNKNOWN, 5, 6], [None, slice(None), slice(1, 4), 2])) == [1, -1, 3]
    assert dims(shape_functions.get_shape_from_slice([4, 5, 6], [Ellipsis, slice(0, 2)])) == [4, 5, 2]
    assert dims(shape_functions.clarify_partial_shape([[UNKNOWN, 2], [3, UNKNOWN]])) == [3, 2]
    assert shape_functions.get_canonical_axis_index([1, 2, 3], -1) == 2
    assert shape_functions.match_shapes([0, 2], [5, 2])
    assert not shape_functions.symm_match_shapes([1, 2], [5, 2])


def test_broadcasting() -> None:
    assert dims(broadcasting.bi_directional_shape_broadcasting([2, 1], [UNKNOWN, 1, 5])) == [-1, 2, 5]
    assert broadcasting.bi_directional_shape_broadcasting([2], [3]) is None
    assert dims(broadcasting.uni_directional_shape_broadcasting([1, 3], [4, 3])) == [4, 3]
    assert broadcasting.uni_directional_shape_broadcasting([4, 3], [3]) is None
    assert broadcasting.uni_directional_broadcasting(np.ones((1, 3)), [2, 3]).shape == (2, 3)
    assert broadcasting.bi_directional_broadcasting(np.ones((2, 1)), [3]).shape == (2, 3)
    value = broadcasting.explicit_broadcasting(np.array([1, 2]), [3, 2, 4], [1])
    assert value.shape == (3, 2, 4)
    assert value[0, :, 0].tolist() == [1, 2]
    with pytest.raises(ConversionError, match="do not broadcast"):
        broadcasting.broadcast_shape([2], [3])
    with pytest.raises(ConversionError, match="do not map"):
        broadcasting.explicit_shape_broadcasting([2, 2], [2, 2], [1, 0])


def test_windows() -> None:
    pads, sizes = tf_window_op_pad_infer([7, 8], [3, 3], [2, 2], "same_upper")
    assert (pads.tolist(), dims(sizes)) == ([[1, 1], [0, 1]], [4, 4])  # pyright: ignore[reportOptionalMemberAccess]
    pads, sizes = tf_window_op_pad_infer([7, UNKNOWN], [3, 3], [2, 2], "valid", dilation=[2, 1])
    assert (pads.tolist(), dims(sizes)) == ([[0, 0], [0, 0]], [2, -1])  # pyright: ignore[reportOptionalMemberAccess]
    assert tf_window_op_pad_infer(None, [3], [1], "valid") == (None, None)
    assert convert_tf_padding_to_str(Namespace(s=b"SAME")) == "same_upper"
    with pytest.raises(ConversionError, match="SAME or VALID"):
        convert_tf_padding_to_str("EXPLICIT")


def test_values() -> None:
    assert sequences.unique_by([1, 2, 5, 6], lambda a, b: b - a == 1) == [1, 5]
    assert sequences.dict_includes({"a": 1, "b": np.array([1, 2])}, {"a": lambda value: value == 1, "b": np.array([1, 2])})
    assert not sequences.dict_includes({"a": 1}, {"c": 2})
    assert sequences.shrink_str_value("x" * 30, 10) == "xxxxxxx..."
    converted, infinite, zero = constant_values.convert_blob(np.array([1e10, 1e-10, 1.0]), np.float16)
    assert (converted.dtype, infinite, zero) == (np.float16, 1, 1)
    with pytest.raises(ConversionError, match="rounded"):
        constant_values.convert_blob(np.array([1.5]), np.int32)
    assert add_attrs_props({"dim_attrs": ["mine"]})["dim_attrs"][:2] == ["mine", "spatial_dims"]
    assert merge_edge_props({"a": [1], "b": 1}, {"a": [2], "b": 2}) == {"a": [1, 2], "b": 2}


def test_attributes_of_mxnet() -> None:
    attrs = mxnet_attributes.get_mxnet_layer_attrs(
        {"attrs": {"kernel": "(3, 3)", "no_bias": "True", "eps": "1e-3", "axis": "None", "dtype": "float16", "one": "4"}}
    )
    assert attrs.tuple("kernel", int) == (3, 3)
    assert attrs.tuple("one", int) == (4,)
    assert attrs.list("kernel", int) == [3, 3]
    assert attrs.bool("no_bias") is True
    assert attrs.bool("missing", False) is False
    assert attrs.float("eps") == 1e-3
    assert attrs.int("axis", 1) is None
    assert attrs.int("missing", 7) == 7
    assert attrs.dtype("dtype") is np.float16
    with pytest.raises(ConversionError, match="attribute kernel"):
        attrs.int("kernel")
    assert not mxnet_attributes.get_mxnet_layer_attrs({}).has("kernel")


def test_layers_of_caffe() -> None:
    attrs = caffe_layers.weights_biases(True, Namespace(blobs=[Namespace(data=[1.0, 2.0]), Namespace(data=[3.0])]))
    assert [entry[:2] for entry in attrs["embedded_inputs"]] == [(1, "weights"), (2, "biases")]
    assert attrs["biases"].dtype == np.float32
    with pytest.raises(ConversionError, match="has 0 blobs, it needs weights"):
        caffe_layers.weights_biases(False, Namespace(blobs=[], name="conv"))
    assert caffe_layers.get_spatial_attr([1, 1], "stride", "stride", Namespace(stride=[2], stride_h=0, stride_w=0)) == (2, 2)
    assert caffe_layers.get_spatial_attr([1, 1], "stride", "stride", Namespace(stride=[], stride_h=3, stride_w=2)) == (2, 3)
    assert caffe_layers.merge_attrs(Namespace(a=1), {"a": 5, "b": 6}) == {"a": 5}
    assert caffe_layers.get_list_from_container(Namespace(axis=3), "axis", int) == [3]


def test_embedded_inputs_become_constants() -> None:
    graph = build_graph({"x": {"kind": "op", "op": "Mine"}}, [])
    node = GraphNode(graph, "x")
    for key, value in caffe_layers.weights_biases(False, Namespace(blobs=[Namespace(data=[1.0, 2.0])])).items():
        node[key] = value
    caffe_layers.connect_embedded_inputs(node)
    assert not node.has("weights")
    constant = node.in_port(1).get_source()
    assert constant is not None
    assert constant.node["value"].tolist() == [1.0, 2.0]


def concatenation(axis: int) -> GraphNode:
    """A node that joins an input [2, ?] and a constant [2, 3]."""
    nodes = {
        **shaped_parameter("x", [2, UNKNOWN]),
        **valued_const_with_data("k", np.ones((2, 3))),
        **regular_op_with_empty_data("c", {"op": "Concat", "axis": axis, "infer": concat_infer}),
        **result("out"),
    }
    return GraphNode(build_graph(nodes, [*connect("x", "c"), *connect("k", "1:c"), *connect("c", "out")]), "c")


def test_inference() -> None:
    node = concatenation(-1)
    partial_infer(node.graph)  # pyright: ignore[reportArgumentType]
    assert dims(node.out_port(0).data.get_shape()) == [2, -1]
    assert node["axis"] == 1
    node = concatenation(0)
    concat_infer(node)
    assert dims(node.out_port(0).data.get_shape()) == [4, 3]
    override_batch(node.graph, 8)  # pyright: ignore[reportArgumentType]
    assert dims(GraphNode(node.graph, "x")["shape"]) == [8, -1]


def test_shared_constants() -> None:
    nodes = {
        **valued_const_with_data("k", np.array([1.0, 2.0])),
        **regular_op_with_empty_data("a", {"op": "A"}),
        **regular_op_with_empty_data("b", {"op": "B"}),
    }
    graph = build_graph(nodes, [*connect("k", "a"), *connect_data("k", "b"), ("a", "a_d", {"out": 0}), ("b", "b_d", {"out": 0})])
    constant_values.resolve_shared_inputs(GraphNode(graph, "a"), [0])
    source = GraphNode(graph, "b").in_port(0).get_source()
    assert source is not None
    assert source.node.id != "k"
    assert source.node["value"].tolist() == [1.0, 2.0]
    constant_values.convert_const_node_value_type(source.node, np.int32)
    assert source.get_data_type() is np.int32


CONFIGURATION = """
model {
  faster_rcnn {
    num_classes: 37
    image_resizer { keep_aspect_ratio_resizer { min_dimension: 600 max_dimension: 1024 } }
    first_stage_anchor_generator {
      grid_anchor_generator { scales: [0.25, 0.5] aspect_ratios: 1.0 height_stride: 8 }
    }
    first_stage_max_proposals: 100
    second_stage_post_processing {
      batch_non_max_suppression { score_threshold: 0.3 }
      score_converter: SOFTMAX
    }
  }
}
train_config { batch_size: 1 }
"""


def test_configurations_of_detection_models(tmp_path: Path) -> None:
    path = tmp_path / "pipeline.config"
    path.write_text(CONFIGURATION)
    config = PipelineConfig(path)
    actual = {
        name: config.get_param(name)
        for name in (
            *("num_classes", "resizer_min_dimension", "resizer_image_height", "anchor_generator_scales", "anchor_generator_height"),
            *("anchor_generator_height_stride", "first_stage_max_proposals", "postprocessing_score_threshold"),
            *("postprocessing_score_converter", "frcnn_variance_x", "add_background_class"),
        )
    }
    assert actual == {
        "num_classes": 37,
        "resizer_min_dimension": 600,
        "resizer_image_height": None,
        "anchor_generator_scales": [0.25, 0.5],
        "anchor_generator_height": 256,
        "anchor_generator_height_stride": 8,
        "first_stage_max_proposals": 100,
        "postprocessing_score_threshold": 0.3,
        "postprocessing_score_converter": "SOFTMAX",
        "frcnn_variance_x": 10.0,
        "add_background_class": True,
    }
    path.write_text("train_config { batch_size: 1 }")
    with pytest.raises(ConversionError, match="no message 'model'"):
        PipelineConfig(path)
