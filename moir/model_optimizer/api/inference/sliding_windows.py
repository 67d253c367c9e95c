"""Functions for operations with a window: TensorFlow's padding, sizes of outputs, axes of weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from moir.dialects.data import Array
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.values.shapes import IntegerArray, int64_array, is_dynamic_dimension, shape_array


def convert_tf_padding_to_str(padding: str | bytes | Any) -> str:
    """The `auto_pad` of the IR for a padding of TensorFlow, `SAME` or `VALID`, given as text or as an attribute.

    Raises Error for any other padding.
    """
    return _padding(padding, "same_upper")


def convert_deconv_tf_padding_to_str(padding: str | bytes | Any) -> str:
    """The `auto_pad` of the IR for a padding of TensorFlow's transposed convolution: `same_lower` for SAME, or `valid`.

    Raises Error for any other padding.
    """
    return _padding(padding, "same_lower")


def _padding(padding: Any, same: str) -> str:
    text = getattr(padding, "s", padding)
    name = text.decode() if isinstance(text, bytes) else str(text)
    known = {"SAME": same, "VALID": "valid"}
    if name not in known:
        raise Error("there is no padding {!r}; it is SAME or VALID", name)
    return known[name]


def tf_window_op_pad_infer(
    input: Any, window: Any, stride: Any, auto_pad: str | None, is_deconv: bool = False, dilation: Any = None
) -> tuple[Array | None, Any]:
    """The pads and the sizes of the output of an operation with a window.

    Args:
        input: the spatial dimensions.
        window: the size of the window along each.
        stride: the step of the window along each.
        auto_pad: `same_upper`, `same_lower` or `valid`.
        is_deconv: whether the operation is a transposed convolution, whose output is larger than the input.
        dilation: the distance between elements of the window along each; by default 1.

    Returns the pads, a row of two numbers for each dimension, and the sizes; None for both if an argument is None.
    Raises Error for another `auto_pad`.
    """
    if input is None or window is None or stride is None or auto_pad is None:
        return None, None
    if auto_pad not in ("same_upper", "same_lower", "valid"):
        raise Error("there is no padding {!r}; it is same_upper, same_lower or valid", auto_pad)
    pads: list[list[int]] = []
    sizes: list[Any] = []
    spread = [1] * len(window) if dilation is None else list(dilation)
    for size, length, step, distance in zip(shape_array(input), window, stride, spread, strict=True):
        if is_dynamic_dimension(size):
            sizes.append(size)
            pads.append([0, 0])
            continue
        covered = int(size) if auto_pad != "valid" else int(size) - (int(length) - 1) * int(distance)
        sizes.append(covered * int(step) if is_deconv else -(-covered // int(step)))
        padded = max(int(length) - (int(size) % int(step) or int(step)), 0) if auto_pad != "valid" else 0
        pads.append([padded // 2, padded - padded // 2])
    return int64_array(pads), shape_array(sizes)


def assign_dims_to_weights(
    node: GraphNode, spatial: Sequence[int] | None, input_channel: int, output_channel: int | None = None, dims_number: int | None = None
) -> None:
    """Set the attributes that say which axes of the weights are spatial, input and output channels, and their rank
    `dims_number`.
    """
    if spatial is not None:
        node["spatial_dims"] = int64_array(spatial)
    node["input_channel_dim"] = int64_array(input_channel)
    node["output_channel_dim"] = None if output_channel is None else int64_array(output_channel)
    node["dims_number"] = dims_number
    names: Any = node.soft_get("dim_attrs", None)
    if names is not None and "input_channel_dim" not in names:
        node["dim_attrs"] = [*names, "input_channel_dim"]


def mark_input_bins(node: GraphNode, names: Sequence[str] = ("weights", "biases"), start_port: int = 1) -> None:
    """Does nothing.

    Model Optimizer named constants that are inputs of an operation, as the IR of version 7 required; in later versions
    constants are operations.
    """


def layout_attrs() -> dict[str, Any]:
    """The attributes that say which axes are batch, channels and space, for batches of images."""
    return {"spatial_dims": _axes(2, 3), "channel_dims": _axes(1), "batch_dims": _axes(0), "layout": "NCHW"}


def _axes(*axes: int) -> IntegerArray:
    return np.array(axes, dtype=np.int64)
