"""The protobuf messages of TensorFlow's files, with the fields that a converter reads.

There is no generated code and no import of TensorFlow. The table below describes the messages; their classes are built
at the first use in a descriptor pool of their own, so they do not conflict with those of an installed TensorFlow. The
parser skips fields that are not in the table.

Source: the .proto files of tensorflow/core/framework and tensorflow/core/protobuf of TensorFlow 2.21.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError

PAYLOAD_MARK_FIELD = 536870911
"""Field of TensorProto that marks a payload left in the file.

It is the largest field number that protobuf allows, which TensorFlow does not use.
"""

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
SavedObjectGraph: 1 nodes *SavedObject
SavedObject: 1 children *ObjectReference, 5 asset SavedAsset|kind, 7 variable SavedVariable|kind, 10 resource SavedResource|kind
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
"""A message per row: number, name and type of each field.

`*` in front of the type marks a repeated field, `|` stands in front of the name of the field's oneof, and braces around
the type of values mark a map from strings.
"""

_ENUMS = {
    "DataType": (
        "INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32 BFLOAT16 QINT16 QUINT16 UINT16 "
        "COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E4M3FNUZ FLOAT8_E4M3B11FNUZ FLOAT8_E5M2FNUZ "
        "INT4 UINT4 INT2 UINT2 FLOAT4_E2M1FN"
    ),
    "Endianness": "LITTLE BIG",
}
"""The names of the values of each enumeration, from 0 on; those of DataType without their prefix `DT_`."""
REFERENCE_OFFSET = 100
"""The data type of a reference to a variable is the data type of the variable plus this number."""

DATA_TYPE_NAMES = tuple(_ENUMS["DataType"].split())

_SCALAR_TYPES = {
    "double": 1,
    "float": 2,
    "int64": 3,
    "uint64": 4,
    "int32": 5,
    "fixed32": 7,
    "bool": 8,
    "string": 9,
    "bytes": 12,
    "uint32": 13,
}
_MESSAGE_TYPE, _ENUM_TYPE = 11, 14
_OPTIONAL, _REPEATED = 1, 3
_FIELD = re.compile(r"(\d+) (\w+) ([*{]?)(\w+)}?(?:\|(\w+))?")


def _set_type(field: Any, type_: str) -> None:
    """Set the type of a field descriptor, from its notation in the table."""
    if type_ in _SCALAR_TYPES:
        field.type = _SCALAR_TYPES[type_]
    else:
        field.type = _ENUM_TYPE if type_ in _ENUMS else _MESSAGE_TYPE
        field.type_name = f".{'google.protobuf' if type_ == 'Any' else 'tensorflow'}.{type_}"


def _add_map_entry(message: Any, field: Any, type_: str) -> None:
    """Make a field a map from strings, which protobuf encodes as a repeated message with a key and a value."""
    entry = message.nested_type.add()
    entry.name = "".join(part.capitalize() for part in field.name.split("_")) + "Entry"
    entry.options.map_entry = True
    for number, name, of in ((1, "key", "string"), (2, "value", type_)):
        part = entry.field.add()
        part.name, part.number, part.label = name, number, _OPTIONAL
        _set_type(part, of)
    field.type = _MESSAGE_TYPE
    field.type_name = f".tensorflow.{message.name}.{entry.name}"


def _add_message(file: Any, row: str) -> None:
    """Add the message that a row of the table describes."""
    message = file.message_type.add()
    message.name, _, fields = row.partition(":")
    for number, name, mark, type_, oneof in _FIELD.findall(fields):
        field = message.field.add()
        field.name, field.number, field.label = name, int(number), _REPEATED if mark else _OPTIONAL
        if mark == "{":
            _add_map_entry(message, field, type_)
            continue
        _set_type(field, type_)
        if oneof:
            names = [declared.name for declared in message.oneof_decl]
            if oneof not in names:
                message.oneof_decl.add().name = oneof
                names.append(oneof)
            field.oneof_index = names.index(oneof)


@cache
def message_pool() -> Any:
    """The descriptor pool with all messages."""
    from google.protobuf import descriptor_pb2, descriptor_pool

    # The text format expands google.protobuf.Any, so the message needs its real name.
    any_file = descriptor_pb2.FileDescriptorProto(name="google/protobuf/any.proto", package="google.protobuf", syntax="proto3")
    _add_message(any_file, "Any: 1 type_url string, 2 value bytes")
    file = descriptor_pb2.FileDescriptorProto(name="moir/tensorflow.proto", package="tensorflow", syntax="proto3")
    file.dependency.append(any_file.name)
    for name, values in _ENUMS.items():
        enum: Any = file.enum_type.add()
        enum.name = name
        prefix = "DT_" if name == "DataType" else ""
        for number, value in enumerate(values.split()):
            enum.value.add(name=f"{prefix}{value}", number=number)
            if prefix and number:
                enum.value.add(name=f"{prefix}{value}_REF", number=number + REFERENCE_OFFSET)
    for row in re.sub(r"\n +", " ", _TABLE.strip()).splitlines():
        _add_message(file, row)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(any_file.SerializeToString())
    pool.AddSerializedFile(file.SerializeToString())
    return pool


@cache
def message_class(name: str) -> Any:
    """The class of the message that has this name in the table."""
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(message_pool().FindMessageTypeByName(f"tensorflow.{name}"))


def parse(message: Any, data: bytes | memoryview, path: Path, what: str) -> Any:
    """Parse a message from its binary encoding.

    Args:
        message: class of the message.
        data: the bytes.
        path: the file, for messages.
        what: designation of the bytes, for messages.

    Raises ModelFileError if they are not the encoding of a message.
    """
    from google.protobuf.message import DecodeError

    try:
        return message.FromString(bytes(data))
    except DecodeError as error:
        raise ModelFileError(f"{what} is damaged: its protobuf encoding is invalid", location=str(path)) from error
