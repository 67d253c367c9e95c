"""Strings of operands, replaced by their indices in a 1-D tensor of all strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64, string
from moir.dialects.shapes import element_count, shape_of
from moir.expansions.strings.texts import LARGEST_COUNT, flat
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

MOST_LISTED = 1 << 16
"""The largest number of indices that are stored as a constant.

More are computed, so that a large shape in a file takes no memory.
"""


def numbered(node: LoweringNode, op: OpBuilder, operands: Sequence[int]) -> tuple[SSAValue, Mapping[int, SSAValue]]:
    """The strings of some operands as one 1-D tensor, after an empty string, and for each operand the indices of its
    strings in it.

    The map has the indices, in the shape of the operand, by the index of the operand.
    """
    replaced: dict[int, SSAValue] = {}
    parts = [op.constant(np.array([""], dtype=object), string)]
    first: int | SSAValue = 1
    for index in operands:
        value = node.operand(index)
        parts.append(flat(op, value))
        shape = shape_of(value)
        size = element_count(shape)
        if size is not None and size > LARGEST_COUNT:
            node.fail(f"operand {index} has {size} strings: opset15.StringTensorUnpack counts at most {LARGEST_COUNT}")
        if isinstance(first, int) and shape is not None and size is not None and size <= MOST_LISTED:
            indices = op.constant(np.arange(first, first + size).reshape(shape))
            first += size
        else:
            stop = op.Add(op.ReduceProd(op.ShapeOf(value), [0], keep_dims=False), first)
            indices = op.Reshape(op.Range(first, stop, 1, output_type=si64), op.ShapeOf(value), special_zero=False)
            first = stop
        replaced[index] = indices
    return op.Concat(*parts, axis=0), replaced
