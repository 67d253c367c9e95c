"""Which modules of Model Optimizer had which names: the table behind `moir.model_optimizer.import_paths`."""

from __future__ import annotations

API = "moir.model_optimizer.api"
GRAPH = "moir.model_optimizer.graph"

_SHAPES = (f"{GRAPH}.shapes", f"{API}.shape_functions")
_REPLACEMENT = (f"{API}.replacement", f"{API}.configured_replacement")
_EXTRACTORS = (f"{API}.extractors",)
_CAFFE = (f"{API}.caffe_layers", f"{API}.shape_functions", *_EXTRACTORS)
_WINDOWS = (f"{API}.sliding_windows",)
_PARTIAL_INFERENCE = (f"{API}.partial_inference", f"{API}.reverse_inference", *_SHAPES, *_WINDOWS, f"{API}.broadcasting")
_TESTING = ("moir.testing.graphs", "moir.testing.descriptions", "moir.testing.comparison", "moir.testing.messages")
_LOWERED = (f"{API}.lowered_inference",)

SOURCES: dict[str, tuple[str, ...]] = {
    "back.InsertLayoutPropagationTransposes": (f"{API}.layout_marks",),
    "back.OptimizeTransposeReshapeSequence": (f"{API}.data_node_functions",),
    "back.pass_separator": (f"{API}.anchors",),
    "back.replacement": (f"{API}.back_replacement",),
    "front.caffe.collect_attributes": _CAFFE,
    "front.caffe.extractor": (f"{API}.front_extractor",),
    "front.caffe.extractors.utils": _CAFFE,
    "front.common.extractors.utils": (*_WINDOWS, *_EXTRACTORS),
    "front.common.layout": (f"{API}.layouts",),
    "front.common.partial_infer.concat": _PARTIAL_INFERENCE,
    "front.common.partial_infer.crop": _LOWERED,
    "front.common.partial_infer.elemental": _PARTIAL_INFERENCE,
    "front.common.partial_infer.eltwise": _PARTIAL_INFERENCE,
    "front.common.partial_infer.inner_product": _LOWERED,
    "front.common.partial_infer.multi_box_detection": _LOWERED,
    "front.common.partial_infer.roipooling": _LOWERED,
    "front.common.partial_infer.utils": _PARTIAL_INFERENCE,
    "front.common.replacement": _REPLACEMENT,
    "front.common.weights": (f"{API}.graph_utilities",),
    "front.extractor": (
        *(f"{API}.{name}" for name in ("front_extractor", "cutting", "user_requests", "node_attributes", "extractors")),
        f"{GRAPH}.editing",
    ),
    "front.mxnet.extractors.utils": (f"{API}.mxnet_attributes",),
    "front.onnx.extractors.utils": _EXTRACTORS,
    "front.pass_separator": (f"{API}.anchors",),
    "front.subgraph_matcher": (f"{API}.subgraph_match",),
    "front.tf.common": _EXTRACTORS,
    "front.tf.custom_subgraph_call": (f"{API}.graph_walks",),
    "front.tf.extractors.utils": _EXTRACTORS,
    "front.tf.graph_utils": (f"{API}.graph_utilities", f"{GRAPH}.operation"),
    "front.tf.replacement": _REPLACEMENT,
    "graph.connection": (f"{GRAPH}.port",),
    "graph.graph": (
        *(f"{GRAPH}.{name}" for name in ("graph", "node", "editing")),
        *(f"{API}.{name}" for name in ("sequences", "node_attributes", "node_functions", "errors")),
    ),
    "graph.perm_inputs": (f"{API}.layouts",),
    "graph.port": (f"{GRAPH}.port",),
    "middle.InsertLayoutPropagationTransposes": (f"{API}.layout_marks",),
    "middle.MulFakeQuantizeFuse": (f"{API}.constant_values",),
    "middle.TensorIteratorCondition": (f"{API}.graph_inference",),
    "middle.TensorIterator_utils": (f"{API}.data_node_functions",),
    "middle.pass_separator": (f"{API}.anchors",),
    "middle.passes.conv": (f"{API}.constant_inputs",),
    "middle.passes.convert_data_type": (f"{API}.data_types", f"{API}.constant_values"),
    "middle.passes.eliminate": (f"{API}.data_node_functions",),
    "middle.passes.fusing.helpers": (f"{API}.constant_inputs",),
    "middle.passes.infer": (f"{API}.graph_inference",),
    "middle.pattern_match": (f"{API}.pattern_functions", f"{API}.sequences"),
    "middle.replacement": _REPLACEMENT,
    "ops.RNN": _LOWERED,
    "ops.ReduceOps": _LOWERED,
    "ops.argmax": _LOWERED,
    "ops.op": (f"{GRAPH}.operation", f"{API}.layouts"),
    "ops.resize_factor_utils": (f"{API}.shape_functions",),
    "pipeline.common": (f"{API}.constant_values",),
    "utils.broadcasting": (f"{API}.broadcasting",),
    "utils.custom_replacement_config": (f"{API}.json_configuration",),
    "utils.error": (f"{API}.errors",),
    "utils.find_inputs": (f"{API}.graph_inference",),
    "utils.graph": (f"{API}.graph_walks", f"{API}.node_functions", f"{GRAPH}.graph", f"{GRAPH}.node"),
    "utils.logger": (f"{API}.errors",),
    "utils.pipeline_config": (f"{API}.pipeline_config",),
    "utils.replacement_pattern": (f"{API}.replacement",),
    "utils.shape": (f"{API}.shape_nodes",),
    "utils.type_utils": (f"{API}.constant_values",),
    "utils.utils": (f"{API}.errors", f"{API}.sequences", f"{API}.shape_functions"),
    "utils.ir_engine.compare_graphs": ("moir.testing.comparison",),
    "utils.unittest.extractors": ("moir.testing.messages",),
    "utils.unittest.graph": _TESTING,
    "unit_tests.mo.unit_test_with_mocked_telemetry": ("moir.testing.messages",),
    "unit_tests.utils.extractors": ("moir.testing.messages",),
    "unit_tests.utils.graph": _TESTING,
    "networkx": (f"{API}.networkx_functions",),
}
"""Module of Model Optimizer, without its root -> the modules that have its names, in order."""

WITH_TRANSFORMATIONS = frozenset(
    (
        "back.InsertLayoutPropagationTransposes",
        "back.OptimizeTransposeReshapeSequence",
        "front.tf.custom_subgraph_call",
        "middle.InsertLayoutPropagationTransposes",
        "middle.MulFakeQuantizeFuse",
        "middle.TensorIteratorCondition",
    )
)
"""Modules in the table that had built-in transformations, too."""

RENAMED = {"Node": "GraphNode"}
"""Name in a listed module of Model Optimizer -> our name, where that differs."""

DIRECTORIES = frozenset(
    (
        *("analysis", "back", "load", "middle", "middle.passes", "ops"),
        *("front", "front.common", "front.caffe", "front.kaldi", "front.mxnet", "front.onnx", "front.paddle", "front.tf"),
        *("front.caffe.extractors", "front.mxnet.extractors", "front.onnx.extractors", "front.tf.extractors"),
        *("load.caffe", "load.kaldi", "load.mxnet", "load.onnx", "load.tf"),
    )
)
"""Packages with a module for each built-in transformation or operation, whose names are not listed in `SOURCES`."""
