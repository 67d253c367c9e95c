"""The operations of ONNX: those that the installed `onnx` and ONNX Runtime (com.microsoft) define, and others that are
lowered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from moir.frontends.onnx.model import NEWEST_OPSET
from moir.inspection.operations.microsoft_kinds import KINDS as MICROSOFT_KINDS
from moir.inspection.operations.operation import DEFINED, IMPORTED, MISSING, Operation, lowered
from moir.lowering.onnx.table import onnx as lowerings
from moir.support.records import Record

READ_BY_THE_FRONTEND = frozenset(("Constant",))
"""Kinds that the frontend resolves, so that no lowering gets them."""

ML = "ai.onnx.ml"
"""The domain of the operations of classical machine learning, which `onnx` defines, too."""


MICROSOFT = "com.microsoft"
"""The domain of the operations that ONNX Runtime defines."""


class Schema(Record):
    """An operation as ONNX defines it.

    Args:
        kind: its kind in the table of lowerings, which names its domain unless that is the default one.
        versions: the operator-set versions that changed it.
        defined: the versions in which ONNX defines it as a function, with the kinds in that definition (none if the
            definition depends on the node).
    """

    kind: str
    versions: tuple[int, ...]
    defined: dict[int, frozenset[str]]


def operations() -> list[Operation]:
    """The operations of the default domain, of `ai.onnx.ml` and of `com.microsoft`, then others that are lowered."""
    schemas = [*schemas_of(""), *schemas_of(ML)]
    defined = {each.kind for each in schemas}
    others = [kind for kind in lowerings.kinds() if kind not in defined]
    missing = [kind for name in MICROSOFT_KINDS.split() if (kind := f"{MICROSOFT}.{name}") not in others]
    return [
        *map(operation_of, schemas),
        *(lowered(lowerings, kind) for kind in others),
        *(Operation(kind, MISSING, since=0) for kind in missing),
    ]


def schemas_of(domain: str) -> list[Schema]:
    """The operations of an operator set of the installed `onnx`, in alphabetical order."""
    from onnx import defs

    versions: dict[str, list[Any]] = {}
    for schema in cast("Iterable[Any]", defs.get_all_schemas_with_history()):
        if schema.domain == domain and (domain or schema.since_version <= NEWEST_OPSET):
            versions.setdefault(f"{domain}.{schema.name}" if domain else schema.name, []).append(schema)
    return [_schema(kind, sorted(each, key=lambda schema: schema.since_version)) for kind, each in sorted(versions.items())]


def _schema(kind: str, schemas: list[Any]) -> Schema:
    defined = {
        schema.since_version: frozenset(node.op_type for node in schema.function_body.node) if schema.has_function else frozenset[str]()
        for schema in schemas
        if schema.has_function or schema.has_context_dependent_function
    }
    return Schema(kind, tuple(schema.since_version for schema in schemas), defined)


def operation_of(schema: Schema) -> Operation:
    """An operation that ONNX defines, with how moir treats it."""
    if schema.kind in READ_BY_THE_FRONTEND:
        return Operation(schema.kind, IMPORTED, since=schema.versions[0], versions=schema.versions)
    if lowerings.since(schema.kind):
        operation = lowered(lowerings, schema.kind, schema.versions[-1])
        return operation.with_fields(since=operation.since and max(operation.since, schema.versions[0]), versions=schema.versions)
    usable = [
        version for version, kinds in schema.defined.items() if all(lowerings.since(kind) or kind in READ_BY_THE_FRONTEND for kind in kinds)
    ]
    return Operation(schema.kind, DEFINED if usable else MISSING, since=min(usable, default=0), versions=schema.versions)
