"""Results as tables: plain text, HTML, and what `rich` draws on a terminal are made of the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, cast

from moir.records import Record

if TYPE_CHECKING:
    from moir.inspection.records import Inspection, Neighbour, NodeInspection

UNITS = ("B", "KB", "MB", "GB", "TB")


class Table(Record):
    """A table.

    Args:
        title: what is in it.
        columns: the names of its columns.
        rows: its cells, row by row.
        bad: the numbers of the rows that are shown as a mistake is.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bad: frozenset[int] = frozenset()


def size_text(count: int) -> str:
    """A number of bytes in the unit that fits it."""
    size, unit = float(count), 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{size:.1f} {UNITS[unit]}"


def one_line(text: str) -> str:
    """A text without what a terminal would obey: names in a model come from anywhere."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def inspection_tables(found: Inspection) -> list[Table]:
    """The tables of an inspection; those without rows are left out."""
    total = sum(each.count for each in found.operations)
    tables = [
        Table("model", ("", ""), (("name", found.name), ("format", found.format), *_metadata(found))),
        *(
            Table(title, ("name", "type", "shape", "layout"), tuple((p.name, p.element, p.shape, p.layout or "") for p in ports))
            for title, ports in (("inputs", found.inputs), ("outputs", found.outputs))
        ),
        Table(
            f"operations: {total}",
            ("kind", "count", ""),
            tuple((each.name, str(each.count), "" if each.convertible else "cannot be converted") for each in found.operations),
            frozenset(index for index, each in enumerate(found.operations) if not each.convertible),
        ),
        Table("cannot be converted", ("kind", "nodes", "reason"), tuple(_obstacles(found)), frozenset(range(len(found.obstacles) + 1))),
        Table(
            f"weights: {size_text(found.weight_bytes)}",
            ("type", "count", "elements", "size"),
            tuple((each.element, str(each.count), str(each.elements), size_text(each.bytes)) for each in found.weights),
        ),
        Table(
            "largest weights",
            ("name", "type", "shape", "size"),
            tuple((w.name, w.element, f"[{','.join(map(str, w.shape))}]", size_text(w.bytes)) for w in found.largest_weights),
        ),
        Table(
            "subgraphs",
            ("node", "kind", "body", "operations", "inputs", "outputs"),
            tuple((s.node, s.operation, s.role, str(s.operations), str(s.inputs), str(s.outputs)) for s in found.subgraphs),
        ),
    ]
    return [each for each in tables if each.rows]


def _metadata(found: Inspection) -> Iterator[tuple[str, str]]:
    for name, value in found.metadata.items():
        if isinstance(value, dict):
            yield from ((f"{name} {key}", str(each)) for key, each in cast("dict[str, object]", value).items())
        else:
            yield name, str(value)


def _obstacles(found: Inspection) -> Iterator[tuple[str, ...]]:
    if found.reason is not None:
        yield "", "", found.reason
    for each in found.obstacles:
        more = f", … {len(each.nodes)} in all" if len(each.nodes) > 3 else ""
        yield each.operation, ", ".join(each.nodes[:3]) + more, each.reason or "there is no lowering"


def node_tables(found: NodeInspection) -> list[Table]:
    """The tables of a node; those without rows are left out."""
    about = [("kind", found.operation), ("body of", found.around or ""), ("comes from", ", ".join(found.sources))]
    if not found.convertible:
        about.append(("", "cannot be converted"))
    tables = [
        Table(found.node or found.operation, ("", ""), tuple(row for row in about if row[1])),
        Table("attributes", ("name", "value"), tuple(found.attributes.items())),
        Table(
            "operands",
            ("", "type", "tensor", "from"),
            tuple(
                (str(index), each.type, ", ".join(each.names), "" if each.producer is None else _neighbour(each.producer))
                for index, each in enumerate(found.operands)
            ),
        ),
        Table(
            "results",
            ("", "type", "tensor", "to"),
            tuple(
                (str(index), each.type, ", ".join(each.names), ", ".join(map(_neighbour, each.users)))
                for index, each in enumerate(found.results)
            ),
        ),
    ]
    return [each for each in tables if each.rows]


def _neighbour(other: Neighbour) -> str:
    return f"{other.operation} {other.node!r}:{other.number}" if other.node else f"{other.operation}:{other.number}"


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
