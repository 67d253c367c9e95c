"""A kind of node of a framework, and how moir treats it."""

from __future__ import annotations

from collections.abc import Iterable

from moir.inspection.operations.handler_text import becomes_text
from moir.inspection.operations.refusal_text import refusal_text
from moir.inspection.operations.signature_text import signature_text
from moir.lowering.table import LoweringTable
from moir.support.records import Record

LOWERED = "lowered"
DEFINED = "by definition"
IMPORTED = "read by the frontend"
RAISED = "raised"
LEFT_OUT = "left out"
REFUSED = "refused"
MISSING = "not supported"

TREATMENTS = {
    LOWERED: "by a handler, which the column `where` names",
    DEFINED: "replaced by the operations that the framework defines it as, which are lowered",
    IMPORTED: "becomes an input, a constant, a variable or a part of another operation when the file is read",
    RAISED: "a pass makes structured control flow of it, or operations on lists, which are lowered",
    LEFT_OUT: "is for training only; what it reads becomes an output",
    REFUSED: "is an error that says why, and what to do instead",
    MISSING: "is an error that names it, unless nothing uses its results",
}
"""The possible treatments of a kind, each with an explanation."""


class Operation(Record):
    """A kind of node of a framework, and whether moir lowers, folds, ignores or refuses it.

    Args:
        kind: the kind as the framework spells it.
        treatment: a key of `TREATMENTS`.
        where: the file with the handler, below the folder of the framework's lowerings; or the pass that raises it.
        since: the first version of the operation set from which on it is supported; 0 if it never is.
        versions: the versions of the operation set that changed it, if it has versions.
        reads: operands and, after a semicolon, attributes that the handler reads: `?` marks an optional operand, `*`
            any number of operands, `= 1` a default; `…` further attributes.
        becomes: what becomes of it, in a sentence or as operations before and after.
        also: another name of it: of the operation of TensorFlow that it is lowered as, or in a later format.
        reason: why it is refused, and what to do instead.
    """

    kind: str
    treatment: str
    where: str = ""
    since: int = 1
    versions: tuple[int, ...] = ()
    reads: str = ""
    becomes: str = ""
    also: str = ""
    reason: str = ""


def lowered(table: LoweringTable, kind: str, version: int = 1) -> Operation:
    """The record of a kind that a table of lowerings has a handler for, described by the handler for a version of the
    operation set.
    """
    handler = table.handler(kind, version)
    assert handler is not None
    refuses = handler.__annotations__.get("return") == "NoReturn"
    if refuses:
        return Operation(kind, REFUSED, table.file(kind), since=0, reason=refusal_text(table, kind, version))
    reads, becomes = signature_text(table, kind, version), becomes_text(f"{table.framework}.{kind}", handler)
    return Operation(kind, LOWERED, table.file(kind), min(table.since(kind)), reads=reads, becomes=becomes)


def all_lowered(table: LoweringTable) -> list[Operation]:
    """All kinds with a handler in a table of lowerings without versions."""
    return [lowered(table, kind) for kind in table.kinds() if table.handler(kind, 1) is not None]


def treated(kinds: Iterable[str], treatment: str, where: str = "") -> list[Operation]:
    """The records of kinds that never reach a lowering; all have the same treatment."""
    return [Operation(kind, treatment, where) for kind in dict.fromkeys(kinds)]
