"""`docs/onnx-coverage.md`: the ONNX operations that are lowered, from the table of lowerings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from moir.frontends.onnx.model import NEWEST_OPSET
from moir.lowering.onnx.table import onnx as lowerings
from scripts.signature_texts import LEGEND, signature_text

READ_BY_THE_FRONTEND = frozenset(("Constant",))
"""Kinds that the frontend resolves, so that no lowering gets them."""

LOOPS_OVER_SEQUENCES = frozenset(("SequenceMap",))
"""Kinds whose definition is a loop that appends to a sequence, which OpenVINO Runtime does not support."""

DIRECT, IMPORTED, EXPANDED, REPORTED, MISSING = "direct", "read by the frontend", "by definition", "reported", "no"

MEANINGS = {
    DIRECT: "a handler in `moir/lowering/onnx`",
    IMPORTED: "becomes a constant when the file is read",
    EXPANDED: "replaced by the function ONNX defines it as, whose operations are lowered",
    REPORTED: "a handler that says why it cannot be converted and what to do instead",
    MISSING: "such a node is an error that names it, unless nothing uses its results",
}

ML = "ai.onnx.ml"
"""The domain of the operations of classical machine learning, which `onnx` defines, too."""

HEADING = """# Coverage of ONNX

The operations of the default operator set up to version {newest}, and below of other domains. Any other operation is an error that names
it; an [extension](extending.md) can lower it. Written by `python -m scripts.coverage`; do not edit.

{counts}

{legend} It describes the newest version.

"""

TABLE = """| operation | versions | lowered | since | reads |
| --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Kind:
    """An operation of ONNX.

    Args:
        name: its kind in the table of lowerings, which names its domain unless that is the default one.
        versions: the operator-set versions that changed it.
        defined: the versions in which ONNX defines it as a function, with the kinds in that definition (empty if the
            definition depends on the node).
    """

    name: str
    versions: tuple[int, ...]
    defined: dict[int, frozenset[str]]


def kinds_of_onnx(domain: str = "") -> list[Kind]:
    """The operations of an operator set of the installed `onnx`, by default the default one, in alphabetical order."""
    from onnx import defs

    schemas: dict[str, list[Any]] = {}
    for schema in cast("Iterable[Any]", defs.get_all_schemas_with_history()):
        if schema.domain == domain and (domain or schema.since_version <= NEWEST_OPSET):
            schemas.setdefault(f"{domain}.{schema.name}" if domain else schema.name, []).append(schema)
    return [_kind(name, sorted(versions, key=lambda each: each.since_version)) for name, versions in sorted(schemas.items())]


def _kind(name: str, schemas: Sequence[Any]) -> Kind:
    defined = {
        schema.since_version: frozenset(node.op_type for node in schema.function_body.node) if schema.has_function else frozenset[str]()
        for schema in schemas
        if schema.has_function or schema.has_context_dependent_function
    }
    return Kind(name, tuple(schema.since_version for schema in schemas), defined)


def state(kind: Kind) -> tuple[str, int | None]:
    """The way an operation is lowered, and the first version of it that is."""
    if kind.name in READ_BY_THE_FRONTEND:
        return IMPORTED, kind.versions[0]
    handled = lowerings.since(kind.name)
    if handled:
        newest = lowerings.handler(kind.name, kind.versions[-1])
        reports = newest is not None and newest.__annotations__.get("return") == "NoReturn"
        return (REPORTED, None) if reports else (DIRECT, max(min(handled), kind.versions[0]))
    if kind.name in LOOPS_OVER_SEQUENCES:
        return MISSING, None
    usable = [version for version, uses in kind.defined.items() if all(lowerings.since(use) or use in READ_BY_THE_FRONTEND for use in uses)]
    return (EXPANDED, min(usable)) if usable else (MISSING, None)


def table(rows: Iterable[tuple[Kind, str, int | None]]) -> str:
    """The lines of a table: each operation with the way it is lowered and the first version of it that is."""
    return TABLE + "".join(
        f"| {kind.name.rpartition('.')[2]} | {', '.join(map(str, kind.versions))} | {how} | {since or ''} | "
        f"{signature_text(lowerings, kind.name, kind.versions[-1])} |\n"
        for kind, how, since in rows
    )


def document() -> str:
    """The text of the file."""
    rows = [(kind, *state(kind)) for kind in kinds_of_onnx()]
    counts = Counter(how for _, how, _ in rows)
    listed = "\n".join(f"- **{how}** ({counts[how]}): {meaning}" for how, meaning in MEANINGS.items() if counts[how])
    text = HEADING.format(newest=NEWEST_OPSET, counts=listed, legend=LEGEND) + table(rows)
    text += f"\n## {ML}\n\n" + table([(kind, *state(kind)) for kind in kinds_of_onnx(ML)])
    others: dict[str, list[str]] = {}
    for name in sorted(lowerings.kinds()):
        domain, _, kind = name.rpartition(".")
        if domain and domain != ML:
            others.setdefault(domain, []).append(kind)
    for domain, kinds in others.items():
        text += f"\n## {domain}\n\nLowered directly: {', '.join(kinds)}.\n"
    return text
