"""The protobuf messages of a program, `.pdmodel` or `__model__`, with the fields that a converter reads.

Source: framework.proto of PaddlePaddle 2.6 and 3.3.
"""

from __future__ import annotations

from moir.files.protobuf.message_table import MessageTable
from moir.files.protobuf.wire import LENGTH, FileFormat, WireSchema, length_field

_TABLE = """
ProgramDesc: 1 blocks *BlockDesc, 4 version Version
Version: 1 version int64
BlockDesc: 1 idx int32, 2 parent_idx int32, 3 vars *VarDesc, 4 ops *OpDesc
VarDesc: 1 name string, 2 type VarType, 3 persistable bool
VarType: 1 type int32, 3 lod_tensor LoDTensorDesc, 4 tensor_array LoDTensorDesc
LoDTensorDesc: 1 tensor TensorDesc, 2 lod_level int32
TensorDesc: 1 data_type int32, 2 dims *int64
OpDesc: 1 inputs *OpVariable, 2 outputs *OpVariable, 3 type string, 4 attrs *Attribute
OpVariable: 1 parameter string, 2 arguments *string
Attribute: 1 name string, 2 type int32, 3 i int32, 4 f float, 5 s string, 6 ints *int32, 7 floats *float, 8 strings *string, 10 b bool,
    11 bools *bool, 12 block_idx int32, 13 l int64, 14 blocks_idx *int32, 15 longs *int64, 16 float64s *double, 17 var_name string,
    18 vars_name *string, 19 float64 double, 20 scalar Scalar, 21 scalars *Scalar
Scalar: 1 type int32, 2 b bool, 3 i int64, 4 r double
"""
"""The messages in the notation of `MessageTable`."""

MESSAGES = MessageTable("paddle", _TABLE, {}, strict=False)

PROGRAM_FORMAT = FileFormat(
    "a PaddlePaddle program",
    "ProgramDesc",
    WireSchema(),
    {1: LENGTH, 4: LENGTH, 5: LENGTH},
    {1: "blocks", 4: "version", 5: "op_version_map"},
    lambda key, index: length_field(15, f"{key}:{index}".encode()),
)

_FIELDS = "i f s ints floats strings b bools block_idx l blocks_idx longs float64s var_name vars_name float64 scalar scalars"
ATTRIBUTE_FIELDS = dict(enumerate(_FIELDS.split()))
"""The field with the value of an attribute, by its type."""
