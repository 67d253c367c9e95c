"""The protobuf messages of ONNX's files, with the fields that a converter reads.

There is no import of the package `onnx`, see `moir.files.protobuf.message_table`. Its messages, which have the same
attributes, serve only to build the arguments of that package's functions.

Source: onnx-ml.proto of ONNX 1.23.
"""

from __future__ import annotations

from moir.files.protobuf.message_table import MessageTable

_TABLE = """
ModelProto: 1 ir_version int64, 2 producer_name string, 3 producer_version string, 4 domain string, 5 model_version int64,
    6 doc_string string, 7 graph GraphProto, 8 opset_import *OperatorSetIdProto, 14 metadata_props *StringStringEntryProto,
    25 functions *FunctionProto
OperatorSetIdProto: 1 domain string, 2 version int64
StringStringEntryProto: 1 key string, 2 value string
FunctionProto: 1 name string, 4 input *string, 5 output *string, 6 attribute *string, 7 node *NodeProto,
    9 opset_import *OperatorSetIdProto, 10 domain string, 11 attribute_proto *AttributeProto, 13 overload string
GraphProto: 1 node *NodeProto, 2 name string, 5 initializer *TensorProto, 11 input *ValueInfoProto, 12 output *ValueInfoProto,
    13 value_info *ValueInfoProto, 15 sparse_initializer *SparseTensorProto
NodeProto: 1 input *string, 2 output *string, 3 name string, 4 op_type string, 5 attribute *AttributeProto, 7 domain string,
    8 overload string
AttributeProto: 1 name string, 2 f float, 3 i int64, 4 s bytes, 5 t TensorProto, 6 g GraphProto, 7 floats *float, 8 ints *int64,
    9 strings *bytes, 10 tensors *TensorProto, 11 graphs *GraphProto, 14 tp TypeProto, 15 type_protos *TypeProto, 20 type int32,
    21 ref_attr_name string, 22 sparse_tensor SparseTensorProto, 23 sparse_tensors *SparseTensorProto
TensorProto: 1 dims *int64, 2 data_type int32, 3 segment Segment, 4 float_data *float, 5 int32_data *int32, 6 string_data *bytes,
    7 int64_data *int64, 8 name string, 9 raw_data bytes, 10 double_data *double, 11 uint64_data *uint64,
    13 external_data *StringStringEntryProto, 14 data_location int32
Segment: 1 begin int64, 2 end int64
SparseTensorProto: 1 values TensorProto, 2 indices TensorProto, 3 dims *int64
ValueInfoProto: 1 name string, 2 type TypeProto
TypeProto: 1 tensor_type Tensor|value, 4 sequence_type Sequence|value, 5 map_type Map|value, 7 opaque_type Opaque|value,
    8 sparse_tensor_type Tensor|value, 9 optional_type Sequence|value
Tensor: 1 elem_type int32, 2 shape TensorShapeProto
Sequence: 1 elem_type TypeProto
Map: 1 key_type int32, 2 value_type TypeProto
Opaque: 1 domain string, 2 name string
TensorShapeProto: 1 dim *Dimension
Dimension: 1 dim_value int64|value, 2 dim_param string|value
"""
"""The messages in the notation of `MessageTable`. Messages that ONNX nests in others are listed at the top level."""

MESSAGES = MessageTable("onnx", _TABLE, {}, strict=False)


def is_text(value: object) -> bool:
    """Whether a string field is in UTF-8; protobuf returns bytes for a string that is not."""
    return isinstance(value, str)
