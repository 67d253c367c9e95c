"""Functions that read the messages of Caffe layers: `node.pb`, and `node.model_pb` with the weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.node import GraphNode, create_constant
from moir.model_optimizer.values.shapes import IntegerArray, int64_array

EMBEDDED_INPUTS = "embedded_inputs"
"""The attribute with the constants that an extractor found: tuples of the input port, the name of the attribute with
the constant, and attributes of the edge.
"""


def collect_attributes(obj: Any, prefix: str = "", enable_flattening_nested_params: bool = False, **_: bool) -> dict[str, str]:
    """The fields of a message as texts, with those of inner messages; items of a list are joined by commas.

    With `enable_flattening_nested_params` the names of fields of inner messages are prefixed by those of the outer
    ones. Fields that the file does not have, and whose default is 0, empty or false, are left out. Enumerations are
    written in full, `caffe.PoolingParameter.MAX`.
    """
    attributes: dict[str, str] = {}
    default_fields: list[tuple[Any, Any]] = obj.default_fields() if hasattr(obj, "default_fields") else []
    for descriptor, value in (*obj.ListFields(), *default_fields):
        name = f"{prefix}__{descriptor.name}" if prefix and enable_flattening_nested_params else descriptor.name
        items: list[Any] = [value] if hasattr(value, "ListFields") or isinstance(value, str | bytes | int | float) else list(value)
        for item in items:
            if hasattr(item, "ListFields"):
                attributes.update(collect_attributes(item, name, enable_flattening_nested_params))
        enumeration = getattr(descriptor, "enumeration", None)
        plain = [enumeration.full_name(item) if enumeration else _text(item) for item in items if not hasattr(item, "ListFields")]
        attributes.update({name: ",".join(plain)} if plain else {})
    return attributes


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    return str(int(value)) if isinstance(value, bool) else str(value)


def merge_attrs(param: Any, update_attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes for which the message of parameters has a field.

    The message of a layer has all fields; fields that are missing in the text have their defaults.
    """
    return {name: value for name, value in update_attrs.items() if hasattr(param, name)}


def dim_to_shape(dim: Iterable[int]) -> IntegerArray:
    """The `dim` of a BlobShape as an array."""
    return int64_array(list(dim))


def embed_input(attrs: MutableMapping[str, Any], port: int, name: str, value: Any, bin_name: str | None = None) -> None:
    """Add a constant to the attributes for a node; it becomes the input of a port when a node gets the attributes.

    Args:
        attrs: the attributes, which get the constant under its name and an entry in `embedded_inputs`.
        port: the index of the input port.
        name: the name of the attribute.
        value: the numbers of the constant.
        bin_name: the role of the constant, e.g. `weights`; by default its name.

    Raises Error if there is an attribute of the name.
    """
    if name in attrs:
        raise Error("there is an attribute {!r} already", name)
    attrs[name] = np.asarray(value, dtype=np.float32).reshape(-1)
    attrs.setdefault(EMBEDDED_INPUTS, []).append((port, name, {"bin": bin_name or name}))


def connect_embedded_inputs(node: GraphNode) -> None:
    """Turn the values that `embed_input` added to a node's attributes into constants at its input ports, and remove the
    attributes.
    """
    for port, name, _ in node.soft_get(EMBEDDED_INPUTS, None) or ():
        input_as_const(node, {}, port, name, node[name])
        del node[name]
    if node.has(EMBEDDED_INPUTS):
        del node[EMBEDDED_INPUTS]


def input_as_const(node: GraphNode, attrs: Mapping[str, Any], port: int, bin: str, value: Any) -> None:
    """Make a constant the input of a port, which is added if it is missing.

    Args:
        node: the node.
        attrs: attributes of the constant, e.g. its `name`.
        port: the index of the input port.
        bin: the role of the constant, e.g. `weights`; a part of its name, if `attrs` have none.
        value: an array.
    """
    constant = create_constant(node.graph, value, str(attrs.get("name") or f"{node.name}/{bin}"))
    node.add_input_port(port, skip_if_exist=True)
    node.in_port(port).connect(constant.out_port(0))


def weights_biases(bias_term: bool, model_layer: Any, start_index: int = 1, proto: Any = None) -> dict[str, Any]:
    """Attributes for a node with the weights and, with `bias_term`, the biases of a layer, as constants; see
    `embed_input`.

    Args:
        bias_term: whether the layer has biases.
        model_layer: the layer with its weights; None for a model without them.
        start_index: the index of the input port for the weights.
        proto: the message of its parameters, which says how weights are filled when training begins. A filler
            `diagonal` determines the weights of a model without weights.

    Raises Error for a layer with fewer weights.
    """
    attributes: dict[str, Any] = {}
    if not model_layer:
        filler = getattr(proto, "weight_filler", None)
        if filler is not None and getattr(filler, "type", None) == "diagonal":
            size = int(proto.kernel_size[0]) ** 2 * int(proto.num_output)
            embed_input(attributes, start_index, "weights", np.diag(np.asarray(filler.diag_val[:size], dtype=np.float32)))
            if bias_term:
                embed_input(attributes, start_index + 1, "biases", np.zeros(int(proto.num_output), np.float32))
        return attributes
    names = ("weights", "biases") if bias_term else ("weights",)
    if len(model_layer.blobs) < len(names):
        raise Error("layer {!r} has {} blobs, it needs {}", getattr(model_layer, "name", ""), len(model_layer.blobs), " and ".join(names))
    for index, name in enumerate(names):
        embed_input(attributes, start_index + index, name, model_layer.blobs[index].data)
    return attributes


def get_list_from_container(param: Any, prop: str, t: type) -> Sequence[Any]:
    """A field of a message as a list: a list of one for a single value of the type `t`, `[]` for a missing or empty
    field.
    """
    value = getattr(param, prop, None) if param else None
    if not value:
        return []
    return [value] if isinstance(value, t) else list(value)


def get_spatial_attr(default: Sequence[int], single_name: str, name: str, param: Any) -> tuple[int, int]:
    """A parameter for the width and the height, from fields for each (`kernel_w`, `kernel_h`) or one for both.

    Args:
        default: the values for width and height if the message has neither.
        single_name: name of the field for both, e.g. `kernel_size`.
        name: name of the fields for each without `_w` and `_h`.
        param: the message.
    """
    width, height = (getattr(param, f"{name}_{axis}", 0) or default[index] for index, axis in enumerate("wh"))
    if not width or not height or (width == height == default[0]):
        both = get_list_from_container(param, single_name, int)
        if both and list(both) != list(default):
            return both[0], both[0]
    return width, height
