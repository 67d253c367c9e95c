"""The fields of an ONNX file that hold weights or long texts, which `moir.files.protobuf.wire` omits.

Source: onnx-ml.proto of ONNX 1.23.
"""

from __future__ import annotations

from moir.files.protobuf.wire import LENGTH, VARINT, FileFormat, WireSchema, length_field

_TENSOR = WireSchema(dropped=frozenset((12, 16)), payloads=frozenset((4, 5, 7, 9, 10, 11)), whole=frozenset((6,)))
_SPARSE_TENSOR = WireSchema({1: _TENSOR, 2: _TENSOR})
_ATTRIBUTE = WireSchema({5: _TENSOR, 10: _TENSOR, 22: _SPARSE_TENSOR, 23: _SPARSE_TENSOR}, frozenset((13,)))
_NODE = WireSchema({5: _ATTRIBUTE}, frozenset((6, 9, 10)))
_GRAPH = WireSchema({1: _NODE, 5: _TENSOR, 15: _SPARSE_TENSOR}, frozenset((10, 14, 16)))
_ATTRIBUTE.children |= {6: _GRAPH, 11: _GRAPH}
_FUNCTION = WireSchema({7: _NODE, 11: _ATTRIBUTE}, frozenset((8, 14)))
_MODEL = WireSchema({7: _GRAPH, 25: _FUNCTION}, frozenset((20, 26)))

_EXTERNAL_DATA_FIELD = 13


def _mark(key: str, index: int) -> bytes:
    """The encoded entry of `external_data`, `key` and index, that refers to the omitted payload of this index."""
    return length_field(_EXTERNAL_DATA_FIELD, length_field(1, key.encode()) + length_field(2, str(index).encode()))


ONNX_FORMAT = FileFormat(
    "an ONNX model",
    "ModelProto",
    _MODEL,
    {1: VARINT, 5: VARINT} | dict.fromkeys((2, 3, 4, 6, 7, 8, 14, 20, 25, 26), LENGTH),
    {1: "ir_version", 2: "producer_name", 7: "graph", 8: "opset_import", 14: "metadata_props", 25: "functions"},
    _mark,
)
