"""The attributes of convolutions and pooling of Caffe and MXNet as Model Optimizer's extractors gave them.

    mxnet.Pooling {kernel = [2, 2], stride = [2, 2]}                  -> window [1, 1, 2, 2], stride [1, 1, 2, 2]
    caffe.Convolution {convolution_param = {kernel_size = 3, pad = 1}} -> kernel_spatial [3, 3], pad [[0, 0], …, [1, 1]]

Both have channels first and list only spatial axes; Caffe has one entry for all axes, or one for each of two axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.dialects.properties import value_of

Entries = Callable[[Operation, str], Sequence[int] | None]
"""A function that returns the entries of `kernel`, `stride`, `pad` or `dilation` of an operation for the spatial axes;
None if they are absent.
"""


def integers_of(given: Any) -> list[int]:
    """The integers of an attribute as a list: a list of one for a number, empty for None."""
    value = None if given is None else value_of(given)
    return [] if value is None else [int(value)] if isinstance(value, int | float) else [int(entry) for entry in value]


def integer_property(op: Operation, name: str) -> list[int] | None:
    """A property that is a list of integers; None if the operation does not have it."""
    attribute = op.properties.get(name)
    return None if attribute is None else [int(item) for item in value_of(attribute)]


def text_or(op: Operation, name: str, default: str) -> str:
    """A text attribute, which may be stored as bytes, or the default."""
    attribute = op.properties.get(name)
    value: Any = default if attribute is None else value_of(attribute)
    return value.decode() if isinstance(value, bytes) else str(value)


def spatial_window(entries: Entries) -> dict[str, Callable[[Operation], Any]]:
    """The attributes of a convolution or pooling, each as a function of the operation, which returns None if its rank
    is unknown.

    Args:
        entries: the function that reads the framework's attributes.
    """

    def listed(op: Operation, name: str) -> list[int] | None:
        given = entries(op, name)
        if given is None and name != "kernel" and (kernel := entries(op, "kernel")) is not None:
            given = [0 if name == "pad" else 1] * len(kernel)
        return None if given is None else list(given)

    def full(name: str) -> Callable[[Operation], Any]:
        return lambda op: None if (numbers := listed(op, name)) is None else np.array([1, 1, *numbers], dtype=np.int64)

    def spatial(op: Operation) -> Any:
        return None if (numbers := listed(op, "kernel")) is None else np.array(numbers, dtype=np.int64)

    def pads(op: Operation, front: int) -> Any:
        numbers = listed(op, "pad")
        return None if numbers is None else np.array([[0, 0]] * front + [[each, each] for each in numbers], dtype=np.int64)

    def axes(op: Operation) -> Any:
        return None if (numbers := listed(op, "kernel")) is None else np.arange(2, 2 + len(numbers), dtype=np.int64)

    return {
        "window": full("kernel"),
        "kernel_spatial": spatial,
        "stride": full("stride"),
        "dilation": full("dilation"),
        "pad": lambda op: pads(op, 2),
        "pad_spatial_shape": lambda op: pads(op, 0),
        "auto_pad": lambda _: None,
        "spatial_dims": axes,
        "channel_dims": lambda _: np.array([1], dtype=np.int64),
        "batch_dims": lambda _: np.array([0], dtype=np.int64),
        "layout": lambda _: "NCHW",
    }
