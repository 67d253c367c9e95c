"""Findings: operations whose results overflow, vanish, cancel or are rounded too much in a narrower float format."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from moir.inspection.tables import Shown, Table
from moir.support.records import Record

OVERFLOW, INSIDE, VANISHES, CANCELS, ROUNDING = "overflow", "overflow inside", "vanishes", "cancels", "rounding"

REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        OVERFLOW: "keep it and what reads it in f32, or scale the weights before it down and the result back up",
        INSIDE: "keep it in f32, or scale its operands down: a norm of x / c is that of x, with epsilon / c²",
        VANISHES: "keep it in f32, or take a larger epsilon",
        CANCELS: "keep it and what computes its operands in f32, or subtract a constant part earlier",
        ROUNDING: "keep it in f32",
    }
)
"""The advice for each kind of finding."""


class Node(Record):
    """A node of the framework from which an operation comes: its name and type."""

    name: str
    type: str


class Finding(Record):
    """An operation whose results are wrong in a narrower format, although its operands are right.

    Args:
        kind: a key of `REMEDIES`.
        operation: the name of the operation in the IR.
        type: its type.
        nodes: the nodes of the framework that it comes from.
        factor: the ratio by which numbers exceed the range of the format: the largest magnitude divided by the largest
            number, the smallest number divided by the magnitude that is lost; for `cancels`, how much larger the
            operands are than the result. None for `rounding`.
        error: the relative error of the result in the format, for operands that are right; None if it is not finite.
    """

    kind: str
    operation: str
    type: str
    nodes: tuple[Node, ...]
    factor: float | None
    error: float | None

    @property
    def remedy(self) -> str:
        """The advice for this finding."""
        return REMEDIES[self.kind]


class PrecisionCheck(Shown):
    """What a model loses in a number format.

    Args:
        precision: the format.
        samples: the number of samples that were run.
        tolerance: the largest relative difference of an output that counts as agreement.
        error: the largest relative difference of an output; None if an output is not finite where it should be.
        findings: the operations that cause it, in the order of the model; none if the outputs agree.
        keep: the names of the operations that have to stay in f32.
        kept_error: the error if these do; None as for `error`, or if there are none.
    """

    precision: str
    samples: int
    tolerance: float
    error: float | None
    findings: tuple[Finding, ...] = ()
    keep: tuple[str, ...] = ()
    kept_error: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether the outputs are within the tolerance."""
        return self.error is not None and self.error <= self.tolerance

    def tables(self) -> list[Table]:
        apart = "not finite" if self.error is None else f"differ by {self.error:.2g}"
        count = f"{self.samples} sample{'' if self.samples == 1 else 's'}"
        rows = [("outputs", f"{apart} on {count}, tolerance {self.tolerance:g}")]
        if self.keep:
            left = "not finite" if self.kept_error is None else f"differ by {self.kept_error:.2g}"
            rows.append(("with what is below in f32", left))
        if not self.agrees and not self.findings:
            rows.append(("operations at fault", "none alone: the rounding of many adds up"))
        tables = [Table(f"precision {self.precision}", ("", ""), tuple(rows))]
        if self.findings:
            columns = ("operation", "type", "what", "factor", "error", "nodes")
            tables.append(Table("operations at fault", columns, tuple(map(_row, self.findings))))
            kinds = dict.fromkeys(each.kind for each in self.findings)
            tables.append(Table("what helps", ("", ""), tuple((kind, REMEDIES[kind]) for kind in kinds)))
        if self.keep:
            tables.append(Table("to keep in f32", ("", ""), (("--keep-precision", ",".join(self.keep)),)))
        return tables

    def to_dict(self) -> dict[str, object]:
        content = super().to_dict()
        content["findings"] = [{**each, "remedy": REMEDIES[each["kind"]]} for each in content["findings"]]
        return content


_NODES_SHOWN = 2


def _row(finding: Finding) -> tuple[str, ...]:
    nodes = ", ".join(f"{node.type} {node.name!r}" for node in finding.nodes[:_NODES_SHOWN])
    more = " …" if len(finding.nodes) > _NODES_SHOWN else ""
    factor = "" if finding.factor is None else f"{finding.factor:.3g}"
    error = "not finite" if finding.error is None else f"{finding.error:.2g}"
    return (finding.operation, finding.type, finding.kind, factor, error, nodes + more)
