"""Concatenation and splitting of tensors.

    %y = keras.ops.Concatenate([%a, %b]) {axis = 1}
->  %y = opset1.Concat(%a, %b) {axis = 1}
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, values_within
from moir.lowering.keras.functions.elementwise import single
from moir.lowering.keras.promotion import operands, promoted
from moir.lowering.keras.table import keras
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@keras.lowers("ops.Concatenate", "ops.Stack", "ops.Hstack", "ops.Vstack", "ops.Dstack", "ops.Append")
def joined(node: LoweringNode, op: OpBuilder, *, axis: int | None = None) -> SSAValue:
    """keras.ops.Concatenate([a, b]) {axis} -> opset1.Concat(a, b); likewise the stacks and Append"""
    values = _values(node, op)
    rank = rank_of(values[0])
    if rank is None:
        node.fail("the rank of its tensors is dynamic")
    match node.op.KIND:
        case "ops.Stack":
            axis_ = normalize_axis(0 if axis is None else axis, rank + 1)
            return op.Concat(*(op.Unsqueeze(each, [axis_]) for each in values), axis=axis_)
        case "ops.Hstack":
            axis = 0 if rank == 1 else 1
        case "ops.Vstack":
            # Keras documents that vectors are concatenated; NumPy, JAX and PyTorch make a row of each.
            axis = 0
        case "ops.Dstack":
            added = {1: [0, 2], 2: [2]}.get(rank)
            values, axis = [op.Unsqueeze(each, added) if added else each for each in values], 2
        case "ops.Append" if axis is None:
            values, axis = [op.Reshape(each, [-1], special_zero=False) for each in values], 0
        case _:
            axis = 0 if axis is None else axis
    return op.Concat(*values, axis=normalize_axis(axis, rank_of(values[0]) or 1))


def _values(node: LoweringNode, op: OpBuilder) -> list[SSAValue]:
    """The tensors that a call joins; numbers among its arguments become constants."""
    positional = Arguments(node).positional
    items = cast("list[Any]", positional[0]) if len(positional) == 1 and isinstance(positional[0], list) else positional
    is_constant = [not values_within(each) for each in items]
    return operands(op, *items) if any(is_constant) and not all(is_constant) else promoted(op, values_within(positional))


SPLIT_AXES = {"ops.Dsplit": 2, "ops.Vsplit": 0}
"""The axes of functions whose name implies the axis; Hsplit has axis 1, or 0 for data of one dimension."""


@keras.lowers("ops.Split", "ops.ArraySplit", "ops.Hsplit", "ops.Vsplit", "ops.Dsplit", "ops.Unstack")
def split(
    node: LoweringNode, op: OpBuilder, *, indices_or_sections: object | None = None, axis: int = 0, num: int | None = None
) -> Replacement:
    """keras.ops.Split(x) {indices_or_sections, axis} -> opset1.Split(x) or opset1.VariadicSplit(x)

    Likewise the other splits; Unstack removes the axis.
    """
    x = single(node)
    rank = node.known_rank(0)
    axis = min(rank - 1, 1) if node.op.KIND == "ops.Hsplit" else SPLIT_AXES.get(node.op.KIND, axis)
    axis_ = axis_list(node, axis, rank)[0]
    size = (shape_of(x) or ())[axis_]
    if node.op.KIND == "ops.Unstack":
        count = size if num is None else num
        if count < 1:
            node.fail("the number of its parts is dynamic")
        parts = op.Split.parts(count, x, axis_, num_splits=count) if count > 1 else (x,)
        return [op.Squeeze(each, [axis_]) for each in parts][: node.result_count]
    if isinstance(indices_or_sections, int):
        if indices_or_sections == 1:
            return [x]
        if size < 0 and node.op.KIND != "ops.ArraySplit" and indices_or_sections > 1:
            return list(op.Split.parts(indices_or_sections, x, axis_, num_splits=indices_or_sections))[: node.result_count]
        if size < 0 and indices_or_sections > 1:
            # The first parts are longer by one: 5 elements in 3 parts are (5 + (2, 1, 0)) // 3 = (2, 2, 1) elements.
            sums = op.Add(dimension_list(op, x, axis_), op.constant([*range(indices_or_sections - 1, -1, -1)]))
            lengths = op.Divide(sums, op.constant(indices_or_sections))
            return list(op.VariadicSplit.parts(indices_or_sections, x, axis_, lengths))[: node.result_count]
        if indices_or_sections < 1 or (size % indices_or_sections and node.op.KIND != "ops.ArraySplit"):
            node.fail(f"{size} elements in {indices_or_sections} parts")
        base, more = divmod(size, indices_or_sections)
        lengths = [base + (index < more) for index in range(indices_or_sections)]
    else:
        bounds = [0, *(int(each) for each in cast("Sequence[int]", indices_or_sections))]
        lengths = [after - before for before, after in pairwise(bounds)]
        if size < 0 and min(lengths, default=0) < 0:
            node.fail("the size of its axis is dynamic")
        # If the size is dynamic, VariadicSplit computes the last length.
        lengths.append(size - bounds[-1] if size >= 0 else -1)
    if len(lengths) == 1:
        return [x]
    return list(op.VariadicSplit.parts(len(lengths), x, axis_, lengths))[: node.result_count]
