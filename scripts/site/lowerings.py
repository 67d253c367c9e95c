"""The reference of the lowerings: what becomes of each kind of node, made of the docstrings of the handlers."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict

from moir.framework_record import Framework
from moir.frameworks import load, lowered
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


def _written(handler: Handler) -> str:
    """What a table of formulas has for a handler: the comment above it, or else the formula itself."""
    lines, number = inspect.findsource(inspect.unwrap(handler))
    first = number
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    comment = " ".join(line.strip().lstrip("# ") for line in lines[first:number])
    return comment or f"`{re.sub(r'^.*?lambda [^:]*: ', '', lines[number].strip()).rstrip(',')}`"


def _summary(handler: Handler) -> str:
    paragraph = " ".join((inspect.getdoc(handler) or _written(handler)).partition("\n\n")[0].split())
    return f"`{paragraph.replace('|', chr(92) + '|')}`" if "->" in paragraph and "`" not in paragraph else paragraph.replace("|", "\\|")


def document() -> str:
    """The text of the page."""
    return "\n\n".join([HEAD.strip(), *(section(framework) for framework in lowered())]) + "\n"
