"""The results of a comparison of two models."""

from __future__ import annotations

from moir.inspection.tables import Shown, Table
from moir.support.records import Record


class Change(Record):
    """A fact that differs between two models: what it is, and its value in each of them; empty where it is absent."""

    what: str
    before: str
    after: str


class UnmatchedOperation(Record):
    """An operation that only one of two models has: the name of its node, its kind, and the name of the operation whose
    body contains it.
    """

    node: str
    operation: str
    around: str


class ChangedOperation(Record):
    """An operation of both models that differs: the name of its node, its kind, and what differs."""

    node: str
    operation: str
    changes: tuple[Change, ...]


class ChangedConstant(Record):
    """A constant of both models whose value differs.

    Args:
        node: the name of its node; if it has none, a description of its user.
        before: its type in the first model, as `f32[3,4]`.
        after: its type in the second model.
        elements: how many elements differ; None if they cannot be compared: their numbers differ, they are strings or
            packed bits, or a text leaves them out.
        maximum: the largest absolute difference of two elements; None if they cannot be compared, or are not numbers.
        relative: the same divided by the largest absolute value in the first model.
    """

    node: str
    before: str
    after: str
    elements: int | None
    maximum: float | None
    relative: float | None

    def is_within(self, tolerance: float) -> bool:
        """Whether no element differs by more than `tolerance` times the largest absolute value of the first model's
        constant; with a tolerance above 0, element types may differ.
        """
        return self.relative is not None and self.relative <= tolerance and (tolerance > 0 or self.before == self.after)


class Difference(Shown):
    """The differences of two models.

    Args:
        interfaces: inputs and outputs that differ, by number and name.
        removed: the operations of the first model only.
        added: the operations of the second model only.
        changed: the operations of both that differ in kind, attributes, types, or in where their operands come from.
        constants: the constants whose values differ.
    """

    interfaces: tuple[Change, ...]
    removed: tuple[UnmatchedOperation, ...]
    added: tuple[UnmatchedOperation, ...]
    changed: tuple[ChangedOperation, ...]
    constants: tuple[ChangedConstant, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.interfaces or self.removed or self.added or self.changed or self.constants)

    def tables(self) -> list[Table]:
        tables = [
            Table(
                f"inputs and outputs: {len(self.interfaces)}",
                ("", "before", "after"),
                tuple((each.what, each.before, each.after) for each in self.interfaces),
            ),
            *(
                Table(f"{title}: {len(rows)}", ("node", "kind", "in"), tuple((each.node, each.operation, each.around) for each in rows))
                for title, rows in (("removed operations", self.removed), ("added operations", self.added))
            ),
            Table(
                f"changed operations: {len(self.changed)}",
                ("node", "kind", "", "before", "after"),
                tuple((op.node, op.operation, each.what, each.before, each.after) for op in self.changed for each in op.changes),
            ),
            Table(
                f"changed constants: {len(self.constants)}",
                ("node", "before", "after", "elements", "largest change", "relative"),
                tuple(map(_constant, self.constants)),
            ),
        ]
        return [each for each in tables if each.rows]

    def __str__(self) -> str:
        return super().__str__() or _SAME

    def _repr_html_(self) -> str:
        return super()._repr_html_() or f"<p>{_SAME}</p>"


_SAME = "the models are the same"


def _constant(each: ChangedConstant) -> tuple[str, ...]:
    sizes = ("" if size is None else f"{size:.3g}" for size in (each.maximum, each.relative))
    return (each.node, each.before, each.after, "not compared" if each.elements is None else str(each.elements), *sizes)
