"""Look-ups in tables whose contents are operands.

    tflite.HASHTABLE_FIND(keys, values, x, default)

The frontend replaces the handle of a hash table by its keys and values.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import si64, ui8
from moir.dialects.shapes import element_of
from moir.expansions.lookups import looked_up
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tflite.table import tflite
from moir.rewriting.builder import OpBuilder


@tflite.lowers("HASHTABLE_FIND")
def find(node: LoweringNode, op: OpBuilder, keys_: SSAValue, values_: SSAValue, query: SSAValue, default_value: SSAValue) -> SSAValue:
    """tflite.HASHTABLE_FIND(keys, values, x, default)
    -> opset1.Select(x equals key i, opset8.Gather(values, i, 0), default)
    """
    keys, values = (node.known.constant(each) for each in (keys_, values_))
    if keys is None or values is None or keys.size != values.size:
        node.fail("the content of the table is not in the model", hint="initialize the table from constants")
    table = DataAttr.of(keys, element_of(keys_)), DataAttr.of(values, element_of(values_))
    result = looked_up(op, query, *table, default_value)
    if result is None:
        node.fail("the default for missing keys is computed when the model runs", hint="make it a constant")
    return result


@tflite.lowers("HASHTABLE_SIZE")
def size(node: LoweringNode, op: OpBuilder, keys: SSAValue, _values: SSAValue) -> SSAValue:
    """tflite.HASHTABLE_SIZE(keys, values) -> the number of keys"""
    constant = node.known.constant(keys)
    if constant is None:
        node.fail("the content of the table is not in the model", hint="initialize the table from constants")
    return op.constant(np.array([constant.size]), si64)


@tflite.lowers("HASHTABLE_LOOKUP")
def lookup(op: OpBuilder, query: SSAValue, keys: SSAValue, values: SSAValue) -> Replacement:
    """tflite.HASHTABLE_LOOKUP(x [n], keys [k] in ascending order, rows [k, …])
    -> the row of each key, or zeros; and whether it was found
    """
    position = op.Minimum(op.SearchSorted(keys, query), op.Subtract(op.ShapeOf(keys), 1))
    is_key = op.Equal(op.Gather(keys, position, 0), query)
    rows = op.Gather(values, position, 0)
    ones = op.Broadcast(op.constant(np.array(1)), op.Subtract(op.ShapeOf(op.ShapeOf(rows)), 1))
    mask = op.Reshape(is_key, op.Concat([-1], ones, axis=0), special_zero=False)
    return [op.Select(mask, rows, op.constant_like(0, rows)), op.convert(is_key, ui8)]
