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

from moir.model_optimizer.frameworks.spatial_windows import listed_integers, text_or

Reader = Callable[[Operation], Any]


def _data_format(op: Operation) -> str:
    strides = listed_integers(op, "strides")
    return text_or(op, "data_format", "NDHWC" if strides is not None and len(strides) == 5 else "NHWC")


def _axes_of(letters: str) -> Reader:
    return lambda op: np.array([index for index, letter in enumerate(_data_format(op)) if letter in letters], dtype=np.int64)


def _all_axes(name: str) -> Reader:
    def read(op: Operation) -> Any:
        listed = listed_integers(op, name)
        return None if listed is None else np.array(listed, dtype=np.int64)

    return read


def _all_or_ones(name: str) -> Reader:
    return lambda op: np.array(listed_integers(op, name) or [1] * len(_data_format(op)), dtype=np.int64)


def _explicit_pad(op: Operation) -> Any:
    listed = listed_integers(op, "explicit_paddings") if text_or(op, "padding", "") == "EXPLICIT" else None
    rank = len(_data_format(op))
    return np.array(listed or [0] * (2 * rank), dtype=np.int64).reshape(-1, 2)


def _tf_auto_pad(op: Operation) -> str | None:
    return {"SAME": "same_upper", "VALID": "valid"}.get(text_or(op, "padding", "").upper())


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
