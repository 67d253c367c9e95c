"""Hash tables whose contents are part of the model.

The handle of a table is lowered to a constant id, which can be passed to bodies; lookups identify the table by this id.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import SSAValue

from moir.dialects.data import DataAttr
from moir.expansions.lookups import looked_up
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

Tables: TypeAlias = list[tuple[DataAttr, DataAttr]]
"""Pairs of the keys and the values of hash tables; a table's id is its index."""


def tables_met(node: LoweringNode) -> Tables:
    """The hash tables that this lowering has met so far."""
    return node.run.state(hash_table, list[tuple[DataAttr, DataAttr]])


@tf.lowers("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2")
def hash_table(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.HashTableV2() {keys, values} -> the id of the table"""
    keys, values = node.op.properties.get("keys"), node.op.properties.get("values")
    if not isinstance(keys, DataAttr) or not isinstance(values, DataAttr):
        node.fail("the content of the table is not in the model", hint="initialize the table from constants before the model is saved")
    tables = tables_met(node)
    tables.append((keys, values))
    return op.constant(len(tables) - 1)


def table_of(node: LoweringNode) -> tuple[DataAttr, DataAttr]:
    """Keys and values of the table whose handle is operand 0. Raises ConversionError if the handle is not constant."""
    index = node.constant_integers(0)
    tables = tables_met(node)
    if index is None or len(index) != 1 or not 0 <= index[0] < len(tables):
        node.fail("which table this is, is not known while converting")
    return tables[index[0]]


@tf.lowers("LookupTableFind", "LookupTableFindV2")
def find(node: LoweringNode, op: OpBuilder, _table_handle: SSAValue, keys_: SSAValue, default_value: SSAValue) -> SSAValue:
    """tf.LookupTableFindV2(table, x, default_value)
    -> opset1.Select(x equals key i, opset8.Gather(values, i, 0), default_value)

    opset15.SearchSorted finds i in the sorted keys; strings are compared byte by byte.
    """
    values = looked_up(op, keys_, *table_of(node), default_value)
    if values is None:
        node.fail("the default for missing keys is computed when the model runs", hint="make it a constant")
    return values


@tf.lowers("LookupTableSize", "LookupTableSizeV2")
def size(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.LookupTableSizeV2(table) -> the number of keys"""
    return op.constant(len(table_of(node)[0].array.reshape(-1)))
