"""The table for `moir.model_optimizer.import_paths`: each module of Model Optimizer, with the modules of moir that have
its names.
"""

from __future__ import annotations

API = "moir.model_optimizer.api"
GRAPH = "moir.model_optimizer.graph"
VALUES = "moir.model_optimizer.values"

_INFERENCE = f"{API}.inference"
_SHAPES = (f"{VALUES}.shapes", f"{_INFERENCE}.shape_functions")
_REPLACEMENT = (f"{API}.transformations.replacement", f"{API}.transformations.configured_replacement")
_EXTRACTORS = (f"{API}.extraction.extractors",)
_TABLES = (f"{API}.extraction.extractor_tables", f"{API}.extraction.front_extractor")
_CAFFE = (f"{API}.extraction.caffe_layers", f"{_INFERENCE}.shape_functions", *_EXTRACTORS)
_WINDOWS = (f"{_INFERENCE}.sliding_windows",)
_PARTIAL_INFERENCE = (
    f"{_INFERENCE}.partial_inference",
    f"{_INFERENCE}.reverse_inference",
    *_SHAPES,
    *_WINDOWS,
    f"{_INFERENCE}.broadcasting",
)
_TESTING = ("moir.testing.graphs", "moir.testing.descriptions", "moir.testing.comparison", "moir.testing.messages")
_LOWERED = (f"{_INFERENCE}.lowered_inference",)

SOURCES: dict[str, tuple[str, ...]] = {
    "back.InsertLayoutPropagationTransposes": (f"{API}.graph.layout_marks",),
    "back.OptimizeTransposeReshapeSequence": (f"{API}.graph.data_node_functions",),
    "back.pass_separator": (f"{API}.transformations.anchors",),
    "back.replacement": (f"{API}.transformations.back_replacement",),
    "front.caffe.collect_attributes": _CAFFE,
    "front.caffe.extractor": _TABLES,
    "front.caffe.extractors.utils": _CAFFE,
    "front.common.extractors.utils": (*_WINDOWS, *_EXTRACTORS),
    "front.common.layout": (f"{API}.graph.layouts",),
    "front.common.partial_infer.concat": _PARTIAL_INFERENCE,
    "front.common.partial_infer.crop": _LOWERED,
    "front.common.partial_infer.elemental": _PARTIAL_INFERENCE,
    "front.common.partial_infer.eltwise": _PARTIAL_INFERENCE,
    "front.common.partial_infer.inner_product": _LOWERED,
    "front.common.partial_infer.multi_box_detection": _LOWERED,
    "front.common.partial_infer.roipooling": _LOWERED,
    "front.common.partial_infer.utils": _PARTIAL_INFERENCE,
    "front.common.replacement": _REPLACEMENT,
    "front.common.weights": (f"{API}.graph.graph_utilities",),
    "front.extractor": (
        f"{API}.extraction.front_extractor",
        *(f"{API}.graph.{name}" for name in ("cutting", "user_requests", "node_attributes")),
        f"{API}.extraction.extractors",
        f"{API}.graph.merging",
        f"{GRAPH}.editing",
    ),
    "front.kaldi.extractor": _TABLES,
    "front.mxnet.extractor": _TABLES,
    "front.mxnet.extractors.utils": (f"{API}.extraction.mxnet_attributes",),
    "front.onnx.extractor": _TABLES,
    "front.onnx.extractors.utils": _EXTRACTORS,
    "front.pass_separator": (f"{API}.transformations.anchors",),
    "front.subgraph_matcher": (f"{API}.transformations.subgraph_match",),
    "front.tf.common": _EXTRACTORS,
    "front.tf.custom_subgraph_call": (f"{API}.graph.graph_walks", f"{API}.graph.merging"),
    "front.tf.extractor": _TABLES,
    "front.tf.extractors.utils": _EXTRACTORS,
    "front.tf.graph_utils": (f"{API}.graph.graph_utilities", f"{GRAPH}.operation"),
    "front.tf.replacement": _REPLACEMENT,
    "graph.connection": (f"{GRAPH}.port",),
    "graph.graph": (
        *(f"{GRAPH}.{name}" for name in ("graph", "node", "editing")),
        *(f"{API}.graph.{name}" for name in ("sequences", "node_attributes", "node_functions")),
        f"{API}.graph.merging",
        f"{API}.errors",
    ),
    "graph.perm_inputs": (f"{API}.graph.layouts",),
    "graph.port": (f"{GRAPH}.port",),
    "middle.InsertLayoutPropagationTransposes": (f"{API}.graph.layout_marks",),
    "middle.MulFakeQuantizeFuse": (f"{API}.graph.constant_values",),
    "middle.TensorIteratorCondition": (f"{_INFERENCE}.graph_inference",),
    "middle.TensorIterator_utils": (f"{API}.graph.data_node_functions",),
    "middle.pass_separator": (f"{API}.transformations.anchors",),
    "middle.passes.conv": (f"{API}.graph.constant_inputs",),
    "middle.passes.convert_data_type": (f"{_INFERENCE}.data_types", f"{API}.graph.constant_values"),
    "middle.passes.eliminate_test": _TESTING,
    "middle.passes.eliminate": (f"{API}.graph.data_node_functions",),
    "middle.passes.fusing.helpers": (f"{API}.graph.constant_inputs",),
    "middle.passes.infer": (f"{_INFERENCE}.graph_inference",),
    "middle.pattern_match": (f"{API}.transformations.pattern_functions", f"{API}.graph.sequences"),
    "middle.replacement": _REPLACEMENT,
    "ops.RNN": _LOWERED,
    "ops.ReduceOps": _LOWERED,
    "ops.argmax": _LOWERED,
    "ops.op": (f"{GRAPH}.operation", f"{API}.graph.layouts"),
    "ops.resize_factor_utils": (f"{_INFERENCE}.shape_functions",),
    "pipeline.common": (f"{API}.graph.constant_values", f"{API}.configuration.product"),
    "utils.broadcasting": (f"{_INFERENCE}.broadcasting",),
    "utils.class_registration": (f"{API}.transformations.class_registration",),
    "utils.custom_replacement_config": (f"{API}.configuration.json_configuration",),
    "utils.error": (f"{API}.errors",),
    "utils.find_inputs": (f"{_INFERENCE}.graph_inference",),
    "utils.graph": (f"{API}.graph.graph_walks", f"{API}.graph.node_functions", f"{API}.graph.merging", f"{GRAPH}.graph", f"{GRAPH}.node"),
    "utils.logger": (f"{API}.errors",),
    "utils.pipeline_config": (f"{API}.configuration.pipeline_config",),
    "utils.replacement_pattern": (f"{API}.transformations.replacement",),
    "utils.shape": (f"{API}.graph.shape_nodes",),
    "utils.type_utils": (f"{API}.graph.constant_values",),
    "utils.version": (f"{API}.configuration.product",),
    "utils.utils": (f"{API}.errors", f"{API}.graph.sequences", f"{_INFERENCE}.shape_functions"),
    "utils.ir_engine.compare_graphs": ("moir.testing.comparison",),
    "utils.unittest.extractors": ("moir.testing.messages",),
    "utils.unittest.graph": _TESTING,
    "unit_tests.mo.unit_test_with_mocked_telemetry": ("moir.testing.messages",),
    "unit_tests.utils.extractors": ("moir.testing.messages",),
    "unit_tests.utils.graph": _TESTING,
    "networkx": (f"{API}.graph.networkx_functions", f"{API}.graph.networkx_structure"),
}
"""Module of Model Optimizer, without its root -> the modules of moir that have its names, in the order of search."""

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
"""Modules in the table that contained built-in transformations in addition to the names."""

RENAMED = {"Node": "GraphNode"}
"""Name in a listed module of Model Optimizer -> our name, where that differs."""

DIRECTORIES = frozenset(
    (
        *("analysis", "back", "load", "middle", "middle.passes", "ops"),
        *("front", "front.common", "front.caffe", "front.kaldi", "front.mxnet", "front.onnx", "front.paddle", "front.tf"),
        *("front.kaldi.extractors", "front.kaldi.loader"),
        *("front.caffe.extractors", "front.mxnet.extractors", "front.onnx.extractors", "front.tf.extractors"),
        *("load.caffe", "load.kaldi", "load.mxnet", "load.onnx", "load.tf"),
    )
)
"""Packages with a module for each built-in transformation or operation, whose names are not listed in `SOURCES`."""
