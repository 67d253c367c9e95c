"""Changes inputs of an extension's operation whose elements are axes of its data to the order of axes in which the
operation gets the data.

mo.MyReduce(%x : 1x6x5x4, [1, 2]), input 1 an "axis" of input 0  ->  extension.MyReduce(%x : 1x4x6x5, [2, 3])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.model_optimizer.graph.attribute_permutation import channel_first_order, inverse
from moir.model_optimizer.graph.input_permutation import InputPermutation
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.rewriting.builder import OpBuilder


def order_of_port(node: MoLoweringNode, port: str, kept: frozenset[int]) -> Sequence[int] | None:
    """The order that transposes the data at a port (`input:0` or `output:0`) to [N, C, spatial…]; None if the data is
    not transposed.

    `kept` are the indices of the inputs whose data is not transposed.
    """
    kind, _, number = port.partition(":")
    values = node.operands if kind == "input" else list(node.op.results)
    index = int(number)
    if index >= len(values) or (kind == "input" and index in kept):
        return None
    return channel_first_order(rank_of(values[index]))


def _entries(node: MoLoweringNode, op: OpBuilder, value: SSAValue, indices: Sequence[int]) -> SSAValue:
    """Gather the elements of a tensor along its first axis, in the order of `indices`; of a constant, a new
    constant.
    """
    known = node.known.constant(value)
    if known is None:
        return op.Gather(value, np.array(indices, np.int64), 0)
    return op.constant(known[np.array(indices)], element_of(value))


def _numbers(node: MoLoweringNode, op: OpBuilder, value: SSAValue, table: Sequence[int]) -> SSAValue:
    """Replace indices of axes, the elements of a tensor, by the elements of `table` at these indices, which may be
    negative.
    """
    element, known = element_of(value), node.known.constant(value)
    if known is None:
        return op.Gather(op.constant(np.array(table), element), value, 0)
    return op.constant(np.array(table)[known.astype(np.int64)], element)


def permuted_input(
    node: MoLoweringNode, op: OpBuilder, index: int, value: SSAValue, permutation: InputPermutation, order: Sequence[int]
) -> SSAValue:
    """Change an input whose elements are axes, or belong to axes, to another order of the axes.

    Args:
        node: the operation.
        op: the builder of operations.
        index: the index of the input, for the message.
        value: the input.
        permutation: what its elements mean.
        order: the order of axes that the data gets.

    Raises ConversionError if elements belong to axes, and there are not as many as the data has axes.
    """
    rule = permutation.rule
    if rule == "transpose":
        own = channel_first_order(rank_of(value))
        return value if own is None else op.transposed(value, own)
    if rule == "axis":
        return _numbers(node, op, value, inverse(order))
    shape = shape_of(value)
    count = shape[0] if shape else -1
    if rule == "slice":
        sliced = channel_first_order(count)
        return value if sliced is None else _entries(node, op, value, sliced)
    if count >= 0 and count != len(order):
        node.fail(f"its input {index} has {count} entries, and its data at {permutation.port} has {len(order)} axes")
    entries = _entries(node, op, value, order)
    return _numbers(node, op, entries, inverse(order)) if rule == "order" else entries


def known_values(node: MoLoweringNode, indices: Sequence[int]) -> dict[int, Array]:
    """The values of the inputs at `indices` that are constant, by index."""
    values_by_index = {index: node.known.constant(node.operands[index]) for index in indices}
    return {index: value for index, value in values_by_index.items() if value is not None}
