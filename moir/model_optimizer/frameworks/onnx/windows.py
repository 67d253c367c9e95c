"""The attributes of ONNX's convolutions and pooling as Model Optimizer's extractors gave them: a value for each axis.

    onnx.MaxPool {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 1, 1]}
    -> window [1, 1, 2, 2], stride [1, 1, 2, 2], pad [[0, 0], [0, 0], [0, 1], [0, 1]], spatial_dims [2, 3]

ONNX lists spatial axes only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.model_optimizer.frameworks.spatial_windows import integer_property, text_or

Reader = Callable[[Operation], Any]


def _spatial_rank(op: Operation) -> int | None:
    """The number of spatial axes, from any attribute that has an element for each; None if all are absent."""
    for name, per_axis in (("kernel_shape", 1), ("strides", 1), ("dilations", 1), ("pads", 2), ("output_padding", 1)):
        listed = integer_property(op, name)
        if listed is not None:
            return len(listed) // per_axis
    return None


def _full(name: str) -> Reader:
    def read(op: Operation) -> Any:
        listed = integer_property(op, name)
        if listed is None and (rank := _spatial_rank(op)) is not None:
            listed = [1] * rank
        return None if listed is None else np.array([1, 1, *listed], dtype=np.int64)

    return read


def _given(name: str) -> Reader:
    def read(op: Operation) -> Any:
        listed = integer_property(op, name)
        return None if listed is None else np.array([1, 1, *listed], dtype=np.int64)

    return read


def _spatial(name: str) -> Reader:
    def read(op: Operation) -> Any:
        listed = integer_property(op, name)
        return None if listed is None else np.array(listed, dtype=np.int64)

    return read


def _pad(op: Operation) -> Any:
    rank = _spatial_rank(op)
    if rank is None:
        return None
    listed = integer_property(op, "pads") or [0] * (2 * rank)
    return np.array([[0, 0], [0, 0], *zip(listed[:rank], listed[rank:], strict=True)], dtype=np.int64)


def _onnx_auto_pad(op: Operation) -> str | None:
    text = text_or(op, "auto_pad", "NOTSET").lower()
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
