"""TypeProto -> tensor types.

Source: onnx-ml.proto of ONNX 1.23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.frameworks.onnx import DATA_TYPES
from moir.dialects.properties import string_attribute, strings_attribute
from moir.dialects.shapes import UNKNOWN, tensor
from moir.frontends.onnx.messages import is_text
from moir.frontends.operations import declared_type

if TYPE_CHECKING:
    from onnx import onnx_ml_pb2

_MAXIMUM_DIMENSION = (1 << 63) - 1


def converted(type_: onnx_ml_pb2.TypeProto | None, name: str = "") -> Attribute:
    """The tensor type; `UNKNOWN` for a missing type, a sequence, a map or an optional.

    Raises ModelFileError, with the name of the value, for a shape that no tensor has.
    """
    if type_ is None or not type_.HasField("tensor_type"):
        return UNKNOWN
    data_type = DATA_TYPES.get(type_.tensor_type.elem_type)
    element = element_types.dynamic if data_type is None or data_type.element is None else data_type.element
    if not type_.tensor_type.HasField("shape"):
        return tensor(None, element)
    return declared_type([_dimension(dimension) for dimension in type_.tensor_type.shape.dim], element, name)


def _dimension(dimension: Any) -> int:
    return dimension.dim_value if dimension.HasField("dim_value") and 0 <= dimension.dim_value <= _MAXIMUM_DIMENSION else -1


def dimension_names(type_: onnx_ml_pb2.TypeProto) -> ArrayAttr[StringAttr] | None:
    """The names of the dynamic dimensions of a tensor type, "" for all others; None if no dimension has a name."""
    names = [dimension.dim_param if dimension.HasField("dim_param") else "" for dimension in type_.tensor_type.shape.dim]
    return strings_attribute([name if is_text(name) else "" for name in names]) if any(names) else None


def type_attribute(type_: onnx_ml_pb2.TypeProto) -> Attribute:
    """A type as a property: a tensor type, or for all other types text such as `seq(tensor(f32))`."""
    return converted(type_) if type_.HasField("tensor_type") else string_attribute(describe(type_))


def describe(type_: onnx_ml_pb2.TypeProto) -> str:
    """A type as text, for messages."""
    kind = type_.WhichOneof("value")
    match kind:
        case "tensor_type":
            return f"tensor({_data_type_name(type_.tensor_type.elem_type)})"
        case "sparse_tensor_type":
            return f"sparse_tensor({_data_type_name(type_.sparse_tensor_type.elem_type)})"
        case "sequence_type":
            return f"seq({describe(type_.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({describe(type_.optional_type.elem_type)})"
        case "map_type":
            return f"map({_data_type_name(type_.map_type.key_type)}, {describe(type_.map_type.value_type)})"
        case _:
            return kind.removesuffix("_type") if kind else "unknown"


def _data_type_name(data_type: int) -> str:
    return DATA_TYPES[data_type].name.lower() if data_type in DATA_TYPES else f"type {data_type}"
