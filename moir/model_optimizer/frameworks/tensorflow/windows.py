"""The attributes of TensorFlow's convolutions and pooling as Model Optimizer's extractors gave them.

    tf.MaxPool {ksize = [1, 2, 2, 1], strides = [1, 2, 2, 1], padding = "SAME"}
    -> window [1, 2, 2, 1], stride [1, 2, 2, 1], auto_pad same_upper, spatial_dims [1, 2]

TensorFlow lists all axes, in the order of its `data_format`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.dialects.shapes import shape_of
from moir.model_optimizer.frameworks.spatial_windows import integer_property, text_or
from moir.model_optimizer.values.shapes import masked_shape

Reader = Callable[[Operation], Any]


def _data_format(op: Operation) -> str:
    strides = integer_property(op, "strides")
    return text_or(op, "data_format", "NDHWC" if strides is not None and len(strides) == 5 else "NHWC")


def _axes_of(letters: str) -> Reader:
    return lambda op: np.array([index for index, letter in enumerate(_data_format(op)) if letter in letters], dtype=np.int64)


def _all_axes(name: str) -> Reader:
    def read(op: Operation) -> Any:
        listed = integer_property(op, name)
        return None if listed is None else np.array(listed, dtype=np.int64)

    return read


def _all_or_ones(name: str) -> Reader:
    return lambda op: np.array(integer_property(op, name) or [1] * len(_data_format(op)), dtype=np.int64)


def _spatial_axes(op: Operation) -> list[int]:
    return [index for index, letter in enumerate(_data_format(op)) if letter in "DHW"]


def _explicit_pad(op: Operation) -> Any:
    listed = integer_property(op, "explicit_paddings") if text_or(op, "padding", "") == "EXPLICIT" else None
    rank = len(_data_format(op))
    return np.array(listed or [0] * (2 * rank), dtype=np.int64).reshape(-1, 2)


def _image(op: Operation, index: int) -> tuple[int, ...] | None:
    """The shape of operand `index`, or of the result for the index -1; None unless it has as many axes as the data
    format.
    """
    values = op.results if index < 0 else op.operands[index : index + 1]
    shape = shape_of(values[0]) if values else None
    return shape if shape is not None and len(shape) == len(_data_format(op)) else None


def _is_transposed(op: Operation) -> bool:
    return "Backprop" in op.name


def _kernel(op: Operation) -> list[int] | None:
    """The size of the window along the spatial axes: from `ksize` of a pooling, or the shape of filters; None if
    unknown.
    """
    window, axes = integer_property(op, "ksize"), _spatial_axes(op)
    if window is not None:
        return [window[axis] for axis in axes]
    shape = _image(op, 1)
    return None if shape is None or min(shape[: len(axes)], default=-1) < 0 else list(shape[: len(axes)])


def _pad(op: Operation) -> Any:
    """The pads of each axis. Those of SAME are computed from dimensions, and remain unset for dynamic ones."""
    pads = _explicit_pad(op)
    image, kernel = _image(op, -1 if _is_transposed(op) else 0), _kernel(op)
    if _tf_auto_pad(op) != "same_upper" or image is None or kernel is None:
        return pads
    strides, dilations = (integer_property(op, name) or [1] * len(pads) for name in ("strides", "dilations"))
    for axis, length in zip(_spatial_axes(op), kernel, strict=True):
        size, stride = image[axis], strides[axis]
        if size >= 0:
            covered = (length - 1) * dilations[axis] + 1
            total = max((-(-size // stride) - 1) * stride + covered - size, 0)
            pads[axis] = total // 2, total - total // 2
    return pads


def _spatial_pad(op: Operation) -> Any:
    return _pad(op)[_spatial_axes(op)]


def _kernel_spatial(op: Operation) -> Any:
    kernel = _kernel(op)
    return None if kernel is None else np.array(kernel, dtype=np.int64)


def _output_spatial_shape(op: Operation) -> Any:
    shape = _image(op, -1)
    return None if shape is None else masked_shape(tuple(shape[axis] for axis in _spatial_axes(op)))


def _filter_axis(op: Operation, *, is_output: bool) -> int:
    """The index of the axis of filters for the channels of the result (`is_output`), or for those of the data.

    For a transposed convolution the two are exchanged; for a depthwise one they are the same axis.
    """
    spatial = len(_spatial_axes(op))
    return spatial if "Depthwise" in op.name else spatial + int(is_output != _is_transposed(op))


def _group(op: Operation) -> Any:
    shape = _image(op, 0)
    if _is_transposed(op) or "Depthwise" not in op.name:
        return 1
    return None if shape is None else shape[_data_format(op).index("C")]


def _output_channels(op: Operation) -> Any:
    shape = _image(op, -1)
    channels = -1 if shape is None else shape[_data_format(op).index("C")]
    return None if channels < 0 else channels


def _tf_auto_pad(op: Operation) -> str | None:
    return {"SAME": "same_upper", "VALID": "valid"}.get(text_or(op, "padding", "").upper())


def channel_last_window() -> dict[str, Reader]:
    """The attributes of a TensorFlow convolution or pooling, each as a function of the operation."""
    return {
        "window": _all_axes("ksize"),
        "stride": _all_axes("strides"),
        "dilation": _all_or_ones("dilations"),
        "pad": _pad,
        "pad_spatial_shape": _spatial_pad,
        "output_spatial_shape": _output_spatial_shape,
        "auto_pad": _tf_auto_pad,
        "spatial_dims": _axes_of("DHW"),
        "channel_dims": _axes_of("C"),
        "batch_dims": _axes_of("N"),
        "layout": _data_format,
    }


def channel_last_filters() -> dict[str, Reader]:
    """The attributes of a TensorFlow convolution that describe the order of the axes of its filters, and attributes
    that follow from these.
    """
    return {
        "kernel_spatial": _kernel_spatial,
        "kernel_spatial_idx": lambda op: np.arange(len(_spatial_axes(op)), dtype=np.int64),
        "input_feature_channel": lambda op: _filter_axis(op, is_output=False),
        "output_feature_channel": lambda op: _filter_axis(op, is_output=True),
        "group": _group,
        "output": _output_channels,
    }
