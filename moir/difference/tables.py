"""A difference as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moir.inspection.tables import Table

if TYPE_CHECKING:
    from moir.difference.records import ChangedConstant, Difference


def difference_tables(found: Difference) -> list[Table]:
    """The tables of a difference; those without rows are left out, so that there is none if nothing differs."""
    tables = [
        Table(
            f"inputs and outputs: {len(found.interfaces)}",
            ("", "before", "after"),
            tuple((each.what, each.before, each.after) for each in found.interfaces),
        ),
        *(
            Table(f"{title}: {len(rows)}", ("node", "kind", "in"), tuple((each.node, each.operation, each.around) for each in rows))
            for title, rows in (("removed operations", found.removed), ("added operations", found.added))
        ),
        Table(
            f"changed operations: {len(found.changed)}",
            ("node", "kind", "", "before", "after"),
            tuple((op.node, op.operation, each.what, each.before, each.after) for op in found.changed for each in op.changes),
        ),
        Table(
            f"changed constants: {len(found.constants)}",
            ("node", "before", "after", "elements", "largest change", "relative"),
            tuple(map(_constant, found.constants)),
        ),
    ]
    return [each for each in tables if each.rows]


def _constant(each: ChangedConstant) -> tuple[str, ...]:
    sizes = ("" if size is None else f"{size:.3g}" for size in (each.maximum, each.relative))
    return (each.node, each.before, each.after, "not compared" if each.elements is None else str(each.elements), *sizes)
