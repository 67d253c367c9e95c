"""Functions of Model Optimizer's classes of operations that extensions call."""

from __future__ import annotations

from collections.abc import Callable

from moir.errors import ConversionError
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.xml_records import Record
from moir.model_optimizer.values.shapes import IntegerArray, int64_array


def interpolated_axes(node: GraphNode) -> IntegerArray:
    """The axes that an Interpolate changes: its attribute `axes`, or else the value at input 3, or else all.

    Raises ConversionError if neither these nor the rank of the data are known.
    """
    if node.has_valid("axes"):
        return int64_array(node["axes"])
    if node.is_in_port_connected(3):
        value = node.in_port(3).data.get_value()
        if value is None:
            raise ConversionError("its axes are not constant", operation=node.kind_name, node=node.name)
        return int64_array(value)
    shape = node.in_port(0).data.get_shape()
    if shape is None:
        raise ConversionError("the rank of its input is unknown", operation=node.kind_name, node=node.name)
    return int64_array(range(len(shape)))


def _spatial(name: str) -> Callable[[GraphNode], IntegerArray]:
    """A function that returns the two spatial entries of attribute `name` of an ExtractImagePatches.

    An attribute with an element for each axis is indexed by `spatial_dims`; one of two elements is returned as it is.
    """

    def entries(node: GraphNode) -> IntegerArray:
        listed = int64_array(node[name])
        return listed if len(listed) == 2 else listed[int64_array(node.soft_get("spatial_dims", (2, 3)))]

    return entries


PATCHES: list[Record] = [*((name, _spatial(name)) for name in ("sizes", "strides", "rates")), "auto_pad"]
"""The items of `backend_attrs` for the windows of an ExtractImagePatches in the IR."""
