"""Results as tables: plain text, HTML, and tables of `rich` on a terminal are made from the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, cast

from moir.support.records import Record

UNITS = ("B", "KB", "MB", "GB", "TB")


class Table(Record):
    """A table.

    Args:
        title: its title.
        columns: the names of its columns.
        rows: its cells, row by row.
        bad: the indices of the rows that are marked as errors.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bad: frozenset[int] = frozenset()


class Shown(Record):
    """The base class of results that have three forms: text when they are printed, tables in a notebook, a dictionary
    for programs.
    """

    def tables(self) -> list[Table]:
        """The result as tables; those without rows are left out."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The result as values of JSON."""
        return plain(self)

    def __str__(self) -> str:
        return text_of(self.tables())

    def _repr_html_(self) -> str:
        return html_of(self.tables())


def plain(value: object) -> Any:
    """A record as a dictionary of its fields, in which nested records are dictionaries, too; all values are values of
    JSON.
    """
    if isinstance(value, Record):
        return {name: plain(each) for name, each in value.by_name().items()}
    if isinstance(value, tuple | list):
        return [plain(each) for each in cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in cast("Mapping[object, object]", value).items()}
    return value


def size_text(count: int) -> str:
    """A number of bytes as text, in a unit that suits its magnitude."""
    size, unit = float(count), 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{size:.1f} {UNITS[unit]}"


def one_line(text: str) -> str:
    """A text with control characters escaped: names in a model come from anywhere, and a terminal would obey control
    characters.
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def text_of(tables: Sequence[Table]) -> str:
    """Tables as plain text, columns aligned, blank lines between tables."""
    return "\n\n".join("\n".join([one_line(table.title), *_lines(table)]) for table in tables)


def _lines(table: Table) -> Iterator[str]:
    header = [table.columns] if any(table.columns) else []
    rows = [[one_line(cell) for cell in row] for row in (*header, *table.rows)]
    widths = [max(len(row[index]) for row in rows) for index in range(len(table.columns))]
    return ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def html_of(tables: Sequence[Table]) -> str:
    """Tables as HTML, for notebooks."""
    return "".join(map(_html, tables))


def _html(table: Table) -> str:
    header = f"<tr>{''.join(f'<th>{escape(each)}</th>' for each in table.columns)}</tr>" if any(table.columns) else ""
    rows = "".join(
        f"<tr{_BAD if index in table.bad else ''}>{''.join(f'<td>{escape(one_line(cell))}</td>' for cell in row)}</tr>"
        for index, row in enumerate(table.rows)
    )
    return f"<table><caption>{escape(one_line(table.title))}</caption>{header}{rows}</table>"


_BAD = ' style="color: #c00"'
