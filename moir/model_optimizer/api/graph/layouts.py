"""Functions of Model Optimizer on the layout of data, `NHWC` or `NCHW`.

Model Optimizer changed the layout of operations in place, so an operation declared which of its attributes and inputs
are axes. In moir operations of the operation sets keep their layout; the data of an extension's operations are
transposed, and the attributes and inputs that are declared as axes are changed accordingly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moir.errors import ConversionError
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.attribute_permutation import PermuteAttrs as PermuteAttrs
from moir.model_optimizer.graph.input_permutation import PermuteInputs as PermuteInputs
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.values.shapes import IntegerArray, int64_array, shape_array

nchw_to_nhwc_permute = int64_array([0, 2, 3, 1])
nhwc_to_nchw_permute = int64_array([0, 3, 1, 2])
supported_layouts = ("NCHW", "NHWC")
indices_mapping = {4: {"NCHW": "NCHW", "NHWC": "NHWC"}, 5: {"NCHW": "NCDHW", "NHWC": "NDHWC"}}
"""Rank -> layout of the graph -> the letters of the axes, in their order."""


def convert_shape(shape: Sequence[Any], permute: Sequence[int]) -> Any:
    """A shape whose dimension i is dimension `permute[i]` of the given one."""
    return shape_array([shape[axis] for axis in permute])


def _check(layout: str) -> str:
    if layout not in ("NHWC", "NCHW"):
        raise ConversionError(f"there is no layout {layout!r}", hint="it is NHWC or NCHW")
    return layout


def get_batch_dim(layout: str, _shape_len: int) -> int:
    """The index of the batch axis, which is 0 in both layouts."""
    _check(layout)
    return 0


def get_features_dim(layout: str, shape_len: int) -> int:
    """The index of the channel axis of a tensor of rank `shape_len`: the last in NHWC if the rank exceeds 3, else 1."""
    return shape_len - 1 if _check(layout) == "NHWC" and shape_len > 3 else 1


def _spatial_dim(layout: str, shape_len: int, from_end: int) -> int:
    return shape_len - from_end - (1 if _check(layout) == "NHWC" else 0)


def get_width_dim(layout: str, shape_len: int) -> int:
    """The index of the axis of the width of a tensor of rank `shape_len`."""
    return _spatial_dim(layout, shape_len, 1)


def get_height_dim(layout: str, shape_len: int) -> int:
    """The index of the axis of the height of a tensor of rank `shape_len`."""
    return _spatial_dim(layout, shape_len, 2)


def get_depth_dim(layout: str, shape_len: int) -> int:
    """The index of the axis of the depth of a tensor of rank `shape_len`, which is 5."""
    return _spatial_dim(layout, shape_len, 3)


def shape_for_layout(layout: str, **kwargs: int) -> IntegerArray:
    """A shape with the given `batch`, `features`, `depth` (which may be missing), `height` and `width`.

    Raises Error if one of the others is missing.
    """
    missing = [name for name in ("batch", "features", "height", "width") if name not in kwargs]
    if missing:
        raise Error("a shape needs {}", ", ".join(missing))
    spatial = [kwargs[name] for name in ("depth", "height", "width") if kwargs.get(name) is not None]
    outer = [kwargs["batch"]]
    features = [kwargs["features"]]
    return int64_array([*outer, *spatial, *features] if _check(layout) == "NHWC" else [*outer, *features, *spatial])


def get_node_with_permutation(node: GraphNode, port_info: str) -> GraphNode:
    """The producer (`input:0`) or the consumer (`output:0`) of a node at a port, which `port_info` names."""
    kind, _, number = port_info.partition(":")
    if kind not in ("input", "output") or not number.isdecimal():
        raise ConversionError(f"{port_info!r} is not a port; it is written as in 'input:0'", node=node.name)
    return node.in_node(int(number)) if kind == "input" else node.out_node(int(number))
