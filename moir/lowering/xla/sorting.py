"""Sorts in the order of a comparator."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Region, SSAValue

from moir.dialects.element_types import boolean, si64, ui8
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.xla.computations import sort_keys
from moir.lowering.xla.order_of_nan import may_be_nan, with_nan_as_extreme
from moir.rewriting.builder import OpBuilder


def sorted_by(node: LoweringNode, op: OpBuilder, body: Region, operands: Sequence[SSAValue], axis: int) -> Sequence[SSAValue]:
    """Operands sorted along an axis by the comparator `body`. Raises ConversionError if it is not a lexicographic order
    by operands.

    With several keys, the data are sorted by the last key first; the sort by a key before it is stable, so it keeps the
    order of equal elements.
    """
    keys = sort_keys(body)
    # A comparator may compare a value from outside of it, a parameter after those of the operands.
    if keys is None or any(key.operand >= len(operands) for key in keys):
        node.fail(
            "its comparator is not an order by its operands",
            hint="sort by numbers alone, or cut the model before this node",
        )
    for key in reversed(keys):
        sorted_keys, indices = ordered(op, operands[key.operand], axis, ascends=key.ascends)
        operands = [
            sorted_keys if index == key.operand else op.GatherElements(each, indices, axis=axis) for index, each in enumerate(operands)
        ]
    return operands


def ordered(op: OpBuilder, keys: SSAValue, axis: int, *, ascends: bool) -> tuple[SSAValue, SSAValue]:
    """Keys sorted stably along an axis, and the indices they had before. NaN is ordered above all numbers."""
    element = element_of(keys)
    if may_be_nan(op, keys):
        order = with_nan_as_extreme(op, keys, largest=True)
        count = op.Squeeze(dimension_list(op, keys, axis), [0])
        how = {"axis": axis, "mode": "min" if ascends else "max", "sort": "value", "stable": True, "index_element_type": si64}
        indices = op.TopK.results(order, count, **how)[1]
        return op.GatherElements(keys, indices, axis=axis), indices
    data = op.convert(keys, ui8) if element is boolean else keys
    count = op.Squeeze(dimension_list(op, data, axis), [0])
    mode = "min" if ascends else "max"
    values, indices = op.TopK.results(data, count, axis=axis, mode=mode, sort="value", stable=True, index_element_type=si64)
    return op.convert(values, element), indices
