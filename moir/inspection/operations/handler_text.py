"""What a handler makes of its kind of node, as its docstring, or the formula that it is, says it."""

from __future__ import annotations

import inspect
import re

from moir.lowering.table import Handler


def handler_text(handler: Handler) -> str:
    """The first paragraph of a handler's docstring; without one, the comment above its formula, or the formula."""
    text = inspect.getdoc(handler) or _written(handler)
    return " ".join(text.partition("\n\n")[0].split())


def _written(handler: Handler) -> str:
    lines, number = inspect.findsource(inspect.unwrap(handler))
    first = number
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    comment = " ".join(line.strip().lstrip("# ") for line in lines[first:number])
    return comment or re.sub(r"^.*?lambda [^:]*: ", "", lines[number].strip()).rstrip(",")
