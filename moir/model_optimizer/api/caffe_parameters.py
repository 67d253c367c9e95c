"""Functions that read the parameters of a Caffe layer (`node.pb`), for extractors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np


def collect_attributes(obj: Any, prefix: str = "", enable_flattening_nested_params: bool = False, **_: bool) -> dict[str, str]:
    """The fields of a message as texts: those of messages within it, too, and items of a list joined by commas.

    With `enable_flattening_nested_params` the names of fields of inner messages begin with those of the outer ones.
    """
    found: dict[str, str] = {}
    for descriptor, value in obj.ListFields():
        name = f"{prefix}__{descriptor.name}" if prefix and enable_flattening_nested_params else descriptor.name
        items = cast("list[Any]", value if isinstance(value, list) else [value])
        for item in items:
            if hasattr(item, "ListFields"):
                found.update(collect_attributes(item, name, enable_flattening_nested_params))
        plain = [_text(item) for item in items if not hasattr(item, "ListFields")]
        found.update({name: ",".join(plain)} if plain else {})
    return found


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def merge_attrs(param: Any, update_attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Those of some values whose names are fields of a message."""
    return {name: update_attrs[name] for name in collect_attributes(param) if name in update_attrs}


def get_canonical_axis_index(shape: Any, axis: int) -> int:
    """An axis counted from the front."""
    return axis + len(shape) if axis < 0 else axis


def get_list_from_container(param: Any, attr: str, t: type) -> list[Any]:
    """The items of a field, of one type; none if the message does not have it."""
    return [t(item) for item in getattr(param, attr)] if param.HasField(attr) else []


def get_spatial_attr(default: Any, single_name: str, name: str, param: Any) -> list[Any]:
    """Width and height of a window: `name`_w and `name`_h, or `single_name`, once for both or an item for each."""
    if param.HasField(f"{name}_h") or param.HasField(f"{name}_w"):
        return [int(getattr(param, f"{name}_{side}")) if param.HasField(f"{name}_{side}") else default[0] for side in "wh"]
    items = get_list_from_container(param, single_name, int)
    if not items:
        return list(default)
    return [items[0]] * 2 if len(items) == 1 else [items[1], items[0]]


def embed_input(attrs: dict[str, Any], port: int, name: str, value: Any, bin_name: str | None = None) -> None:
    """Note the values of a weight under a name, and in `embedded_inputs` which input it is.

    The weights are inputs of the node already, so that nothing is connected.
    """
    attrs[name] = np.array(value)
    attrs.setdefault("embedded_inputs", []).append((port, name, {"bin": bin_name or name}))


def weights_biases(bias_term: bool, layer: Any, start_index: int = 1, proto: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The weights and biases of a layer (`node.model_pb`) as attributes, behind those in `proto`."""
    attrs = dict(proto or {})
    if layer is not None and len(layer.blobs) > 0:
        embed_input(attrs, start_index, "weights", layer.blobs[0].data)
        if bias_term and len(layer.blobs) > 1:
            embed_input(attrs, start_index + 1, "biases", layer.blobs[1].data)
    return attrs
