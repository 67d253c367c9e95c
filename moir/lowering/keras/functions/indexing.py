"""Elements at indices, and slices.

    %y = keras.ops.GetItem(%x) {arguments = ["%0", [{slice = true}, {start = 1, stop = 4, slice = true}]]}
->  %y = opset8.Slice(%x, [1], [4], [1], [1])
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32, si64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, is_tensor, numbers_of
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

LAST = 2**31 - 1
"""The end of a slice that goes to the last element."""


@keras.lowers("ops.Take", "ops.TakeAlongAxis")
def take(node: LoweringNode, op: OpBuilder, *, axis: int | None = None) -> SSAValue:
    """keras.ops.Take(x, indices) {axis} -> opset8.Gather(x, indices, axis); likewise TakeAlongAxis by GatherElements

    Without an axis x is flattened.
    """
    arguments = Arguments(node, "x", "indices")
    x, rank = arguments.tensor("x"), node.known_rank(0)
    positions = arguments.get("indices")
    indices = op.convert(positions, si32) if is_tensor(positions) else op.constant(numbers_of(positions).astype(np.int64))
    data = op.Reshape(x, [-1], special_zero=False) if axis is None else x
    axis_ = 0 if axis is None else axis_list(node, axis, rank)[0]
    if node.op.KIND == "ops.Take":
        return op.Gather(data, indices, axis_)
    size = op.convert(dimension_list(op, data, axis_), element_of(indices))
    return op.GatherElements(data, op.Select(op.Less(indices, 0), op.Add(indices, size), indices), axis=axis_)


@keras.lowers("ops.GetItem")
def item(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.GetItem(x, key) -> opset8.Slice(x), opset8.Gather(x), opset1.Squeeze(x), opset1.Unsqueeze(x)"""
    arguments = Arguments(node, "x", "key")
    return indexed(
        node, op, arguments.tensor("x"), arguments.positional[1] if len(arguments.positional) > 1 else arguments.keywords.get("key")
    )


def indexed(node: LoweringNode, op: OpBuilder, x: SSAValue, key: Any) -> SSAValue:
    """The part of a tensor that an index `key` selects: integers, slices, new axes, an ellipsis, and at most one tensor
    of indices.

    Raises ConversionError if the rank of the tensor is dynamic, or the index has more elements than the tensor has
    axes.
    """
    entries: list[Any] = list(cast("list[Any]", key)) if isinstance(key, list) else [key]
    rank = rank_of(x)
    if rank is None:
        node.fail("the rank of its tensor is dynamic")
    taken = sum(each is not None and not (isinstance(each, str) and each == "...") for each in entries)
    if taken > rank:
        node.fail(f"an index of {taken} entries for a tensor of rank {rank}")
    position = next((index for index, each in enumerate(entries) if isinstance(each, str) and each == "..."), len(entries))
    filler = [{"slice": True}] * (rank - taken)
    entries = entries[:position] + filler + entries[position + 1 :]
    starts, stops, steps, axes = list[int](), list[int](), list[int](), list[int]()
    squeezed: list[int] = []
    added: list[int] = []
    gathers: list[tuple[int, SSAValue]] = []
    axis = result = 0
    for each in entries:
        if each is None:
            added.append(result)
            result += 1
            continue
        if isinstance(each, dict):
            begin, end, step = (cast("dict[str, Any]", each).get(name) for name in ("start", "stop", "step"))
            if any(is_tensor(bound) for bound in (begin, end, step)):
                x = _computed_slice(op, x, axis, begin, end, step)
            elif (begin, end, step) != (None, None, None):
                step = 1 if step is None else int(step)
                starts.append(int(begin) if begin is not None else 0 if step > 0 else -1)
                stops.append(int(end) if end is not None else LAST if step > 0 else -(2**31))
                steps.append(step)
                axes.append(axis)
            result += 1
        elif isinstance(each, bool):
            node.fail("an index that is a truth value is not supported")
        elif isinstance(each, int):
            starts.append(each)
            stops.append(each + 1 if each != -1 else LAST)
            steps.append(1)
            axes.append(axis)
            squeezed.append(axis)
        elif is_tensor(each) and element_of(each) != boolean:
            gathers.append((axis, each))
            result += rank_of(each) or 0
        else:
            node.fail(f"an index with {type(each).__name__} is not supported")
        axis += 1
    if len(gathers) > 1:
        node.fail("an index with several tensors is not supported")
    if axes:
        x = op.Slice(x, starts, stops, steps, axes)
    for axis, indices in gathers:
        x = op.Gather(x, op.convert(indices, si64), axis)
        squeezed = [each + (rank_of(indices) or 0) - 1 if each > axis else each for each in squeezed]
    x = op.Squeeze(x, squeezed) if squeezed else x
    return op.Unsqueeze(x, added) if added else x


def _computed_slice(op: OpBuilder, x: SSAValue, axis: int, begin: Any, end: Any, step: Any) -> SSAValue:
    bounds = [
        op.Reshape(op.convert(each, si64), [1], special_zero=False) if is_tensor(each) else op.constant([default if each is None else each])
        for each, default in ((begin, 0), (end, LAST), (step, 1))
    ]
    return op.Slice(x, *bounds, [axis])


@keras.lowers("ops.Slice")
def part(node: LoweringNode, op: OpBuilder, *, shape: tuple[int, ...]) -> SSAValue:
    """keras.ops.Slice(x, start) {shape} -> opset8.Slice(x, start, start + shape)"""
    arguments = Arguments(node, "inputs", "start_indices")
    starts = arguments.get("start_indices")
    first = op.convert(starts, si64) if is_tensor(starts) else op.constant(list(starts), si64)
    extent = op.constant(list(shape), si64)
    return op.Slice(arguments.tensor("inputs"), first, op.Add(first, extent), [1] * len(shape), list(range(len(shape))))
