"""Joins of tensors and their parts.

    %y = keras.ops.Concatenate([%a, %b]) {axis = 1}
->  %y = opset1.Concat(%a, %b) {axis = 1}
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, values_within
from moir.lowering.keras.functions.elementwise import single
from moir.lowering.keras.promotion import promoted
from moir.lowering.keras.table import keras
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@keras.lowers("ops.Concatenate", "ops.Stack", "ops.Hstack", "ops.Vstack", "ops.Dstack", "ops.Append")
def joined(node: LoweringNode, op: OpBuilder, *, axis: int | None = None) -> SSAValue:
    """keras.ops.Concatenate([a, b]) {axis} -> opset1.Concat(a, b)"""
    values = promoted(op, values_within(Arguments(node).positional))
    rank = rank_of(values[0])
    if rank is None:
        node.fail("the rank of its tensors is unknown")
    match node.op.KIND:
        case "ops.Stack":
            place = normalize_axis(0 if axis is None else axis, rank + 1)
            return op.Concat(*(op.Unsqueeze(each, [place]) for each in values), axis=place)
        case "ops.Hstack":
            axis = 0 if rank == 1 else 1
        case "ops.Vstack":
            values, axis = [op.Unsqueeze(each, [0]) if rank == 1 else each for each in values], 0
        case "ops.Dstack":
            added = {1: [0, 2], 2: [2]}.get(rank)
            values, axis = [op.Unsqueeze(each, added) if added else each for each in values], 2
        case "ops.Append" if axis is None:
            values, axis = [op.Reshape(each, [-1], special_zero=False) for each in values], 0
        case _:
            axis = 0 if axis is None else axis
    return op.Concat(*values, axis=normalize_axis(axis, rank_of(values[0]) or 1))


@keras.lowers("ops.Split", "ops.ArraySplit", "ops.Unstack")
def split(
    node: LoweringNode, op: OpBuilder, *, indices_or_sections: object | None = None, axis: int = 0, num: int | None = None
) -> Replacement:
    """keras.ops.Split(x) {indices_or_sections, axis} -> opset1.Split(x) or opset1.VariadicSplit(x)"""
    x = single(node)
    place = axis_list(node, axis, node.known_rank(0))[0]
    size = (shape_of(x) or ())[place]
    if node.op.KIND == "ops.Unstack":
        count = size if num is None else num
        if count < 1:
            node.fail("the number of its parts is unknown")
        parts = op.Split.parts(count, x, place, num_splits=count) if count > 1 else (x,)
        return [op.Squeeze(each, [place]) for each in parts][: node.result_count]
    if isinstance(indices_or_sections, int):
        if size < 0 or indices_or_sections < 1 or (size % indices_or_sections and node.op.KIND == "ops.Split"):
            node.fail(f"{size} elements in {indices_or_sections} parts")
        base, more = divmod(size, indices_or_sections)
        lengths = [base + (index < more) for index in range(indices_or_sections)]
    else:
        if size < 0:
            node.fail("the size of its axis is unknown")
        bounds = [0, *(int(each) for each in cast("Sequence[int]", indices_or_sections)), size]
        lengths = [after - before for before, after in pairwise(bounds)]
    if len(lengths) == 1:
        return [x]
    return list(op.VariadicSplit.parts(len(lengths), x, place, lengths))[: node.result_count]
