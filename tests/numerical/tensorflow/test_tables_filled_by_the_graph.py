"""A user's graph fills its hash table from constants itself, before each lookup, and the lookup converts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import check

raw = tf.raw_ops
FORMS = ("static", "dynamic")
INTEGERS = np.array([1, 4, -3], np.int64)
TABLES = {
    "V2": (raw.HashTableV2, raw.LookupTableImportV2, raw.LookupTableFindV2),
    "mutable V2": (raw.MutableHashTableV2, raw.LookupTableImportV2, raw.LookupTableFindV2),
    "inserted": (raw.MutableHashTableV2, raw.LookupTableInsertV2, raw.LookupTableFindV2),
    "initialized": (raw.HashTableV2, raw.InitializeTableV2, raw.LookupTableFindV2),
    "V1": (raw.HashTable, raw.LookupTableImport, raw.LookupTableFind),
    "mutable V1": (raw.MutableHashTable, raw.LookupTableImport, raw.LookupTableFind),
}


def looked_up(table: str, x: Any, keys: Sequence[Any], values: Sequence[Any], default: Any) -> Any:
    create, fill, find = TABLES[table]
    kind = {str: tf.string, int: tf.int64, float: tf.float32}
    types = [kind[type(each[0])] for each in (keys, values)]
    constants = [tf.constant(each, type_) for each, type_ in zip((keys, values), types, strict=True)]
    handle = create(key_dtype=types[0], value_dtype=types[1])
    with tf.control_dependencies([fill(table_handle=handle, keys=constants[0], values=constants[1])]):
        return find(table_handle=handle, keys=x, default_value=tf.constant(default, types[1]))


@pytest.mark.parametrize("table", TABLES)
def test_numbers(table: str) -> None:
    check(lambda x: looked_up(table, x, [1, 4], [1.5, 2.5], -1.0), {"x": INTEGERS}, forms=FORMS)


def test_strings_are_keys() -> None:
    texts = np.array(["b", "q", "a"], object)
    check(lambda x: looked_up("mutable V2", x, ["a", "b"], [3, 4], -1), {"x": texts}, forms=FORMS)


def test_strings_are_values() -> None:
    check(lambda x: looked_up("mutable V2", x, [1, 4], ["one", "four"], "none"), {"x": INTEGERS}, forms=FORMS)


def filled_twice(x: Any) -> Any:
    """The second filling replaces an entry of the first one and adds another."""
    handle = raw.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.float32)
    first = raw.LookupTableImportV2(table_handle=handle, keys=tf.constant([1, 2], tf.int64), values=[1.0, 2.0])
    with tf.control_dependencies([first]):
        second = raw.LookupTableInsertV2(table_handle=handle, keys=tf.constant([4, 1], tf.int64), values=[4.0, 9.0])
    with tf.control_dependencies([second]):
        size = raw.LookupTableSizeV2(table_handle=handle)
        return raw.LookupTableFindV2(table_handle=handle, keys=x, default_value=-5.0), size


def test_filled_twice() -> None:
    check(filled_twice, {"x": INTEGERS}, forms=("static",))


def read_in_between(x: Any) -> Any:
    handle = raw.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.float32)
    before = raw.LookupTableFindV2(table_handle=handle, keys=x, default_value=-5.0)
    with tf.control_dependencies([before]):
        filling = raw.LookupTableImportV2(table_handle=handle, keys=tf.constant([4], tf.int64), values=[9.0])
    with tf.control_dependencies([filling]):
        return before, raw.LookupTableFindV2(table_handle=handle, keys=x, default_value=-5.0)


def test_a_table_that_is_read_in_front_of_its_filling_is_a_state() -> None:
    """Its content at the first read depends on whether the model has run before."""
    with pytest.raises(ConversionError, match="it changes table"):
        check(read_in_between, {"x": INTEGERS}, forms=("static",))
