"""The protobuf messages of a `.caffemodel` and a mean file, with the fields that a converter reads.

The structure of a network comes from its text (`moir.files.protobuf.text_format`); of the binary file only the
names of layers and their weights are read.

Source: caffe.proto of BVLC Caffe 1.0; `raw_data` is of NVCaffe.
"""

from __future__ import annotations

from moir.files.protobuf.message_table import MessageTable
from moir.files.protobuf.wire import LENGTH, VARINT, FileFormat, WireSchema, payload_mark

_TABLE = """
NetParameter: 1 name bytes, 2 layers *V1LayerParameter, 100 layer *LayerParameter
LayerParameter: 1 name bytes, 2 type bytes, 7 blobs *BlobProto
V1LayerParameter: 1 layer V0LayerParameter, 4 name bytes, 5 type int32, 6 blobs *BlobProto
V0LayerParameter: 1 name bytes, 2 type bytes
BlobProto: 1 num int32, 2 channels int32, 3 height int32, 4 width int32, 5 data *float, 7 shape BlobShape, 8 double_data *double,
    10 raw_data_type int32, 12 raw_data bytes, 536870911 payload_mark string
BlobShape: 1 dim *int64
"""
"""The messages in the notation of `MessageTable`. The texts are bytes: nothing demands that they are in UTF-8."""

MESSAGES = MessageTable("caffe", _TABLE, {})

_BLOB = WireSchema(payloads=frozenset((5, 8, 12)), dropped=frozenset((6, 9, 13)))
_LAYER = WireSchema({7: _BLOB})
_V1_LAYER = WireSchema({6: _BLOB})

NETWORK_FORMAT = FileFormat(
    "a Caffe model",
    "NetParameter",
    WireSchema({2: _V1_LAYER, 100: _LAYER}),
    {1: LENGTH, 2: LENGTH, 3: LENGTH, 5: VARINT, 6: LENGTH, 7: VARINT, 8: LENGTH, 100: LENGTH},
    {1: "name", 2: "layers", 3: "input", 5: "force_backward", 6: "state", 7: "debug_info", 8: "input_shape", 100: "layer"},
    payload_mark,
)
BLOB_FORMAT = FileFormat(
    "a mean file",
    "BlobProto",
    _BLOB,
    {1: VARINT, 2: VARINT, 3: VARINT, 4: VARINT, 7: LENGTH},
    {1: "num", 2: "channels", 3: "height", 4: "width", 7: "shape"},
    payload_mark,
)
