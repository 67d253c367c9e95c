"""The attributes of convolutions and pooling of Caffe and MXNet as Model Optimizer's extractors gave them.

    mxnet.Pooling {kernel = [2, 2], stride = [2, 2]}                  -> window [1, 1, 2, 2], stride [1, 1, 2, 2]
    caffe.Convolution {convolution_param = {kernel_size = 3, pad = 1}} -> kernel_spatial [3, 3], pad [[0, 0], …, [1, 1]]

Both have channels first and list spatial axes only, Caffe one entry for all axes or one for each of two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation

from moir.dialects.properties import value_of

Entries = Callable[[Operation, str], Sequence[int] | None]
"""The entries of `kernel`, `stride`, `pad` or `dilation` for the spatial axes; None if they are not given."""


def _integers(given: Any) -> list[int]:
    value = None if given is None else value_of(given)
    return [] if value is None else [int(value)] if isinstance(value, int | float) else [int(entry) for entry in value]


def mxnet_entries(op: Operation, name: str) -> Sequence[int] | None:
    """The entries of a window of MXNet."""
    return _integers(op.properties.get("dilate" if name == "dilation" else name)) or None


def caffe_entries(op: Operation, name: str) -> Sequence[int] | None:
    """The entries of a window of Caffe, of two axes unless more are given."""
    messages = (op.properties.get(f"{each}_param") for each in ("convolution", "pooling"))
    none: Mapping[str, Attribute] = {}
    message = next((each.data for each in messages if isinstance(each, DictionaryAttr)), none)
    sides = [_integers(message.get(f"{name}_{side}")) for side in "hw"]
    if any(sides):
        return [each[0] if each else 0 if name == "pad" else 1 for each in sides]
    listed = _integers(message.get("kernel_size" if name == "kernel" else name))
    return listed * 2 if len(listed) == 1 else listed or None


def spatial_window(entries: Entries) -> dict[str, Callable[[Operation], Any]]:
    """The attributes of a convolution or pooling, each as a function of the operation; None where its rank is not said.

    Args:
        entries: the function that reads the framework's attributes.
    """

    def listed(op: Operation, name: str) -> list[int] | None:
        given = entries(op, name)
        if given is None and name != "kernel" and (kernel := entries(op, "kernel")) is not None:
            given = [0 if name == "pad" else 1] * len(kernel)
        return None if given is None else list(given)

    def full(name: str) -> Callable[[Operation], Any]:
        return lambda op: None if (found := listed(op, name)) is None else np.array([1, 1, *found], dtype=np.int64)

    def spatial(op: Operation) -> Any:
        return None if (found := listed(op, "kernel")) is None else np.array(found, dtype=np.int64)

    def pads(op: Operation, front: int) -> Any:
        found = listed(op, "pad")
        return None if found is None else np.array([[0, 0]] * front + [[each, each] for each in found], dtype=np.int64)

    def axes(op: Operation) -> Any:
        return None if (found := listed(op, "kernel")) is None else np.arange(2, 2 + len(found), dtype=np.int64)

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
