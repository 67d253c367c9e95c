"""The attributes of operations of the operation sets, by the names and in the form that they had on Model Optimizer's
nodes.

    opset1.Convolution {strides = [2, 2], pads_begin = [0, 1], pads_end = [1, 0]}
    -> stride [1, 1, 2, 2], pad [[0, 0], [0, 0], [0, 1], [1, 0]], spatial_dims [2, 3], group 1

From the middle phase on nodes are such operations. Attributes with the same name as in the IR are not listed.

Source: the attributes that Model Optimizer's nodes have in the middle and back phases, 2019 to 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.dialects.properties import value_of
from moir.dialects.shapes import shape_of
from moir.errors import ConversionError
from moir.model_optimizer.frameworks.extracted import Extracted
from moir.model_optimizer.values.python_values import is_true
from moir.model_optimizer.values.slice_masks import INVERTED, inverted

_SPATIAL = ("strides", "dilations", "pads_begin", "pads_end", "kernel")


def _integers_of(op: Operation, name: str) -> list[int] | None:
    value = op.properties.get(name)
    return None if value is None else [int(item) for item in value_of(value)]


def _spatial_rank(op: Operation) -> int:
    """The number of spatial axes: the length of the longest attribute with an element for each axis; 2 if all are
    empty.
    """
    return max((len(_integers_of(op, name) or ()) for name in _SPATIAL), default=0) or 2


def _spatial_entries(op: Operation, name: str, value: Any) -> list[int]:
    """The entries for the spatial axes of a list, which may begin with entries for batch and channels.

    Raises ConversionError, which names the attribute `name`, for a list of another length.
    """
    entries = [int(item) for item in np.array(value).reshape(-1)]
    rank = _spatial_rank(op)
    if len(entries) not in (rank, rank + 2):
        raise ConversionError(f"its attribute {name} has {len(entries)} entries, and its data {rank + 2} axes")
    return entries[-rank:]


def _full(name: str, source: str) -> Extracted:
    """The record of an attribute `name`, a list with an element for each axis, batch and channels first.

    In the IR the list is the property `source`, which has only the spatial axes.
    """

    def read(op: Operation) -> Any:
        return np.array([1, 1, *(_integers_of(op, source) or [1] * _spatial_rank(op))], dtype=np.int64)

    return Extracted("", of=read, write=lambda op, value: {source: _spatial_entries(op, name, value)})


def _read_pad(op: Operation) -> Any:
    nothing = [0] * _spatial_rank(op)
    begin, end = _integers_of(op, "pads_begin") or nothing, _integers_of(op, "pads_end") or nothing
    if (following := _pads_of_sizes(op)) is not None:
        begin, end = following
    return np.array([[0, 0], [0, 0], *zip(begin, end, strict=True)], dtype=np.int64)


def _pads_of_sizes(op: Operation) -> tuple[list[int], list[int]] | None:
    """The pads that follow from sizes, for `same_upper` and `same_lower`; None for other values of `auto_pad`, and for
    dynamic dimensions.
    """
    auto_pad, image = _read_auto_pad(op), shape_of(op.operands[0])
    if auto_pad not in ("same_upper", "same_lower") or "Backprop" in op.name or image is None or min(image[2:], default=-1) < 0:
        return None
    filters, rank = shape_of(op.operands[1]) if len(op.operands) > 1 else None, _spatial_rank(op)
    kernel = _integers_of(op, "kernel") or (list(filters[-rank:]) if filters else None)
    if kernel is None or len(image) != rank + 2 or min(kernel) < 0:
        return None
    strides, dilations = (_integers_of(op, name) or [1] * rank for name in ("strides", "dilations"))
    totals = [
        max((-(-size // stride) - 1) * stride + (length - 1) * distance + 1 - size, 0)
        for size, stride, length, distance in zip(image[2:], strides, kernel, dilations, strict=True)
    ]
    small, large = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return (small, large) if auto_pad == "same_upper" else (large, small)


def _write_pad(op: Operation, value: Any) -> Mapping[str, Any]:
    pairs = np.array(value)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ConversionError(f"its attribute pad is {value!r}, not a pair for each axis")
    ends = {name: _spatial_entries(op, "pad", pairs[:, side]) for side, name in enumerate(("pads_begin", "pads_end"))}
    return {**ends, "auto_pad": "explicit"}


def _read_auto_pad(op: Operation) -> str | None:
    value = op.properties.get("auto_pad")
    text = "explicit" if value is None else str(value_of(value))
    return None if text == "explicit" else text


def _group(op: Operation) -> Any:
    shape = shape_of(op.operands[1]) if op.name.partition(".")[2].startswith("Group") else None
    return 1 if shape is None else shape[0]


def _fixed(value: Any) -> Extracted:
    return Extracted("", value)


def _computed(function: Callable[[Operation], Any]) -> Extracted:
    return Extracted("", of=function)


_WINDOW = {
    "stride": _full("stride", "strides"),
    "dilation": _full("dilation", "dilations"),
    "pad": Extracted("", of=_read_pad, write=_write_pad),
    "auto_pad": Extracted("", of=_read_auto_pad, write=lambda _, value: {"auto_pad": "explicit" if value is None else value}),
    "spatial_dims": _computed(lambda op: np.arange(2, 2 + _spatial_rank(op), dtype=np.int64)),
    "channel_dims": _fixed(np.array([1], dtype=np.int64)),
    "batch_dims": _fixed(np.array([0], dtype=np.int64)),
    "layout": _fixed("NCHW"),
}
_POOLING = {**_WINDOW, "window": _full("window", "kernel"), "global_pool": _fixed(False)}
_EPSILON = {"eps": Extracted("epsilon")}

STANDARD: dict[str, dict[str, Extracted]] = {
    **{
        kind: {**_WINDOW, "group": _computed(_group)}
        for kind in ("Convolution", "GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData")
    },
    "MaxPool": {**_POOLING, "pool_method": _fixed("max")},
    "AvgPool": {**_POOLING, "pool_method": _fixed("avg"), "exclude_pad": Extracted("exclude-pad", back=is_true)},
    "BatchNormInference": _EPSILON,
    "Convert": {"dst_type": Extracted("destination_type")},
    "Pad": {"mode": Extracted("pad_mode")},
    "StridedSlice": {name: Extracted(name, form=inverted, back=inverted) for name in INVERTED},
}
"""Kind of an operation set -> the records of attributes, by Model Optimizer's names; those without property and `write`
are read-only.
"""
