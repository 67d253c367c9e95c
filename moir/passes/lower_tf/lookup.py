"""Tables from keys to values, whose content is in the model.

The handle of a table becomes a constant number, so that it arrives wherever a handle can be passed to; the table is found by that number.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import string
from moir.passes.building import OpBuilder
from moir.passes.lower_tf.table import tf
from moir.passes.lowering import Lowering, Node

TABLES: WeakKeyDictionary[Lowering, list[tuple[DataAttr, DataAttr]]] = WeakKeyDictionary()
"""The keys and values of the tables that were met so far in each run of the lowering."""


@tf.lowers("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2")
def hash_table(node: Node, op: OpBuilder) -> SSAValue:
    """tf.HashTableV2() {keys, values} -> the number of the table"""
    keys, values = node.op.properties.get("keys"), node.op.properties.get("values")
    if not isinstance(keys, DataAttr) or not isinstance(values, DataAttr):
        node.fail("the content of the table is not in the model", hint="initialize the table from constants before the model is saved")
    tables = TABLES.setdefault(node.lowering, [])
    tables.append((keys, values))
    return op.constant(len(tables) - 1)


def table_of(node: Node) -> tuple[DataAttr, DataAttr]:
    """Keys and values of the table whose handle is the first operand. Raises ConversionError if it is not known which that is."""
    number = node.constant_integers(0)
    tables = TABLES.get(node.lowering, [])
    if number is None or len(number) != 1 or not 0 <= number[0] < len(tables):
        node.fail("which table this is, is not known while converting")
    return tables[number[0]]


@tf.lowers("LookupTableFind", "LookupTableFindV2")
def find(node: Node, op: OpBuilder) -> SSAValue:
    """tf.LookupTableFindV2(table, x, default) -> opset1.Select(x is key i, opset8.Gather(values, i, 0), default)

    i is found with opset15.SearchSorted in the sorted keys.
    """
    keys, values = table_of(node)
    if string in (keys.element, values.element):
        node.fail(
            "OpenVINO cannot look up strings",
            hint="look them up in front of the model, and cut it behind this node",
        )
    found, default = node.operand(1), node.operand(2)
    order = np.argsort(keys.array.reshape(-1), kind="stable")
    in_order, of_keys = keys.array.reshape(-1)[order], values.array.reshape(-1)[order]
    if in_order.size == 0:
        return op.Broadcast(default, op.ShapeOf(found))
    known = op.constant(in_order, keys.element)
    position = op.Minimum(op.SearchSorted(known, found), in_order.size - 1)
    is_key = op.Equal(op.Gather(known, position, 0), found)
    return op.Select(is_key, op.Gather(op.constant(of_keys, values.element), position, 0), default)


@tf.lowers("LookupTableSize", "LookupTableSizeV2")
def size(node: Node, op: OpBuilder) -> SSAValue:
    """tf.LookupTableSizeV2(table) -> the number of keys"""
    return op.constant(len(table_of(node)[0].array.reshape(-1)))
