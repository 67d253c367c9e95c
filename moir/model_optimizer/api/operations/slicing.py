"""Functions of the class StridedSlice that extensions call.

    begin, end, strides = StridedSlice.validate_inputs_and_get_args(node)
    StridedSlice.align_mask_with_slice_rank(node, len(begin))
    data[tuple(StridedSlice.get_slices(node, shape, begin, end, strides))]

A 0 in `begin_mask` or `end_mask` of a node means that the entry is ignored, see `values.slice_masks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from moir.dialects.data import Array
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.api.operations.description import inferred_as
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.values.shapes import is_fully_defined
from moir.model_optimizer.values.slice_masks import INVERTED, MASKS

_BEGIN, _END, _STRIDES = 1, 2, 3

_INFERRED = inferred_as("StridedSlice", keeps_values=True)
"""The inference for a StridedSlice whose begin, end or strides are not constant."""


def mask_names() -> list[str]:
    """The names of the attributes of a StridedSlice that are masks."""
    return list(MASKS)


def sliced_by(node: GraphNode) -> tuple[Array, Array, Array]:
    """The values of begin, end and strides of a StridedSlice; strides are 1 if nothing is connected.

    Raises Error if one of them is not constant, or has another length.
    """
    values: list[Array] = []
    for number, name in ((_BEGIN, "begin"), (_END, "end"), (_STRIDES, "strides")):
        if number == _STRIDES and not node.is_in_port_connected(number):
            values.append(np.ones_like(values[0]))
            continue
        value = node.in_port(number).data.get_value()
        if value is None:
            raise Error("the {} of the StridedSlice {!r} is not constant", name, node.name)
        values.append(value)
    begin, end, strides = values
    if not len(begin) == len(end) == len(strides):
        raise Error("begin {}, end {} and strides {} of the StridedSlice {!r} have different lengths", begin, end, strides, node.name)
    return begin, end, strides


def align_masks(node: GraphNode, slice_rank: int) -> None:
    """Extend all masks of a StridedSlice to the length of `begin`, by entries that have no effect."""
    for name in MASKS:
        given = np.array(node[name], np.int64).reshape(-1)
        filler = np.full(max(slice_rank - len(given), 0), int(name in INVERTED), np.int64)
        node[name] = np.concatenate([given, filler])


def slices_of(node: GraphNode, data_shape: Sequence[int] | Array, begin: Array, end: Array, strides: Array) -> list[Any]:
    """The numpy index of a StridedSlice with constant begin, end and strides: a slice, integer, np.newaxis or ... for
    each entry.

    The masks of the node have as many entries.
    """
    keeps_begin, keeps_end, adds, shrinks, ellipsis = (np.array(node[name], np.int64).reshape(-1) for name in MASKS)
    slices: list[Any] = []
    axis = 0
    for place in range(len(begin)):
        if adds[place]:
            slices.append(np.newaxis)
            continue
        if shrinks[place]:
            index = int(begin[place])
            slices.append(index + int(data_shape[axis]) if index < 0 else index)
        elif ellipsis[place]:
            slices.append(...)
            axis += len(data_shape) - len(begin) + int(np.count_nonzero(adds))
        else:
            start, stop = (each[place] if keeps[place] else None for each, keeps in ((begin, keeps_begin), (end, keeps_end)))
            slices.append(slice(start, stop, strides[place]))
        axis += 1
    return slices


def infer_slice(node: GraphNode) -> None:
    """The `infer` of the class: the result, and the attribute `slices` where begin, end and strides are constant.

    In tests the node may be a stand-in that has only masks.
    """
    shape = node.in_port(0).data.get_shape()
    is_constant = all(node.in_port(number).data.get_value() is not None for number in (_BEGIN, _END))
    if shape is None or not is_constant:
        _INFERRED(node)
        return
    begin, end, strides = sliced_by(node)
    align_masks(node, len(begin))
    slices = slices_of(node, shape, begin, end, strides)
    node["slices"] = slices
    value, result = node.in_port(0).data.get_value(), node.out_port(0).data
    if value is not None:
        result.set_value(value[tuple(slices)])
    elif is_fully_defined(shape):
        result.set_shape(np.broadcast_to(np.int8(0), shape)[tuple(slices)].shape)
    else:
        _INFERRED(node)
