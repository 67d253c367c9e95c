"""The attributes of convolutions and pooling as Model Optimizer's extractors gave them: an entry for each axis of data.

    onnx.MaxPool {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 1, 1]}
    -> window [1, 1, 2, 2], stride [1, 1, 2, 2], pad [[0, 0], [0, 0], [0, 1], [0, 1]], spatial_dims [2, 3]

ONNX lists spatial axes only, TensorFlow all axes in the order of its `data_format`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.dialects.properties import value_of

Reader = Callable[[Operation], Any]


def _listed(op: Operation, name: str) -> list[int] | None:
    attribute = op.properties.get(name)
    return None if attribute is None else [int(item) for item in value_of(attribute)]


def _text(op: Operation, name: str, default: str) -> str:
    attribute = op.properties.get(name)
    value: Any = default if attribute is None else value_of(attribute)
    return value.decode() if isinstance(value, bytes) else str(value)


# Channel-first: ONNX.


def _spatial_rank(op: Operation) -> int | None:
    """The number of spatial axes, from any attribute that has an entry for each."""
    for name, per_axis in (("kernel_shape", 1), ("strides", 1), ("dilations", 1), ("pads", 2), ("output_padding", 1)):
        listed = _listed(op, name)
        if listed is not None:
            return len(listed) // per_axis
    return None


def _full(name: str) -> Reader:
    def read(op: Operation) -> Any:
        listed = _listed(op, name)
        if listed is None and (rank := _spatial_rank(op)) is not None:
            listed = [1] * rank
        return None if listed is None else np.array([1, 1, *listed], dtype=np.int64)

    return read


def _given(name: str) -> Reader:
    def read(op: Operation) -> Any:
        listed = _listed(op, name)
        return None if listed is None else np.array([1, 1, *listed], dtype=np.int64)

    return read


def _spatial(name: str) -> Reader:
    def read(op: Operation) -> Any:
        listed = _listed(op, name)
        return None if listed is None else np.array(listed, dtype=np.int64)

    return read


def _pad(op: Operation) -> Any:
    rank = _spatial_rank(op)
    if rank is None:
        return None
    listed = _listed(op, "pads") or [0] * (2 * rank)
    return np.array([[0, 0], [0, 0], *zip(listed[:rank], listed[rank:], strict=True)], dtype=np.int64)


def _onnx_auto_pad(op: Operation) -> str | None:
    text = _text(op, "auto_pad", "NOTSET").lower()
    return None if text == "notset" else text


def _first_spatial_dims(op: Operation) -> Any:
    rank = _spatial_rank(op)
    return None if rank is None else np.arange(2, 2 + rank, dtype=np.int64)


def channel_first_window() -> dict[str, Reader]:
    """The attributes of an ONNX convolution or pooling, each as a function of the operation."""
    return {
        "window": _given("kernel_shape"),
        "kernel_spatial": _spatial("kernel_shape"),
        "stride": _full("strides"),
        "dilation": _full("dilations"),
        "pad": _pad,
        "auto_pad": _onnx_auto_pad,
        "spatial_dims": _first_spatial_dims,
        "channel_dims": lambda _: np.array([1], dtype=np.int64),
        "batch_dims": lambda _: np.array([0], dtype=np.int64),
        "layout": lambda _: "NCHW",
    }


# The order of TensorFlow's data format.


def _data_format(op: Operation) -> str:
    strides = _listed(op, "strides")
    return _text(op, "data_format", "NDHWC" if strides is not None and len(strides) == 5 else "NHWC")


def _axes_of(letters: str) -> Reader:
    return lambda op: np.array([index for index, letter in enumerate(_data_format(op)) if letter in letters], dtype=np.int64)


def _all_axes(name: str) -> Reader:
    def read(op: Operation) -> Any:
        listed = _listed(op, name)
        return None if listed is None else np.array(listed, dtype=np.int64)

    return read


def _all_or_ones(name: str) -> Reader:
    return lambda op: np.array(_listed(op, name) or [1] * len(_data_format(op)), dtype=np.int64)


def _explicit_pad(op: Operation) -> Any:
    listed = _listed(op, "explicit_paddings") if _text(op, "padding", "") == "EXPLICIT" else None
    rank = len(_data_format(op))
    return np.array(listed or [0] * (2 * rank), dtype=np.int64).reshape(-1, 2)


def _tf_auto_pad(op: Operation) -> str | None:
    return {"SAME": "same_upper", "VALID": "valid"}.get(_text(op, "padding", "").upper())


def channel_last_window() -> dict[str, Reader]:
    """The attributes of a TensorFlow convolution or pooling, each as a function of the operation."""
    return {
        "window": _all_axes("ksize"),
        "stride": _all_axes("strides"),
        "dilation": _all_or_ones("dilations"),
        "pad": _explicit_pad,
        "auto_pad": _tf_auto_pad,
        "spatial_dims": _axes_of("DHW"),
        "channel_dims": _axes_of("C"),
        "batch_dims": _axes_of("N"),
        "layout": _data_format,
    }
