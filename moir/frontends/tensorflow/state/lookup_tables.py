"""Hash tables whose entries are in a text file of the model.

Every line of the file is an entry. Its key and its value are each the whole line, the number of the line, or a column.

Source: tf.raw_ops.InitializeTableFromTextFileV2.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.frontends.tensorflow.state.assets import OpenedAsset
from moir.support.records import Record

WHOLE_LINE, LINE_NUMBER = -2, -1


class TextTable(Record):
    """The layout of a table in a text file: which columns are keys and values, and which lines are read.

    Args:
        key_index: column of the keys, or WHOLE_LINE, or LINE_NUMBER.
        value_index: column of the values, or WHOLE_LINE, or LINE_NUMBER.
        lines: number of lines that are read; -1 for all.
        delimiter: separator of the columns.
        first: index of the first line that is read.
    """

    key_index: int
    value_index: int
    lines: int = -1
    delimiter: str = "\t"
    first: int = 0


def read_text_table(
    asset: OpenedAsset, table: str, layout: TextTable, key_type: Attribute, value_type: Attribute
) -> tuple[DataAttr, DataAttr]:
    """The keys and values of a table, each of shape [number of entries].

    Args:
        asset: the file.
        table: name of the table, for messages.
        layout: columns of keys and values, and the lines to read.
        key_type: element type of the keys.
        value_type: element type of the values.

    Raises ModelFileError for a file that is not in UTF-8, or lacks a line or a column.
    """
    path, mapped = asset
    try:
        text = "" if mapped is None else mapped[:].decode()
    except UnicodeDecodeError as error:
        reason = f"the file of the hash table {table!r} is not in UTF-8"
        raise ModelFileError(reason, location=f"{path}, offset {error.start}") from None
    lines = text.replace("\r", "").split("\n")
    if not lines[-1]:
        lines.pop()
    if layout.lines >= 0:
        if len(lines) < layout.lines:
            reason = f"the hash table {table!r} has {layout.lines} entries, its file {len(lines)} lines"
            raise ModelFileError(reason, location=str(path))
        lines = lines[: layout.lines]
    if "" in lines:
        raise ModelFileError("a line of the file of a hash table is empty", location=f"{path}, line {lines.index('') + 1}")
    return _column(path, lines, layout, layout.key_index, key_type), _column(path, lines, layout, layout.value_index, value_type)


def _column(path: Path, lines: list[str], layout: TextTable, index: int, element: Attribute) -> DataAttr:
    """Column `index` of the lines of a text file, as values of an element type.

    Raises ModelFileError if a line has no such column, or a value is not a number where one is needed.
    """
    dtype = element_types.to_numpy(element)
    if index == LINE_NUMBER:
        return DataAttr.of(np.arange(layout.first, layout.first + len(lines)).astype(dtype), element)
    column = np.empty(len(lines), object)
    for number, line in enumerate(lines):
        fields = [line] if index == WHOLE_LINE else line.split(layout.delimiter)
        column_index = 0 if index == WHOLE_LINE else index
        if not 0 <= column_index < len(fields):
            raise ModelFileError(f"there is no column {index}", location=f"{path}, line {number + 1}")
        column[number] = fields[column_index]
    if element == element_types.string:
        return DataAttr.of(column, element)
    try:
        return DataAttr.of(np.array([int(cell) if dtype.kind in "iu" else float(cell) for cell in column], dtype), element)
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"a value of the hash table is not a number: {error}", location=str(path)) from None
