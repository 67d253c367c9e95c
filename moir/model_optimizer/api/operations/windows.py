"""The attributes that convolutions and pooling write to the IR, and those that Model Optimizer's `infer` gave their
nodes.

    Foo {window = [1, 1, 2, 2], stride = [1, 1, 2, 2], pad = [[0, 0], [0, 0], [0, 1], [0, 1]]}       class Foo(Pooling)
->  <layer type="Foo"><data kernel="2,2" strides="2,2" pads_begin="0,0" pads_end="1,1" …/>

The lists of a node have an element for each axis of its data, those of the IR one for each spatial axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from moir.model_optimizer.api.inference.sliding_windows import tf_window_op_pad_infer
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.xml_records import Record
from moir.model_optimizer.values.shapes import int64_array, is_fully_defined

_FIRST, _LAST = 1, -1


def _axes(node: GraphNode, name: str) -> list[int] | None:
    value = node.soft_get(name, None)
    return None if value is None else [int(axis) for axis in np.asarray(value).reshape(-1)]


def spatial_axes(node: GraphNode, rank: int) -> list[int]:
    """The spatial axes of data of a rank: those in an attribute of the node, or those that are neither batch nor
    channels.
    """
    given = _axes(node, "spatial_dims")
    if given is not None:
        return given
    batch = (_axes(node, "batch_dims") or [0])[0]
    layout = node.soft_get("layout", None)
    is_last = str(layout if isinstance(layout, str) else node.graph.graph["layout"]).endswith("C")
    channels = (_axes(node, "channel_dims") or [_LAST if is_last else _FIRST])[0]
    return [axis for axis in range(rank) if axis not in (batch % rank, channels % rank)]


def _spatial(name: str) -> Callable[[GraphNode], Any]:
    """A function that returns the spatial entries of attribute `name` of a node; None if the node does not have it.

    A list that has only spatial entries is returned as it is.
    """

    def entries(node: GraphNode) -> Any:
        given = node.soft_get(name, None)
        if given is None:
            return None
        listed = np.asarray(given).reshape(-1)
        axes = spatial_axes(node, len(listed))
        # Two entries are those of an image, not of batch and channels.
        return listed if len(listed) < 3 or max(axes) >= len(listed) else listed[axes]

    return entries


def _pads(side: int) -> Callable[[GraphNode], Any]:
    """A function that returns the pads of a node before (side 0) or after (1) each spatial axis; None without `pad`."""

    def entries(node: GraphNode) -> Any:
        given = node.soft_get("pad", None)
        if given is None:
            return None
        pairs = np.asarray(given, np.int64).reshape(-1, 2)
        axes = spatial_axes(node, len(pairs))
        return (pairs if len(pairs) < 3 or max(axes) >= len(pairs) else pairs[axes])[:, side]

    return entries


def _auto_pad(node: GraphNode) -> Any:
    return node.soft_get("auto_pad", None) or "explicit"


WINDOW: list[Record] = [
    ("strides", _spatial("stride")),
    ("pads_begin", _pads(0)),
    ("pads_end", _pads(1)),
    ("auto_pad", _auto_pad),
]

CONVOLUTION: list[Record] = [*WINDOW, ("dilations", _spatial("dilation"))]
"""The items of `backend_attrs` for the window of a convolution in the IR."""

DECONVOLUTION: list[Record] = [*CONVOLUTION, ("output_padding", _spatial("output_padding"))]
"""The items of `backend_attrs` for the window of a transposed convolution in the IR."""

POOLING: list[Record] = [
    *WINDOW,
    ("kernel", _spatial("window")),
    ("pool-method", "pool_method"),
    ("exclude-pad", "exclude_pad"),
    "rounding_type",
]
"""The items of `backend_attrs` for the window of a pooling in the IR."""


def _kernel_of_filters(node: GraphNode) -> Any:
    """The attribute `kernel_spatial`; if the node does not have it, it is set from the shape of the filters,
    input 1.
    """
    filters = node.in_port(1).data.get_shape() if node.is_in_port_connected(1) else None
    if filters is not None and not node.has_valid("kernel_spatial") and is_fully_defined(filters):
        channels = [*(_axes(node, "output_feature_channel") or [0]), *(_axes(node, "input_feature_channel") or [1])]
        places = _axes(node, "kernel_spatial_idx") or [axis for axis in range(len(filters)) if axis not in channels]
        node["kernel_spatial"] = int64_array([filters[place] for place in places])
    return node.soft_get("kernel_spatial", None)


def complete_window(node: GraphNode) -> None:
    """Set the attributes that the `infer` of convolutions and pooling set: the spatial axes, and pads that follow from
    sizes."""
    shape = node.in_port(0).data.get_shape()
    if shape is None:
        return
    axes = spatial_axes(node, len(shape))
    if not node.has_valid("spatial_dims"):
        node["spatial_dims"] = int64_array(axes)
    sizes = node.out_port(0).data.get_shape()
    if sizes is not None:
        node["output_spatial_shape"] = sizes[axes]
    window = node.soft_get("window", None)
    kernel = _kernel_of_filters(node) if window is None else np.asarray(window)[axes]
    auto_pad = node.soft_get("auto_pad", None)
    if auto_pad in ("same_upper", "same_lower", "valid") and kernel is not None and is_fully_defined(shape):
        ones = np.ones(len(shape), np.int64)
        stride, dilation = (
            np.asarray(ones if (given := node.soft_get(name, None)) is None else given)[axes] for name in ("stride", "dilation")
        )
        spread = (np.asarray(kernel) - 1) * dilation + 1
        pads, _ = tf_window_op_pad_infer(shape[axes], spread, stride, auto_pad)
        assert pads is not None
        full = np.zeros((len(shape), 2), np.int64)
        full[axes] = pads
        node["pad"] = full
        node["pad_spatial_shape"] = full[axes]
