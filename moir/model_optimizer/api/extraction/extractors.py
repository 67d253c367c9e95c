"""Functions that read the message of a node (`node.pb`), for extractors of TensorFlow and ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.moir import ModelOp
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.frameworks.tensorflow.node_def import TENSORFLOW_ELEMENTS
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.values.shapes import IntegerArray, dynamic_dimension, int64_array, shape_array

T = TypeVar("T")

# TensorFlow.


def tf_dtype_extractor(pb_dtype: int | None, default: Any = None) -> Any:
    """The numpy type of a value of TensorFlow's enumeration DataType; `default` for None and for types numpy does not
    have.
    """
    if pb_dtype is None or pb_dtype not in TENSORFLOW_ELEMENTS:
        return default
    element = element_types.from_xml(TENSORFLOW_ELEMENTS[pb_dtype])
    return element_types.to_numpy(element).type


def tf_tensor_shape(pb: Any) -> Array:
    """The shape in a TensorShapeProto, dynamic dimensions masked. Raises Error for one of dynamic rank."""
    if getattr(pb, "unknown_rank", False):
        raise Error("the rank of a tensor is unknown")
    dimensions = [dynamic_dimension if dim.size < 0 else dim.size for dim in pb.dim]
    return shape_array(dimensions) if any(dim.size < 0 for dim in pb.dim) else int64_array(dimensions)


def tf_tensor_content(tf_dtype: int, shape: Any, pb_tensor: Any) -> Array:
    """The array of a TensorProto in a shape. Missing values at the end repeat the last one."""
    count = int(np.prod(np.asarray(shape, dtype=np.int64)))
    strings = list(pb_tensor.string_val)
    if strings:
        values: Array = np.array(strings, dtype=object)
    else:
        values = np.frombuffer(pb_tensor.tensor_content, dtype=np.dtype(tf_dtype_extractor(tf_dtype, np.float32)))
    if values.size == 0 < count or values.size > count:
        raise Error("a tensor of shape {} has {} values", np.asarray(shape, dtype=np.int64).tolist(), values.size)
    if values.size < count:
        values = np.concatenate([values, np.repeat(values[-1:], count - values.size)])
    return values.reshape(tuple(np.asarray(shape, dtype=np.int64).tolist())).copy()


def tf_int_list(pb: Any) -> IntegerArray:
    """The integers of a ListValue."""
    return int64_array(pb.i)


def _decoder(element: np.dtype[Any]) -> Callable[[Any], Any]:
    return lambda pb_tensor: np.frombuffer(pb_tensor.tensor_content, element)


_DECODED = {
    number: np.dtype(element_types.to_numpy(element_types.from_xml(name)))
    for number, name in TENSORFLOW_ELEMENTS.items()
    if name not in ("string", "bf16")
}

tf_data_type_decode: dict[int, tuple[Any, Callable[[Any], Any]]] = {
    number: (element.type, _decoder(element)) for number, element in _DECODED.items()
}
"""Number of TensorFlow's DataType -> the numpy type, and the function that reads the values of a TensorProto."""

tf_data_type_cast: dict[Any, Callable[[Any], Any]] = {element.type: element.type for element in _DECODED.values()}
"""Numpy type -> the function that converts a value to it."""


def tf_data_format_spatial(pb: Any) -> list[int]:
    """The indices of the spatial axes of a data format, which is text or bytes."""
    return [index for index, axis in enumerate(_data_format(pb)) if axis not in "NC"]


def tf_data_format_channel(pb: Any) -> IntegerArray:
    """The index of the channel axis of a data format such as NHWC, as an array of one element."""
    return int64_array([_data_format(pb).index("C")])


def tf_data_format_batch(pb: Any) -> IntegerArray:
    """The index of the batch axis of a data format such as NHWC, as an array of one element."""
    return int64_array([_data_format(pb).index("N")])


def _data_format(pb: Any) -> str:
    text = getattr(pb, "s", pb)
    text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    if "N" not in text or "C" not in text:
        raise Error("{!r} is not a data format", text)
    return text


# ONNX.


def onnx_node_has_attr(node: GraphNode, name: str) -> bool:
    """Whether the message of a node has an attribute."""
    return any(attribute.name == name for attribute in node.pb.attribute)


def onnx_attr(node: GraphNode, name: str, field: str, default: T | None = None, dst_type: Callable[[Any], T] | None = None) -> Any:
    """A field of an attribute of a node's message.

    Args:
        node: the node.
        name: name of the attribute.
        field: field of the AttributeProto: `i`, `f`, `s`, `t`, `ints`, `floats`, `strings`, …
        default: the result for a node without the attribute.
        dst_type: converts the field's value.
    """
    for attribute in node.pb.attribute:
        if attribute.name == name:
            value = getattr(attribute, field)
            return value if dst_type is None else dst_type(value)
    return default


def onnx_get_num_outputs(node: GraphNode) -> int:
    """The number of outputs of a node's message."""
    return len(node.pb.output)


def get_onnx_autopad(auto_pad: bytes | str) -> str:
    """The `auto_pad` of the IR for an `auto_pad` of ONNX."""
    text = (auto_pad.decode() if isinstance(auto_pad, bytes) else auto_pad).lower()
    return {"notset": "explicit"}.get(text, text)


def get_onnx_opset_version(node: GraphNode) -> int:
    """The version of the default operator set that the model imports; the newest version that moir knows if none is
    recorded. The version is an integer, e.g. 13.
    """
    from moir.frontends.onnx.model import NEWEST_OPSET
    from moir.lowering.driver import opset_versions

    owner = node.graph.block.parent_op()
    while owner is not None and not isinstance(owner, ModelOp):
        owner = owner.parent_op()
    return NEWEST_OPSET if owner is None else opset_versions(owner).get("", NEWEST_OPSET)


def get_onnx_datatype_as_numpy(value: int) -> Any:
    """The numpy type of a value of ONNX's enumeration TensorProto.DataType. Raises Error for a type numpy does not
    have.
    """
    from onnx import helper

    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(value)).type
    except KeyError as error:
        raise Error("{} is not a number of an element type of ONNX", value) from error


def get_backend_pad(pads: Any, spatial_dims: Any, pad_type: int) -> list[int]:
    """The pads before (`pad_type` 0) or after (1) each spatial axis, from a pair for each axis."""
    array = np.asarray(pads)
    return [int(array[axis][pad_type]) for axis in np.asarray(spatial_dims).reshape(-1)]


def bool_to_str(node: GraphNode, attr: str) -> str | None:
    """A boolean attribute as the text of the IR, None if the node does not have it."""
    value = node.soft_get(attr, None)
    if value is None:
        return None
    if isinstance(value, str):
        return value.lower()
    return "true" if value else "false"


def attr_getter(node: GraphNode, name: str) -> str | None:
    """A list attribute joined by commas, None if the node does not have it or it is empty."""
    value = node.soft_get(name, None)
    if value is None:
        return None
    items = np.asarray(value).reshape(-1).tolist()
    return ",".join(map(str, items)) if items else None


def spatial_getter(
    name: str, field: str, indices: Callable[[Any], Any] = lambda entries: entries
) -> tuple[str, Callable[[GraphNode], str | None]]:
    """An item of `backend_attrs`: an XML name, and a function that returns the spatial entries of an attribute of a
    node, joined by commas.

    Args:
        name: the XML name.
        field: the attribute, indexed by the axes in `spatial_dims`; without either the function returns None.
        indices: function of each entry that returns the number to write; by default the entry itself.
    """

    def text(node: GraphNode) -> str | None:
        if not node.has_valid(field) or not node.has_valid("spatial_dims"):
            return None
        return ",".join(str(indices(node[field][axis])) for axis in node["spatial_dims"])

    return name, text


def kernel_getter(node: GraphNode) -> str | None:
    """The attribute `kernel_spatial`, the sizes of a kernel, joined by commas; None if the node does not have it."""
    if not node.has_valid("kernel_spatial"):
        return None
    return ",".join(str(size) for size in node["kernel_spatial"])


def collect_tf_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the attributes of a TensorFlow message, `node.pb.attr`, by their names.

    Texts are strings, types numpy types, shapes arrays with dynamic dimensions masked.
    """
    return {name: _tf_value(attrs[name]) for name in attrs}


def _tf_value(message: Any) -> Any:
    value = message.value
    if isinstance(value, tuple):
        items = message.list
        listed: list[Any] = next((each for each in (items.s, items.f, items.b, items.i, items.type) if each), items.shape)
        return [each.decode(errors="replace") if isinstance(each, bytes) else each for each in listed]
    if isinstance(value, Attribute) and message.type:
        return tf_dtype_extractor(message.type)
    return value.decode(errors="replace") if isinstance(value, bytes) else value
