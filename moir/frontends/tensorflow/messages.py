"""The protobuf messages of TensorFlow's files, with the fields that a converter reads.

There is no generated code and no import of TensorFlow, see `moir.files.protobuf.message_table`.

Source: the .proto files of tensorflow/core/framework and tensorflow/core/protobuf of TensorFlow 2.21.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moir.errors import ModelFileError
from moir.files.protobuf.message_table import MessageTable
from moir.files.protobuf.messages import Message

_TABLE = """
SavedModel: 1 saved_model_schema_version int64, 2 meta_graphs *MetaGraphDef
MetaGraphDef: 1 meta_info_def MetaInfoDef, 2 graph_def GraphDef, 3 saver_def SaverDef, 4 collection_def {CollectionDef},
    5 signature_def {SignatureDef}, 6 asset_file_def *AssetFileDef, 7 object_graph_def SavedObjectGraph
MetaInfoDef: 1 meta_graph_version string, 4 tags *string, 5 tensorflow_version string
SaverDef: 1 filename_tensor_name string, 2 save_tensor_name string, 3 restore_op_name string, 5 sharded bool
CollectionDef: 1 node_list NodeList|kind, 2 bytes_list BytesList|kind, 5 any_list AnyList|kind
AnyList: 1 value *Any
NodeList: 1 value *string
BytesList: 1 value *bytes
SignatureDef: 1 inputs {TensorInfo}, 2 outputs {TensorInfo}, 3 method_name string
TensorInfo: 1 name string|encoding, 2 dtype DataType, 3 tensor_shape TensorShapeProto, 4 coo_sparse CooSparse|encoding,
    5 composite_tensor CompositeTensor|encoding
CooSparse: 1 values_tensor_name string, 2 indices_tensor_name string, 3 dense_shape_tensor_name string
CompositeTensor: 2 components *TensorInfo
AssetFileDef: 1 tensor_info TensorInfo, 2 filename string
SavedObjectGraph: 1 nodes *SavedObject, 2 concrete_functions {SavedConcreteFunction}
SavedConcreteFunction: 2 bound_inputs *int32, 3 canonicalized_input_signature StructuredValue, 4 output_signature StructuredValue
StructuredValue: 14 bool_value bool|kind, 33 tensor_spec_value TensorSpecProto|kind, 51 list_value StructuredValues|kind,
    52 tuple_value StructuredValues|kind, 53 dict_value DictValue|kind
TensorSpecProto: 1 name string, 2 shape TensorShapeProto, 3 dtype DataType
StructuredValues: 1 values *StructuredValue
DictValue: 1 fields {StructuredValue}
SavedObject: 1 children *ObjectReference, 5 asset SavedAsset|kind, 6 function SavedFunction|kind, 7 variable SavedVariable|kind,
    9 constant SavedConstant|kind, 10 resource SavedResource|kind
SavedFunction: 1 concrete_functions *string
SavedConstant: 1 operation string
SavedAsset: 1 asset_file_def_index int32
SavedVariable: 1 dtype DataType, 2 shape TensorShapeProto, 6 name string
SavedResource: 1 device string
GraphDef: 1 node *NodeDef, 2 library FunctionDefLibrary, 3 version int32, 4 versions VersionDef
VersionDef: 1 producer int32, 2 min_consumer int32, 3 bad_consumers *int32
NodeDef: 1 name string, 2 op string, 3 input *string, 4 device string, 5 attr {AttrValue}
FunctionDefLibrary: 1 function *FunctionDef
FunctionDef: 1 signature OpDef, 3 node_def *NodeDef, 4 ret {string}, 5 attr {AttrValue}, 6 control_ret {string}
OpDef: 1 name string, 2 input_arg *ArgDef, 3 output_arg *ArgDef, 4 attr *AttrDef, 17 is_stateful bool, 20 control_output *string
ArgDef: 1 name string, 3 type DataType, 4 type_attr string, 5 number_attr string, 6 type_list_attr string, 16 is_ref bool
AttrDef: 1 name string, 2 type string, 3 default_value AttrValue
AttrValue: 1 list ListValue|value, 2 s bytes|value, 3 i int64|value, 4 f float|value, 5 b bool|value, 6 type DataType|value,
    7 shape TensorShapeProto|value, 8 tensor TensorProto|value, 9 placeholder string|value, 10 func NameAttrList|value
ListValue: 2 s *bytes, 3 i *int64, 4 f *float, 5 b *bool, 6 type *DataType, 7 shape *TensorShapeProto, 8 tensor *TensorProto,
    9 func *NameAttrList
NameAttrList: 1 name string, 2 attr {AttrValue}
TensorShapeProto: 2 dim *Dim, 3 unknown_rank bool
Dim: 1 size int64, 2 name string
TensorProto: 1 dtype DataType, 2 tensor_shape TensorShapeProto, 4 tensor_content bytes, 5 float_val *float, 6 double_val *double,
    7 int_val *int32, 8 string_val *bytes, 9 scomplex_val *float, 10 int64_val *int64, 11 bool_val *bool, 12 dcomplex_val *double,
    13 half_val *int32, 16 uint32_val *uint32, 17 uint64_val *uint64, 18 float8_val bytes, 536870911 payload_mark string
BundleHeaderProto: 1 num_shards int32, 2 endianness Endianness, 3 version VersionDef
BundleEntryProto: 1 dtype DataType, 2 shape TensorShapeProto, 3 shard_id int32, 4 offset int64, 5 size int64, 6 crc32c fixed32,
    7 slices *TensorSliceProto
TensorSliceProto: 1 extent *Extent
Extent: 1 start int64, 2 length int64|has_length_hack
TrackableObjectGraph: 1 nodes *TrackableObject
TrackableObject: 1 children *ObjectReference, 2 attributes *SerializedTensor
ObjectReference: 1 node_id int32, 2 local_name string
SerializedTensor: 1 name string, 2 full_name string, 3 checkpoint_key string
"""
"""The messages in the notation of `MessageTable`."""

REFERENCE_OFFSET = 100
"""The data type of a reference to a variable is the number of the variable's data type plus this number."""

_NAMES = """
INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32 BFLOAT16 QINT16 QUINT16 UINT16
COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E4M3FNUZ FLOAT8_E4M3B11FNUZ FLOAT8_E5M2FNUZ
INT4 UINT4 INT2 UINT2 FLOAT4_E2M1FN
"""
DATA_TYPE_NAMES = tuple(_NAMES.split())
"""The names of the data types without their prefix `DT_`, from number 0 on."""

_DATA_TYPES = {number: f"DT_{name}" for number, name in enumerate(DATA_TYPE_NAMES)}
_REFERENCES = {number + REFERENCE_OFFSET: f"{name}_REF" for number, name in _DATA_TYPES.items() if number}

_MESSAGES = MessageTable("tensorflow", _TABLE, {"DataType": _DATA_TYPES | _REFERENCES, "Endianness": {0: "LITTLE", 1: "BIG"}})


def message_pool() -> Any:
    """The descriptor pool with all messages."""
    return _MESSAGES.pool


def message_class(name: str) -> Any:
    """Protobuf's class of the message that has this name in the table, for the text format."""
    return _MESSAGES.message_class(name)


def reader(name: str) -> type[Message]:
    """The class that reads the message of this name in the table from its binary encoding."""
    return _MESSAGES.reader(name)


def parse(message: str, data: bytes | memoryview, path: Path, what: str) -> Any:
    """Parse a message from its binary encoding.

    Args:
        message: name of the message.
        data: the bytes.
        path: the file, for messages.
        what: designation of the bytes, for messages.

    Raises ModelFileError if they are not the encoding of a message.
    """
    try:
        return reader(message).FromString(bytes(data))
    except ValueError as error:
        raise ModelFileError(f"{what} is damaged: its protobuf encoding is invalid", location=str(path)) from error
