"""The fields of TensorFlow's files that hold weights or debug information, which `moir.files.protobuf.wire` omits.

Source: graph.proto, node_def.proto, attr_value.proto, function.proto, tensor.proto, meta_graph.proto, saved_model.proto
of TensorFlow.
"""

from __future__ import annotations

from moir.files.protobuf.wire import LENGTH, VARINT, FileFormat, WireSchema, payload_mark

_TENSOR = WireSchema(payloads=frozenset((4, 5, 6, 7, 9, 10, 11, 12, 13, 16, 17, 18)), whole=frozenset((8, 14, 15)))
_VALUE = WireSchema({8: _TENSOR})
_MAP_ENTRY = WireSchema({2: _VALUE})
_NAMED_ATTRIBUTES = WireSchema({2: _MAP_ENTRY})
_VALUE.children |= {1: WireSchema({8: _TENSOR, 9: _NAMED_ATTRIBUTES}), 10: _NAMED_ATTRIBUTES}
_NODE = WireSchema({5: _MAP_ENTRY}, frozenset((6, 7)))
_FUNCTION = WireSchema({3: _NODE, 5: _MAP_ENTRY}, frozenset((7, 8)))
_LIBRARY = WireSchema({1: _FUNCTION})
_GRAPH = WireSchema({1: _NODE, 2: _LIBRARY}, frozenset((5,)))
_META_INFO = WireSchema({}, frozenset((2, 3)))
_META_GRAPH = WireSchema({1: _META_INFO, 2: _GRAPH})
_SAVED_MODEL = WireSchema({2: _META_GRAPH})

GRAPH_FORMAT = FileFormat(
    "a TensorFlow graph",
    "GraphDef",
    _GRAPH,
    {1: LENGTH, 2: LENGTH, 3: VARINT, 4: LENGTH, 5: LENGTH},
    {1: "node", 2: "library", 3: "version", 4: "versions", 5: "debug_info"},
    payload_mark,
)
META_GRAPH_FORMAT = FileFormat(
    "a TensorFlow MetaGraph",
    "MetaGraphDef",
    _META_GRAPH,
    dict.fromkeys(range(1, 8), LENGTH),
    {
        1: "meta_info_def",
        2: "graph_def",
        3: "saver_def",
        4: "collection_def",
        5: "signature_def",
        6: "asset_file_def",
        7: "object_graph_def",
    },
    payload_mark,
)
SAVED_MODEL_FORMAT = FileFormat(
    "a TensorFlow SavedModel",
    "SavedModel",
    _SAVED_MODEL,
    {1: VARINT, 2: LENGTH},
    {1: "saved_model_schema_version", 2: "meta_graphs"},
    payload_mark,
)
