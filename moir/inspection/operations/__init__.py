"""The operations of a framework and how moir treats each of them, from the tables of lowerings, frontends and
passes.
"""

from __future__ import annotations

from collections import Counter
from typing import cast

from moir.frameworks import load
from moir.frameworks.record import Framework
from moir.inspection.operations.operation import TREATMENTS, Operation, all_lowered
from moir.inspection.tables import Shown, Table
from moir.lowering.table import LoweringTable

COLUMNS = ("operation", "treatment", "since", "where", "also", "reads")


class Operations(Shown):
    """The operations of a framework.

    Args:
        framework: the name of its dialect.
        title: its name in prose.
        operations: the operations in alphabetical order, each kind once.
    """

    framework: str
    title: str
    operations: tuple[Operation, ...]

    def tables(self) -> list[Table]:
        """The result as tables: the operations with what their handlers read, and the count of each treatment."""
        counts = Counter(each.treatment for each in self.operations)
        treatments = tuple((name, str(counts[name]), meaning) for name, meaning in TREATMENTS.items() if counts[name])
        columns = [index for index in range(len(COLUMNS)) if index < 2 or any(_cells(each)[index] for each in self.operations)]
        rows = tuple(tuple(_cells(each)[index] for index in columns) for each in self.operations)
        return [
            Table(f"{len(self.operations)} operations of {self.title}", tuple(COLUMNS[index] for index in columns), rows),
            Table("treatments", ("", "operations", ""), treatments),
        ]


def _cells(operation: Operation) -> tuple[str, ...]:
    since = str(operation.since) if operation.versions and operation.since else ""
    return (operation.kind, operation.treatment, since, operation.where, operation.also, operation.reads)


def operations_of(framework: Framework) -> Operations:
    """The operations of a framework that has a table of lowerings."""
    qualified = framework.operations
    listed = cast("list[Operation]", load(qualified)()) if qualified is not None else all_lowered(_table(framework))
    return Operations(framework.dialect, framework.title, tuple(sorted(listed, key=lambda each: each.kind)))


def _table(framework: Framework) -> LoweringTable:
    assert framework.lowering is not None
    return load(framework.lowering)
