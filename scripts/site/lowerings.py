"""The reference of the lowerings: what becomes of each kind of node, made of the docstrings of the handlers."""

from __future__ import annotations

from collections import defaultdict

from moir.frameworks import load, lowered
from moir.frameworks.record import Framework
from moir.inspection.operations.handler_text import formula, handler_text
from moir.lowering.table import Handler, LoweringTable

HEAD = """# Lowerings

What becomes of each kind of node, as the functions that lower them say. `{…}` are attributes. One function may stand for
several kinds and is described by one of them; several functions of one kind are for versions of the operator set, each
from a version on.
"""


def section(framework: Framework) -> str:
    """The table of a framework."""
    table: LoweringTable = load(str(framework.lowering))
    kinds: dict[Handler, list[str]] = defaultdict(list)
    for kind in table.kinds():
        for since in table.since(kind):
            handler = table.handler(kind, since)
            if handler is not None:
                kinds[handler].append(f"`{kind}` from {since}" if since > 1 else f"`{kind}`")
    rows = sorted((", ".join(names), _summary(handler)) for handler, names in kinds.items())
    lines = ["| kinds | lowering |", "| --- | --- |", *(f"| {names} | {summary} |" for names, summary in rows)]
    return f"## {framework.title}\n\n" + "\n".join(lines)


def _summary(handler: Handler) -> str:
    text = handler_text(handler).replace("|", "\\|")
    return f"`{text}`" if formula(handler) or ("->" in text and "`" not in text) else text


def document() -> str:
    """The text of the page."""
    return "\n\n".join([HEAD.strip(), *(section(framework) for framework in lowered())]) + "\n"
